# `make demo` and `make test` do all the set-up they need: a virtual environment pinned by constraints.txt.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
DEMO := runs/demo-$(shell date +%Y%m%d-%H%M%S)

.PHONY: demo test slow check wheel tables lock clean

demo: $(READY)
	$(BIN)/wakesleep explain examples/orders.csv --most 1
	$(BIN)/wakesleep explain timeseries examples/co2.csv --most 2 --picture demo-series.png
	$(BIN)/wakesleep explain characters examples/letter.png --most 1 --picture demo-letter.png --film demo-letter.gif
	$(BIN)/wakesleep train strings --steps 1500 --revise 0.5 --output $(DEMO)
	$(BIN)/wakesleep posterior $(DEMO) --most 1 --picture demo.png
	@echo "The series is drawn in demo-series.png, the letter stroke by stroke in demo-letter.gif, and regexes learned from scratch in demo.png; the run is in $(DEMO)."

test: $(READY) check wheel
	$(BIN)/python -m pytest -n 2 -q

slow: $(READY)
	$(BIN)/python -m pytest -q -m slow

check: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# The built wheel, installed alone, answers.
wheel: $(READY)
	rm -rf dist $(VENV)/smoke
	$(BIN)/python -m build --wheel --no-isolation --outdir dist . > /dev/null
	$(PYTHON) -m venv $(VENV)/smoke
	$(VENV)/smoke/bin/pip install -q -c constraints.txt dist/*.whl
	$(VENV)/smoke/bin/wakesleep --help > /dev/null
	rm -rf $(VENV)/smoke

# Tables in the documents, made anew from results/.
tables: $(READY)
	$(BIN)/python -m wakesleep.cli.help_page > docs/command-line.md
	$(BIN)/python -m wakesleep.paper.tables README.md docs/*.md

lock: $(READY)
	$(BIN)/pip freeze --exclude-editable > constraints.txt

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install -q -c constraints.txt hatchling editables
	$(BIN)/pip install -q -c constraints.txt --no-build-isolation -e ".[dev]"
	touch $(READY)

clean:
	rm -rf $(VENV) dist build
