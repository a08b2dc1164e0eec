# Every target makes its own environment first: `.venv`, renewed when pyproject.toml or constraints.txt change.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/ready
MODULES := toolsearch/toolsearch eval/toolsearch_eval app/toolsearch_app datasets/toolsearch_datasets tests

.PHONY: demo test check check-world gate bless fix bench figures screenshots app
.DEFAULT_GOAL := test
# Tests start many processes; each would compile every module again where nothing compiled is kept.
unexport PYTHONDONTWRITEBYTECODE

$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(None if sys.version_info >= (3, 11) else "Python 3.11 or later is needed; this is " + sys.version.split()[0] + ". Name another one: make PYTHON=python3.12")'
	$(PYTHON) -m venv --clear $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[all]'
	@touch $@

demo: $(READY)
	$(BIN)/toolsearch demo

test: $(READY)
	$(BIN)/python -m pytest -q -n 2

check: $(READY)
	$(BIN)/ruff format --check $(MODULES)
	$(BIN)/ruff check $(MODULES)
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(MAKE) --no-print-directory test
	$(MAKE) --no-print-directory gate

gate: $(READY)
	$(BIN)/toolsearch gate --baseline eval/baselines/default.json
	$(BIN)/toolsearch gate --baseline eval/baselines/reference.json

# What ranks and what it is judged on are guarded by `gate`; whoever means to change either blesses it, and says why:
# make bless REASON="new queries".
bless: $(READY)
	$(BIN)/toolsearch bless --data builtin --baseline eval/baselines/default.json --ranker default --must-pass best --reason "$(REASON)"
	$(BIN)/toolsearch bless --data builtin --baseline eval/baselines/reference.json --ranker reference --must-pass best --reason "$(REASON)"

check-world: $(READY)
	$(BIN)/python -m pytest -q --strict-markers --world tests/world

fix: $(READY)
	$(BIN)/ruff check --fix $(MODULES)
	$(BIN)/ruff format $(MODULES)

bench: $(READY)
	$(BIN)/toolsearch bench

figures: $(READY)
	$(BIN)/python -m toolsearch_eval.figures

# The README's pictures of the dashboard, taken in the machine's own Chromium.
screenshots: $(READY)
	$(BIN)/python -m toolsearch_app.screenshots docs/pictures

app: $(READY)
	$(BIN)/toolsearch app
