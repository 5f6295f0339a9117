# make demo | make test | make test-full | make check: each makes .venv first, and is quick to repeat.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: demo test test-full check format bench clean

demo: $(READY)
	$(BIN)/fedkeel demo

test: $(READY)
	$(BIN)/python -m pytest

test-full: $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements-extras.txt
	$(BIN)/python -m pytest -m extras

check: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python -m mypy

format: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(READY)
	$(BIN)/python benchmarks/speed.py

$(READY): pyproject.toml requirements.txt
	$(BIN)/python -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv --clear $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --editable .
	touch $(READY)

clean:
	rm -rf $(VENV) runs
