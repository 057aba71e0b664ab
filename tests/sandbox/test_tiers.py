"""Which tiers there are, how they are found, and how they are told."""

import ctypes
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
from sandbox.attacking import ATTACKS, AVAILABLE, LIMITS

from harness.errors import GraderError, InstrumentError
from harness.sandbox import Candidate, Tier, describe, open_worker, probe, run_command, tiers
from harness.sandbox.bubblewrap import bubblewrap_launch
from harness.sandbox.inside import seccomp, syscalls
from harness.sandbox.interpreter import Interpreter, current_interpreter
from harness.sandbox.probe import ORDER, examine
from harness.sandbox.seatbelt import profile

ROOT = Path(__file__).resolve().parents[2]
ADD = {"m.py": "def add(a, b):\n    return a + b\n"}


def test_every_tier_is_examined_and_the_best_is_in_force() -> None:
    """The order is fixed, and what is in force is the first that holds."""
    assert [tier.name for tier in tiers()] == list(ORDER)
    assert probe() == (AVAILABLE[0] if AVAILABLE else probe())
    assert probe().available == bool(AVAILABLE)


@pytest.mark.skipif(sys.platform != "linux", reason="these tiers are Linux's")
def test_a_tier_whose_parts_are_here_is_exercised() -> None:
    """A machine with bubblewrap or Landlock must not lose the tier without anybody noticing."""
    for tier in tiers():
        if tier.details and not tier.available:
            pytest.fail(f"{tier.name} is here ({tier.details}) but lacks {tier.lacks}")


@pytest.mark.parametrize("tier_here", AVAILABLE, ids=lambda tier: tier.name)
def test_an_available_tier_runs_a_call(tier_here: Tier) -> None:
    """Each tier can be asked for by name."""
    with open_worker(Candidate(files=ADD, hash_seed=0, limits=LIMITS), tier_here) as worker:
        assert worker.call("m:add", [2, 3]).value == 5


def test_without_a_tier_nothing_is_run() -> None:
    """There is no fallback: the caller gets an error, not an unwalled run."""
    none = Tier(name="none", available=False, details="")
    with (
        pytest.raises(InstrumentError),
        open_worker(Candidate(files=ADD, hash_seed=0, limits=LIMITS), none),
    ):
        pass


def test_a_tier_without_its_parts_says_what_to_do() -> None:
    """A missing tier is a record with the command that would help, not an exception."""
    seatbelt = examine("seatbelt")
    if sys.platform != "darwin":
        assert not seatbelt.available
        assert seatbelt.lacks == ("macOS and its sandbox-exec",)


def test_the_doctor_is_told_about_every_tier() -> None:
    """The tier in force comes first, then each tier with what it lacks."""
    lines = describe()

    assert lines[0].startswith(f"sandbox: {probe().name}")
    for name in ORDER:
        assert any(line.strip().startswith(name) for line in lines)


def test_the_stamp_names_versions() -> None:
    """Two machines with other walls have other stamps."""
    one = Tier(name="bubblewrap", available=True, details="0.8.0, Landlock 7")

    assert one.stamp == "bubblewrap (0.8.0, Landlock 7)"
    assert one.stamp != one.model_copy(update={"details": "0.8.0, Landlock 0"}).stamp


def test_only_bubblewrap_has_a_loopback(tier: Tier) -> None:
    """A program that needs one is refused where the network would be the host's."""
    if tier.name == "bubblewrap":
        return
    with pytest.raises(GraderError, match="no network of its own"):
        run_command({}, ["true"], tier, LIMITS, loopback=True)


def test_the_launcher_shows_nothing() -> None:
    """Neither environment nor paths of the host are in what starts the first process inside."""
    tier = next((t for t in AVAILABLE if t.name == "bubblewrap"), None)
    if tier is None:
        pytest.skip("no bubblewrap here")
    with open_worker(Candidate(files=ADD, hash_seed=0, limits=LIMITS), tier) as worker:
        outer = psutil.Process(worker.sandbox().pid)
        launchers = [p for p in (outer, *outer.children()) if p.name() == "bwrap"]
        shown = [Path(f"/proc/{p.pid}/environ").read_bytes() for p in launchers]
        arguments = [" ".join(p.cmdline()) for p in launchers]

    assert len(launchers) == 2
    assert shown == [b"", b""]
    hosts = {ROOT, Path.home(), current_interpreter().prefix.parent} - {Path("/")}
    assert not any(str(folder) in text for folder in hosts for text in arguments)


ALONE = """
import json, os, sys
os.chdir("/scratch")
exec(open("/attacks.py").read(), scope := {"__name__": "attacks"})
globals().update(scope)
host = json.loads(sys.argv[1])
print(json.dumps([
    read_files(host), read_environments(host), connect(host), write_places(host),
    signal_process(host), len(os.listdir("/")), os.path.exists("/root"), os.path.exists("/home"),
]))
"""


def test_the_namespaces_hold_without_any_other_wall(ports: dict[str, object], public: Path) -> None:
    """Landlock and the filter stand behind them; each of the two walls is to be enough."""
    if "bubblewrap" not in {tier.name for tier in AVAILABLE}:
        pytest.skip("no bubblewrap here")
    (public / "secret").write_text("token")
    public.chmod(0o777)
    launch = bubblewrap_launch(current_interpreter(), 0, 8, ())
    host = ports | {
        "files": [str(public / "secret"), str(ROOT / "arnes.toml"), "/etc/passwd"],
        "folders": [str(public), "/", "/dev", "/usr/lib", "/python", "/tmp"],
        "pid": os.getpid(),
    }
    shown = b"".join(part + b"\0" for part in (b"--ro-bind", bytes(ATTACKS), b"/attacks.py"))
    read_end, write_end = os.pipe()
    os.write(write_end, shown + launch.arguments)
    os.close(write_end)
    command = [part.replace("{fd}", str(read_end)) for part in launch.command[:-1]]

    run = subprocess.run(
        [*command, ALONE, json.dumps(host)],
        env={},
        pass_fds=(read_end,),
        capture_output=True,
        check=False,
    )

    os.close(read_end)
    assert run.returncode == 0, run.stderr
    files, environments, sockets, places, signalled, top, root, home = json.loads(run.stdout)
    assert (files, environments) == ([None] * 3, 0)
    # A datagram to nobody can be sent; it stays in the network of the sandbox.
    assert sockets == [None, True, None, None]
    assert (places, signalled, root, home) == ([None] * 6, None, False, False)
    assert top <= 10  # what was built, and nothing of the host's own


def test_a_private_home_above_the_interpreter_stays_private(tier: Tier) -> None:
    """Root's own interpreter works, and what lies beside it is not there."""
    private = current_interpreter().private_above
    if private is None or os.geteuid() != 0:
        pytest.skip("the interpreter is not below a private folder, or we are not root")
    source = f"import os\ndef f():\n    return os.path.exists({str(private / '.bashrc')!r})\n"
    assert (private / ".bashrc").exists()

    with open_worker(Candidate(files={"m.py": source}, hash_seed=0, limits=LIMITS), tier) as worker:
        assert worker.call("m:f").value is False


def test_installed_packages_are_not_shown(tier: Tier) -> None:
    """What a deliverable can import does not depend on what somebody installed."""
    source = "def f():\n    import pip\n"

    with open_worker(Candidate(files={"m.py": source}, hash_seed=0, limits=LIMITS), tier) as worker:
        assert worker.call("m:f").raised("ModuleNotFoundError")


def test_an_interpreter_of_the_system_is_found_by_its_prefix() -> None:
    """The record says what is bound: program, libraries, and folders that are hidden."""
    here = current_interpreter()

    assert here.executable.is_file()
    assert not here.executable.is_symlink()
    assert all((folder / "os.py").is_file() for folder in here.standard_library)
    assert Interpreter(Path("/usr/bin/python3"), Path("/usr")).libraries


def test_the_macos_profile_denies_by_default() -> None:
    """Only written: its text names the folders, and nothing else may be written."""
    text = profile(("/opt/python",), Path("/private/tmp/box"))

    assert text.splitlines()[1] == "(deny default)"
    assert '(allow file-read* (subpath "/opt/python"))' in text
    writing = [line for line in text.splitlines() if "file-write" in line]
    assert writing == [
        '(allow file-read* file-write* (subpath "/private/tmp/box"))',
        '(allow file-write* (literal "/dev/null"))',
    ]


FILTERED = """
import os, resource, signal, sys
sys.path.insert(0, {root!r})
from harness.sandbox.inside import seccomp, wall
def could(work):
    try:
        work()
    except OSError:
        return False
    return True
child = os.fork()
if child == 0:
    signal.pause()
path = sys.argv[1]
wall.prctl(wall.PR_SET_NO_NEW_PRIVS, 1)
rules = seccomp.Rules(spawn=False, loopback=False, host_files=True, landlock_abi=1)
if sys.argv[2] == "walled":
    seccomp.install(seccomp.program(rules, os.getpid()))
print([
    could(lambda: os.kill(child, 0)),
    could(lambda: os.kill(os.getpid(), 0)),
    could(lambda: resource.prlimit(child, resource.RLIMIT_NOFILE)),
    could(lambda: os.truncate(path, 3)),
    could(lambda: os.close(os.open(path, os.O_RDONLY | os.O_TRUNC))),
    could(lambda: open(path, "r+").truncate(4)),
    os.stat(path).st_mode & 0o777,
    could(lambda: os.chmod(path, 0o600)),
    os.stat(path).st_mode & 0o777,
    could(lambda: os.setxattr(path, "user.x", b"1")) and "skip",
], flush=True)
os.close(1)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the filter is Linux's")
@pytest.mark.parametrize("walled", [False, True])
def test_the_filter_alone_stands_in_for_an_old_landlock(tmp_path: Path, walled: bool) -> None:
    """Before signal scopes (ABI 6) and truncation (ABI 3) the filter closes those doors."""
    path = tmp_path / "file"
    path.write_text("12345678")
    path.chmod(0o644)
    program = FILTERED.format(root=str(ROOT))
    with subprocess.Popen(
        [sys.executable, "-c", program, str(path), "walled" if walled else "free"],
        stdout=subprocess.PIPE,
        start_new_session=True,
    ) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        os.killpg(process.pid, signal.SIGKILL)  # its child too, which outlives it
    can = eval(line)  # our own list of booleans and modes

    if walled:
        assert can[:6] == [False, True, False, False, False, True]
        assert can[6:9] == [0o644, True, 0o644]  # chmod is answered, and changes nothing
        assert can[9] is False
    else:
        assert can[:6] == [True, True, True, True, True, True]
        assert can[6:9] == [0o644, True, 0o600]


def test_the_call_numbers_are_this_machines() -> None:
    """A wrong number would close another door: getpid proves the table's side of the kernel."""
    libc = ctypes.CDLL(None, use_errno=True)
    kill = syscalls.number("kill")

    assert libc.syscall(kill, os.getpid(), 0) == 0
    assert libc.syscall(kill, 0, 99) == -1  # no such signal


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_both_architectures_have_every_refused_call(machine: str) -> None:
    """A call that is refused on one and unknown on the other would be a hole."""
    column = {"x86_64": 0, "aarch64": 1}[machine]
    only_old = {"fork", "vfork", "open", "chmod", "chown", "lchown", "utime", "utimes", "futimesat"}
    only_old |= {"inotify_init", "ioperm", "iopl", "modify_ldt"}
    for name, numbers in syscalls.NUMBERS.items():
        assert numbers[column] is not None or name in only_old, name
    listed = {
        *syscalls.ALWAYS_REFUSED,
        *syscalls.REFUSED_ON_HOST_FILES,
        *syscalls.PRETENDED_ON_HOST_FILES,
    }
    assert listed <= set(syscalls.NUMBERS)


def test_a_filter_is_whole_instructions() -> None:
    """The kernel reads eight bytes at a time, and knows at most 4,096 of them."""
    rules = seccomp.Rules(spawn=True, loopback=True, host_files=True, landlock_abi=0)
    size = len(seccomp.program(rules, 1))

    assert size % 8 == 0
    assert size // 8 < 4096
