"""Everything the harness raises on purpose, and how it reads.

HarnessError                 the operator can act on it; exit status 2
├── ConfigError              arnes.toml or a profile
├── SuiteError               a task folder
├── PlanError                plan.toml
├── FormError                a form that must not be used
├── StoreError               a campaign folder
├── NotComparableError       two results of different signatures
├── EndpointError            a server that cannot be measured as it is
├── StatisticsError          too little data for what was asked
└── InstrumentError          the instrument does not hold; exit status 1
    └── GraderError          a row function of ours raised: no model pays for it

A failure of the *model* is never an exception: it is a score with a reason. A failure of
the infrastructure is no exception either: it is a record (`records.score.Unscored`).
"""

import difflib
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong: where, what (with both values), and what to do about it."""

    where: str
    what: str
    todo: str = ""

    def __str__(self) -> str:
        """Two lines: the finding, and behind an arrow what to do."""
        line = f"{self.where}: {self.what}" if self.where else self.what
        return f"{line}\n  → {self.todo}" if self.todo else line


class HarnessError(Exception):
    """Base of all errors that are shown to the operator without a traceback.

    Parameters
    ----------
    headline : str
        What failed and where, with a count where there are several problems.
    problems : iterable of Problem
        All of them at once: a person should not have to run a command four times.
    state : str
        The last line: what was done or not done, and how to check again.
    """

    exit_status = 2

    def __init__(self, headline: str, problems: Iterable[Problem] = (), state: str = "") -> None:
        self.headline = headline
        self.problems = tuple(problems)
        self.state = state
        super().__init__(headline)

    def __str__(self) -> str:
        """Headline, indented problems, state."""
        blocks = [f"{type(self).__name__}: {self.headline}"]
        if self.problems:
            text = "\n".join(str(problem) for problem in self.problems)
            blocks.append("\n".join(f"  {line}" for line in text.splitlines()))
        if self.state:
            blocks.append(self.state)
        return "\n\n".join(blocks)


class ConfigError(HarnessError):
    """arnes.toml or a profile cannot be used."""


class SuiteError(HarnessError):
    """A task folder is not sound."""


class PlanError(HarnessError):
    """A plan cannot be carried out."""


class FormError(HarnessError):
    """A form fails one of its bands, or its two methods disagree."""


class StoreError(HarnessError):
    """A campaign folder is missing, damaged, in use, or of another signature."""


class NotComparableError(HarnessError):
    """Results of different run-side signatures were asked to be one."""


class EndpointError(HarnessError):
    """What is served cannot be measured as it is; found before any score."""


class StatisticsError(HarnessError):
    """The data cannot answer the question that was asked of them."""


class InstrumentError(HarnessError):
    """The instrument does not hold: nothing is measured with it."""

    exit_status = 1


class GraderError(InstrumentError):
    """A row function raised. That is our fault: the run stops and no model loses a point."""


def nearest(word: str, known: Iterable[str]) -> str:
    """Return ``did you mean "x"?`` or the list of what is known, for a misspelt name."""
    names = sorted(known)
    close = difflib.get_close_matches(word, names, n=1, cutoff=0.6)
    if close:
        return f'did you mean "{close[0]}"?'
    return f"known names: {', '.join(names)}" if names else "none is known here"
