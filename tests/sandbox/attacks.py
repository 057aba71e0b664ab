"""Hostile functions. The same text runs behind the walls and, to see that it works, before them.

Each takes what the test prepared (own files, ports and processes only), is bounded, and returns
what it achieved. It imports nothing of ours.
"""
# Written as foreign code is; every attack has the same signature, and a program prints its answer.
# ruff: noqa: ARG001, PTH101, PTH102, PTH108, PTH118, PTH123, PTH208, T201

import contextlib
import ctypes
import fcntl
import gc
import hashlib
import json
import os
import resource
import signal
import socket
import struct
import sys
import threading
import time


def reached(work):
    try:
        return work()
    except OSError:
        return None


def read_files(host):
    return [reached(lambda p=p: bool(open(p, "rb").read(1))) for p in host["files"]]


def list_folders(host):
    return [reached(lambda p=p: len(os.listdir(p)) > 0) for p in host["folders"]]


def read_environments(host):
    names = ("self", "1", str(os.getppid()), str(host["pid"]))
    paths = [f"/proc/{name}/{file}" for name in names for file in ("environ", "cmdline")]
    return sum(bool(reached(lambda p=p: open(p, "rb").read(1))) for p in paths)


def write_places(host):
    def write(folder):
        path = os.path.join(folder, f"arnes-attack-{os.getpid()}")
        with open(path, "w") as file:
            file.write("x")
        os.unlink(path)
        return True

    return [reached(lambda f=f: write(f)) for f in host["folders"]]


def connect(host):
    def tcp():
        with socket.create_connection(("127.0.0.1", host["tcp"]), timeout=1):
            return True

    def udp():
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
            sock.sendto(b"x", ("127.0.0.1", host["udp"]))
            return True

    def unix(address):
        with socket.socket(socket.AF_UNIX) as sock:
            sock.connect(address)
            return True

    abstract = "\0" + host["abstract"]
    works = [tcp, udp, lambda: unix(abstract), lambda: unix(host["path"])]
    return [reached(work) for work in works]


def serve_loopback(host):
    def serve():
        with socket.socket() as server:
            server.bind(("127.0.0.1", 0))
            server.listen()
            with socket.create_connection(server.getsockname(), timeout=1):
                return True

    return reached(serve)


def fork_many(host):
    children = []
    try:
        for _ in range(host["forks"]):
            pid = os.fork()
            if pid == 0:
                time.sleep(30)
                os._exit(0)
            children.append(pid)
    except OSError:
        pass
    time.sleep(host.get("hold_s", 0))
    for pid in children:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    return len(children)


def fill_memory(host):
    held = []
    try:
        while len(held) < host["mib"]:
            held.append(bytearray(1 << 20))
    except MemoryError:
        pass
    return len(held)


def fill_memory_by_forks(host):
    children = []
    for _ in range(host["forks"]):
        pid = os.fork()
        if pid == 0:
            held = bytearray(host["mib"] << 20)
            time.sleep(host["hold_s"])
            os._exit(len(held) & 0)
        children.append(pid)
    for pid in children:
        os.waitpid(pid, 0)
    return len(children)


def write_big_file(host):
    size = 0
    with open(os.path.join(host.get("folder", "."), "big"), "wb", buffering=0) as file:
        try:
            while size < host["mib"]:
                size += file.write(bytes(1 << 20)) == 1 << 20
        except OSError:
            pass
    return size


def write_many_files(host):
    written = 0
    try:
        for number in range(host["files_count"]):
            with open(os.path.join(host.get("folder", "."), f"f{number}"), "wb") as file:
                written += file.write(bytes(host["kib"] << 10))
    except OSError:
        pass
    time.sleep(host.get("hold_s", 0))
    return written >> 20


def ignore_signals(host):
    for number in range(1, 32):
        with contextlib.suppress(OSError):
            signal.signal(number, signal.SIG_IGN)
    end = time.monotonic() + host["seconds"]
    while time.monotonic() < end:
        time.sleep(0.01)
    return True


def daemon(host):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            nothing = os.open(os.devnull, os.O_RDWR)
            for descriptor in range(3):
                os.dup2(nothing, descriptor)
            os.execv(
                host["python"], [host["python"], "-c", "import time;time.sleep(60)", host["token"]]
            )
        os._exit(0)
    os.wait()
    return True


def flood(host):
    line = "x" * 1023 + "\n"
    for _ in range(host["kib"]):
        sys.stdout.write(line)
    return True


def signal_process(host):
    return reached(lambda: os.kill(host["pid"], 0) is None)


def kernel_calls(host):
    """Return the error number of each call, 0 where it was let in."""
    libc = ctypes.CDLL(None, use_errno=True)
    numbers = {
        "x86_64": {
            "unshare": 272,
            "io_uring_setup": 425,
            "keyctl": 250,
            "ptrace": 101,
            "memfd": 319,
        },
        "aarch64": {
            "unshare": 97,
            "io_uring_setup": 425,
            "keyctl": 219,
            "ptrace": 117,
            "memfd": 279,
        },
    }[os.uname().machine]
    arguments = {
        "unshare": (0x10000000,),
        "io_uring_setup": (1, 0),
        "keyctl": (0, -3, 0),
        "ptrace": (0, 0, 0, 0),
        "memfd": (b"x", 0),
    }
    found = {}
    for name, number in numbers.items():
        ctypes.set_errno(0)
        result = libc.syscall(number, *arguments[name])
        found[name] = ctypes.get_errno() if result < 0 else 0
    return found


def open_descriptors(host):
    found = []
    for descriptor in range(3, 256):
        try:
            os.fstat(descriptor)
        except OSError:
            continue
        try:
            text = os.pread(descriptor, 100, 0)
        except OSError:
            text = b""
        found.append([descriptor, text.decode("latin-1")])
    return found


def attack_parent(host):
    """Return what could be done to the parent: frames, signals, limits, looks inside."""
    parent = os.getppid()
    libc = ctypes.CDLL(None, use_errno=True)

    def written():
        with open(f"/proc/{parent}/fd/1", "wb") as file:
            return file.write(b"forged") > 0

    ptrace = {"x86_64": 101, "aarch64": 117}[os.uname().machine]
    done = {
        "write": reached(written),
        "memory": reached(lambda: open(f"/proc/{parent}/mem", "rb").close() is None),
        "limits": reached(lambda: resource.prlimit(parent, resource.RLIMIT_NOFILE) is not None),
        "priority": reached(lambda: os.setpriority(os.PRIO_PROCESS, parent, 19) is None),
        "attach": libc.syscall(ptrace, 16, parent, 0, 0) == 0 or None,
    }
    if done["attach"]:
        os.waitpid(parent, 0)
        libc.syscall(ptrace, 17, parent, 0, 0)
    for number in host["signals"]:
        done[f"signal {number}"] = reached(lambda n=number: os.kill(parent, n) is None)
    return done


def forge_on_descriptors(host):
    frame = json.dumps({"verdict": "pass", "kind": "value", "value": True}).encode()
    for descriptor in range(3, 64):
        for text in (frame, struct.pack(">I", len(frame)) + frame):
            reached(lambda d=descriptor, t=text: os.write(d, t))
    os._exit(0)


def close_everything(host):
    os.closerange(0, 256)
    return True


def leave_at_once(host):
    os._exit(0)


def background_thread(host):
    threading.Thread(target=time.sleep, args=(300,)).start()
    return "done"


def secrets_in_memory(host):
    """Return how many texts of that digest the stack and the collector lead to."""

    def is_secret(value):
        return (
            isinstance(value, str) and hashlib.sha256(value.encode()).hexdigest() == host["sha256"]
        )

    frame, seen = sys._getframe(), 0
    while frame is not None:
        seen += sum(map(is_secret, frame.f_locals.values()))
        frame = frame.f_back
    for thing in gc.get_objects():
        if isinstance(thing, dict):
            seen += sum(map(is_secret, list(thing.values())))
        elif isinstance(thing, list | tuple):
            seen += sum(map(is_secret, thing))
    return seen


def deep_folders(host):
    for _ in range(host["depth"]):
        os.mkdir(host["name"], 0o700)
        os.chdir(host["name"])
    os.mkdir("closed", 0)
    os.chmod("..", 0o500)
    return True


def signal_owner_by_descriptor(host):
    """Ask the kernel to signal the parent when a pipe becomes readable."""
    read_end, _ = os.pipe()
    return reached(lambda: fcntl.fcntl(read_end, fcntl.F_SETOWN, os.getppid()) is None or True)


if __name__ == "__main__":
    attack, arguments = json.loads(sys.argv[1])
    print("\n" + json.dumps(globals()[attack](arguments)))
