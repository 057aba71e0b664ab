"""One row of `metrics.csv`, and what the rows of a run add up to."""

from pydantic import AwareDatetime

from harness.records.base import Record

SAMPLE_EVERY_S = 5.0


class Sample(Record):
    """The machine and the work at one moment. None is what could not be read, never a zero.

    cpu_percent, gpu_percent : of all cores since the row before; of the busiest card
    memory_bytes, gpu_memory_bytes : what is in use, on all cards together
    gpu_watts, cpu_watts, battery_watts : of all cards; of the processor packages, mean since the
        row before; what the whole machine takes out of its battery
    gpu_celsius, cpu_celsius : the hottest
    model, run, task : what was asked; several tasks, parted by spaces, where several cells were
    calls, prompt_tokens, written_tokens, faults : since this pass over the campaign began; tokens
        where servers count them; faults of the infrastructure, not those of a schedule
    """

    at: AwareDatetime
    cpu_percent: float | None = None
    memory_bytes: int | None = None
    gpu_percent: float | None = None
    gpu_memory_bytes: int | None = None
    gpu_watts: float | None = None
    cpu_watts: float | None = None
    battery_watts: float | None = None
    gpu_celsius: float | None = None
    cpu_celsius: float | None = None
    model: str | None = None
    run: int | None = None
    task: str | None = None
    calls: int = 0
    prompt_tokens: int | None = None
    written_tokens: int | None = None
    faults: int = 0

    @property
    def tasks(self) -> tuple[str, ...]:
        """The tasks that were asked at this moment."""
        return tuple(self.task.split()) if self.task else ()


class RunEnergy(Record):
    """What one run of a model took for the tasks of one level, as far as it was sampled.

    joules : of what `measured` names: `gpu`, `cpu`, both, or `battery`, which is all of the machine
    seconds : over which that was summed
    gap_s : seconds in which cells were asked and no power is known; they are in neither of the two
    source : as in `RunHost`
    """

    model: str
    run: int
    level: str
    joules: float
    seconds: float
    gap_s: float
    measured: tuple[str, ...]
    source: str = ""
