"""What is stamped beside the signature is compared with a warning, never with a refusal."""

from harness.records.run import HostInfo
from harness.stages.hosts import differences


def host(**changes: object) -> HostInfo:
    facts: dict[str, object] = {
        "python": "3.11.7",
        "implementation": "CPython",
        "platform": "Linux",
        "machine": "x86_64",
        "hostname_digest": "0" * 64,
        "cpu": "a processor",
        "cores": 2,
        "memory_bytes": 1,
        "packages": {"numpy": "2.4.6", "httpx": "0.28.1"},
        "code_revision": "abc",
        "code_dirty": False,
    }
    return HostInfo.model_validate(facts | changes)


def test_equal_hosts_differ_in_nothing() -> None:
    """The name of the machine and its memory are no reason for a warning."""
    assert differences(host(), host(hostname_digest="1" * 64, memory_bytes=2)) == ()


def test_every_difference_is_named_with_both_values() -> None:
    """Interpreter, package versions, revision and dirty flag."""
    found = differences(host(), host(python="3.12.1", packages={"numpy": "2.5.5"}, code_dirty=True))
    assert found == (
        "python: 3.11.7 / 3.12.1",
        "code dirty: False / True",
        "package httpx: 0.28.1 / None",
        "package numpy: 2.4.6 / 2.5.5",
    )
