"""Replies of A06 with known scores: goldens, the defective ladder, exploits.

Points are counted from the weights of the task, not asked of the grader.
"""

import itertools

from harness.suite.forms import Defective, Exploit, Form, Golden, Reply, Sets

POINTS = {
    "direct": 2.0,
    "defined": 2.5,
    "derived": 3.5,
    "restraint": 2.0,
    "determined_cases": 2.5,
    "open_cases": 2.5,
    "attribution": 1.0,
}
CONFLICTS = ("direct", "defined", "derived")
PAIR, WITNESS = 0.4, 0.2  # shares of a contradiction's row; each of its two fees has 0.2
OF_A_KIND = 6  # cases that are determined, and cases that are open

Lines = dict[str, str]


def sets(form: Form) -> Sets:
    """Return everything that is played against a form beside the members common to all tasks."""
    return Sets(golden=_goldens(form), defective=_defectives(form), exploits=_exploits(form))


def _goldens(form: Form) -> tuple[Golden, ...]:
    return (
        Golden("bare", Reply(_text(_only(form, "")))),
        Golden("prose", Reply(_prose(_other_order(form)))),
        Golden("table", Reply(_table(_only(form, "")))),
    )


def _text(lines: Lines) -> str:
    return "".join(f"{key} = {value}\n" for key, value in lines.items())


def _other_order(form: Form) -> Lines:
    """Return right answers numbered and ordered otherwise, with other witnesses.

    The sections of each pair stand as the switches of the reference have them, turned around.
    """
    lines, number = {}, {"derived": "1", "direct": "2", "defined": "3"}
    conflicts = form.values["conflicts"]
    for name, k in number.items():
        first, second = next(c["sections"] for c in conflicts if c["name"] == name)
        spare = form.values["spare"][name]
        lines |= {
            f"CONFLICT {k}": f"§{second} – §{first}",
            f"WITNESS {k}": "; ".join(reversed(spare["text"].split(", "))),
            f"FIRST {k}": f"{spare['fees'][1]:,}",
            f"SECOND {k}": f"{spare['fees'][0]:,}",
        }
    for case in form.values["cases"]:
        fees = " or ".join(str(fee) for fee in case["fees"])
        by = f" by CONFLICT {number[case['conflict']]}" if case["conflict"] else ""
        lines[f"CASE {case['number']}"] = fees + by
    return lines


def _prose(lines: Lines) -> str:
    """Write worked text around the lines, which stand in a fence, with emphasis and CRLF."""
    said = "".join(f"**{key}:** {value}\n" for key, value in lines.items())
    text = (
        "I read the tariff chapter by chapter and compared what each section fixes.\n\n"
        "The exceptions that name the section they depart from are none of the three.\n"
        f"With one section of a pair struck, every fee follows.\n\n```\n{said}```\n"
    )
    return text.replace("\n", "\r\n")


def _table(lines: Lines) -> str:
    """Write a table in which the last case stands wrong first and is corrected at the end."""
    escaped = {key: value.replace("|", "\\|") for key, value in lines.items()}
    rows = [(key, "1" if key == "CASE 12" else value) for key, value in escaped.items()]
    rows.append(("CASE 12", escaped["CASE 12"]))
    head = "| Key | Value |\n| --- | --- |\n"
    return head + "".join(f"| {key} | {value} |\n" for key, value in rows)


def _only(form: Form, *words: str) -> Lines:
    """Return the right lines whose key begins with one of the words, in the order asked."""
    right = [key for key in form.keys if key in form.answers]
    return {key: form.answers[key] for key in right if key.startswith(words)}


def _cases(form: Form, *, conflict: bool) -> Lines:
    """Return the right lines of the open or of the determined cases."""
    keys = [f"CASE {case['number']}" for case in form.values["cases"] if case["conflict"]]
    return {k: v for k, v in _only(form, "CASE").items() if (k in keys) == conflict}


def _first_reading(form: Form) -> Lines:
    """Return one fee for every case, as if the first section of each pair held."""
    return {f"CASE {case['number']}": str(case["fees"][0]) for case in form.values["cases"]}


def _decoys(form: Form) -> list[str]:
    """Return the decoys that are a pair of sections."""
    parts = [decoy["sections"] for decoy in form.values["decoys"]]
    return [" / ".join(part) for part in parts if len(part) == 2]


def _restraint(true: int, false: int) -> float:
    return POINTS["restraint"] * true / len(CONFLICTS) * max(0, 1 - false / 3)


def _near_miss(form: Form) -> Lines:
    """Leave out the derived contradiction, which is number 3, and its two open cases."""
    lost = [f"{word} 3" for word in ("CONFLICT", "WITNESS", "FIRST", "SECOND")]
    lost += [f"CASE {c['number']}" for c in form.values["cases"] if c["conflict"] == "derived"]
    return {key: value for key, value in _only(form, "").items() if key not in lost}


def _defectives(form: Form) -> tuple[Defective, ...]:
    determined, decoys = _cases(form, conflict=False), _decoys(form)
    alarms = {f"CONFLICT {k}": pair for k, pair in enumerate(decoys[:3], start=4)}
    weak = {"CONFLICT 1": form.answers["CONFLICT 1"]}
    weak |= {"CONFLICT 2": decoys[0], "CONFLICT 3": decoys[1]}
    weak |= dict(list(determined.items())[:3])
    pairs = {name: PAIR * POINTS[name] for name in CONFLICTS}
    four, half = 4 / OF_A_KIND, 3 / OF_A_KIND
    return (
        Defective(
            "no_conflict",
            Reply("The specification is consistent.\n" + _text(_first_reading(form))),
            {"determined_cases": POINTS["determined_cases"]},
            shows="no contradiction seen; the cases under the first reading",
        ),
        Defective(
            "typical_3b",
            Reply(_text(weak)),
            {
                "direct": PAIR * POINTS["direct"],
                "restraint": _restraint(1, 2),
                "determined_cases": half * POINTS["determined_cases"],
            },
            shows="the direct pair without a witness, two false pairs, three cases",
        ),
        Defective(
            "pairs_only",
            Reply(_text(_only(form, "CONFLICT"))),
            {**pairs, "restraint": _restraint(3, 0)},
            shows="three pairs and nothing else",
        ),
        Defective(
            "near_miss",
            Reply(_text(_near_miss(form))),
            {
                "direct": POINTS["direct"],
                "defined": POINTS["defined"],
                "restraint": _restraint(2, 0),
                "determined_cases": POINTS["determined_cases"],
                "open_cases": four * POINTS["open_cases"],
                "attribution": four * POINTS["attribution"],
            },
            shows="the derived contradiction is not found, all else is right",
        ),
        Defective(
            "cries_wolf",
            Reply(_text({**_only(form, ""), **alarms})),
            {name: points for name, points in POINTS.items() if name != "restraint"},
            shows="everything right, and three exceptions called contradictions",
        ),
    )


def _exploits(form: Form) -> tuple[Exploit, ...]:
    sections = list(form.values["at"].values())
    every = dict(enumerate(itertools.combinations(sorted(sections), 2), start=1))
    all_pairs = {f"CONFLICT {k}": f"{a} / {b}" for k, (a, b) in every.items() if k <= 300}
    twice = {
        f"CASE {c['number']}": f"{c['fees'][0]} | {c['fees'][-1] + 10 * (not c['conflict'])}"
        for c in form.values["cases"]
    }
    pairs = _only(form, "CONFLICT")
    share = sum(PAIR * POINTS[name] for name in CONFLICTS)
    same = {f"WITNESS {k}": form.values["all_three"] for k in (1, 2, 3)}
    fees = _only(form, "FIRST", "SECOND")
    swapped = {key: " / ".join(reversed(pair.split(" / "))) for key, pair in pairs.items()}
    swapped |= _only(form, "WITNESS", "FIRST", "SECOND")
    return (
        Exploit(
            "all_pairs",
            Reply(_text(all_pairs)),
            PAIR * POINTS["derived"],
            "declares 300 pairs; six are read, and false ones empty the row of restraint",
        ),
        Exploit(
            "always_two",
            Reply(_text(twice)),
            0.0,
            "gives two fees for every case, where two are right the right ones, and no pair",
        ),
        Exploit(
            "one_witness",
            Reply(_text({**pairs, **same, **fees})),
            share + POINTS["restraint"],
            "one input on which all three contradictions matter, used as every witness",
        ),
        Exploit(
            "swapped",
            Reply(_text(swapped)),
            (PAIR + WITNESS) / PAIR * share + POINTS["restraint"],
            "turns the sections of each pair and leaves the two fees where they were",
        ),
    )
