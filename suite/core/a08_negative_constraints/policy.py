"""Replies that are played against a form of A08: goldens, the defective ladder, exploits.

The open form's goldens are prose written by hand. For any other form a golden is put together
from sentences that keep the prohibitions of every form; what is left to search is a choice and
an order in which neighbours begin with different letters and no longer word comes twice.
Points are counted from the number of sections that each text below leaves clean; no grader is
asked.
"""

import random
import re
import tomllib
from itertools import cycle, pairwise
from pathlib import Path

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

MODALS = "will must would could should might"
CAPITALISED = (
    "plover sunday monday tuesday wednesday thursday friday saturday "
    "january march june august october november december"
)
TEXTS = tomllib.loads(Path(__file__).with_name("texts.toml").read_text(encoding="utf-8"))
SHOWS: dict[str, str] = TEXTS["shows"]
SLIPS = [(slip["text"], slip["breaks"]) for slip in TEXTS["slips"]]

FOREIGN = ("\x01", "\u24b6", "\u24d0", "e\u0301", "\x9f", "\ue000")
HARMLESS = ("°", "\t", "", "\xa0", "\x85", "€")
FULL = {9: "clockwork", 10: "lighthouse", 11: "clockmakers"}  # words of so many letters


def sets(form: Form) -> Sets:
    """Return everything that is played against a form, beside the members common to all."""
    first, second = _paragraphs(form, 1), _paragraphs(form, 2)
    return Sets(
        golden=(
            Golden("fenced", _reply(_report(form, first))),
            Golden("tilde", _tilde(_report(form, first))),
            Golden("edges", _reply(_report(form, _edges(form, first)))),
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
    foreign = [f"{text[:-1]} {sign}." for text, sign in zip(golden, FOREIGN, strict=True)]
    scars, of_form = TEXTS["scars"], TEXTS["scars_of_form"]
    one, slips = _points(dict.fromkeys(POINTS, 1), sections=1), _points(clean, sections=SECTIONS)
    ladder: list[tuple[str, list[str], dict[str, float]]] = [
        ("headings", [""] * SECTIONS, {}),
        ("keywords", keywords, {}),
        ("one_section", golden[:1], one),
        ("office_prose", _office(form), _office_points()),
        ("near_miss", slipped, slips),
        ("scars", _scarred(form, golden, scars), _scarred_points(scars)),
        ("scars_of_form", _scarred(form, golden, of_form), _scarred_points(of_form)),
        ("foreign", foreign, {}),
        ("thin", _thin(form, golden), _thin_points()),
    ]
    off = _perfect() | {"structure": 0.25 / SECTIONS}
    return (
        *(Defective(n, _reply(_report(form, t)), r, shows=SHOWS[n]) for n, t, r in ladder),
        Defective(
            "headings_off", _reply(_headings_off(form, golden)), off, shows=SHOWS["headings_off"]
        ),
    )


def _scarred(form: Form, golden: list[str], scars: dict[str, list[str]]) -> list[str]:
    """Write every scar into its section; signs last, so that they stay where they are put."""
    texts = list(golden)
    edits = [(e, row, n) for row, six in scars.items() for n, e in enumerate(six) if e.strip("=")]
    for edit, row, place in sorted(
        edits, key=lambda e: ("<>".find(e[0][0]) >= 0) + 2 * (e[0][0] == "+")
    ):
        text = texts[place]
        body, last = text[:-1].rsplit(" ", 1)
        match edit[0]:
            case "+":
                texts[place] = f"{text[:-1]} {edit[1:]}."
            case "<":
                texts[place] = f"{body} {edit[1:]}{last}."
            case ">":
                texts[place] = f"{body} {last}{edit[1:]}."
            case ":":
                texts[place] = _slipped(form, text, row)
            case _:
                texts[place] = _with(text, edit)
    return texts


def _slipped(form: Form, text: str, row: str) -> str:
    """Break one prohibition of a section, as this form has it."""
    values, sentences = form.values, text.split(". ")
    if row == "length_and_sentences":
        return _filled(text, values["words"][1] + 1)
    if row == "no_long_sentences":
        return _grown(text, values["sentence_words"] + 1)
    if row == "no_article_openings":
        word = next(w for w in values["openings"] if w[0] != sentences[1][0].lower())
        return f"{word.capitalize()} {text}"
    if row == "no_same_initials":
        return f"{text.rpartition('. ')[0]}. {_made_up(sentences[-2][0])} {sentences[-1]}"
    listed = _harmless(form, values["listed"])
    words = {
        "no_person": _harmless(form, values["person"]["words"]),
        "no_listed": listed,
        "no_apostrophe": f"{listed[:2]}-{listed[2:]}",
        "no_be": "be",
        "no_long_words": FULL[values["letters"] + 1],
        "no_repeats": re.findall(r"[A-Za-z]{5,}", text)[0],
    }
    return _with(text, words[row])


def _with(text: str, added: str) -> str:
    """Write a word into the shortest sentence before its last word, or a sentence at the end."""
    sentences = text[:-1].split(". ")
    if added.endswith("."):
        same = added[0] == sentences[-1][0]
        return f"{text} {added.replace(added.split(maxsplit=1)[0], 'Ships') if same else added}"
    if added == "\n\n":
        return text.replace(". ", ".\n\n", 1)
    place = min(range(len(sentences)), key=lambda n: len(sentences[n].split()))
    body, last = sentences[place].rsplit(" ", 1)
    sentences[place] = f"{body} {added} {last}"
    return ". ".join(sentences) + "."


def _harmless(form: Form, words: list[str]) -> str:
    """Return a word that breaks no rule but the one of its list."""
    return next(
        word
        for word in words
        if len(word) > 2
        and not re.search(r"(.)\1", word)
        and not word.endswith(tuple(form.values["suffixes"]))
    )


def _made_up(letter: str) -> str:
    """Return something like a word that begins with a letter."""
    return letter + ("urk" if letter in "oO" else "ork")


def _filled(text: str, words: int) -> str:
    """Fill up a section to a number of words, its shortest sentences first."""
    for word in cycle(("on", "by", "at", "to", "of")):
        if len(text.split()) >= words:
            return text
        text = _with(text, word)
    raise AssertionError


def _grown(text: str, words: int) -> str:
    """Lengthen the longest sentence of a section to a number of words."""
    sentences = text[:-1].split(". ")
    longest = max(sentences, key=lambda sentence: len(sentence.split()))
    return text.replace(longest, _filled(longest + ".", words)[:-1])


def _scarred_points(scars: dict[str, tuple[str, ...]]) -> dict[str, float]:
    clean = {row: SECTIONS - sum(map(bool, scars.get(row, ()))) for row in POINTS}
    rows = _points(clean, sections=SECTIONS)
    formed = SECTIONS - sum(map(bool, scars.get("length_and_sentences", ())))
    return rows | {"length_and_sentences": round(formed / SECTIONS, 6)}


def _edges(form: Form, golden: list[str]) -> list[str]:
    """Return a text that goes to every limit, with signs that nothing forbids."""
    texts = [
        f"{text[:-1]} {sign}." if sign else text
        for text, sign in zip(golden, HARMLESS, strict=True)
    ]
    texts[0] = _grown(texts[0], form.values["sentence_words"])
    texts[1] = _with(texts[1], FULL[form.values["letters"]])
    texts[2] = _filled(golden[2], form.values["words"][1])
    texts[3] = _with(_with(texts[3], "boat"), "boat")
    start = "Boats" if texts[5].rpartition(". ")[2][0] != "B" else "Ships"
    texts[5] += f" {start} lay out at sea."
    return texts


def _thin(form: Form, golden: list[str]) -> list[str]:
    """Return sections with 25 and 24 different words, with two and one given words, and two whole.

    25 stands for what the form asks.
    """
    texts, sections, needed = list(golden), form.values["sections"], form.values["different_words"]
    for place in (0, 1):
        given = sections[place]["given"]
        others = [word for word in re.findall(r"[a-z]+", texts[place].lower()) if word not in given]
        words = [*given, *dict.fromkeys(others)][: needed - place]
        texts[place] = " ".join(words).capitalize() + "."
    for place, kept in ((2, 2), (3, 1)):
        for word in sections[place]["given"][kept:]:
            texts[place] = re.sub(rf"(?i)\b{word}\b", _made_up(word[0]), texts[place])
    return texts


def _thin_points() -> dict[str, float]:
    """Count sections 1, 3, 5 and 6; the first is one long sentence, the third lacks a word."""
    rows = _points(dict.fromkeys(POINTS, 4) | {"no_long_sentences": 3}, sections=4)
    return rows | {"facts": round(11 / 18, 6), "length_and_sentences": 0.5}


def _headings_off(form: Form, golden: list[str]) -> str:
    """Exchange the first two sections, and write three of the other headings otherwise."""
    names = [section["heading"] for section in form.values["sections"]]
    written = [names[1], names[0], names[2].title(), f"{names[3]}:", f"4. {names[4]}", names[5]]
    texts = [golden[1], golden[0], *golden[2:]]
    return "".join(f"{name}\n\n{text}\n\n" for name, text in zip(written, texts, strict=True))


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
        TEXTS["office"][section["kind"]].format(modal=modal, **_slots(section["given"]))
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
        text = TEXTS["open_text" if version == 1 else "open_second_text"]
        return [" ".join(paragraph.split()) for paragraph in text.strip().split("\n\n")]
    rng = generator(form.task, form.family, f"{form.seed}/golden/{version}")
    return [
        _composed(section, slip, rng)
        for section, (slip, _) in zip(form.values["sections"], SLIPS, strict=True)
    ]


def _composed(section: dict, slip: str, rng: random.Random) -> str:
    """Draw sentences until they stand together, with their own end and with the slip as end."""
    slots = _slots(section["given"])
    for _ in range(DRAWS_AT_MOST):
        facts = [rng.choice(choices).format(**slots) for choices in TEXTS["bank"][section["kind"]]]
        *inner, last = rng.sample(TEXTS["fillers"], 3)
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
    clean = {row: SECTIONS - len(TEXTS["office_broken"].get(row, ())) for row in POINTS}
    return _points(clean, sections=SECTIONS)


def _perfect() -> dict[str, float]:
    return _points(dict.fromkeys(POINTS, SECTIONS), sections=SECTIONS)


def _total(rows: dict[str, float]) -> float:
    return round(sum(rows.values()), 6)
