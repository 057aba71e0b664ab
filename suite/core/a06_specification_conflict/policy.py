"""Replies of A06 with known scores: goldens, the defective ladder, exploits.

Points are counted from the weights of the task, not asked of the grader.
"""

import itertools

from harness.suite.forms import (
    Defective,
    Exploit,
    Form,
    Golden,
    Reply,
    Sets,
    dressed,
    misdressed,
)

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
LONGEST = 400  # characters of a value that is read
CONSISTENT = "The specification is consistent.\n"
SHOWS = {
    "no_conflict": "no contradiction seen; the cases under the first reading",
    "typical_3b": "the direct pair without a witness, two false pairs, three cases",
    "pairs_only": "three pairs and nothing else",
    "near_miss": "the derived contradiction is not found, all else is right",
    "cries_wolf": "everything right, and three exceptions called contradictions",
    "no_proof": "inputs on which the contradiction does not matter, or not alone",
    "misread": "right values with something around them that makes them none",
    "misdressed": "right numbers, each written as another one or as none",
    "unread": "a value that is too long, and inputs outside the domain",
    "wolf_pack": "one contradiction and all five exceptions",
    "patchwork": "another part of every row",
}
UNITS = {"length": "m", "pallets": "pallets", "power": "kW"}  # of the size, by its name

Lines = dict[str, str]


def sets(form: Form) -> Sets:
    """Return everything that is played against a form beside the members common to all tasks."""
    return Sets(golden=_goldens(form), defective=_defectives(form), exploits=_exploits(form))


def _goldens(form: Form) -> tuple[Golden, ...]:
    return (
        Golden("bare", Reply(_text(_only(form, "")))),
        Golden("prose", Reply(_prose(_other_order(form)))),
        Golden("table", Reply(_table(_only(form, "")))),
        Golden("dressed", Reply(_text(_dressed(form)))),
        Golden("edges", Reply(_text(_edges(form)))),
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


def _dressed(form: Form) -> Lines:
    """Return right lines in every dress that is read, with lines between them that name no pair."""
    items, spare = form.values["inputs"], form.values["spare"]
    name, days, unit = items[0]["name"], items[1]["high"], UNITS[items[0]["name"]]
    (a, b), (c, d), (e, f) = (conflict["sections"] for conflict in form.values["conflicts"])
    proofs = _in_order(form, _plain_fees(form, items[0]["low"], days))
    numbers = {key: fee for key, fee in proofs.items() if not key.startswith("CONFLICT")}
    words = spare["defined"]["text"].replace(",", "").replace(" yes", " y", 1)
    return {
        "CONFLICT 1": f"({a}, {b})",
        "CONFLICT 2": f"sections {c} and {d}",
        "CONFLICT 3": f"{e} / {f} as they stand ".ljust(LONGEST, "x"),
        "CONFLICT 4": f"{b} / {a}",  # again, and the lowest number gives the witness
        "CONFLICT 5": f"{c} / {c}",
        "CONFLICT 6": f"{a}, {c} and {f}",
        "WITNESS 1": f"({name.capitalize()}: {items[0]['low']} {unit}; DAYS = {days} days | kind is"
        f" {items[2]['words'][2]}, {items[3]['name']} n and {items[4]['name']} false(prepaid no).)",
        "WITNESS 2": words.replace(" yes", " true", 1),
        "WITNESS 3": spare["derived"]["text"].replace(", days", f"{unit}, days", 1),
        **dressed({**numbers, **_cases(form, conflict=False)}),
        **_open_lines(
            form,
            "{0:05,}|{1:05,} by {2}",
            "$ ${0}$ / ${1}$ by #{2}$",
            "{1}; {0} (by conflict {2})",
            "{1} or {0}, by {2}",
            "{0} and {1} [by CONFLICT {2}]",
            "{0}, {1} by{2}",
        ),
    }


def _edges(form: Form) -> Lines:
    """Return witnesses at the limits of size and days, with fees worked out for these alone."""
    t, items = form.values["t"], form.values["inputs"]
    edge, kinds, names = t["edge"], items[2]["words"], [item["name"] for item in items]
    rates = (t["base"] + t["step"] * (edge - t["limit"])) // 2, t["fixed"]
    reduced = [rate * (edge + 1) * (100 - t["club_percent"]) // 100 for rate in rates]
    fees = [left + t["due"] + t["charge"] for left in reduced]
    return {
        **_in_order(form, _plain_fees(form, t["limit"], edge), (fees[0], fees[1])),
        "WITNESS 1": _witness(form, t["limit"], edge, kinds[2]),
        "WITNESS 2": _witness(form, edge, edge + 1, kinds[1], names[3], names[4]),
        "WITNESS 3": form.values["spare"]["derived"]["text"],
        **_only(form, "CASE"),
    }


def _in_order(form: Form, *fees: tuple[int, int]) -> Lines:
    """Return pairs in the order of the reference, with these fees and then those of the spares."""
    lines = {}
    for k, conflict in enumerate(form.values["conflicts"], start=1):
        both = fees[k - 1] if k <= len(fees) else form.values["spare"][conflict["name"]]["fees"]
        lines[f"CONFLICT {k}"] = " / ".join(conflict["sections"])
        lines |= {f"FIRST {k}": str(both[0]), f"SECOND {k}": str(both[1])}
    return lines


def _open_lines(form: Form, *dresses: str) -> Lines:
    """Return the open cases, each in a dress: {0} and {1} are the fees, {2} the contradiction."""
    cases = [case for case in form.values["cases"] if case["conflict"]]
    numbers = [CONFLICTS.index(case["conflict"]) + 1 for case in cases]
    return {
        f"CASE {case['number']}": dress.format(*case["fees"], k, k % 3 + 1)
        for case, k, dress in zip(cases, numbers, dresses, strict=True)
    }


def _plain_fees(form: Form, size: int, days: int) -> tuple[int, int]:
    """Return the two fees of a guest without season, club or prepayment: free days, every day."""
    t = form.values["t"]
    rate = t["base"] + t["step"] * max(0, size - t["limit"])
    added = t["due"] + (t["charge"] if days > t["edge"] else 0)
    return rate * max(0, days - t["free"]) + added, rate * days + added


def _witness(form: Form, size: object, days: object, kind: object, *yes: str) -> str:
    """Write an input; of the last three items those that are named are yes."""
    names = [item["name"] for item in form.values["inputs"]]
    said = [f"{name} {'yes' if name in yes else 'no'}" for name in names[3:]]
    return ", ".join([f"{names[0]} {size}", f"days {days}", f"kind {kind}", *said])


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
    return true / len(CONFLICTS) * max(0, 1 - false / 3)


def _near_miss(form: Form) -> Lines:
    """Leave out the derived contradiction, which is number 3, and its two open cases."""
    lost = [f"{word} 3" for word in ("CONFLICT", "WITNESS", "FIRST", "SECOND")]
    lost += [f"CASE {c['number']}" for c in form.values["cases"] if c["conflict"] == "derived"]
    return {key: value for key, value in _only(form, "").items() if key not in lost}


def _no_proof(form: Form) -> Lines:
    """Return right pairs with inputs that are read and prove nothing."""
    t, (size, _, kind, season, club, _) = form.values["t"], form.values["inputs"]
    low, second = size["low"], kind["words"][1]
    due = str(t["due"])
    return {
        **_only(form, "CONFLICT"),
        # Without a charged day the discounts do not matter, with every day they do.
        "WITNESS 1": _witness(form, low, 1, kind["words"][2], club["name"], "prepaid"),
        "WITNESS 2": _witness(form, low, 2, second, season["name"]),
        "WITNESS 3": _witness(form, low, 2, second),
        **{f"{word} {k}": due for word in ("FIRST", "SECOND") for k in (1, 2, 3)},
    }


def _misread(form: Form) -> Lines:
    """Return right values around which something stands that makes them none."""
    right = _only(form, "CONFLICT", "WITNESS", "FIRST", "SECOND")
    size, _, late = right["WITNESS 3"].split(", ", 2)
    return {
        **right,
        "WITNESS 1": "input: " + right["WITNESS 1"],
        "WITNESS 2": right["WITNESS 2"] + ", " + right["WITNESS 2"].rpartition(", ")[2],
        "WITNESS 3": f"{size}, days {form.values['inputs'][1]['high'] + 1}, {late}",
        **_open_lines(
            form,
            "{0} | {1} by {2} or so",
            "{0}",
            "{0} | {1}1 by {2}",
            "{0} | {1}",
            "{0} | {1} by {3}",
            "{1} | {0} by {2}",
        ),
    }


def _unread(form: Form) -> Lines:
    """Return the direct pair in a value too long to be read, and two inputs outside the domain."""
    right = _only(form, "CONFLICT", "FIRST", "SECOND")
    right["CONFLICT 1"] = (right["CONFLICT 1"] + " as they stand ").ljust(LONGEST + 1, "x")
    kind = form.values["inputs"][2]["words"][1]
    return right | {
        "WITNESS 2": _witness(form, form.values["t"]["limit"], 5, "other"),
        "WITNESS 3": _witness(form, "many", 5, kind),
    }


def _wolf_pack(form: Form) -> Lines:
    """Return the direct pair and all five decoys; its witness is too small for the domain."""
    size, _, kind, *_ = form.values["inputs"]
    scope = form.values["at"]["scope"]  # it stands beside the decoy that is a single section
    parts = [conflict["sections"] for conflict in form.values["conflicts"][:1]]
    parts += [(decoy["sections"] + [scope])[:2] for decoy in form.values["decoys"]]
    free, every = _plain_fees(form, size["low"] - 1, 9)
    return {
        **{f"CONFLICT {k}": " / ".join(part) for k, part in enumerate(parts, start=1)},
        "WITNESS 1": _witness(form, size["low"] - 1, 9, kind["words"][2]),
        "FIRST 1": str(free),
        "SECOND 1": str(every),
    }


def _patchwork(form: Form) -> Lines:
    """Return another part of every row."""
    lines = _only(form, "")
    off = ["FIRST 2", "FIRST 3", "SECOND 3", *list(_cases(form, conflict=False))[:2]]
    lines |= {key: str(int(lines[key]) + 1) for key in off}
    lost, *unnamed = list(_cases(form, conflict=True))[:4]
    lines |= {key: lines[key].partition(" by")[0] for key in unnamed}
    return {key: value for key, value in lines.items() if key != lost}


def _misdressed(form: Form) -> Lines:
    """Return everything right but the whole numbers."""
    numbers = _only(form, "FIRST", "SECOND") | _cases(form, conflict=False)
    return _only(form, "") | misdressed(numbers)


def _defectives(form: Form) -> tuple[Defective, ...]:
    right, determined, decoys = _only(form, ""), _cases(form, conflict=False), _decoys(form)
    alarms = {f"CONFLICT {k}": pair for k, pair in enumerate(decoys[:3], start=4)}
    weak = {"CONFLICT 1": right["CONFLICT 1"], "CONFLICT 2": decoys[0], "CONFLICT 3": decoys[1]}
    weak |= dict(list(determined.items())[:3])
    all_right = dict.fromkeys(POINTS, 1.0)
    pairs = {**dict.fromkeys(CONFLICTS, PAIR), "restraint": _restraint(3, 0)}
    proved = dict.fromkeys(CONFLICTS, PAIR + WITNESS)
    near = {**all_right, "derived": 0, "restraint": _restraint(2, 0)}
    near |= {"open_cases": 4 / OF_A_KIND, "attribution": 4 / OF_A_KIND}
    weak_share = {"direct": PAIR, "restraint": _restraint(1, 2), "determined_cases": 3 / OF_A_KIND}
    patches = {**proved, "direct": 1, "defined": PAIR + 2 * WITNESS, "restraint": 1}
    patches |= {"determined_cases": 4 / OF_A_KIND, "open_cases": 5 / OF_A_KIND}
    lines_and_shares: dict[str, tuple[Lines, dict[str, float]]] = {
        "no_conflict": (_first_reading(form), {"determined_cases": 1}),
        "typical_3b": (weak, weak_share),
        "pairs_only": (_only(form, "CONFLICT"), pairs),
        "near_miss": (_near_miss(form), near),
        "cries_wolf": ({**right, **alarms}, {**all_right, "restraint": _restraint(3, 3)}),
        "no_proof": (_no_proof(form), pairs),
        "misread": (
            _misread(form),
            {**pairs, "open_cases": 3 / OF_A_KIND, "attribution": 1 / OF_A_KIND},
        ),
        "misdressed": (_misdressed(form), {**all_right, **proved, "determined_cases": 0}),
        "unread": (_unread(form), {**pairs, "direct": 0, "restraint": _restraint(2, 0)}),
        "wolf_pack": (_wolf_pack(form), {"direct": PAIR, "restraint": _restraint(1, 5)}),
        "patchwork": (_patchwork(form), {**patches, "attribution": 2 / OF_A_KIND}),
    }
    return tuple(
        Defective(
            name,
            Reply(CONSISTENT * (name == "no_conflict") + _text(lines)),
            {row: POINTS[row] * share for row, share in shares.items() if share},
            shows=SHOWS[name],
        )
        for name, (lines, shares) in lines_and_shares.items()
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
