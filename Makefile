# make run     set up once, then open the window (ARGS="open FOLDER" passes arguments, YES=1 asks nothing)
# make test    set up once, then run the whole test suite without a screen
# make lint    style, types and the import contracts
# make clean   remove .venv and everything that tools left behind

PYTHON :=
YES :=
ARGS :=
TESTS :=

VENV := .venv
BIN := $(VENV)/bin
SETUP := scripts/setup.py
SOURCES := constraints.txt pyproject.toml $(wildcard scripts/setup*.py) $(BIN)/python

.PHONY: run test lint style types contracts setup setup-dev clean

run: $(VENV)/.ready-run
	@$(BIN)/python -m kiruviz $(ARGS)

test: $(VENV)/.ready-dev
	@QT_QPA_PLATFORM=offscreen $(BIN)/python -m pytest $(TESTS)

lint: style types contracts

style: $(VENV)/.ready-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.ready-dev
	$(BIN)/mypy

contracts: $(VENV)/.ready-dev
	$(BIN)/lint-imports

setup: $(VENV)/.ready-run
setup-dev: $(VENV)/.ready-dev

$(VENV)/.ready-run: $(SOURCES)
	@$(call set_up,)

$(VENV)/.ready-dev: $(SOURCES)
	@$(call set_up,--dev)

# A virtual environment whose Python is gone, or newer than the environment, is looked at again.
$(BIN)/python: ;

# The first Python that is new enough, or the one that PYTHON names.
define set_up
for python in $(if $(PYTHON),"$(PYTHON)",python3 python3.13 python3.12 python3.11 python3.14 python); do \
	if "$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
		exec "$$python" $(SETUP) $(1) $(if $(YES),--yes); \
	fi; \
done; \
echo "KiruViz needs Python 3.11 or newer and $(if $(PYTHON),$(PYTHON) is not,found none): install it, or name it with make run PYTHON=/path/to/python3." >&2; \
exit 1
endef

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
