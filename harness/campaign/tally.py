"""What one pass over a campaign did, in counts."""

from collections import Counter
from dataclasses import dataclass, field

from harness.store import campaign as store
from harness.store.campaign import Campaign
from harness.suite.loader import Suite


@dataclass
class Tally:
    """What one pass over the campaign did.

    done_by : player → cells with a reply, of all passes together
    causes : cell → why it has no score; a cell that is asked again may get one
    skipped : run → why it was not started before the deadline
    """

    finished_before: int = 0
    done_by: Counter[str] = field(default_factory=Counter)
    asked: int = 0
    causes: dict[str, str] = field(default_factory=dict)
    set_aside: dict[str, str] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)

    @property
    def done(self) -> int:
        """Cells with a reply."""
        return self.done_by.total()

    @property
    def unscored(self) -> dict[str, int]:
        """Cause → cells that were asked and have no score."""
        return dict(Counter(self.causes.values()))

    def count_what_is_done(self, campaign: Campaign, suite: Suite) -> None:
        """Count the cells that have a reply on disk.

        Of cells that are asked at once, one may get its reply while another's server is found dead.
        """
        self.done_by.clear()
        for player, number, task in campaign.cells():
            if store.is_done(campaign.cell(player, number, task), suite.task(task).definition.mode):
                self.done_by[player] += 1
                self.causes.pop(f"{player} run {number}: {task}", None)
