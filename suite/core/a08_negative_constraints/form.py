"""Generator of A08's forms: headings, given words, listed words, limit, endings, person rule.

The open form's words are fixed here, because its goldens are written by hand. Every other form
is drawn from pools whose words keep all fifteen prohibitions of every form, so that a given
word never makes a section impossible.
"""

import random
import re
from pathlib import Path

from harness.suite.forms import OPEN, Form, generator, refuse

TASK = "A08"
FAMILY = 1

# Bands. Every form lies inside; a draw outside is thrown away and drawn again (see NOTES.md).
BANDS = {
    "usable_share": (0.75, 0.85),  # of the 400 commonest words; below 0.45 a form starves
    "given_words": (18, 18),  # all different
    "given_letters": (86, 104),
    "number_words": (3, 3),
    "sky_words": (2, 2),
}
DRAWS_AT_MOST = 50
LINKING = "the of to and on at by for with from in into near after before under over"
BE = "be am is are was were been being"
OPENINGS = "the a an it this that these there"
MARKS = '"“”„‘«»()[]{}<>*_`'

FIRST = "i me my mine myself we us our ours ourselves"
SECOND = "you your yours yourself yourselves"
HE_OR_SHE = "he him his himself she her hers herself"
PERSONS = {
    "first or second person": f"{FIRST} {SECOND}",
    "first person, and no pronoun for he or she": f"{FIRST} {HE_OR_SHE}",
    "second person, and no pronoun for he or she": f"{SECOND} {HE_OR_SHE}",
}
ENDINGS = ("ly ing ed", "al ing ed", "ion ing ed")
LETTER_LIMITS = (9, 10)

# How many of each class are listed: the same mixture in every form.
LISTED_CLASSES = (
    (2, "will must would could should might"),
    (3, "however also because although therefore whereas moreover meanwhile"),
    (2, "very several various quite numerous rather"),
    (3, "important ensure team issue problem process provide require"),
    (2, "major impact focus support effort access progress crucial"),
)

SCENES = (
    "the log of a mountain hut",
    "the report of a railway depot",
    "the report of a river mill",
    "the report of a stone quarry",
    "the report of a market hall",
    "the report of a travelling circus",
    "the report of a country estate",
    "the report of an island post",
)

HEADINGS = {
    "opening": "ARRIVAL JOURNEY OPENING ENTRY APPROACH TRANSPORT",
    "stock": "CARGO STOCK FREIGHT SUPPLIES STORES MATERIALS",
    "weather": "WEATHER CLIMATE SKIES SEASON CONDITIONS",
    "people": "WORKFORCE STAFF LABOUR PERSONNEL HANDS",
    "damage": "DAMAGE LOSSES ACCIDENTS WEAR FAULTS",
    "outlook": "OUTLOOK PROSPECTS FORECAST PLANS FUTURE",
}
POOLS = {
    "vehicle": "convoy wagon coach truck train barge tram caravan sledge raft canoe mule yacht",
    "day": "sunday monday tuesday wednesday thursday friday saturday",
    "side": "north south east west coast border desert island delta plateau",
    "number": "nine seven eight eleven twelve twenty thirty forty fifty sixty eighty ninety",
    "goods": "cedar zinc salt grain linen sugar bronze wax silk gravel honey barley hemp marble",
    "sky": "fog gale frost rain storm snow hail mist thunder drought",
    "machine": "crane winch lathe forge kiln hoist tractor plough pump crank anvil",
    "hour": "night dawn dusk midnight sunrise sunset daybreak",
    "thing": "rope cable gate pipe tank fence lamp boiler hinge chain motor axle valve bolt clutch",
    "place": "mast deck tower bridge stable cabin chapel porch cistern granary workshop",
    "event": "repair audit survey lease sale launch harvest inquiry transfer merger vote grant",
    "season": "autumn winter march june august october november december january",
}
DRAWS = {
    "opening": ("vehicle", "day", "side"),
    "stock": ("number", "goods", "goods"),
    "weather": ("sky", "sky", "day"),
    "people": ("number", "machine", "hour"),
    "damage": ("thing", "place", "number"),
    "outlook": ("event", "season", "event"),
}

OPEN_SECTIONS = (
    ("ARRIVAL", "opening", "plover sunday north"),
    ("CARGO", "stock", "ninety cedar zinc"),
    ("WEATHER", "weather", "fog gale monday"),
    ("WORKFORCE", "people", "twelve crane night"),
    ("DAMAGE", "damage", "rope mast seven"),
    ("OUTLOOK", "outlook", "tide autumn repair"),
)
OPEN_LISTED = "very important ensure team issue problem however also because will must several"


def form(seed: str) -> Form:
    """Return the form of a seed; FormError if no draw lies in the bands."""
    rng = generator(TASK, FAMILY, seed)
    problems: list[str] = []
    for _ in range(DRAWS_AT_MOST):
        values = _fixed() | (_open() if seed == OPEN else _drawn(rng))
        structure = _structure(values)
        problems = _problems(values, structure)
        if not problems:
            return Form(
                task=TASK,
                family=FAMILY,
                seed=seed,
                values=values,
                answers=_answers(values),
                structure=structure,
            )
    raise refuse(TASK, seed, problems)


def _fixed() -> dict:
    return {
        "words": [40, 70],
        "sentences": [4, 7],
        "least_words": 5,
        "sentence_words": 14,
        "repeat_letters": 5,
        "given_needed": 2,
        "different_words": 25,
        "linking": LINKING.split(),
        "be": BE.split(),
        "openings": OPENINGS.split(),
        "marks": list(MARKS),
    }


def _open() -> dict:
    person = "first or second person"
    return {
        "scene": "the harbour master's report on the call of one ship",
        "sections": [
            {"heading": heading, "kind": kind, "given": given.split()}
            for heading, kind, given in OPEN_SECTIONS
        ],
        "person": {"name": person, "words": PERSONS[person].split()},
        "listed": OPEN_LISTED.split(),
        "letters": 9,
        "suffixes": ENDINGS[0].split(),
    }


def _drawn(rng: random.Random) -> dict:
    kinds = list(DRAWS)
    middle = kinds[1:-1]
    rng.shuffle(middle)
    left = {name: rng.sample(pool.split(), len(pool.split())) for name, pool in POOLS.items()}
    sections = [
        {
            "heading": rng.choice(HEADINGS[kind].split()),
            "kind": kind,
            "given": [left[name].pop() for name in DRAWS[kind]],
        }
        for kind in (kinds[0], *middle, kinds[-1])
    ]
    person = rng.choice(list(PERSONS))
    listed = [word for count, words in LISTED_CLASSES for word in rng.sample(words.split(), count)]
    rng.shuffle(listed)
    return {
        "scene": rng.choice(SCENES),
        "sections": sections,
        "person": {"name": person, "words": PERSONS[person].split()},
        "listed": listed,
        "letters": rng.choice(LETTER_LIMITS),
        "suffixes": rng.choice(ENDINGS).split(),
    }


def _obeys(word: str, values: dict) -> bool:
    """Return whether a word breaks none of the prohibitions on single words."""
    return not (
        word in values["person"]["words"] + values["listed"] + values["be"]
        or len(word) > values["letters"]
        or word.endswith(tuple(values["suffixes"]))
        or re.search(r"(.)\1", word)
    )


def _structure(values: dict) -> dict[str, float]:
    common = Path(__file__).with_name("common_words.txt").read_text(encoding="utf-8").split()
    given = [word for section in values["sections"] for word in section["given"]]
    return {
        "usable_share": sum(_obeys(word, values) for word in common) / len(common),
        "given_words": float(len(set(given))),
        "given_letters": float(sum(len(word) for word in given)),
        "number_words": float(sum(word in POOLS["number"].split() for word in given)),
        "sky_words": float(sum(word in POOLS["sky"].split() for word in given)),
    }


def _problems(values: dict, structure: dict[str, float]) -> list[str]:
    fixed = f"{LINKING} {OPENINGS}".split()
    problems = [
        f"the given word {word!r} breaks a prohibition"
        for section in values["sections"]
        for word in section["given"]
        if not _obeys(word, values) or word in fixed
    ]
    return problems + [
        f"{name} is {structure[name]:g}, wanted {least:g} to {most:g}"
        for name, (least, most) in BANDS.items()
        if not least <= structure[name] <= most
    ]


def _answers(values: dict) -> dict[str, str]:
    """Return what the prompt asks, item by item: the second method must read the same in it."""
    given = {f"given.{s['heading']}": " ".join(s["given"]) for s in values["sections"]}
    lists = ("linking", "marks", "listed", "be", "suffixes", "openings")
    numbers = (
        "least_words",
        "letters",
        "sentence_words",
        "repeat_letters",
        "given_needed",
        "different_words",
    )
    return {
        "headings": " ".join(section["heading"] for section in values["sections"]),
        **given,
        "person": " ".join(values["person"]["words"]),
        **{name: " ".join(values[name]) for name in lists},
        **{name: str(values[name]) for name in numbers},
        "words": "-".join(map(str, values["words"])),
        "sentences": "-".join(map(str, values["sentences"])),
    }
