"""What stands beside the pictures: the question each answers, and how to read it."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Caption:
    """Words of one picture.

    name : of its file, and of its anchor on the page
    question : what it answers
    reading : how to read it, and what it does not say
    needs : field of the analysis it is drawn from, for the reason where it cannot be drawn
    nothing : the reason where the analysis gives none
    """

    name: str
    title: str
    question: str
    reading: str
    needs: str
    nothing: str = "There is nothing to draw."


CAPTIONS = (
    Caption(
        name="forest",
        title="Ranking",
        question="Who is sustained above whom?",
        reading=(
            "The thick bar holds for further runs of these tasks, the thin one under it for "
            "further tasks of their kind. Lines across separate tiers. Whether two bars overlap is "
            "not the test: the pair matrix is. A hatched rank rests on something under doubt."
        ),
        needs="standings",
    ),
    Caption(
        name="runs",
        title="Run to run",
        question="Is the spread the schedule (parallel lines) or the model (crossing)?",
        reading=(
            "Each line is one run number, from model to model, around each model's own mean. A run "
            "that a model did not complete breaks its line."
        ),
        needs="standings",
        nothing="No model has two complete runs.",
    ),
    Caption(
        name="pairs",
        title="Pairs",
        question="What exactly may I claim?",
        reading=(
            "Column minus row, points, with the half-width that holds for all pairs at once. "
            "Fragile: separated by the pooled noise, not by this pair's own. Not separated is not "
            "equal."
        ),
        needs="pairs",
        nothing="There are no two models to compare.",
    ),
    Caption(
        name="tasks",
        title="Tasks by models",
        question="Where does the lead come from?",
        reading=(
            "The number is the mean share of the task's points; the disc beside it is the spread "
            "between runs. A large number with a large disc is luck that may not come again. The "
            "points of a hatched task are under doubt."
        ),
        needs="tasks",
    ),
    Caption(
        name="variance",
        title="Sources of variance",
        question="Runs or tasks: what to buy next?",
        reading=(
            "The model is what one wants to see; what is the same for all models cancels in a "
            "comparison; the rest is error, and stands below in points. A negative estimate is not "
            "distinguishable from 0, which is not 0."
        ),
        needs="variance",
    ),
    Caption(
        name="design",
        title="A larger campaign",
        question="What would more runs or more tasks give?",
        reading="A dashed line is what endless runs would reach: under it only further tasks lead.",
        needs="variance",
    ),
    Caption(
        name="checks",
        title="Checks",
        question="Which checks still measure?",
        reading=(
            "Open rings gave every model in every run the same: they tell nobody apart, and stay "
            "in the scale all the same. With few models only the sign of a check's correlation "
            "with the rest is shown, for screening and no more."
        ),
        needs="rows",
    ),
    Caption(
        name="ranks",
        title="Ranks",
        question="Between which ranks may each model stand?",
        reading=(
            "The sets are the claim. The chances are a picture of the same noise: a description, "
            "and no test."
        ),
        needs="ranks",
    ),
    Caption(
        name="repairs",
        title="Repairs",
        question="Which ranks lean on forgiveness?",
        reading=(
            "Every run twice: as it came, and with the closed list of repairs. Bold: this model's "
            "rank depends on them."
        ),
        needs="hygiene",
        nothing="No reply of this campaign was repaired.",
    ),
    Caption(
        name="resolution",
        title="Resolution",
        question="Could this instrument have seen it?",
        reading=(
            "Ticks under the line are the gaps between means that were observed. The pale bands "
            "run over both ends of σ's own interval."
        ),
        needs="pairs",
        nothing="There are no two models to compare.",
    ),
    Caption(
        name="noise",
        title="What the noise is worth",
        question="How many coin flips make as much noise?",
        reading=(
            "A total's deviation between runs, said as the number of checks that would have to be "
            "tossed. Upright lines: every check independent, at that pass rate."
        ),
        needs="noise",
    ),
)


def level_caption(level: str) -> Caption:
    """Return the words of the one picture of a level that orders nothing."""
    return Caption(
        name=f"level-{level.lower()}",
        title=f"Level {level}",
        question=f"What did each model reach in level {level}, on its own scale?",
        reading="Models stand by name: this level orders nothing, and is added to no other.",
        needs="standings",
    )
