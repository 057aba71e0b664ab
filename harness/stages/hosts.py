"""Compare machines and code beside the signature: a difference is a warning, never a refusal."""

from harness.records.run import HostInfo
from harness.store import campaign as store
from harness.store.campaign import Campaign

COMPARED = ("python", "implementation", "platform", "machine", "cpu", "code_revision", "code_dirty")


def differences(before: HostInfo, after: HostInfo) -> tuple[str, ...]:
    """Return one line per fact in which two hosts differ, with both values."""
    lines = [
        f"{name.replace('_', ' ')}: {getattr(before, name)} / {getattr(after, name)}"
        for name in COMPARED
        if getattr(before, name) != getattr(after, name)
    ]
    lines += [
        f"package {name}: {before.packages.get(name)} / {after.packages.get(name)}"
        for name in sorted({*before.packages, *after.packages})
        if before.packages.get(name) != after.packages.get(name)
    ]
    return tuple(lines)


def warnings_within(campaign: Campaign) -> tuple[str, ...]:
    """Return in what the hosts of a campaign's runs differ from its first run's, and where.

    A revision with uncommitted changes is named too: nobody can have it again.
    """
    found: list[str] = []
    first: HostInfo | None = None
    for player in campaign.players:
        for run in range(1, campaign.record.runs + 1):
            info = store.read_run_info(campaign.folder.run(player, run))
            if info is None:
                continue
            hosts = [session.host for session in info.earlier] + [info.host]
            first = first or hosts[0]
            found += [
                f"{player} run {run}: {line}" for host in hosts for line in differences(first, host)
            ]
    if first is not None and first.code_dirty:
        found.insert(0, "the code had uncommitted changes: nobody can have this harness again")
    return tuple(found)
