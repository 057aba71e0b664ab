"""Every attack is shown to work without walls, and then not to work behind each tier's.

Run as root, these tests are the root's; as an ordinary user, that user's
(`test_ordinary_user.py` runs this folder again as one).
"""

import hashlib
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest
from sandbox.attacking import LIMITS, PATIENT, outside, said

from harness.sandbox import CommandRun, Tier, Worker
from harness.sandbox.interpreter import current_interpreter

AttackProgram = Callable[..., CommandRun]
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def secret(public: Path) -> Path:
    """A file that any user of this machine may read."""
    path = public / "secret.txt"
    path.write_text("token")
    return path


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    """A process of ours that an attack may try to reach."""
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"]) as process:
        yield process
        process.kill()


def test_files_of_the_host_cannot_be_read(attacker: Worker, secret: Path) -> None:
    """Home, graders, the harness itself and the user table are out of sight."""
    files = [str(secret), __file__, str(ROOT / "arnes.toml"), "/etc/passwd", "/etc/hostname"]
    host = {"files": [*files, str(ROOT / "harness" / "errors.py")]}

    assert outside("read_files", host) == [True] * 6
    assert attacker.call("attacks:read_files", [host]).value == [None] * 6


def test_folders_of_the_host_cannot_be_listed(attacker: Worker, secret: Path) -> None:
    """Not even names of the host's files are shown."""
    folders = [str(secret.parent), str(ROOT), "/etc", "/usr", "/proc", "/"]
    if current_interpreter().prefix == Path("/usr"):
        folders.remove("/usr")  # it is where the interpreter is shown, with nothing beside it
    host = {"folders": folders}

    assert outside("list_folders", host) == [True] * len(folders)
    assert attacker.call("attacks:list_folders", [host]).value == [None] * len(folders)


def test_no_environment_is_readable(attacker: Worker) -> None:
    """Keys in the environment of the harness are read by nobody inside."""
    host = {"pid": os.getpid()}

    assert outside("read_environments", host, SECRET="token") >= 4
    assert attacker.call("attacks:read_environments", [host]).value == 0


def test_nothing_outside_the_scratch_can_be_written(attacker: Worker, public: Path) -> None:
    """Temporary folders, shared memory and devices are closed as well."""
    public.chmod(0o777)
    host = {"folders": [str(public), "/tmp", "/var/tmp", "/dev/shm"]}

    assert outside("write_places", host) == [True] * 4
    inside = attacker.call("attacks:write_places", [{"folders": [*host["folders"], "/", "/dev"]}])
    assert inside.value == [None] * 6
    assert (
        attacker.call("attacks:write_places", [{"folders": [".", "../home", "../tmp"]}]).value
        == [True] * 3
    )


def test_no_socket_of_the_host_can_be_reached(attacker: Worker, ports: dict[str, object]) -> None:
    """TCP, UDP, abstract and path sockets: the docker and ssh-agent kind are closed too."""
    assert outside("connect", ports) == [True] * 4
    assert attacker.call("attacks:connect", [ports]).value == [None] * 4


def test_a_call_has_no_loopback_of_its_own(attacker: Worker) -> None:
    """A deliverable needs no socket, so both tiers deny it alike."""
    assert outside("serve_loopback", {}) is True
    assert attacker.call("attacks:serve_loopback", [{}]).value is None


def test_a_private_loopback_is_private(
    tier: Tier, attack_program: AttackProgram, ports: dict[str, object]
) -> None:
    """A program that needs a server talks to its own machine, never to the host."""
    if tier.name != "bubblewrap":
        pytest.skip("only namespaces give a private loopback")

    assert said(attack_program("serve_loopback", {}, loopback=True)) is True
    assert said(attack_program("connect", ports, loopback=True))[0] is None


def test_a_call_starts_no_process(attacker: Worker) -> None:
    """CPU time cannot be hidden in children that a function leaves behind."""
    assert outside("fork_many", {"forks": 3}) == 3
    assert attacker.call("attacks:fork_many", [{"forks": 3}]).value == 0


def test_a_fork_bomb_stops_at_the_process_limit(tier: Tier, attack_program: AttackProgram) -> None:
    """Root is exempt from the limit and so must not be the one that forks."""
    assert outside("fork_many", {"forks": 20}) == 20

    # A watch that looks twenty times a second sees a bomb that lasts, not a burst between two looks.
    hold_s = 0 if tier.name == "bubblewrap" else 2
    run = attack_program("fork_many", {"forks": 40, "hold_s": hold_s})

    if run.killed_by:  # where the kernel counts the user's others too, the watch counts
        assert (tier.name, run.killed_by) == ("landlock", "processes")
    else:
        assert LIMITS.processes - 4 <= said(run) < LIMITS.processes


def test_memory_of_one_process_is_bounded(attacker: Worker) -> None:
    """Address space ends at the limit; the process gets MemoryError and may say so."""
    assert outside("fill_memory", {"mib": 300}) == 300
    assert attacker.call("attacks:fill_memory", [{"mib": 300}]).value < LIMITS.memory_mib


def test_memory_of_the_whole_tree_is_bounded(attack_program: AttackProgram) -> None:
    """Each process stays below its own limit; their sum does not stay below the tree's."""
    host = {"forks": 6, "mib": 60, "hold_s": 0.1}
    assert outside("fill_memory_by_forks", host) == 6

    run = attack_program("fill_memory_by_forks", host | {"hold_s": 200}, wall_s=PATIENT.wall_s)
    assert run.killed_by == "memory"


def test_a_file_ends_at_its_limit(attacker: Worker, tmp_path: Path) -> None:
    """One file cannot fill the scratch, let alone the disk."""
    assert outside("write_big_file", {"mib": 8, "folder": str(tmp_path)}) == 8
    assert attacker.call("attacks:write_big_file", [{"mib": 8}]).value == LIMITS.file_mib


def test_many_files_end_at_the_size_of_the_scratch(
    tier: Tier, attacker: Worker, tmp_path: Path
) -> None:
    """The file limit is per file; the scratch is sized, or watched where it cannot be sized."""
    host = {"files_count": 24, "kib": 1024}
    assert outside("write_many_files", host | {"folder": str(tmp_path)}) == 24

    if tier.name == "bubblewrap":
        seen = attacker.call("attacks:write_many_files", [host])
        assert seen.value <= LIMITS.scratch_mib
    else:  # a watch sees what lasts
        seen = attacker.call("attacks:write_many_files", [host | {"hold_s": 200}], limits=PATIENT)
        assert (seen.outcome, seen.killed_by) == ("died", "disk")


@pytest.mark.slow
def test_countless_empty_files_end_the_measure(tier: Tier, attacker: Worker) -> None:
    """Files without content cost the kernel's memory, which no size limit counts."""
    seen = attacker.call("attacks:write_many_files", [{"files_count": 1_000_000, "kib": 0}])

    # On a disk the wall clock may come first: there each file costs its time.
    assert seen.killed_by in ({"disk"} if tier.name == "bubblewrap" else {"disk", "wall"})


def test_deep_folders_are_removed_all_the_same(attacker: Worker) -> None:
    """A tree too deep for any path name does not spoil the next measure."""
    for _ in range(2):
        seen = attacker.call("attacks:deep_folders", [{"depth": 30, "name": "d" * 200}])
        assert seen.value is True


def test_ignored_signals_do_not_help(attacker: Worker) -> None:
    """The wall clock ends it with the one signal that cannot be ignored."""
    assert outside("ignore_signals", {"seconds": 0.1}) is True
    limits = LIMITS.model_copy(update={"wall_s": 0.5})

    seen = attacker.call("attacks:ignore_signals", [{"seconds": 60}], limits=limits)

    assert (seen.outcome, seen.killed_by) == ("timeout", "wall")
    assert seen.evidence.exit_status == -9


def processes_with(token: str) -> list[psutil.Process]:
    """Return every process of this machine that has the token among its arguments."""
    found = []
    for process in psutil.process_iter(["cmdline"]):
        arguments = process.info["cmdline"] or []
        if token in arguments and process.pid != os.getpid():
            found.append(process)
    return found


def test_a_daemon_ends_with_its_measure(tier: Tier, attack_program: AttackProgram) -> None:
    """A double fork in a session of its own is found and ended."""
    token = f"arnes-daemon-{os.getpid()}-{tier.name}"
    outside("daemon", {"token": token, "python": sys.executable})
    until, survivors = time.monotonic() + 60, processes_with(token)
    while not survivors and time.monotonic() < until:  # it has its arguments only when it began
        survivors = processes_with(token)
    for process in survivors:
        process.kill()
    assert survivors
    assert psutil.wait_procs(survivors, timeout=60)[1] == []

    run = attack_program("daemon", {"token": token, "python": python_inside(tier)})

    assert said(run) is True
    assert processes_with(token) == []
    assert run.usage.stray_processes >= 1


def python_inside(tier: Tier) -> str:
    """Where the interpreter is behind a tier's walls."""
    real = Path(os.path.realpath(sys.executable))
    if tier.name == "bubblewrap" and Path(sys.base_prefix) != Path("/usr"):
        return f"/python/bin/{real.name}"
    return str(real)


def test_a_flood_of_output_is_cut_while_it_is_read(attacker: Worker) -> None:
    """The reader holds no more than the limit, and ends the writer."""
    assert outside("flood", {"kib": 200}) is True

    seen = attacker.call("attacks:flood", [{"kib": 10**9}], limits=PATIENT)

    assert (seen.outcome, seen.killed_by) == ("died", "output")
    assert seen.usage.wall_s < PATIENT.wall_s / 2
    assert len(seen.evidence.stdout) <= 2000


def test_no_process_of_the_host_can_be_signalled(
    attacker: Worker, sleeper: subprocess.Popen[bytes]
) -> None:
    """Neither the harness nor a process of the same user."""
    for pid in (os.getpid(), sleeper.pid):
        assert outside("signal_process", {"pid": pid}) is True
        assert attacker.call("attacks:signal_process", [{"pid": pid}]).value is None


def test_the_kernel_is_out_of_reach(attacker: Worker) -> None:
    """New namespaces, io_uring, keys, tracing and hidden memory are refused."""
    free = outside("kernel_calls", {})
    refused = attacker.call("attacks:kernel_calls", [{}]).value

    assert set(refused.values()) == {1}  # EPERM
    assert all(free[name] != 1 for name in ("io_uring_setup", "ptrace", "memfd"))


def test_only_the_channel_is_open_inside(attacker: Worker, tmp_path: Path) -> None:
    """A descriptor that the harness lets its children inherit does not reach foreign code."""
    path = tmp_path / "secret"
    path.write_text("token")
    descriptor = os.open(path, os.O_RDONLY)
    os.set_inheritable(descriptor, True)
    try:
        leaked = subprocess.run(
            [sys.executable, "-c", f"import os; print(os.read({descriptor}, 9))"],
            close_fds=False,
            capture_output=True,
            check=True,
        )
        assert b"token" in leaked.stdout
        attacker.close()  # so that the sandbox is started while the descriptor is open
        seen = attacker.call("attacks:open_descriptors", [{}])
    finally:
        os.close(descriptor)

    assert seen.value == [[3, ""]]


def test_the_zygote_cannot_be_touched(attacker: Worker) -> None:
    """No fork can forge its parent's messages, stop, kill, slow or look into it."""
    host = {"signals": [0, 9, 15, 19]}
    free = outside("attack_parent", {"signals": [0]})
    assert free["signal 0"] is True
    assert free["limits"] is True

    done = attacker.call("attacks:attack_parent", [host])

    assert set(done.value.values()) == {None}
    assert attacker.call("attacks:signal_owner_by_descriptor", [{}]).value is None
    assert attacker.call("attacks:read_files", [{"files": []}]).value == []


def test_what_is_written_to_descriptors_is_no_answer(attacker: Worker) -> None:
    """A verdict, framed or not, on every descriptor, and a clean exit: an ended process, no value."""
    seen = attacker.call("attacks:forge_on_descriptors", [{}])

    assert seen.outcome == "died"
    assert seen.killed_by == ""


@pytest.mark.parametrize("name", ["leave_at_once", "close_everything"])
def test_absence_is_a_death(attacker: Worker, name: str) -> None:
    """A process that ends with status 0 and says nothing has passed nothing."""
    assert attacker.call(f"attacks:{name}", [{}]).outcome == "died"


def test_a_thread_that_goes_on_is_not_waited_for(attacker: Worker) -> None:
    """The answer counts when it is there; what still runs is ended."""
    started = time.monotonic()

    assert attacker.call("attacks:background_thread", [{}], limits=PATIENT).value == "done"
    assert time.monotonic() - started < PATIENT.wall_s / 2


def test_expected_values_are_nowhere_inside(attacker: Worker) -> None:
    """Neither the stack nor the collector leads to what only the grader holds."""
    expected = "the answer that only the grader holds"
    host = {"sha256": hashlib.sha256(expected.encode()).hexdigest()}

    assert attacker.call("attacks:secrets_in_memory", [host]).value == 0


OWNER = """
import sys
from harness.arnes import SandboxLimits
from harness.sandbox import PYTHON_COMMAND, Candidate, open_worker, run_command
from harness.sandbox.tier import Tier
limits = SandboxLimits(wall_s=60, cpu_s=60, memory_mib=256, processes=20, file_mib=1,
                       scratch_mib=8, output_kib=64)
tier = Tier(name=sys.argv[1], available=True, details="")
print("starting", flush=True)
if sys.argv[2] == "program":
    fork = "import os, time\\nfor _ in 'abc':\\n    if os.fork() == 0: os.setsid()\\ntime.sleep(60)\\n"
    run_command({"m.py": fork}, [*PYTHON_COMMAND, "m.py"], tier, limits)
files = {"m.py": "def f():\\n    while True: pass\\n"}
with open_worker(Candidate(files=files, hash_seed=0, limits=limits), tier) as worker:
    worker.call("m:f")
"""
PLAIN = """
import subprocess, sys
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
print(child.pid, flush=True)
child.wait()
"""


def killed_owner(*arguments: str, at_least: int = 1) -> list[psutil.Process]:
    """Start an owner, kill it without warning once its tree stands, and return what is alive."""
    with subprocess.Popen(
        [sys.executable, "-c", *arguments],
        stdout=subprocess.PIPE,
        cwd=ROOT,
        env={"PYTHONPATH": "."},
    ) as owner:
        assert owner.stdout is not None
        owner.stdout.readline()
        until, tree = time.monotonic() + 60, []
        while len(tree) < at_least and time.monotonic() < until:
            time.sleep(0.02)
            tree = psutil.Process(owner.pid).children(recursive=True)
        owner.kill()
    assert len(tree) >= at_least
    alive = psutil.wait_procs(tree, timeout=60 if len(arguments) > 1 else 0.3)[1]
    assert not list(Path(tempfile.gettempdir()).glob(f"arnes-box-{owner.pid}-*"))
    return alive


@pytest.mark.parametrize("measure", ["program", pytest.param("call", marks=pytest.mark.slow)])
def test_nothing_outlives_a_killed_owner(tier: Tier, measure: str) -> None:
    """Also when the harness is killed without a chance to clean up, the whole tree ends."""
    survivors = killed_owner(PLAIN)
    for process in survivors:
        process.kill()
    assert survivors

    forked = 2 if measure == "call" else 9  # the zygote and its forks
    assert killed_owner(OWNER, tier.name, measure, at_least=forked) == []
