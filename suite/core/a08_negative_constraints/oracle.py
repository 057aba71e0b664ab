"""Second method of A08: reads the rendered prompt, scans a report sign by sign, scores it.

Shares nothing with `form.py` and `grader.py`. What is asked is taken from the prompt's
sentences, and a report is read by one walk over its characters instead of by patterns. Only
the points of the rows are not in the prompt; they stand here as the specification gives them.
"""

import itertools
import string
import unicodedata
from dataclasses import dataclass, field

LETTERS = frozenset(string.ascii_letters)
EASY, MEDIUM, HARD = 0.3, 0.8, 1.6
POINTS = {
    "no_digits": EASY,
    "no_shout": EASY,
    "no_colon_dash": EASY,
    "no_quotes": EASY,
    "no_person": EASY,
    "no_listed": MEDIUM,
    "no_be": MEDIUM,
    "no_apostrophe": MEDIUM,
    "no_long_words": MEDIUM,
    "no_long_sentences": MEDIUM,
    "no_suffix": HARD,
    "no_article_openings": HARD,
    "no_same_initials": HARD,
    "no_repeats": HARD,
    "no_double_letters": HARD,
}


# ---------------------------------------------------------------- what the prompt asks


def answers(prompt: str) -> dict[str, str]:
    """Return what a prompt asks, item by item, in canonical text."""
    headings = _between(prompt, "The six headings are ", ".").split(", ")
    given = {
        f"given.{heading}": " ".join(_between(prompt, f"\n- {heading}: ", "\n").split(", "))
        for heading in headings
    }
    shape = _between(prompt, "stands one paragraph of ", ".").split()
    return {
        "headings": " ".join(headings),
        **given,
        "words": f"{shape[0]}-{shape[2]}",
        "sentences": f"{shape[5]}-{shape[7]}",
        "least_words": _between(prompt, "Every sentence has at least ", " words"),
        "linking": _list(_between(prompt, "The linking words are: ", ".")),
        "marks": _between(_rule(prompt, 4), "none of ", " and no apostrophe"),
        "person": _list(_after_colon(_rule(prompt, 5))),
        "listed": _list(_after_colon(_rule(prompt, 6))),
        "be": _list(_after_colon(_rule(prompt, 7))),
        "letters": _between(_rule(prompt, 9), "more than ", " letters"),
        "sentence_words": _between(_rule(prompt, 10), "more than ", " words"),
        "suffixes": _list(_after_colon(_rule(prompt, 11))),
        "openings": _list(_after_colon(_rule(prompt, 12))),
        "repeat_letters": _between(_rule(prompt, 14), "No word of ", " or more"),
        "given_needed": _between(prompt, "contains at least ", " of its three"),
        "different_words": _between(prompt, "given words and at least ", " different"),
    }


def _between(text: str, start: str, end: str) -> str:
    behind = text.split(start, 1)[1]
    return behind.split(end, 1)[0]


def _rule(prompt: str, number: int) -> str:
    return _between(prompt, f"\n{number}. ", "\n")


def _after_colon(rule: str) -> str:
    return rule.rsplit(": ", 1)[1].rstrip(".")


def _list(text: str) -> str:
    return " ".join(item.strip() for item in text.split(","))


# ---------------------------------------------------------------- what a report holds


@dataclass
class Scan:
    """What one walk over a section's characters finds.

    words : (letters only, as it stands), in small letters
    sentences : for each, the indexes of its words
    paragraphs : pieces with a word between empty lines
    loose : hyphens and apostrophes that do not stand between two letters
    """

    words: list[tuple[str, str]] = field(default_factory=list)
    sentences: list[list[int]] = field(default_factory=list)
    paragraphs: int = 0
    loose: list[str] = field(default_factory=list)
    signs: set[str] = field(default_factory=set)


def _scan(body: str, joints: str) -> Scan:
    scan = Scan()
    text = "\n" + body + "\n"  # a walk with a neighbour on either side
    word, stop, words_here = "", False, 0
    sentence: list[int] = []
    for before, sign, behind in zip(text, text[1:], text[2:] + "\n", strict=False):
        scan.signs.add(sign)
        joint = sign in joints and before in LETTERS and behind in LETTERS
        if sign in LETTERS or joint:
            word += sign.lower()
        elif word:
            sentence.append(len(scan.words))
            words_here += 1
            scan.words.append(("".join(c for c in word if c in LETTERS), word))
            word = ""
        if sign in joints and not joint:
            scan.loose.append(sign)
        if stop and sign.isspace():
            scan.sentences.append(sentence)
            sentence = []
        stop = sign == "."
    scan.sentences = [s for s in [*scan.sentences, sentence] if s]
    scan.paragraphs = _paragraphs(body)
    return scan


def _paragraphs(body: str) -> int:
    count, inside = 0, False
    for line in body.split("\n"):
        if not line.strip():
            inside = False
        elif not inside and any(sign in LETTERS for sign in line):
            count, inside = count + 1, True
    return count


def _only_word(line: str) -> str:
    """Return the line's only word in capitals, "" if it has none or several."""
    scan = _scan(line, "'\u2019-\u2010\u2011")
    return scan.words[0][1].upper() if len(scan.words) == 1 else ""


def _split(text: str, headings: list[str]) -> list[tuple[str, str, str]]:
    """Return (heading, its line, the text below) of every first section, in their order."""
    found: dict[str, list[str]] = {}
    open_heading = None
    for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n"):
        name = _only_word(line)
        if name in headings:
            open_heading = None if name in found else name
            if open_heading:
                found[name] = [line]
        elif open_heading:
            found[open_heading].append(line)
    return [(name, lines[0], "\n".join(lines[1:])) for name, lines in found.items()]


def _is_stray(sign: str) -> bool:
    """Return whether a sign is a letter beyond A to Z, an accent, or invisible."""
    if sign.isspace() or sign in LETTERS:
        return False
    kind = unicodedata.category(sign)
    drawn_letter = kind == "So" and (sign.isupper() or sign.islower())
    return sign.isalpha() or kind[0] == "M" or kind in ("Cc", "Cf", "Co", "Cs") or drawn_letter


# ---------------------------------------------------------------- the points


def score(prompt: str, text: str) -> dict[str, float]:
    """Return row → points of a report, from the prompt that it answers."""
    asked = answers(prompt)
    headings = asked["headings"].split()
    written = _split(text, headings)
    order = [name for name, _, _ in written]
    points = dict.fromkeys(("file_present", "structure", "facts", "length_and_sentences"), 0.0)
    points |= dict.fromkeys(POINTS, 0.0)
    for name, line, body in written:
        scan = _scan(body, "'\u2019-\u2010\u2011")
        given = asked[f"given.{name}"].split()
        there = [word for word in given if any(word == stands for _, stands in scan.words)]
        if (
            len(there) < int(asked["given_needed"])
            or len({letters for letters, _ in scan.words}) < int(asked["different_words"])
            or any(map(_is_stray, scan.signs))
        ):
            continue
        points["file_present"] = 0.25
        in_place = headings.index(name) == order.index(name)
        if in_place and "".join(c for c in line if c not in "#*" and not c.isspace()) == name:
            points["structure"] += 0.25 / 6
        points["facts"] += len(there) / 18
        points["length_and_sentences"] += _well_shaped(scan, asked) / 6
        for row_id in POINTS.keys() - _broken(scan, asked):
            points[row_id] += POINTS[row_id] / 6
    return points


def _well_shaped(scan: Scan, asked: dict[str, str]) -> bool:
    linking = asked["linking"].split()

    def inside(count: int, bounds: str) -> bool:
        least, most = bounds.split("-")
        return int(least) <= count <= int(most)

    return (
        inside(len(scan.words), asked["words"])
        and inside(len(scan.sentences), asked["sentences"])
        and scan.paragraphs == 1
        and all(
            len(sentence) >= int(asked["least_words"])
            and any(scan.words[i][0] in linking for i in sentence)
            for sentence in scan.sentences
        )
    )


def _broken(scan: Scan, asked: dict[str, str]) -> set[str]:
    """Return the prohibitions that a section breaks."""
    words = [letters for letters, _ in scan.words]
    firsts = [words[sentence[0]] for sentence in scan.sentences]
    long_ones = sorted(word for word in words if len(word) >= int(asked["repeat_letters"]))
    broken = {
        "no_digits": any(sign.isnumeric() and not sign.isalpha() for sign in scan.signs),
        "no_shout": not scan.signs.isdisjoint("?!"),
        "no_colon_dash": not scan.signs.isdisjoint(":;\u2012\u2013\u2014\u2015")
        or any(sign not in "'\u2019" for sign in scan.loose),
        "no_quotes": not scan.signs.isdisjoint(asked["marks"].split())
        or any(sign in "'\u2019" for sign in scan.loose),
        "no_person": _share(words, asked["person"]),
        "no_listed": _share(words, asked["listed"]),
        "no_be": _share(words, asked["be"]),
        "no_apostrophe": any(letters != stands for letters, stands in scan.words),
        "no_long_words": max(map(len, words)) > int(asked["letters"]),
        "no_long_sentences": max(map(len, scan.sentences)) > int(asked["sentence_words"]),
        "no_suffix": any(
            word[-len(end) :] == end for word in words for end in asked["suffixes"].split()
        ),
        "no_article_openings": _share(firsts, asked["openings"]),
        "no_same_initials": any(a[0] == b[0] for a, b in itertools.pairwise(firsts)),
        "no_repeats": any(a == b for a, b in itertools.pairwise(long_ones)),
        "no_double_letters": any(letter * 2 in word for word in words for letter in word),
    }
    return {row_id for row_id, is_broken in broken.items() if is_broken}


def _share(words: list[str], listed: str) -> bool:
    return not set(words).isdisjoint(listed.split())
