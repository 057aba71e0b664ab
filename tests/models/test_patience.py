"""How long a server's `Retry-After` is believed to ask for."""

from datetime import UTC, datetime

import pytest

from harness.models.patience import seconds_of

NOW = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("7", 7),
        (" 7 ", 7),
        ("Sun, 01 Mar 2026 12:01:30 GMT", 90),
        ("Sun, 01 Mar 2026 13:01:30 +0100", 90),
        ("Sun, 01 Mar 2026 12:01:30 -0000", 90),  # no zone known: taken as UTC
        ("Sun, 01 Mar 2026 11:00:00 GMT", 0),  # already past
        (None, 0),
        ("", 0),
        ("-5", 0),
        ("1.5", 0),
        ("٣", 0),
        ("later", 0),
        ("Sun, 99 Mar 2026 12:00:00 GMT", 0),
        ("Sun, 01 Mar 99999999999999999999 12:00:00 GMT", 0),
        ("Sun, 01 Mar 2026 12:00:00 +99999999999999", 0),
    ],
)
def test_a_header_is_seconds_or_a_date_or_nothing(header: str | None, seconds: float) -> None:
    """Both forms of RFC 9110 are read; whatever else a server sends asks for nothing."""
    assert seconds_of(header, NOW) == seconds
