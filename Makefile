# Every verb sets itself up: Python 3.11 or newer and make are all it takes.
# Another interpreter: make PYTHON=/path/to/python test

VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install -qq --disable-pip-version-check
PYTHON ?=
CANDIDATES := $(if $(PYTHON),$(PYTHON),python3.13 python3.12 python3.11 python3)
DEMO := build/demo
SECONDS := 60

.DEFAULT_GOAL := help
.PHONY: demo test test-slow coverage lint type docs papers bench fuzz clean help
.NOTPARALLEL:
.DELETE_ON_ERROR:

demo: $(VENV)/.run  ## simulate a collection and report on it
	$(BIN)/venire demo -o $(DEMO)

test: lint type docs  ## lint, type check, docs and all tests that are quick
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n auto --dist loadfile -m "not slow and not simulation"

# Tests on Spark share one cluster, which has both cores.
test-slow: $(VENV)/.work $(VENV)/.integrations build/node_modules/axe-core  ## the other tests: browser, other tools, long pages, simulations with 1,000 collections each
	OPENBLAS_NUM_THREADS=1 VENIRE_EXAMPLES=thorough VENIRE_MUTATIONS=2000 \
	  $(BIN)/python -m pytest -n auto -m "not slow" tests/properties
	OPENBLAS_NUM_THREADS=1 VENIRE_COLLECTIONS=1000 \
	  $(BIN)/python -m pytest -n auto --dist worksteal -m "slow or simulation" --durations=20 --ignore=tests/unit/spark tests
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -m slow tests/unit/spark

# Checks of accessibility; without npm the tests that need it are skipped.
build/node_modules/axe-core:
	-npm install --prefix build --no-save --no-audit --no-fund axe-core@4

coverage: $(VENV)/.work  ## the quick tests, with the share of lines and branches that they run
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -q -n auto --dist loadfile -m "not slow and not simulation" \
	  --cov=venire --cov-branch --cov-report=term:skip-covered tests src

lint: $(VENV)/.work  ## check style and format
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

type: $(VENV)/.work  ## check types
	$(BIN)/mypy

docs: $(VENV)/.work  ## build the documentation into build/site
	PYTHONPATH=tools $(BIN)/zensical build --clean --strict

papers: $(VENV)/.work  ## compute the numbers of the papers and write them into docs/papers, five minutes
	OPENBLAS_NUM_THREADS=1 $(BIN)/python tools/paper_pages.py

bench: $(VENV)/.bench  ## time Venire beside its peers; DOCS=1 writes docs/benchmarks.md
	$(BIN)/python bench/run.py $(if $(DOCS),--docs)
	$(BIN)/python bench/judging.py

fuzz: $(VENV)/.fuzz  ## 10,000 damaged files of each format, random examples, then fuzzers for a minute each; SECONDS=600 for ten
	VENIRE_MUTATIONS=10000 $(BIN)/python -m pytest -n auto tests/properties/test_mutated_runs.py tests/contract/test_sanitizers.py
	VENIRE_EXAMPLES=explore $(BIN)/python -m pytest -n auto -m "not slow" tests/properties
	$(BIN)/python fuzz/run.py --seconds $(SECONDS)
	OPENBLAS_NUM_THREADS=1 $(BIN)/python fuzz/readers.py --count 10000 --seconds $(SECONDS)

clean:  ## remove everything made here, the environment too
	rm -rf $(VENV) build dist src/*.egg-info .cache .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find src tests -name __pycache__ -type d -prune -exec rm -rf {} +

help:  ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-9s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# irrCAC, with which agreement is compared, asks for old versions of numpy and scipy, and works with new ones.
$(VENV)/.run: EXTRAS :=
$(VENV)/.work: EXTRAS := [dev,docs,test]
$(VENV)/.bench: EXTRAS := [bench,test]
$(VENV)/.fuzz: EXTRAS := [fuzz,test]
$(VENV)/.integrations: EXTRAS := [integrations]
$(VENV)/.run $(VENV)/.work $(VENV)/.bench $(VENV)/.fuzz $(VENV)/.integrations: pyproject.toml setup.py $(wildcard src/venire/scan/native/*) | $(BIN)/python
	@echo "installing venire$(EXTRAS) into $(VENV)"
	@$(PIP) -e ".$(EXTRAS)"
	@case "$(EXTRAS)" in *test*) $(PIP) --no-deps "irrCAC>=0.4.0" ;; esac
	@touch $@

# The newest suitable interpreter: one that starts, is new enough and can make environments.
$(BIN)/python:
	@for python in $(CANDIDATES); do \
	  if "$$python" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
	    echo "creating $(VENV) with $$("$$python" --version)"; \
	    "$$python" -m venv --clear $(VENV) && exit 0; \
	    exit 1; \
	  fi; \
	done; \
	echo "Venire needs Python 3.11 or newer with the venv module; tried: $(CANDIDATES)." >&2; \
	echo "Install one (on Debian and Ubuntu: python3 and python3-venv), or name it: make PYTHON=/path/to/python" >&2; \
	exit 1
