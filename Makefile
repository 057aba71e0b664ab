# Two commands on a fresh machine: `make demo` and `make test`. Both install first.
PYTHON ?= python3
ARNES = .venv/bin/arnes
PIN = .venv/bin/python -m

.PHONY: install demo test test-slow check bench clean

install:
	@$(PYTHON) tools/install.py

demo: install
	@$(ARNES) demo

test: install
	@$(PIN) pytest -m "not slow"

test-slow: install
	@$(PIN) pytest -m slow

check: install
	$(PIN) ruff format --check .
	$(PIN) ruff check .
	$(PIN) mypy
	$(PIN) pytest -m "not slow"
	$(ARNES) validate

bench: install
	@for file in benchmarks/*.py; do echo "== $$file"; .venv/bin/python $$file || exit 1; done

clean:
	rm -rf .venv .arnes-cache .mypy_cache .ruff_cache .pytest_cache
