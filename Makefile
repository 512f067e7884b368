# `make demo` and `make test` do all the set-up they need: a virtual environment pinned by constraints.txt.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
INSTALL := $(BIN)/pip install -q -c constraints.txt --no-build-isolation
DEMO := runs/demo-$(shell date +%Y%m%d-%H%M%S)

.PHONY: demo test browser slow fuzz oldest check wheel tables docs lock clean

demo: $(READY)
	$(BIN)/wakesleep explain examples/orders.csv --most 1
	$(BIN)/wakesleep explain timeseries examples/co2.csv --most 2 --picture demo-series.png
	$(BIN)/wakesleep explain characters examples/omniglot.png --most 1 --picture demo-letter.png --film demo-letter.gif
	$(BIN)/wakesleep train strings --steps 1500 --revise 0.5 --output $(DEMO)
	$(BIN)/wakesleep posterior $(DEMO) --most 1 --picture demo.png
	@echo "The series is drawn in demo-series.png, the letter stroke by stroke in demo-letter.gif, and regexes learned from scratch in demo.png; the run is in $(DEMO)."

test: $(READY) check wheel docs fuzz browser
	$(BIN)/python -m pytest -n 2 --dist loadscope -q

# What the tests in a real browser need, where it can be had: they are skipped with a reason elsewhere.
browser: $(READY)
	@test -e $(VENV)/.browser || { $(INSTALL) -e ".[browser]" && touch $(VENV)/.browser; } || \
		echo "Playwright cannot be installed: the tests in the browser are skipped."
	@sh tests/serve/install_chromium.sh

# Half a minute of changed files; `python benchmarks/fuzz.py --minutes 60` for longer.
fuzz: $(READY)
	$(BIN)/python benchmarks/fuzz.py --minutes 0.5

slow: $(READY)
	$(BIN)/python -m pytest -q -m slow

check: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# The quick tests with the oldest versions that pyproject.toml allows.
oldest:
	$(PYTHON) -m venv $(VENV)-oldest
	$(VENV)-oldest/bin/pip install -q hatchling editables "beartype>=0.20" "hypothesis>=6.100" "pytest>=8.3"
	$(VENV)-oldest/bin/pip install -q -c constraints-oldest.txt --no-build-isolation -e ".[all]"
	$(VENV)-oldest/bin/python -m pytest -q tests/data tests/domains/strings/table tests/running/test_run.py tests/running/test_hostile_runs.py tests/core

# The built wheel, installed alone, answers.
wheel: $(READY)
	rm -rf dist $(VENV)/smoke
	$(BIN)/python -m build --wheel --no-isolation --outdir dist . > /dev/null
	$(PYTHON) -m venv $(VENV)/smoke
	$(VENV)/smoke/bin/pip install -q -c constraints.txt dist/*.whl
	$(VENV)/smoke/bin/wakesleep explain examples/orders.csv > /dev/null
	rm -rf $(VENV)/smoke

# Tables in the documents, made anew from results/, and the output of the commands in the README.
tables: $(READY)
	$(BIN)/python -m wakesleep.cli.help_page > docs/command-line.md
	$(BIN)/python -m wakesleep.paper.tables README.md docs/*.md
	$(BIN)/python docs/fill_output.py README.md

# The site, from docs/; every warning is an error, and every link inside it is followed.
docs: $(READY)
	test -e $(VENV)/.site || $(INSTALL) -e ".[site]"
	touch $(VENV)/.site
	$(BIN)/python docs/build_site.py
	cd build && ../$(BIN)/zensical build --strict --clean
	$(BIN)/python docs/build_site.py --check build/site

lock: $(READY)
	$(BIN)/pip freeze --exclude-editable > constraints.txt

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install -q -c constraints.txt hatchling editables
	$(INSTALL) -e ".[all,dev]"
	rm -f $(VENV)/.site $(VENV)/.browser
	touch $(READY)

clean:
	rm -rf $(VENV) $(VENV)-oldest dist build
