"""`python -m harness` is `arnes`."""

from harness.cli import main

if __name__ == "__main__":
    main()
