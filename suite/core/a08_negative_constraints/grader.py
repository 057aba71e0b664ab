"""Grader of A08: fifteen prohibitions, counted only in sections that do their work.

Executes the deliverable: no. Reads: report.txt. What a word, a sentence and a section are is
said in the prompt in the same terms. Each row but `file_present` and `facts` is six equal
observations, one per section; a section that does not count loses each of them, because a text
that is empty or says next to nothing would otherwise keep every prohibition.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

from harness.grading import (
    Deliverable,
    Verdict,
    failed,
    observed,
    passed,
    per_deliverable,
    row,
    weighted,
)

FILE = "report.txt"
APOSTROPHES = "'\u2019"
HYPHENS = "\u2010\u2011-"  # the plain one last, as a character class wants it
DASHES = "\u2012\u2013\u2014\u2015"
WORD = re.compile(rf"[A-Za-z]+(?:[{APOSTROPHES}{HYPHENS}][A-Za-z]+)*")
INNER_MARK = re.compile(rf"[{APOSTROPHES}{HYPHENS}]")
LOOSE_HYPHEN = re.compile(rf"(?<![A-Za-z])[{HYPHENS}]|[{HYPHENS}](?![A-Za-z])")
LOOSE_APOSTROPHE = re.compile(rf"(?<![A-Za-z])[{APOSTROPHES}]|[{APOSTROPHES}](?![A-Za-z])")
SENTENCE_END = re.compile(r"(?<=\.)\s+")
PARAGRAPH_END = re.compile(r"\n\s*\n")
SHOWN = 4  # findings that a reason names


@dataclass(frozen=True)
class Section:
    """One section of the report.

    text : what stands below its heading
    words : as they stand, in small letters; `letters_of` takes their marks away
    sentences : the words of each sentence
    line : the heading's line, "" if there is none
    place : how many other sections begin before it
    given : its given words
    lack : why it does not count, "" if it does
    """

    heading: str
    text: str
    words: tuple[str, ...]
    sentences: tuple[tuple[str, ...], ...]
    line: str
    place: int
    given: tuple[str, ...]
    lack: str


Finding = Callable[[Section, Deliverable], list[str]]


def words_of(text: str) -> tuple[str, ...]:
    return tuple(word.lower() for word in WORD.findall(text))


def letters_of(word: str) -> str:
    return INNER_MARK.sub("", word)


def sentences_of(text: str) -> tuple[tuple[str, ...], ...]:
    pieces = (words_of(piece) for piece in SENTENCE_END.split(text))
    return tuple(piece for piece in pieces if piece)


def foreign_signs(text: str) -> list[str]:
    """Return the letters, accents and invisible characters that no section may have."""
    return [sign for sign in dict.fromkeys(text) if _is_foreign(sign)]


def _is_foreign(sign: str) -> bool:
    if sign.isascii():
        return unicodedata.category(sign) == "Cc" and not sign.isspace()
    category = unicodedata.category(sign)
    circled = category == "So" and (sign.isupper() or sign.islower())
    invisible = category in {"Cc", "Cf", "Co", "Cs"} and not sign.isspace()
    return category[0] in "LM" or circled or invisible


@per_deliverable
def sections(work: Deliverable) -> list[Section]:
    """Return the six sections in the order they are asked in, whether they are there or not."""
    asked = [section["heading"] for section in work.values["sections"]]
    text = work.files.get(FILE, "").replace("\r\n", "\n").replace("\r", "\n")
    bodies: dict[str, list[str]] = {}
    lines: dict[str, str] = {}
    body: list[str] = []
    for line in text.split("\n"):
        words = words_of(line)
        heading = words[0].upper() if len(words) == 1 else ""
        if heading in asked:
            body = []
            bodies.setdefault(heading, body)
            lines.setdefault(heading, line)
        else:
            body.append(line)
    order = list(bodies)
    return [
        _section(
            work,
            section,
            "\n".join(bodies.get(section["heading"], [])).strip(),
            lines.get(section["heading"], ""),
            order,
        )
        for section in work.values["sections"]
    ]


def _section(work: Deliverable, asked: dict, text: str, line: str, order: list[str]) -> Section:
    heading, given = asked["heading"], tuple(asked["given"])
    words = words_of(text)
    there = sum(word in words for word in given)
    different = len(set(map(letters_of, words)))
    foreign = foreign_signs(text)
    lack = ""
    if heading not in order:
        lack = "no such section"
    elif there < work.values["given_needed"]:
        lack = f"{there} of {len(given)} given words"
    elif different < work.values["different_words"]:
        lack = f"{different} different words, {work.values['different_words']} needed"
    elif foreign:
        lack = "the character " + ", ".join(f"U+{ord(sign):04X}" for sign in foreign[:SHOWN])
    place = order.index(heading) if heading in order else -1
    return Section(heading, text, words, sentences_of(text), line, place, given, lack)


def over_sections(work: Deliverable, find: Finding) -> Verdict:
    """Return one observation per section: it counts, and nothing was found in it."""
    found = []
    for section in sections(work):
        if section.lack:
            credit, reason = 0, f"does not count: {section.lack}"
        else:
            findings = find(section, work)
            credit, reason = int(not findings), "found " + ", ".join(findings[:SHOWN])
        found.append(observed(section.heading, credit, 1 / 6, "" if credit else reason))
    return weighted(found)


def signs(section: Section, banned: str) -> list[str]:
    return [sign for sign in dict.fromkeys(section.text) if sign in banned]


def words_among(section: Section, banned: list[str]) -> list[str]:
    return [word for word in section.words if letters_of(word) in banned]


@row("file_present")
def file_present(work: Deliverable) -> Verdict:
    if FILE not in work.files:
        return failed(f"no {FILE}")
    if all(section.lack for section in sections(work)):
        return failed("no section of it counts")
    return passed(f"{FILE} with at least one section that counts")


@row("structure")
def structure(work: Deliverable) -> Verdict:
    places = {s["heading"]: place for place, s in enumerate(work.values["sections"])}

    def misplaced(section: Section, _: Deliverable) -> list[str]:
        findings = []
        if not re.fullmatch(rf"[\s#*]*{section.heading}[\s#*]*", section.line):
            findings.append(f"the line {section.line.strip()!r}")
        if section.place != places[section.heading]:
            findings.append(f"place {section.place + 1}, not {places[section.heading] + 1}")
        return findings

    return over_sections(work, misplaced)


@row("facts")
def facts(work: Deliverable) -> Verdict:
    found = []
    for section in sections(work):
        for word in section.given:
            credit = int(word in section.words and not section.lack)
            reason = f"does not count: {section.lack}" if section.lack else "missing"
            found.append(
                observed(f"{section.heading}.{word}", credit, 1 / 18, "" if credit else reason)
            )
    return weighted(found)


@row("length_and_sentences")
def length_and_sentences(work: Deliverable) -> Verdict:
    return over_sections(work, _misshapen)


def _misshapen(section: Section, work: Deliverable) -> list[str]:
    asked = work.values
    paragraphs = sum(bool(words_of(p)) for p in PARAGRAPH_END.split(section.text))
    findings = [
        f"{count} {name}"
        for name, count, (least, most) in (
            ("words", len(section.words), asked["words"]),
            ("sentences", len(section.sentences), asked["sentences"]),
            ("paragraphs", paragraphs, (1, 1)),
        )
        if not least <= count <= most
    ]
    for number, sentence in enumerate(section.sentences, 1):
        if len(sentence) < asked["least_words"]:
            findings.append(f"{len(sentence)} words in sentence {number}")
        if not any(letters_of(word) in asked["linking"] for word in sentence):
            findings.append(f"no linking word in sentence {number}")
    return findings


@row("no_digits")
def no_digits(work: Deliverable) -> Verdict:
    return over_sections(
        work, lambda s, _: [sign for sign in s.text if unicodedata.category(sign)[0] == "N"]
    )


@row("no_shout")
def no_shout(work: Deliverable) -> Verdict:
    return over_sections(work, lambda s, _: signs(s, "?!"))


@row("no_colon_dash")
def no_colon_dash(work: Deliverable) -> Verdict:
    return over_sections(work, lambda s, _: signs(s, ":;" + DASHES) + LOOSE_HYPHEN.findall(s.text))


@row("no_quotes")
def no_quotes(work: Deliverable) -> Verdict:
    marks = "".join(work.values["marks"])
    return over_sections(work, lambda s, _: signs(s, marks) + LOOSE_APOSTROPHE.findall(s.text))


@row("no_person")
def no_person(work: Deliverable) -> Verdict:
    return over_sections(work, lambda s, w: words_among(s, w.values["person"]["words"]))


@row("no_listed")
def no_listed(work: Deliverable) -> Verdict:
    return over_sections(work, lambda s, w: words_among(s, w.values["listed"]))


@row("no_be")
def no_be(work: Deliverable) -> Verdict:
    return over_sections(work, lambda s, w: words_among(s, w.values["be"]))


@row("no_apostrophe")
def no_apostrophe(work: Deliverable) -> Verdict:
    return over_sections(work, lambda s, _: [word for word in s.words if not word.isalpha()])


@row("no_long_words")
def no_long_words(work: Deliverable) -> Verdict:
    limit = work.values["letters"]
    return over_sections(
        work, lambda s, _: [word for word in s.words if len(letters_of(word)) > limit]
    )


@row("no_long_sentences")
def no_long_sentences(work: Deliverable) -> Verdict:
    limit = work.values["sentence_words"]
    return over_sections(
        work, lambda s, _: [f"{len(words)} words" for words in s.sentences if len(words) > limit]
    )


@row("no_suffix")
def no_suffix(work: Deliverable) -> Verdict:
    endings = tuple(work.values["suffixes"])
    return over_sections(
        work, lambda s, _: [word for word in s.words if letters_of(word).endswith(endings)]
    )


@row("no_article_openings")
def no_article_openings(work: Deliverable) -> Verdict:
    banned = work.values["openings"]
    return over_sections(
        work, lambda s, _: [words[0] for words in s.sentences if letters_of(words[0]) in banned]
    )


@row("no_same_initials")
def no_same_initials(work: Deliverable) -> Verdict:
    return over_sections(
        work,
        lambda s, _: [
            f"{one[0]} and {two[0]}" for one, two in pairwise(s.sentences) if one[0][0] == two[0][0]
        ],
    )


@row("no_repeats")
def no_repeats(work: Deliverable) -> Verdict:
    least = work.values["repeat_letters"]
    return over_sections(
        work,
        lambda s, _: [
            word
            for word, times in Counter(map(letters_of, s.words)).items()
            if times > 1 and len(word) >= least
        ],
    )


@row("no_double_letters")
def no_double_letters(work: Deliverable) -> Verdict:
    return over_sections(
        work, lambda s, _: [word for word in s.words if re.search(r"(.)\1", letters_of(word))]
    )
