# Each target builds the environment it needs in .venv, once, and reuses it (make clean removes it). Python 3.11+, make
# and a package index are all that is required.
PYTHON ?= python3
VENV := .venv
ifeq ($(OS),Windows_NT)
BIN := $(VENV)/Scripts
else
BIN := $(VENV)/bin
endif
PIP := $(BIN)/python -m pip --disable-pip-version-check

.PHONY: help demo test test-all test-oldest test-newest lint format dist extras lock audit bench bench-scale bench-quality \
	bench-concepts bench-devices bench-flash bench-large bench-databases same-models fuzz faults soak mutants docs docs-links \
	screenshots clean

help:
	@echo "make demo    the whole journey on the breast cancer data: fit, evaluate, explain, export, report"
	@echo "make test    run the tests that need nothing but Python (a few minutes)"
	@echo "make test-all   those, then the tests that need compilers, databases and a browser (.ci/packages), with coverage"
	@echo "make test-oldest   the tests of make test with the lowest versions of the dependencies that pyproject.toml allows"
	@echo "make test-newest   the same with the newest versions, pre-releases among them"
	@echo "make dist    wheel and source distribution in dist/, the same bytes twice, tried in empty environments"
	@echo "make extras  each extra installs alone in an empty environment"
	@echo "make lock    renew .ci/lock.txt, the versions and hashes of what developers install; make audit looks for known holes"
	@echo "make lint    ruff, mypy, import-linter, numpydoc"
	@echo "make bench   time it against its rivals"
	@echo "make bench-scale   seconds and memory as rows, columns, terms and classes grow, beside its rivals"
	@echo "make bench-quality DATA=folder   compare accuracy at 3 to 20 terms with its rivals, with two classes and more"
	@echo "make bench-concepts   are true concepts (tic-tac-toe, hidden DNFs) learned exactly?"
	@echo "make bench-devices   accuracy, bytes and cycles on three chips, beside emlearn, m2cgen and micromlgen (ARGS=--whole: from readings)"
	@echo "make bench-flash DATA=folder   accuracy in 0.5 KB and 2 KB of flash, beside a forest, a neural network, Bonsai and ProtoNN"
	@echo "make bench-large   passes in memory, mapped and on Dask; fits from Parquet; a plan for a cluster"
	@echo "make bench-databases   a million rows scored in DuckDB, and in PostgreSQL if ARGS names a server"
	@echo "make same-models BASE=revision   are all models and exports the same as at another Git revision?"
	@echo "make docs    build the documentation in docs/_build/html; warnings and broken links inside it are errors"
	@echo "make docs-links   are the links to other sites alive? (needs the network)"
	@echo "make fuzz    a million damaged model files, hostile names, tables and problems (hours; ARGS=\"--models 1000 --seed 1\")"
	@echo "make faults  commands that are killed, or without disk, folders or memory (ARGS=\"--kills 5\")"
	@echo "make soak    parallel use, 10,000 fits and a million predictions in one process"
	@echo "make mutants do the tests notice a sample of 600 small changes of the code?"
	@echo "make screenshots   draw the report anew for the README (needs chromium)"
	@echo "make format  let ruff rewrite the code"
	@echo "make clean   remove the environment and caches"

demo: $(VENV)/.cli
	$(BIN)/smallearn demo

# The tests of make test; the others are marked (see pyproject.toml).
QUICK := not tools and not browser and not slow

test: $(VENV)/.test
	$(BIN)/python -m pytest -m "$(QUICK)"

# Kernels are compiled, and the tracer does not see compiled code: the third run is without the compiler. What is required
# of coverage is required of the three runs together.
test-all: $(VENV)/.test $(VENV)/.databases
	$(BIN)/python -m pytest -m "$(QUICK)" --cov --cov-report= --cov-fail-under=0
	$(BIN)/python -m pytest -m "not ($(QUICK))" --cov --cov-append --cov-report= --cov-fail-under=0
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest -m uncompiled tests/learn --cov --cov-append --cov-report= --cov-fail-under=0
	$(BIN)/python -m coverage report
	$(BIN)/python .ci/coverage.py

# Each in an environment of its own. What the tests themselves need is the newest that fits; old releases of scikit-posthocs
# do not work with statsmodels 0.15.
test-oldest: .venv-oldest/.made
	.venv-oldest/bin/python .ci/oldest.py
	.venv-oldest/bin/python -m pytest -m "$(QUICK)" -W default::DeprecationWarning -W default::PendingDeprecationWarning $(ARGS)

test-newest: .venv-newest/.made
	.venv-newest/bin/python -m pytest -m "$(QUICK)" $(ARGS)

.venv-oldest/.made: RESOLUTION := --resolution lowest-direct --only-binary :all: --no-binary smallearn "statsmodels<0.15" "joblib<1.3"
.venv-newest/.made: RESOLUTION := --upgrade --prerelease allow
.venv-newest/.made: PRE := --prerelease allow
.venv-oldest/.made .venv-newest/.made: .venv-%/.made: pyproject.toml
	$(PYTHON) -m venv .venv-$*
	.venv-$*/bin/python -m pip --disable-pip-version-check --quiet install uv
	.venv-$*/bin/python -m uv pip install --python .venv-$*/bin/python $(RESOLUTION) --editable ".[all]"
	.venv-$*/bin/python -m uv pip install --python .venv-$*/bin/python $(PRE) --group test
	@touch $@

dist: $(VENV)/.dist
	$(BIN)/python .ci/recipe.py
	$(BIN)/python .ci/dist.py

# Each extra alone in an empty environment: EXTRAS="cli plot", all if none is named.
extras: $(VENV)/.dist
	$(BIN)/python .ci/extras.py $(EXTRAS)

# For every system and Python version at once; pip takes what applies.
lock: $(VENV)/.dist
	echo "-e .[all]" | UV_CUSTOM_COMPILE_COMMAND="make lock" $(BIN)/python -m uv pip compile - --group dev --group dist \
		--universal --python-version 3.11 --upgrade --generate-hashes --no-annotate --no-emit-package smallearn \
		--quiet --output-file .ci/lock.txt

audit: $(VENV)/.dist
	$(BIN)/pip-audit --require-hashes --disable-pip --requirement .ci/lock.txt

lint: $(VENV)/.lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python docs/docstrings.py

format: $(VENV)/.lint
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/.bench
	$(BIN)/python -m benchmarks

# More in ARGS: make bench-scale ARGS="--quick", ARGS="--data folder" for real sets.
bench-scale: $(VENV)/.bench
	$(BIN)/python -m benchmarks.scale $(ARGS)

# More in ARGS: make bench-quality DATA=folder ARGS="--jobs 2 --sets wdbc,sonar", ARGS="--classes --bytes"
bench-quality: $(VENV)/.bench
	@test -n "$(DATA)" || { echo "Which data? make bench-quality DATA=folder (MANIFEST.csv and the files it lists)"; exit 1; }
	$(BIN)/python -m benchmarks.quality "$(DATA)" $(ARGS)

# More in ARGS: make bench-concepts ARGS="--jobs 2 --seeds 3 --data folder"
bench-concepts: $(VENV)/.bench
	$(BIN)/python -m benchmarks.concepts $(ARGS)

# Needs the compilers and simulators of the chips (Debian: see .ci/packages).
bench-devices: $(VENV)/.bench
	$(BIN)/python -m benchmarks.devices $(ARGS)

# Bonsai and ProtoNN have an environment of their own (benchmarks/flash/edgeml.py): ARGS="--edgeml its/bin/python".
bench-flash: $(VENV)/.bench
	@test -n "$(DATA)" || { echo "Which data? make bench-flash DATA=folder (usps_odd_even.csv.gz and mnist5k_low_high.csv.gz)"; exit 1; }
	$(BIN)/python -m benchmarks.flash "$(DATA)" $(ARGS)

same-models: $(VENV)/.test
	@test -n "$(BASE)" || { echo "Compare with which revision? make same-models BASE=main"; exit 1; }
	$(BIN)/python benchmarks/same_models.py "$(BASE)"

# More in ARGS: make bench-large ARGS=--full for the sizes of the targets (5 GB of files).
bench-large: $(VENV)/.bench
	$(BIN)/python -m benchmarks.large $(ARGS)

# PostgreSQL takes part if it is named: make bench-databases ARGS="--postgresql 'host=/tmp user=me dbname=postgres'"
bench-databases: $(VENV)/.test
	$(BIN)/python -m benchmarks.databases $(ARGS)

# The gallery and the notebooks run while it builds; those that have not changed since the last time are not run again.
docs: $(VENV)/.docs
	$(BIN)/python -m sphinx -b html -W --keep-going -q docs docs/_build/html
	$(BIN)/python docs/links.py docs/_build/html

docs-links: $(VENV)/.docs
	$(BIN)/python -m sphinx -b linkcheck -q docs docs/_build/links

# Attacks: what was tried and found, and how to repeat it; exit code 1 on a finding. More in ARGS, see docs/trust.md.
fuzz faults soak mutants: $(VENV)/.test
	$(BIN)/python -m attacks $@ $(ARGS)

# The picture of the report in the README, from what make demo left behind.
screenshots: $(VENV)/.test
	$(BIN)/python docs/screenshots.py smallearn-demo/report.html docs

clean:
	rm -rf docs/_build docs/api docs/gallery docs/jupyter_execute dist .mutants
	rm -rf $(VENV) .venv-oldest .venv-newest .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .coverage .hypothesis

# Stamps record what was made; what is installed is made anew when the list of dependencies changes.
$(VENV)/.made:
	@$(PYTHON) --version || { echo "Cannot run '$(PYTHON)'."; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "smallearn needs Python 3.11 or newer: make $(MAKECMDGOALS) PYTHON=/path/to/python3.11"; exit 1; }
	@echo "Making the environment in $(VENV); the first time this may take a minute."
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); echo "Python's venv module is missing (Debian: python3-venv)."; exit 1; }
	@$(PIP) --quiet install --upgrade "pip>=25.1" # the first version that knows dependency groups
	@touch $@

# Not compiled: that takes longer than all else, and Python compiles what it imports.
$(VENV)/.cli: pyproject.toml $(VENV)/.made
	$(PIP) install --no-compile --editable ".[cli]"
	@touch $@

$(VENV)/.test $(VENV)/.databases $(VENV)/.lint $(VENV)/.bench $(VENV)/.dist $(VENV)/.docs: $(VENV)/.%: pyproject.toml $(VENV)/.made
	$(PIP) install --editable . --group "$*"
	@touch $@
