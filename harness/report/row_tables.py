"""An analysis → the tables of rows, repairs, ends, noise, controls and machines."""

from dataclasses import replace

from harness.report.analysis import Analysis, LevelAnalysis
from harness.report.analysis.parts import HygieneModel
from harness.report.analysis.tasks import RowFacts
from harness.report.level_tables import cell_anchor
from harness.report.sources import CAMPAIGN, Sources, of_model, of_task
from harness.report.view import Column, Entry, Line, Table, word
from harness.report.wording import counted, number, percent, rank_text, readable, sigma_text
from harness.stats.checks import CheckFacts

ROWS = (
    Column("Row", numeric=False),
    Column("Points"),
    Column("Mean share"),
    Column("State", numeric=False, about="live rows still tell models apart"),
    Column("Unseen", about="what was never seen and may still be so often, one-sided 95 %"),
    Column("With the rest", about="sign of the correlation with the rest of the total"),
)


def rows(level: LevelAnalysis, sources: Sources) -> Table:
    """Return every row with what it still measures."""
    models = [s.model for s in level.standings]
    lines = []
    for row in level.rows:
        entries = [*_row(level, row, sources)]
        passes = {r.model: r for r in row.repeats}
        for model in models:
            found = passes.get(model)
            text = "–" if found is None else f"{found.passes}/{found.runs}"
            entry = sources.number(
                f"{level.level}.row.{row.task}.{row.row}.{model}",
                None if found is None else float(found.passes),
                text,
                *of_task(level, row.task, model),
            )
            entries.append(replace(entry, link=cell_anchor(model, row.task)))
        lines.append(Line(tuple(entries), doubt=row.hatched))
    return Table(
        f"rows-{level.level}",
        "Every row: what it still measures, and in how many runs each model got all of it",
        (*ROWS, *(Column(model) for model in models)),
        tuple(lines),
    )


def _row(level: LevelAnalysis, row: RowFacts, sources: Sources) -> tuple[Entry, ...]:
    facts = row.facts
    files = of_task(level, row.task)
    name = f"{level.level}.row.{row.task}.{row.row}"
    points = Entry(f"{row.max_points:g}", row.max_points)
    if facts is None:
        none = sources.number(f"{name}.rate", None, "–", *files)
        return (word(f"{row.task}.{row.row}"), points, none, word("never scored"), word("–"), none)
    bound = None if facts.bound is None else facts.bound
    return (
        word(f"{row.task}.{row.row}"),
        points,
        sources.number(f"{name}.rate", facts.rate, percent(facts.rate), *files),
        word(facts.state),
        sources.number(
            f"{name}.bound", bound, "–" if bound is None else f"≤ {percent(bound)}", *files
        ),
        sources.number(f"{name}.discrimination", *_discrimination(facts), *of_model(level)),
    )


def _discrimination(facts: CheckFacts) -> tuple[float | None, str]:
    """Return value and text; of a screening only the sign is given away."""
    value = facts.discrimination
    if value is None:
        return None, "–"
    if facts.screening_only:
        return (1.0 if value > 0 else -1.0 if value < 0 else 0.0), facts.sign.replace("-", "−")
    return value, f"{value:+.2f}".replace("-", "−")


REPAIRS = (
    Column("Model", numeric=False),
    Column("Runs touched"),
    Column("Mean as it came"),
    Column("Mean repaired"),
    Column("σ as it came"),
    Column("σ repaired"),
    Column("Ranks as it came"),
    Column("Ranks repaired"),
    Column("Leans on repair", numeric=False),
)


def repairs(level: LevelAnalysis, sources: Sources) -> Table | None:
    """Return both scorings of every model; None where nothing was repaired."""
    found = level.hygiene
    if found is None or not found.kinds:
        return None
    notes = [f"Repairs by kind: {counted(found.kinds)}; {found.touched_runs} run(s) touched."]
    test = found.sigma_test
    if test is not None:
        answer = f"No test: {test.refused}" if test.p is None else f"p = {test.p:.3f}, two-sided"
        notes.append(f"Does repair change the deviation between runs? {answer}.")
    return Table(
        f"repairs-{level.level}",
        "With repairs, which is the headline, and without",
        REPAIRS,
        tuple(_repaired(level, model, sources) for model in found.models),
        tuple(notes),
    )


def _repaired(level: LevelAnalysis, m: HygieneModel, sources: Sources) -> Line:
    def of(name: str, value: float | None, text: str) -> Entry:
        made_from = of_model(level, m.model)
        return sources.number(f"{level.level}.repairs.{m.model}.{name}", value, text, *made_from)

    both = (("as_is", m.found.as_is), ("repaired", m.found.repaired))
    ranks = (("as_is", m.as_is_ranks), ("repaired", m.repaired_ranks))
    return Line(
        (
            word(m.model),
            of("touched", float(m.found.touched), f"{m.found.touched}"),
            *(of(f"mean_{n}", s.mean, number(s.mean)) for n, s in both),
            *(of(f"sigma_{n}", s.sd, sigma_text(s)) for n, s in both),
            *(of(f"ranks_{n}", float(r.low) if r else None, rank_text(r)) for n, r in ranks),
            word("yes" if m.moved else "no"),
        )
    )


def ledger(level: LevelAnalysis, sources: Sources) -> Table | None:
    """Return the rows that repair moved; they add up to the change of the totals."""
    if level.hygiene is None or not level.hygiene.ledger:
        return None
    lines = tuple(
        Line(
            (
                word(line.model),
                word(f"{line.task}.{line.row}"),
                sources.number(
                    f"{level.level}.ledger.{line.model}.{line.task}.{line.row}",
                    line.delta,
                    f"{line.delta:+.2f}".replace("-", "−"),
                    *of_task(level, line.task, line.model),
                ),
            )
        )
        for line in level.hygiene.ledger
    )
    columns = (Column("Model", False), Column("Row", False), Column("Moved by"))
    caption = "Rows that repair moved, summed over complete runs, points"
    return Table(f"ledger-{level.level}", caption, columns, lines)


def endings(level: LevelAnalysis, sources: Sources) -> Table:
    """Return how the cells of every model ended: by themselves, at a ceiling, or not at all."""
    kinds = sorted({e.ended for e in level.endings}, key=lambda k: (k != "complete", k))
    counts = {(e.model, e.ended): e.cells for e in level.endings}

    def cost(model: str, name: str, value: float | None, decimals: int) -> Entry:
        shown = None if value is None else float(value)
        made_from = of_model(level, model)
        name = f"{level.level}.cost.{model}.{name}"
        return sources.number(name, shown, number(shown, decimals), *made_from)

    lines = tuple(
        Line(
            (
                word(s.model),
                *(
                    sources.number(
                        f"{level.level}.ended.{s.model}.{kind}",
                        float(counts.get((s.model, kind), 0)),
                        f"{counts.get((s.model, kind), 0)}",
                        *of_model(level, s.model),
                    )
                    for kind in kinds
                ),
                cost(s.model, "tokens", s.tokens, 0),
                cost(s.model, "seconds_per_run", s.seconds_per_run, 1),
            )
        )
        for s in level.standings
    )
    columns = (
        Column("Model", numeric=False),
        *(Column(readable(kind)) for kind in kinds),
        Column("Tokens out"),
        Column("Seconds per run"),
    )
    caption = "How cells ended, and what they cost; neither changes points"
    return Table(f"endings-{level.level}", caption, columns, lines)


CUTS = (
    Column("Model", numeric=False),
    Column("Run"),
    Column("Cells lost"),
    Column("±, further runs", about="half-width of the interval of its mean, 95 %, points"),
    Column("± with all runs", about="about what it would be with every run, at the same noise"),
    Column("Why", numeric=False),
)


def cuts(level: LevelAnalysis, sources: Sources) -> Table | None:
    """Return what the deadline cut and what it costs; None where it cut nothing."""
    if not level.cuts:
        return None
    lines = []
    for n, cut in enumerate(level.cuts):
        name, files = f"{level.level}.cut.{n}.{cut.model}.{cut.run}", of_model(level)
        lines.append(
            Line(
                (
                    word(cut.model),
                    Entry(f"{cut.run}", cut.run),
                    sources.number(f"{name}.cells", float(cut.cells), f"{cut.cells}", *files),
                    sources.number(f"{name}.half", cut.half, number(cut.half, 1), *files),
                    sources.number(
                        f"{name}.whole", cut.half_whole, number(cut.half_whole, 1), *files
                    ),
                    word(cut.why or "–"),
                )
            )
        )
    caption = "Runs that the deadline cut, and what they cost in width"
    note = "A cut run is missing, never a zero. It was left out by the clock, not by its points"
    return Table(f"cuts-{level.level}", caption, CUTS, tuple(lines), (note,))


def noise(level: LevelAnalysis, sources: Sources) -> Table | None:
    """Return how many observations a total is worth."""
    found = level.noise
    if found is None:
        return None
    every = of_model(level)
    facts = found.effective
    named: tuple[tuple[str, str, float | None, int], ...] = (
        ("checks", "Rows", float(facts.checks), 0),
        ("by_weight", "worth, by weight alone", facts.by_weight, 1),
        ("effective", "worth, with the correlation inside tasks", facts.effective, 1),
        ("live", "worth, of those alone that still tell models apart", facts.live, 1),
        ("sigma", "σ of a run, pooled over models, points", found.sigma, 2),
        ("low", "its 95 % interval, from", found.low, 2),
        ("high", "to", found.high, 2),
        ("coins", "as many coin-flip checks as noisy", found.translation.coin_checks, 2),
    )
    lines = tuple(
        Line((word(text), sources.number(f"{level.level}.noise.{n}", v, number(v, d), *every)))
        for n, text, v, d in named
    )
    columns = (Column("What", numeric=False), Column("Number"))
    return Table(
        f"noise-{level.level}",
        "How many observations a total is worth",
        columns,
        lines,
        (found.sentence,) if found.sentence else (),
    )


def controls(analysis: Analysis, sources: Sources) -> Table | None:
    """Return the controls, which are never ranked."""
    if not analysis.controls:
        return None
    lines = []
    for c in analysis.controls:
        name = f"control.{c.source}.{c.player}.{c.run}".replace("..", ".")
        place = "/".join(p for p in (c.source, c.player, f"run_{c.run}") if p)
        lines.append(
            Line(
                (
                    word(c.player),
                    Entry(f"{c.run}", c.run),
                    sources.number(name, c.points, number(c.points), place),
                    Entry(number(c.must_be), c.must_be),
                    sources.number(f"{name}.unscored", float(c.unscored), f"{c.unscored}", place),
                    word("holds" if c.holds else "DOES NOT HOLD"),
                )
            )
        )
    columns = (
        Column("Control", numeric=False),
        Column("Run"),
        Column("Points"),
        Column("Must be"),
        Column("Unscored"),
        Column("", numeric=False),
    )
    caption = "Known players behind the same channel; never ranked"
    return Table("controls", caption, columns, tuple(lines))


def hosts(analysis: Analysis) -> Table | None:
    """Return where every run was made."""
    if not analysis.hosts:
        return None
    columns = tuple(
        Column(t, numeric=t == "Run") for t in ("Player", "Run", "Host", "Machine", "Engine")
    )
    lines = tuple(
        Line(
            (
                word(h.player),
                Entry(f"{h.run}", h.run),
                word(h.host),
                word(h.machine),
                word(h.engine),
            )
        )
        for h in analysis.hosts
    )
    caption = f"Where runs were made, from {CAMPAIGN} and RUN_INFO.json"
    return Table("hosts", caption, columns, lines)
