"""The instrument as one value: config, suite, signature, and where it stands."""

from dataclasses import dataclass
from pathlib import Path

from harness.arnes import CONFIG_NAME, CORE_PROFILE, ArnesConfig, load_arnes
from harness.errors import ConfigError, Problem, SuiteError, nearest
from harness.records.score import Stamps
from harness.signature import PACKAGE, Signature, check_lock, signature_of, stamps_of
from harness.suite.loader import SUITE_FOLDER, Suite, load_suite, task_folders


@dataclass(frozen=True)
class Instrument:
    """What measures: one config, one suite in one form, and their signature."""

    root: Path
    config: ArnesConfig
    suite: Suite
    signature: Signature

    @property
    def stamps(self) -> Stamps:
        """What everything made with this instrument is stamped with."""
        return stamps_of(self.config, self.signature)


def find_root(start: Path) -> Path:
    """Return the folder that holds `arnes.toml` and `suite/`: here, above, or the checkout.

    Raises
    ------
    ConfigError
        If there is none.
    """
    for folder in (start, *start.parents, PACKAGE.parent):
        if (folder / CONFIG_NAME).is_file() and (folder / SUITE_FOLDER).is_dir():
            return folder
    raise ConfigError(
        "no instrument was found",
        [
            Problem(
                str(start),
                f"no {CONFIG_NAME} with {SUITE_FOLDER}/ beside it, here or above",
                "run arnes inside its checkout",
            )
        ],
        "Nothing was run.",
    )


def load_instrument(root: Path, profile: str | None = None) -> Instrument:
    """Read the instrument of a profile and check it against `arnes.lock`.

    Parameters
    ----------
    root : the folder that holds `arnes.toml`
    profile : None or "core" is `arnes.toml`; any other is a file of `suite/profiles/`

    Raises
    ------
    ConfigError, SuiteError
        With every problem of the file or the folders at once.
    """
    config = load_arnes(root, None if profile == CORE_PROFILE else profile)
    suite = load_suite(root, config.form)
    _refuse_unknown_tasks(config, root)
    signature = signature_of(config, suite)
    check_lock(root, config, signature)
    return Instrument(root, config, suite, signature)


def narrowed(suite: Suite, task_ids: tuple[str, ...]) -> Suite:
    """Return a suite with these tasks alone.

    Raises
    ------
    SuiteError
        With every id that is no task, each with the nearest one.
    """
    unknown = [task for task in dict.fromkeys(task_ids) if task not in suite.ids]
    if unknown:
        raise SuiteError(
            f"no task {', '.join(map(repr, unknown))}",
            [Problem("suite", f"{t!r} is no task", nearest(t, suite.ids)) for t in unknown],
        )
    return suite.only(task_ids)


def _refuse_unknown_tasks(config: ArnesConfig, root: Path) -> None:
    known = [folder.name[:3].upper() for folder in task_folders(root)]  # of any form
    problems = [
        Problem(f"max_tokens_of_task.{task}", "no such task", nearest(task, known))
        for task in config.max_tokens_of_task
        if task not in known
    ]
    if problems:
        raise ConfigError(f"{len(problems)} problem(s) in {CONFIG_NAME}", problems)
