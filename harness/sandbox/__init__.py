"""Step 3: the only place in which foreign code runs, and the only way to it.

`probe` finds the tier; `open_worker` puts a candidate's files behind it; each call is a fork of its
own. What comes back are observations, never verdicts: a value of exact builtin types, an exception
by name, or the limit that ended it. The process outside never imports, parses or unpickles
anything that a model wrote.

Covered: files, network, environment, other processes, time, CPU, memory, disk, output, processes;
all of it is gone when the sandbox closes or its owner is killed. Not covered: bugs of the kernel,
and what code in one process does to its own answer. Each tier's own gaps are in its record.
"""

from harness.sandbox.command import PYTHON_COMMAND, CommandRun, run_command
from harness.sandbox.facts import FileFacts, facts_of, read_facts
from harness.sandbox.launch import python_stamp, worker_digest
from harness.sandbox.observation import Evidence, Observation, Usage
from harness.sandbox.owner import Owned
from harness.sandbox.probe import describe, probe, tiers
from harness.sandbox.tier import Tier
from harness.sandbox.unittest_runner import SuiteEvent, SuiteRun, open_session, unittest_run
from harness.sandbox.worker import Candidate, Worker, execution_key, open_worker

__all__ = [
    "PYTHON_COMMAND",
    "Candidate",
    "CommandRun",
    "Evidence",
    "FileFacts",
    "Observation",
    "Owned",
    "SuiteEvent",
    "SuiteRun",
    "Tier",
    "Usage",
    "Worker",
    "describe",
    "execution_key",
    "facts_of",
    "open_session",
    "open_worker",
    "probe",
    "python_stamp",
    "read_facts",
    "run_command",
    "tiers",
    "unittest_run",
    "worker_digest",
]
