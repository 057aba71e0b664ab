"""How long something takes, in words."""


def duration(seconds: float) -> str:
    """Return `7 s`, `12 min` or `3 h 05 min`; what is less than nothing is `0 s`."""
    if seconds < 59.5:
        return f"{max(0, round(seconds))} s"
    minutes = round(seconds / 60)
    return f"{minutes // 60} h {minutes % 60:02d} min" if minutes >= 60 else f"{minutes} min"
