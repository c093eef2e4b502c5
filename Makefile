# Everything a fresh machine needs is Python 3.11 or newer and make: `make run`, `make demo`, `make test`.
# The environment lives in .venv, the reference server in .cache; `make clean` removes both.

PYTHON ?= python3
VENV := .venv
# An environment is bound to the Python it was made with: `make test PYTHON=...` with another one gets its own.
ifeq ($(origin PYTHON),command line)
WANTED := $(shell "$(PYTHON)" -c 'import sys; print("%d.%d.%d" % sys.version_info[:3])' 2>/dev/null)
ifneq ($(filter-out $(WANTED),$(shell sed -n 's/^version\(_info\)\{0,1\} *= *\([0-9]*[.][0-9]*[.][0-9]*\).*/\2/p' .venv/pyvenv.cfg 2>/dev/null)),)
VENV := .cache/venv-$(WANTED)
endif
endif
PY := $(VENV)/bin/python
PIP := $(PY) -m pip install --quiet --disable-pip-version-check
# A second environment with every extra, and the tests whose outcome they can change: search, duplicates, suggestions,
# analyses, tokens, first calls.
EXTRAS := .cache/extras
CONTENT := tests/contract/dialects/content
ASSOCIATIVE := tests/contract/dialects/associative
WITH_EXTRAS ?= tests/fault/test_first_calls.py tests/fault/test_privacy.py tests/network/test_tokens.py \
  tests/unit/inference tests/unit/engine/analysis tests/contract/dialects/test_search.py \
  $(addprefix $(ASSOCIATIVE)/test_,associations.py duplicates.py memories.py scopes.py searching.py) \
  $(addprefix $(CONTENT)/test_,meaning.py analyzing_insights.py analyzing_patterns.py analyzing_quality.py \
    analyzing_relationships.py)

ON_POSTGRES ?= tests/contract tests/property tests/client $(wildcard tests/network/test_explorer*.py)

# What to run and how: make test TESTS=tests/house WORKERS=1 ARGS=-x, make bench BENCH=cold,
# make bench-search DATA=folder/of/the/sets ARGS=--quick
TESTS ?= tests
# One process more than there are cores: tests wait for servers and for the disk.
WORKERS ?= $(shell $(PYTHON) -c 'import os; print((os.cpu_count() or 1) + 1)' 2>/dev/null || echo 2)
ARGS ?=
# What other targets run: `make test-browser` and `make check`.
OTHERS = $(if $(filter tests,$(TESTS)),--ignore=tests/browser --ignore=tests/house)
BENCH ?=
DATA ?=

.DEFAULT_GOAL := help
# The tests start thousands of processes: without compiled modules each would compile them again.
unexport PYTHONDONTWRITEBYTECODE
# Two installations into one environment at once would step on each other.
.NOTPARALLEL:
.PHONY: help run demo explorer test test-all test-browser test-clients test-extras test-long test-postgres test-pythons test-transports check bundle bench bench-search clean

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-15s  %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: $(VENV)/.package ## Set up, then serve every dialect at http://127.0.0.1:9080
	@$(VENV)/bin/polymnia serve

demo: $(VENV)/.package ## Set up, then store, relate, search and show a few memories over a real server
	@$(VENV)/bin/polymnia demo

explorer: $(VENV)/.test ## Build the page of the explorer into the package, where it is committed
	$(PY) explorer/build.py

test: $(VENV)/.test ## Set up, then run the tests: every promise, in a few minutes
	@$(PY) tests/npm_peer.py
	$(PY) -m pytest -n $(WORKERS) --durations=10 $(OTHERS) $(ARGS) $(TESTS)

test-browser: $(VENV)/.test ## Run the tests of the explorer's page in Chromium (`python3 tests/programs.py` installs it)
	@$(PY) tests/npm_peer.py
	$(PY) -m pytest -n $(WORKERS) --durations=10 $(ARGS) tests/browser

test-long: $(VENV)/.test ## Run the cases that `make test` leaves out because they take long
	@$(PY) tests/npm_peer.py
	POLYMNIA_TEST_ALL=1 $(PY) -m pytest -n $(WORKERS) --durations=10 -m long $(OTHERS) $(ARGS) $(TESTS)

test-all: $(VENV)/.test ## Run the long form: every transport, larger data, more examples, every two first calls
	@$(PY) tests/npm_peer.py
	POLYMNIA_TEST_ALL=1 POLYMNIA_LONG=1 POLYMNIA_TRANSPORTS=stdio,http,sse,ws \
	  $(PY) -m pytest -n $(WORKERS) --durations=10 $(ARGS) $(TESTS)

test-clients: $(VENV)/.test ## Run the tests of the Python, TypeScript and Go clients, and compare their answers
	$(PY) -m clients.testing $(ARGS)

test-extras: $(EXTRAS)/.test ## Run what differs when every extra is installed and every model is there
	POLYMNIA_TEST_MODEL=auto $(EXTRAS)/bin/python -m pytest -n $(WORKERS) --durations=10 $(ARGS) $(WITH_EXTRAS)

test-postgres: $(VENV)/.test ## Run contracts, property tests, clients and the explorer on PostgreSQL
	POLYMNIA_TEST_STORE=postgres $(PY) -m pytest -n $(WORKERS) --durations=10 $(ARGS) $(ON_POSTGRES)
	POLYMNIA_TEST_STORE=postgres $(PY) -m clients.testing typescript go

test-transports: $(VENV)/.test ## Run the contracts of the dialects over every transport
	@$(PY) tests/npm_peer.py
	POLYMNIA_TEST_ALL=1 POLYMNIA_TRANSPORTS=stdio,http,sse,ws $(PY) -m pytest -n $(WORKERS) $(ARGS) tests/contract/dialects

test-pythons: $(VENV)/.test ## Run what depends on the version of Python with every other one there is
	@$(PY) tests/other_pythons.py $(ARGS)

check: $(VENV)/.test $(VENV)/.check ## Style, types and the rules of the house
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m mypy
	$(PY) -m pytest -n $(WORKERS) tests/house

bundle: $(VENV)/.package ## Build dist/polymnia-VERSION.mcpb, for clients that install by a click
	@$(PY) packaging/build_bundle.py

bench: $(VENV)/.bench ## Measure side by side with the reference server (BENCH=... chooses what)
	@$(PY) tests/npm_peer.py
	$(PY) -m bench $(BENCH)

bench-search: $(VENV)/.bench ## Measure what the search finds and how fast (DATA=... holds the question sets)
	$(PY) -m bench.search $(if $(DATA),--data $(DATA)) $(ARGS)

clean: ## Remove the environment, the reference server and every cache
	rm -rf $(VENV) .cache build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# Dependency groups need pip 25.1, which is newer than the pip that comes with Python 3.11.
$(VENV)/.pip:
	@command -v "$(PYTHON)" >/dev/null 2>&1 || \
	  { echo "Polymnia needs Python 3.11 or newer, and '$(PYTHON)' was not found." \
	         "Install it, or name one: make PYTHON=/path/to/python3.12 ..." >&2; exit 1; }
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Polymnia needs Python 3.11 or newer; '$(PYTHON)' is $$("$(PYTHON)" --version 2>&1)." \
	         "Name a newer one: make PYTHON=/path/to/python3.12 ..." >&2; exit 1; }
	@echo "Setting up Polymnia in $(VENV): once, for about half a minute."
	@"$(PYTHON)" -m venv $(VENV) || \
	  { echo "'$(PYTHON)' could not make an environment." \
	         "On Debian and Ubuntu its venv module is a package of its own: apt install python3-venv" >&2; \
	    exit 1; }
	@$(PIP) --upgrade 'pip>=25.1'
	@touch $@

$(EXTRAS)/.test: pyproject.toml $(VENV)/.pip
	@echo "Installing every extra into $(EXTRAS) ..."
	@"$(PYTHON)" -m venv $(EXTRAS)
	@$(EXTRAS)/bin/python -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1'
	@$(EXTRAS)/bin/python -m pip install --quiet --disable-pip-version-check \
	  --editable '.[oauth,onnx,postgres]' --group test
	@touch $@

# Installed in place: a change in src needs no new installation.
$(VENV)/.package: pyproject.toml $(VENV)/.pip
	@echo "Installing Polymnia and the libraries it needs ..."
	@$(PIP) --editable .
	@touch $@

$(VENV)/.test $(VENV)/.check $(VENV)/.bench: $(VENV)/.%: pyproject.toml $(VENV)/.package
	@echo "Installing what \`make $*\` needs ..."
	@$(PIP) --group $*
	@touch $@
