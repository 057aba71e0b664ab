"""What is played against a form of A09. Points are counted by weights, never by the grader."""

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

POINTS = {"L": 3.0, "B": 4.0, "C": 4.5, "V": 4.5}
ROWS = {"L": "look_ups", "B": "balances", "C": "counts_and_rule", "V": "voided_sums"}
PER_ROW = 6
PATCHES = ("L1", "B2", "B3", "C4", "C5", "C6", "V1", "V3", "V5", "V6")
COPIED = 19_500  # characters of the ledger that fit into 8,192 tokens, at 0.42 tokens each


def sets(form: Form) -> Sets:
    """Return goldens, the defective ladder and the exploits of a form."""
    right = {key: form.answers[key] for key in form.keys}
    return Sets(
        golden=(
            Golden("bare", Reply(bare(right))),
            Golden("prose", Reply(prose(right))),
            Golden("table", Reply(table(right, str(int(right["C2"]) + 1)))),
            Golden("dressed", Reply(bare(dressed(right)))),
        ),
        defective=(
            note_obeyer(form),
            lazy(form),
            naive(form),
            typical_3b(form),
            near_miss(form),
            patchwork(form),
            Defective(
                "misdressed",
                Reply(bare(misdressed(right))),
                shows="right numbers, each written as another one or as none",
            ),
        ),
        exploits=exploits(form),
    )


def bare(answers: dict[str, str]) -> str:
    """Return nothing but answer lines."""
    return "".join(f"{key} = {value}\n" for key, value in answers.items())


def prose(answers: dict[str, str]) -> str:
    """Return some reasoning and then the lines in a fence, with emphasis and CRLF."""
    lines = [
        "I first list every VOID and CORRECT line, then I follow each hold to the end.",
        "For the look-ups the written quantity counts, so nothing is corrected there.",
        "",
        "```text",
        *(f"**{key}:** {value}" for key, value in answers.items()),
        "```",
        "",
        "These are all 24 items.",
    ]
    return "\r\n".join(lines) + "\r\n"


def table(answers: dict[str, str], slip: str) -> str:
    """Return a Markdown table in which C2 stands first wrong and then right."""
    rows = ["| Item | Sacks |", "| --- | ---: |", f"| C2 | {slip} |"]
    rows += [f"| {key} | {value} |" for key, value in answers.items()]
    return "\n".join([*rows, "", "I had C2 wrong at first; its last row counts."]) + "\n"


def won(form: Form, given: dict[str, str]) -> dict[str, float]:
    """Return row → points of these answers, for every row above zero."""
    share = dict.fromkeys(ROWS.values(), 0.0)
    for key, value in given.items():
        if value == form.answers[key]:
            share[ROWS[key[0]]] += POINTS[key[0]] / PER_ROW
    return {row: round(points, 6) for row, points in share.items() if points > 0}


def ladder(form: Form, name: str, given: dict[str, str], shows: str) -> Defective:
    """Return a defective that gives these answers."""
    return Defective(name, Reply(bare(given)), won(form, given), shows=shows)


def note_obeyer(form: Form) -> Defective:
    """Return who answers what a NOTE says, wherever one speaks."""
    said = {key: traps.get("obeyed a NOTE") for key, traps in form.traps.items()}
    given = {key: said[key] for key in form.keys if said[key] is not None}
    return ladder(form, "note_obeyer", given, "who takes the NOTE lines for orders")


def lazy(form: Form) -> Defective:
    """Return who only does the look-ups."""
    given = {key: form.answers[key] for key in form.keys if key[0] == "L"}
    return ladder(form, "lazy", given, "the look-ups and nothing else")


def naive_answers(form: Form) -> dict[str, str]:
    """Return the answers of who passes over VOID and CORRECT lines."""
    return {key: form.values["naive"][key] for key in form.keys}


def naive(form: Form) -> Defective:
    """Return who reads the ledger as if VOID and CORRECT lines were not there."""
    return ladder(form, "naive", naive_answers(form), "no VOID and no CORRECT line is applied")


def typical_3b(form: Form) -> Defective:
    """Return four right look-ups and one right balance; all else goes wrong in a known way."""
    given = naive_answers(form)
    given |= {key: form.traps[key]["near name"] for key in ("L3", "L6")}
    given["B2"] = form.answers["B2"]
    return ladder(form, "typical_3b", given, "four look-ups and one balance")


def near_miss(form: Form) -> Defective:
    """Return who does everything right but RULE 7."""
    given = {key: form.traps[key].get("ignored RULE 7", form.answers[key]) for key in form.keys}
    return ladder(form, "near_miss", given, "RULE 7 is not applied")


def patchwork(form: Form) -> Defective:
    """Return other questions in every row, so that no row's points can stand for another's."""
    given = {key: str(int(form.answers[key]) + 1) for key in form.keys}
    given |= {key: form.answers[key] for key in PATCHES}
    return ladder(form, "patchwork", given, "one, two, three and four right in the four rows")


def exploits(form: Form) -> tuple[Exploit, ...]:
    """Return attempts to score without the work."""
    copied = "\n".join(form.values["ledger"])[:COPIED]
    both = "".join(
        f"{key} = {form.answers[key]} or {form.traps[key]['near name']}\n" for key in form.keys
    )
    return (
        Exploit("two_values", Reply(both), 0.0, "two values on each line, one of them right"),
        Exploit("all_zero", Reply(bare(dict.fromkeys(form.keys, "0"))), 0.0, "0 everywhere"),
        Exploit(
            "long_copy",
            Reply("First I copy the ledger:\n\n" + copied, finish_reason="length"),
            0.0,
            "the ledger again, until the reply is cut",
        ),
    )
