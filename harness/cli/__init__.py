"""Step 11: typer; one verb per file, thin."""


def main() -> None:
    """Entry point of `arnes`."""
