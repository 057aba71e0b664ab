"""`python -m harness.stages.strength TRIAL.json`: try the mutants of one task, see `trial.py`."""

import sys

from harness.stages.strength.trial import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
