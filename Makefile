# Each target builds the environment it needs in .venv, once, and reuses it. Only Python 3.11+ and make are required.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: help demo test lint format bench clean

help:
	@echo "make demo    train on the breast cancer data and print the model"
	@echo "make test    run the tests"
	@echo "make lint    ruff, mypy, import-linter"
	@echo "make bench   time it against its rivals"
	@echo "make format  let ruff rewrite the code"
	@echo "make clean   remove the environment and caches"

demo: $(VENV)/.core
	$(BIN)/python examples/breast_cancer.py

test: $(VENV)/.test
	$(BIN)/python -m pytest --cov --cov-report=term

lint: $(VENV)/.lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(VENV)/.lint
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/.bench
	$(BIN)/python -m benchmarks

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .coverage .hypothesis

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "smallearn needs Python 3.11 or newer; name one with: make PYTHON=/path/to/python3.11"; exit 1; }
	$(PYTHON) -m venv $(VENV)

# A stamp records what was installed; it is made again when the list of dependencies changes.
$(VENV)/.core: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

$(VENV)/.%: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[$*]"
	@touch $@
