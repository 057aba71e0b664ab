"""What a report says, from end results small enough to be added up by hand."""

import pytest
from finals import final_of
from pydantic import ValidationError

from harness.cli.tables import show_report
from harness.records.campaign import (
    EMPTY_CONTROL,
    GOLDEN_CONTROL,
    CampaignPlan,
    CampaignRecord,
    CellMetrics,
    ChangedRow,
    Final,
    FinalCell,
    PlannedModel,
)
from harness.records.score import (
    CellKey,
    ModelCause,
    Observation,
    Repair,
    RowScore,
    ScoreSheet,
    Stamps,
    Unscored,
    UnscoredCause,
)
from harness.report.render import markdown
from harness.report.tables import lost_rows, model_rows, task_rows
from harness.report.wording import sigma_sentence

MAXIMUM = {"A04": 18.0, "A08": 16.0}
SECRET = "seat 3 is Ana, read 'Bea'"
STAMPS = Stamps(
    arnes_version="1.0",
    profile="core",
    signature="a" * 64,
    run_side="b" * 64,
    score_side="c" * 64,
    parts={},
)


def key(model: str, run: int, task: str) -> CellKey:
    return CellKey(model=model, run=run, task=task, form_id="f")


def row(name: str, points: float, of: float) -> RowScore:
    lost = Observation(key=name, credit=points / of, weight=1.0, reason=SECRET)
    return RowScore(
        id=name,
        points=points,
        max_points=of,
        fraction=points / of,
        reason="",
        observations=(lost,) if points < of else (),
    )


def scored(
    model: str,
    run: int,
    task: str,
    lost: float = 0.0,
    *,
    flags: tuple[str, ...] = (),
    cause: ModelCause | None = None,
    repaired: float = 0.0,
    metrics: CellMetrics | None = None,
) -> FinalCell:
    """Return a cell with two rows: `first` loses points, `second` never does."""
    half = MAXIMUM[task] / 2
    rows = (row("first", half - lost, half), row("second", half, half))
    as_is = (row("first", half - lost - repaired, half), row("second", half, half))
    sheet = ScoreSheet(
        cell=key(model, run, task),
        points=MAXIMUM[task] - lost,
        max_points=MAXIMUM[task],
        points_as_is=MAXIMUM[task] - lost - repaired,
        rows=rows,
        rows_as_is=as_is if repaired else None,
        repairs=(Repair(file="a.py", kind="add_init_file", detail=""),) if repaired else (),
        flags=flags,
        cause=cause,
        evidence=f"{model} {run} {task}",
        stamps=STAMPS,
    )
    return FinalCell(outcome=sheet, metrics=metrics or CellMetrics())


def missing(model: str, run: int, task: str, cause: UnscoredCause = "not_run") -> FinalCell:
    outcome = Unscored(cell=key(model, run, task), cause=cause, stamps=STAMPS)
    return FinalCell(outcome=outcome, metrics=CellMetrics())


def final(
    *cells: FinalCell,
    controls: tuple[str, ...] = (),
    form: str = "open",
    problems: tuple[str, ...] = (),
    changed: tuple[ChangedRow, ...] = (),
) -> Final:
    models = dict.fromkeys(c.outcome.cell.model for c in cells)
    planned = tuple(PlannedModel(id=m, backend="external") for m in models if m not in controls)
    campaign = CampaignRecord(
        name="small",
        created_at="2026-01-01T00:00:00+00:00",
        plan=CampaignPlan(name="small", models=planned),
        runs=max(c.outcome.cell.run for c in cells),
        tasks=tuple(MAXIMUM),
        subset=True,
        controls=controls,
        form=form,
        forms=dict.fromkeys(MAXIMUM, "f"),
        open_form=form == "open",
        stamps=STAMPS,
    )
    return Final(
        campaign=campaign,
        stamps=STAMPS,
        max_points=MAXIMUM,
        cells=cells,
        problems=problems,
        changed=changed,
        files={},
    )


def test_one_model_of_one_run_has_its_total_and_no_spread() -> None:
    """34 points less 2 are 32; one run says nothing of σ, and one model has no rank."""
    text = markdown(final(scored("m", 1, "A04", 2.0), scored("m", 1, "A08")))
    assert "| Model | Mean of 34 |" in text
    assert "| m | 32.00 | one run: not estimable | 1 |" in text
    assert "One model has no rank." in text
    assert "1 run of A04, A08, begun 2026-01-01 00:00 UTC, asked in the open form." in text


def test_the_maximum_is_that_of_all_tasks_also_where_run_1_lacks_one() -> None:
    """A mean of 34 points never stands under a maximum of 16."""
    result = final(
        missing("m", 1, "A04", "no_first_byte"),
        scored("m", 1, "A08"),
        scored("m", 2, "A04"),
        scored("m", 2, "A08"),
    )
    (line,) = model_rows(result)
    assert (line.max_points, line.totals, line.unscored) == (34.0, {2: 34.0}, {"no_first_byte": 1})
    text = markdown(result)
    assert "Mean of 34" in text
    assert "| A04 | m | 18 | unscored (no first byte) | 18.00 |" in text
    assert "1 no first byte" in text


def test_a_model_that_never_ran_has_a_dash_and_the_maximum_of_the_tasks() -> None:
    """No score is not a number: neither nan nor a mean of 0 points."""
    result = final(missing("m", 1, "A04"), missing("m", 1, "A08"))
    text = markdown(result)
    assert "nan" not in text
    assert "Mean of 34" in text
    assert "| m | – | no complete run | 0 |" in text
    assert "No run is complete: nothing has a total." in text
    assert [line.max_points for line in task_rows(result)] == [18.0, 16.0]
    assert "Nowhere, in the cells that have a score." in text


def test_two_models_stand_by_falling_mean_with_their_tokens() -> None:
    """The better one first, each with its own cost: 30 tokens in 2 s are 15 a second."""
    cost = CellMetrics(prompt_tokens=1000, completion_tokens=30, generation_s=2.0)
    result = final(
        scored("a", 1, "A04", 3.0, metrics=cost),
        scored("a", 1, "A08"),
        scored("b", 1, "A04", 1.0),
        scored("b", 1, "A08", cause="truncated"),
    )
    assert [line.player for line in model_rows(result)] == ["b", "a"]
    text = markdown(result)
    assert "| 1,000 | 30 | 15.0 |" in text
    assert "16.00 (truncated)" in text
    assert "The order above is by mean alone" in text


def test_rows_that_lost_nothing_are_not_listed_as_losses() -> None:
    """Where points were lost: only there, and as the mean over the runs."""
    result = final(
        *(
            scored("m", run, task)
            for run in (1, 2)
            for task in MAXIMUM
            if (run, task) != (2, "A04")
        ),
        scored("m", 2, "A04", 3.0),
    )
    (line,) = lost_rows(result)
    assert (line.task, line.row, line.mean, line.max_points) == ("A04", "first", 7.5, 9.0)


def test_repairs_are_shown_with_the_mean_as_it_came() -> None:
    """A score is never shown without its repairs: 32 repaired, 27 as it came."""
    text = markdown(final(scored("m", 1, "A04", 2.0, repaired=5.0), scored("m", 1, "A08")))
    assert "| m | 1 add init file | 32.00 | one run: not estimable | 27.00 |" in text


def test_flags_are_counted_and_move_nothing() -> None:
    """Integrity flags stand in the report by player, with the sentence that points are apart."""
    flagged = final(
        scored("m", 1, "A04", flags=("two-finals",)),
        scored("m", 1, "A08", flags=("stop-leak", "two-finals")),
    )
    text = markdown(flagged)
    assert "| m | 1 stop-leak, 2 two-finals |" in text
    assert "They never change points." in text
    plain = markdown(final(scored("m", 1, "A04"), scored("m", 1, "A08")))
    assert "## Flags" not in plain
    assert "| m | 34.00 |" in text
    assert "| m | 34.00 |" in plain


@pytest.mark.parametrize(
    ("form", "redact", "shown"),
    [
        ("open", None, True),
        ("open", True, False),
        ("0123456789ab", None, False),
        ("0123456789ab", False, True),
    ],
)
def test_reasons_are_shown_only_where_they_are_not_redacted(
    form: str, redact: bool | None, shown: bool
) -> None:
    """A private form's answers are in no report unless somebody asks for them."""
    result = final(scored("m", 1, "A04", 2.0), scored("m", 1, "A08"), form=form)
    text = markdown(result, redact=redact)
    assert (SECRET in text) == shown
    assert ("Commonest reason" in text) == shown
    assert "| m | A04 | first | 7.00 | 9 |" in text
    assert ("open form" if form == "open" else f"private form {form}") in text


def test_what_does_not_hold_stands_before_everything_else() -> None:
    """A control that went wrong is read before any number."""
    result = final(
        scored("m", 1, "A04"),
        scored("m", 1, "A08"),
        scored(GOLDEN_CONTROL, 1, "A04", 1.0),
        scored(GOLDEN_CONTROL, 1, "A08"),
        missing(EMPTY_CONTROL, 1, "A04"),
        missing(EMPTY_CONTROL, 1, "A08"),
        controls=(GOLDEN_CONTROL, EMPTY_CONTROL),
        problems=("control-golden run 1 A04: 17 points, must be 18",),
    )
    text = markdown(result)
    assert text.index("This result does not hold") < text.index("## Models")
    assert text.index("17 points, must be 18") < text.index("## Models")
    assert "| control-golden | 33.00 | 34.00 | – |" in text
    assert "| control-empty | – | 0.00 | 2 not run |" in text


def test_a_campaign_without_controls_says_so() -> None:
    """What nobody checked is not passed over in silence."""
    text = markdown(final(scored("m", 1, "A04"), scored("m", 1, "A08")))
    assert "**No controls were played:**" in text
    assert "## Controls" not in text
    assert "does not hold" not in text


def test_a_moved_row_is_listed_with_both_values_and_its_parts() -> None:
    """A score that came or went is a dash, never a zero."""
    moved = ChangedRow(
        cell=key("m", 1, "A04"), row="first", before=None, after=9.0, parts=("graders", "rows")
    )
    text = markdown(final(scored("m", 1, "A04"), scored("m", 1, "A08"), changed=(moved,)))
    assert "| m | 1 | A04 | first | – | 9.00 | graders, rows |" in text


def test_the_terminal_shows_problems_tokens_form_and_flags(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Whoever reads no Markdown misses nothing that matters."""
    cost = CellMetrics(prompt_tokens=1234, completion_tokens=56, generation_s=2.0)
    show_report(
        final(
            scored("m", 1, "A04", flags=("two-finals",), metrics=cost),
            missing("m", 1, "A08", "no_sandbox"),
            form="0123456789ab",
            problems=("control-golden run 1 A04: 17 points, must be 18",),
        )
    )
    shown = capsys.readouterr().out
    assert shown.startswith("DOES NOT HOLD: control-golden run 1 A04")
    assert "mean of 34 points" in shown
    assert "1,234" in shown
    assert "28.0" in shown
    assert "private form 0123456789ab" in shown
    assert "Flags of m, which never change points: 1 two-finals" in shown
    assert "unscored (no sandbox)" in shown
    assert "nan" not in shown


def test_an_end_result_without_its_maxima_is_none() -> None:
    """A mean whose maximum is unknown is never printed."""
    whole = final(scored("m", 1, "A04"), scored("m", 1, "A08")).model_dump(mode="json")
    del whole["max_points"]
    with pytest.raises(ValidationError, match="max_points"):
        Final.model_validate(whole)


def test_the_warning_of_few_runs_is_of_every_number_of_runs() -> None:
    """The same words as on the page: a model that lost a run is known less well."""
    shares = {"whole": [[0.5, 0.6, 0.9, 0.7]], "cut": [[0.4, 0.5, 0.1, None]]}
    told = sigma_sentence(model_rows(final_of(shares, {"A01": 100.0})))
    assert "From 4 runs, sigma is known only to between 0.57 and 3.73 times" in told
    assert "From 3 runs, sigma is known only to between half and six times" in told
