"""Grader of A11: which of eight mutants the delivered tests find, and how many tests are right.

Executes the deliverable: yes, in the sandbox. Reads: test_charges.py. The tests call a stub; the
module, three times the original, six equal copies and the mutants answer from elsewhere. How a
detection is told from chance is in `harness/grading/mutation.py`.
"""

from fractions import Fraction

from harness.grading import (
    Deliverable,
    Matrix,
    MethodRules,
    Observation,
    Subject,
    Verdict,
    failed,
    kill_matrix,
    loads_clean,
    method_rules,
    observed,
    passed,
    per_deliverable,
    row,
    weighted,
)

PARTS = 10  # of the whole length of the suite, for the observations of valid_suite
SHOWN = 3


def subject_of(work: Deliverable) -> Subject:
    values = work.values
    bill = values["functions"][-1]
    return Subject(
        module=values["module"],
        functions=values["functions"],
        original=values["original"],
        mutants=values["mutants"],
        equal=values["equal"],
        probes=[(bill, probe) for probe in values["probes"]],
        budget=values["budget"],
        seconds=values["seconds"],
    )


def rules_of(work: Deliverable, text: str) -> MethodRules:
    return method_rules(work.bench, text, work.values["module"], work.values["functions"])


@per_deliverable
def matrix(work: Deliverable) -> Matrix:
    """Return what the tests find; nothing for a file that is missing or does not compile."""
    file = work.values["file"]
    if file not in work.files:
        return Matrix(note=f"not delivered: {file}")
    rules = rules_of(work, work.files[file])
    if not rules.compiles:
        return Matrix(note=f"{file} does not compile")
    name = file.removesuffix(".py")
    return kill_matrix(work.bench, work.seat, name, subject_of(work), rules)


@row("files_present")
def files_present(work: Deliverable) -> Verdict:
    file, module = work.values["file"], work.values["module"]
    if file not in work.delivered:
        return failed(f"not delivered: {file}")
    rules = rules_of(work, work.delivered[file])
    if not rules.uses_module:
        return failed(f"no test method of a TestCase in {file} uses anything of {module}")
    return passed(f"{file} was delivered, and its test methods use {module}")


@row("syntax_valid")
def syntax_valid(work: Deliverable) -> Verdict:
    return loads_clean(work, [work.values["file"]])


@row("valid_suite")
def valid_suite(work: Deliverable) -> Verdict:
    """Lay the methods side by side over ten equal parts: a part's credit is what is valid of it.

    So the ten credits sum to ten times the share of valid methods, exactly, for any number.
    """
    found = matrix(work)
    parts = [_part(found, number) for number in range(PARTS)]
    mutants = len(work.values["mutants"])
    because = f"{len(found.valid)} of {len(found.found)} test methods are valid"
    verdict = weighted(parts, _with(found, because))
    gate = f"{len(found.kills)} of {mutants} mutants were found"
    return verdict.gated(len(found.kills) / mutants, gate).flagged(*found.flags)


@row("plain_mutants")
def plain_mutants(work: Deliverable) -> Verdict:
    return _kills(work, "P")


@row("subtle_mutants")
def subtle_mutants(work: Deliverable) -> Verdict:
    return _kills(work, "S")


def _part(found: Matrix, number: int) -> Observation:
    """Return one tenth of the suite: the methods in it, each by the share that lies inside."""
    count = len(found.found)
    covered, lost = Fraction(0), []
    for place, test in enumerate(found.found):
        begin = max(Fraction(place, count), Fraction(number, PARTS))
        end = min(Fraction(place + 1, count), Fraction(number + 1, PARTS))
        if end <= begin:
            continue
        if test in found.excluded:
            lost.append(f"{test.partition('.')[2]} {found.excluded[test]}")
        else:
            covered += end - begin
    reason = "; ".join(lost[:SHOWN]) or ("" if covered else "no test method")
    return observed(f"tenth_{number + 1}", float(covered * PARTS), 1 / PARTS, reason)


def _kills(work: Deliverable, kind: str) -> Verdict:
    found = matrix(work)
    slots = [slot for slot in work.values["mutants"] if slot.startswith(kind)]
    seen = []
    for slot in slots:
        killers = found.kills.get(slot, ())
        reason = f"found by {killers[0].partition('.')[2]}" if killers else "not found"
        seen.append(observed(slot, int(bool(killers)), 1 / len(slots), reason))
    because = f"{sum(o.credit == 1 for o in seen)} of {len(slots)} mutants were found"
    return weighted(seen, _with(found, because))


def _with(found: Matrix, because: str) -> str:
    return f"{because} ({found.note})" if found.note else because
