# Two commands on a fresh machine: `make demo` and `make test`. Both install first.
PYTHON ?= python3
ARNES = .venv/bin/arnes
PIN = .venv/bin/python -m
# Test files that are run at once: 2, or 1 where there is one core; `make test AT_ONCE=4` for more.
AT_ONCE ?= $(shell $(PYTHON) -c "import os; print(min(2, os.cpu_count() or 1))")
PYTEST = $(PIN) pytest -n $(AT_ONCE) --dist loadfile

.PHONY: install demo test test-slow check bench clean

install:
	@$(PYTHON) tools/install.py

demo: install
	@$(ARNES) demo

test: install
	@$(PYTEST) -m "not slow"

test-slow: install
	@$(PYTEST) -m slow

check: install
	$(PIN) ruff format --check .
	$(PIN) ruff check .
	$(PIN) mypy
	$(PYTEST) -m "not slow"
	$(ARNES) validate

bench: install
	@for file in benchmarks/*.py; do echo "== $$file"; .venv/bin/python $$file || exit 1; done

clean:
	rm -rf .venv .arnes-cache .mypy_cache .ruff_cache .pytest_cache
