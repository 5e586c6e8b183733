# make demo    trains and applies a small shot made by the program itself        make test      every check there is
# make setup   prepares .venv only                                               make bench     measures speed beside bare PyTorch
# make lock    resolves requirements.lock anew from pyproject.toml               make coverage  the tests alone, and what they cover
# make clean   removes what was built
#
# Another Python than the first one found: make setup PYTHON=python3.12
# Without make, as on Windows, the same by hand:
#   py -3 -m venv .venv
#   .venv\Scripts\pip install -r requirements.lock
#   .venv\Scripts\pip install --no-deps --no-build-isolation -e .
#   .venv\Scripts\understudy demo

PYTHON ?= python3 python3.13 python3.12 python3.11 python3.10
# Most tests wait for processes, so one worker more than there are cores keeps the cores busy.
WORKERS ?= $(shell expr 1 + $$(getconf _NPROCESSORS_ONLN))
PYTEST_FLAGS ?=
SUPPORTED = import ensurepip, sys; sys.exit(not (3, 10) <= sys.version_info[:2] <= (3, 13))

# More processes compute than there are cores; threads that wait for others' part must not keep a core busy with it.
test coverage: export OMP_WAIT_POLICY = passive

BIN = .venv/bin
PIP = $(BIN)/python -m pip --disable-pip-version-check
PYTEST = $(BIN)/pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder $(PYTEST_FLAGS)
READY = .venv/ready

.PHONY: setup demo test coverage bench lock clean

setup: $(READY)

demo: $(READY)
	$(BIN)/understudy demo --farm local --ranks 2

test: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(PYTEST)

# Counting lines doubles the time of tests that compute, so it is no part of `make test`.
coverage: $(READY)
	$(PYTEST) --cov --cov-report=term

bench: $(READY)
	$(BIN)/python -m benchmarks.throughput.measure

lock: $(READY)
	$(PIP) install --quiet uv
	$(BIN)/uv pip compile pyproject.toml --all-extras --universal --python-version 3.10 --quiet \
	    --custom-compile-command "make lock" --output-file requirements.lock

clean:
	rm -rf .venv build dist .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(READY): requirements.lock pyproject.toml
	@$(BIN)/python -c '$(SUPPORTED)' 2>/dev/null || { \
	    for candidate in $(PYTHON); do \
	        if "$$candidate" -c '$(SUPPORTED)' 2>/dev/null; then \
	            echo "$$candidate makes .venv"; exec "$$candidate" -m venv --clear .venv; \
	        fi; \
	    done; \
	    echo "none of $(PYTHON) is a Python 3.10 to 3.13 with venv; install one and say make setup PYTHON=..." >&2; \
	    exit 1; \
	}
	$(PIP) install -r requirements.lock
	$(PIP) install --no-deps --no-build-isolation --editable .
	@touch $@
