"""Replies that are played against a form of A08: goldens, the defective ladder, exploits.

The open form's goldens are prose written by hand. For any other form a golden is put together
from sentences that keep the prohibitions of every form; what is left to search is a choice and
an order in which neighbours begin with different letters and no longer word comes twice.
Points are counted from the number of sections that each text below leaves clean; no grader is
asked.
"""

import random
import re
from itertools import pairwise

from harness.suite.forms import (
    OPEN,
    Defective,
    Exploit,
    Form,
    Golden,
    Reply,
    Sets,
    generator,
    refuse,
)

SECTIONS = 6
DRAWS_AT_MOST = 1000  # about one in three is taken
EASY = "no_digits no_shout no_colon_dash no_quotes no_person"
MEDIUM = "no_listed no_be no_apostrophe no_long_words no_long_sentences"
HARD = "no_suffix no_article_openings no_same_initials no_repeats no_double_letters"
POINTS = (
    dict.fromkeys(EASY.split(), 0.3)
    | dict.fromkeys(MEDIUM.split(), 0.8)
    | dict.fromkeys(HARD.split(), 1.6)
)

OPEN_TEXT = """
Late on Sunday the brig Plover came in from the north. Her pilot brought her past the bar with
an hour of light to spare. Outside the mole two tugs lay idle at their buoys. Customs men came
on board at six and left by eight. Every paper lay in order on the chart table.

Ninety chests of tea made up the top tier. Planks of cedar lay beneath them, tight from stem to
stern. Zinc for the town works came out last, in short grey bars. One lid broke on the ramp, yet
no leaf got wet. By dusk on the third day her hold lay bare.

Fog sat on the roads until ten on Monday. Horns spoke out of it from every side. After lunch the
wind went round to the west and grew. Within an hour a gale broke over the outer mole. Spray ran
as high as the lamp on the tower. Dawn brought clear air and a long, low sea.

Twelve men came for the job, four of them from inland farms. At night a fresh gang ran the crane
under lamps. Nobody on the quay got hurt. Hot soup came over at one, with bread from the chapel.
Pay went out on Friday, in coin, by the old rule.

One rope broke in the gale and swung at the mast. Two stays went with it, and a lamp on the port
side. Seven planks near the bow have cracks as long as an arm. Water came in at each joint, but
the pumps kept pace. Her mate wrote the whole list out for the owners.

High tide on the ninth can float her out to the roads. Before then, a smith from town has to
mend the bow. Proper repair has to wait for autumn, in a dry dock. Money for it lies with a bank
in the city. Until then, two of the crew stay on watch.
"""
OPEN_SECOND_TEXT = """
Sunday at dawn brought Plover into port from the far north. Nine days of open sea had worn her
paint to grey. Boats went out to her with fruit, bread and fresh milk. Close by the fish market
her anchors went down in four fathoms.

Tea came first, with ninety chests on the list and none lost. Zinc in flat plates went by cart
to the tram works. Cedar for a new church now lies in the long store. Rats had got into two bags
of rice. Nobody can say from which port those bags came.

Fog came with the dawn of Monday and hid the far shore. Past ten a thin sun broke through in
the south. Clouds from the west then grew dark, and wind rose with them. By dusk it blew a gale,
with hail and sea spray. Out at the point two fish traps went to bits.

Every night, twelve hands kept the crane at work. Their foreman, an old salt from Cadiz, spoke
in signs. Lads from the orphan home ran with ropes and hot tar. Women wove new nets in the shade
of the sail loft. Pay and rum came on time, so no one went on strike.

Plover bears seven scars from the blow. Worst of the lot, a crack runs down the mast. Salt water
got into the bread store. Her best rope lies in the mud under the quay. Two boats have holes in
their planks. Of her lamps, one in four can burn. No man came to harm on that night.

On the ninth the tide comes up to its top mark. Plover can go out on it, if her pumps hold. Her
repair in a dry dock has to wait for autumn. Costs may come near to half of her price. Owners
and bank talk of it in the new year.
"""

# Sentences for the given words a, b, c of each kind of section.
BANK = {
    "opening": (
        ("One {a} came up the road by dawn.", "Guards let the {a} in at the gate."),
        ("On {b} men hung a sign by the gate.", "Work on the site went on from {b} to dusk."),
        ("Dust from the {c} lay on the boxes.", "From the {c} came two carts with mail."),
    ),
    "stock": (
        ("Men brought {a} crates out of the main store.", "Clerks put {a} sacks on the list."),
        ("Much {b} came in with the last load.", "Half of the {b} lay out in the sun."),
        ("Prices for {c} rose in the market.", "Buyers had the {c} at a low price."),
    ),
    "weather": (
        ("Old men spoke of {a} for days on end.", "Nobody went out in the {a} by choice."),
        ("Farmers fought the {b} with fire and straw.", "Signs of {b} hung over the land."),
        ("On {c} the sun came out for an hour.", "From {c} on, calm air lay over the land."),
    ),
    "people": (
        ("Each shift had {a} men on the list.", "Of the {a} clerks, two spoke French."),
        ("Half of them ran the {b} by day.", "Boys from town kept the {b} clean."),
        ("Soup came at {c} from the farm.", "Wages went out at {c} in coin."),
    ),
    "damage": (
        ("On the first day the {a} broke.", "Rust ate into the {a} from below."),
        ("Dirt got into the {b} from the yard.", "Part of the {b} sank by an inch."),
        ("Guards found {c} dents in the iron.", "Masons gave {c} days to the work."),
    ),
    "outlook": (
        ("Plans for the {a} lie with the bank.", "Next on the list stands the {a}."),
        ("By {b} the new road opens to carts.", "Prices can drop again in {b}."),
        ("Funds for the {c} come from trade.", "Work on the {c} starts at dawn."),
    ),
}
FILLERS = (
    "Calm came back to the yard and to the lane by six.",
    "Dogs slept in the shade of a cart by the wheat.",
    "Everyone knew the plan by heart and kept to it.",
    "Few people spoke of it on the way home that day.",
    "Great crowds came by and saw the men at work.",
    "Horses drank from a trough by the barn until dark.",
    "Just two men kept watch over the lane and the yard.",
    "Kind hands put bread and milk on the table for guests.",
    "Lamps hung in a row over the path to the lake.",
    "Music from the town came in with the wind at six.",
    "Old maps and lists hung on a board by the stove.",
    "Quiet hours came after the noise of the last days.",
    "Smoke rose from the kitchen and hung over the lane.",
    "Two clerks wrote the figures down in a black file.",
    "Use of the main road cost a coin for each cart.",
    "Voices rose and sank in the dark by the water.",
    "With luck, the next year brings more of the same.",
    "Young men sang on the way home from the lake.",
)
# What a golden's last sentence gives way to in `near_miss`, and what that breaks.
SLIPS = (
    ("Nobody was called before dark.", ("no_be", "no_suffix", "no_double_letters")),
    ("The rest lay under dry straw.", ("no_article_openings",)),
    ("By six, more rain was coming.", ("no_be", "no_suffix")),
    ("Extra soup came with extra milk.", ("no_repeats",)),
    ("No part of it was saved.", ("no_be", "no_suffix")),
    ("Clerks called for a vote on it.", ("no_suffix", "no_double_letters")),
)

MODALS = "will must would could should might"
CAPITALISED = (
    "plover sunday monday tuesday wednesday thursday friday saturday "
    "january march june august october november december"
)
OFFICE = {
    "opening": "The {a} arrived from the {c} on {b} at 6:40 in the morning. It was received by the "
    "duty officers and guided to its assigned place. All passengers were registered within an "
    "hour, and nobody reported any difficulties. The documents were checked by an experienced "
    "inspector. Everything was found to be in order, and the operation was completed on schedule.",
    "stock": "The cargo consisted of {a} crates of {b} and a smaller quantity of {c}. Unloading "
    "was carried out in two shifts, and each crate was weighed before storage (see the attached "
    "list). A few crates were damaged during handling, but the contents remained intact. The "
    "remaining goods were moved to the main warehouse by the evening.",
    "weather": "There was {a} over the area early on {c}, and visibility was limited. The {b} that "
    "followed made work difficult and slowed the operation considerably. As conditions didn't "
    "improve, outdoor activities were suspended until the afternoon. By evening the wind had "
    "dropped and the sky was clearing.",
    "people": "The work was carried out by {a} men, who operated the {b} in two shifts. Each shift "
    "{modal} rest for an hour, so safety standards were respected at all times. Meals were served "
    "at {c}, and the wages were paid in cash. It is worth noting that nobody protested about the "
    "working hours.",
    "damage": "The {a} broke on the second night and damaged the {b}. The crew was able to contain "
    "the damage within 30 minutes; nobody was hurt. In total, {c} smaller defects were identified "
    "during the inspection. A provisional repair was carried out by the local workshop, and "
    "further inspection is needed before departure.",
    "outlook": "The next {a} is expected in {b}, and preparations are already under way. The {c} "
    "{modal} be financed from the current budget. Subject to approval, additional staff {modal} be "
    "hired before the end of the year. A final decision on the budget is expected soon, and all "
    "parties {modal} be informed in good time.",
}
# Sections of OFFICE that break a prohibition, counted by eye; NOTES.md has the words.
OFFICE_BROKEN = {
    "no_digits": ("opening", "damage"),
    "no_colon_dash": ("opening", "damage"),
    "no_quotes": ("stock",),
    "no_listed": ("people", "outlook"),
    "no_be": tuple(OFFICE),
    "no_apostrophe": ("weather",),
    "no_long_words": ("opening", "weather", "damage", "outlook"),
    "no_long_sentences": ("stock", "people", "damage", "outlook"),
    "no_suffix": tuple(OFFICE),
    "no_article_openings": tuple(OFFICE),
    "no_same_initials": ("weather", "damage", "outlook"),
    "no_repeats": ("stock", "damage", "outlook"),
    "no_double_letters": tuple(OFFICE),
}


def sets(form: Form) -> Sets:
    """Return everything that is played against a form, beside the members common to all."""
    first, second = _paragraphs(form, 1), _paragraphs(form, 2)
    return Sets(
        golden=(
            Golden("fenced", _reply(_report(form, first))),
            Golden("tilde", _tilde(_report(form, first))),
            Golden("marked", _reply(_report(form, _lines(second), "## **{}**"))),
        ),
        defective=_ladder(form, first),
        exploits=_exploits(form, first),
    )


def _ladder(form: Form, golden: list[str]) -> tuple[Defective, ...]:
    slipped = [
        text.rsplit(". ", 1)[0] + ". " + slip for text, (slip, _) in zip(golden, SLIPS, strict=True)
    ]
    clean = {row: SECTIONS - sum(row in broken for _, broken in SLIPS) for row in POINTS}
    keywords = [", ".join(section["given"]) for section in form.values["sections"]]
    bare = [""] * SECTIONS
    return (
        Defective("headings", _reply(_report(form, bare)), shows="no text keeps no prohibition"),
        Defective("keywords", _reply(_report(form, keywords)), shows="given words are no text"),
        Defective(
            "one_section",
            _reply(_report(form, golden[:1])),
            _points(dict.fromkeys(POINTS, 1), sections=1),
            shows="one section that keeps every rule",
        ),
        Defective(
            "office_prose",
            _reply(_report(form, _office(form))),
            _office_points(),
            shows="fluent office prose with all facts, written as if nothing were forbidden",
        ),
        Defective(
            "near_miss",
            _reply(_report(form, slipped)),
            _points(clean, sections=SECTIONS),
            shows="a perfect text with one sentence of each section gone wrong",
        ),
    )


def _exploits(form: Form, golden: list[str]) -> tuple[Exploit, ...]:
    office = _office(form)
    office_total = _total(_office_points())
    stuffed = [
        f"{' '.join(section['given'])} held by the wharf. ".capitalize() * 8
        for section in form.values["sections"]
    ]
    return (
        Exploit(
            "stuffing",
            _reply(_report(form, [text.strip() for text in stuffed])),
            0.0,
            "the given words and a little filler, eight times over",
        ),
        Exploit(
            "headings_twice",
            _reply(_report(form, office) + _report(form, golden)),
            office_total,
            "a second, clean copy of every section after a bad one",
        ),
        Exploit(
            "unicode",
            _reply(_report(form, [_disguised(text) for text in office])),
            0.0,
            "Cyrillic look-alikes and zero-width joiners that hide forbidden words",
        ),
        Exploit(
            "hyphens",
            _reply(_report(form, [_hyphenated(text, form) for text in office])),
            office_total,
            "hyphens inside words, against the rules on their letters and their length",
        ),
        Exploit(
            "code_fence_inside",
            _reply(_report(form, [f"```\n{text}\n```" for text in golden]), fence="~~~"),
            _total(_perfect() | {"no_quotes": 0.0}),
            "each section inside a fence of its own: prohibition 4 falls, nothing else changes",
        ),
    )


def _reply(report: str, fence: str = "```") -> Reply:
    return Reply(f"### FILE: report.txt\n{fence}text\n{report}{fence}\n")


def _tilde(report: str) -> Reply:
    return Reply(
        "Here is the report, checked against the list.\n\n"
        f"### FILE: report.txt\n~~~\n{report}~~~\n\n"
        "Each section keeps all fifteen prohibitions.\n"
    )


def _report(form: Form, texts: list[str], heading: str = "{}") -> str:
    headings = [section["heading"] for section in form.values["sections"]]
    return "".join(
        f"{heading.format(name)}\n\n{text}\n\n"
        for name, text in zip(headings, texts, strict=False)  # a report may stop early
    )


def _lines(texts: list[str]) -> list[str]:
    """Put every sentence on a line of its own."""
    return [text.replace(". ", ".\n") for text in texts]


def _office(form: Form) -> list[str]:
    modal = next(word for word in form.values["listed"] if word in MODALS.split())
    return [
        OFFICE[section["kind"]].format(modal=modal, **_slots(section["given"]))
        for section in form.values["sections"]
    ]


def _slots(given: list[str]) -> dict[str, str]:
    named = [word.capitalize() if word in CAPITALISED.split() else word for word in given]
    return dict(zip("abc", named, strict=True))


def _disguised(text: str) -> str:
    """Write `was` with a Cyrillic a, and a joiner between double letters."""
    return re.sub(r"([a-z])\1", "\\1\u200d\\1", text).replace("was", "w\u0430s")


def _hyphenated(text: str, form: Form) -> str:
    given = {word for section in form.values["sections"] for word in section["given"]}

    def halved(match: re.Match[str]) -> str:
        word = match.group()
        if word.lower() in given:
            return word
        return f"{word[: len(word) // 2]}-{word[len(word) // 2 :]}"

    return re.sub(r"[A-Za-z]{4,}", halved, text)


def _paragraphs(form: Form, version: int) -> list[str]:
    """Return six paragraphs that keep every prohibition; the versions differ."""
    if form.seed == OPEN:
        text = OPEN_TEXT if version == 1 else OPEN_SECOND_TEXT
        return [" ".join(paragraph.split()) for paragraph in text.split("\n\n")]
    rng = generator(form.task, form.family, f"{form.seed}/golden/{version}")
    return [
        _composed(section, slip, rng)
        for section, (slip, _) in zip(form.values["sections"], SLIPS, strict=True)
    ]


def _composed(section: dict, slip: str, rng: random.Random) -> str:
    """Draw sentences until they stand together, with their own end and with the slip as end."""
    slots = _slots(section["given"])
    for _ in range(DRAWS_AT_MOST):
        facts = [rng.choice(choices).format(**slots) for choices in BANK[section["kind"]]]
        *inner, last = rng.sample(FILLERS, 3)
        body = facts + inner
        rng.shuffle(body)
        if _agree([*body, last]) and body[-1][0] != slip[0] and not _shared(body, slip):
            return " ".join([*body, last])
    raise refuse("A08", section["heading"], [f"no order of sentences for {section['given']}"])


def _agree(sentences: list[str]) -> bool:
    long_words = re.findall(r"[a-z]{5,}", " ".join(sentences).lower())
    return len(set(long_words)) == len(long_words) and all(
        one[0] != two[0] for one, two in pairwise(sentences)
    )


def _shared(body: list[str], slip: str) -> bool:
    found = re.findall(r"[a-z]{5,}", " ".join(body).lower())
    return any(word in found for word in re.findall(r"[a-z]{5,}", slip.lower()))


def _points(clean: dict[str, int], sections: int) -> dict[str, float]:
    """Return the rows above zero, from the number of sections that keep each prohibition.

    sections : how many of the first sections stand there, count, and have all facts and form
    """
    rows = {"file_present": 0.25, "structure": 0.25 * sections / SECTIONS}
    rows["facts"] = rows["length_and_sentences"] = sections / SECTIONS
    rows |= {row: POINTS[row] * count / SECTIONS for row, count in clean.items()}
    return {row: round(points, 6) for row, points in rows.items() if points}


def _office_points() -> dict[str, float]:
    clean = {row: SECTIONS - len(OFFICE_BROKEN.get(row, ())) for row in POINTS}
    return _points(clean, sections=SECTIONS)


def _perfect() -> dict[str, float]:
    return _points(dict.fromkeys(POINTS, SECTIONS), sections=SECTIONS)


def _total(rows: dict[str, float]) -> float:
    return round(sum(rows.values()), 6)
