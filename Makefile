# Each target sets up once what it needs: a virtual environment with the versions in the lock file.
# Examples: make lab DIR=~/my-labs · make test ARGS="-k setup" · make lab PYTHON=python3.12

VENV = .venv
PYTHON = python3 python3.13 python3.12 python3.11 python3.10
UV = uv

BIN = $(VENV)/bin
CHECKS = check-types check-python check-c
export PIP_DISABLE_PIP_VERSION_CHECK = 1

.DEFAULT_GOAL = help
.DELETE_ON_ERROR:
.PHONY: help lab test quick coverage lint $(CHECKS) bench class html docs fixtures lock clean always

# The tests start hundreds of Python processes. Where Python may not write bytecode, each of them
# would compile our modules anew, and each run of the tests would rewrite their assertions anew.
test quick coverage: export PYTHONDONTWRITEBYTECODE =

help: ## show this list
	@sed -n 's/^\([a-z]*\):.*## /  make \1	/p' Makefile

lab: $(VENV)/compiled build/released.made ## open the labs in JupyterLab (DIR: the folder of your copy)
	@$(BIN)/labs start $(if $(DIR),"$(DIR)")

test: $(VENV)/dev ## run lint and every test (ARGS: passed on to pytest)
	@$(MAKE) --no-print-directory -j 3 lint build/released.made $(VENV)/compiled
	@$(BIN)/python -m pytest -n 2 $(ARGS)

quick: lint build/released.made $(VENV)/compiled ## run lint and the short files of tests that measure nothing (a minute)
	@$(BIN)/python -m pytest -n 2 -m "not measuring and not slow" $(ARGS)

coverage: $(VENV)/dev build/released.made $(VENV)/compiled ## print which lines of each file the short tests run
	@COVERAGE_FILE=build/coverage.data $(BIN)/python -m pytest -n 2 -m "not measuring and not slow" \
		--cov=labs --cov=grader --cov-report=term:skip-covered $(ARGS)

# The types take longest, so everything else is checked beside them.
lint: $(VENV)/dev ## check style and types of Python, style and warnings of C
	@$(MAKE) --no-print-directory -j 2 $(CHECKS)

$(CHECKS): $(VENV)/dev

check-types:
	$(BIN)/mypy labs grader bench support tests

check-python:
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/lint-imports --no-cache >/dev/null || $(BIN)/lint-imports --no-cache

check-c:
	find kernels_c labs/c_kernels bench/figures -name '*.[ch]' -exec $(BIN)/clang-format --dry-run -Werror {} +
	find kernels_c labs/c_kernels bench/figures -name '*.c' -exec $${CC:-gcc} -fsyntax-only -I kernels_c -std=gnu11 -O2 -Wall -Wextra -Werror {} +

bench: $(VENV)/dev build/released.made ## check the figures against other tools and simulations (long)
	@$(BIN)/python -m bench

class: $(VENV)/dev ## grade a demonstration class with nbgrader (LAB: which lab)
	@$(BIN)/python -m support.demonstration_class $(if $(LAB),--lab "$(LAB)")

html: $(VENV)/run build/released.made ## write the labs as web pages into build/html
	@$(BIN)/python -m grader.lab_pages build/html

docs: $(VENV)/dev ## write the docs as a site into build/docs
	@$(BIN)/python -m grader.docs_site build/site
	@rm -rf build/docs
	@$(BIN)/python -m sphinx -W --keep-going -q -c docs -d build/doctrees build/site build/docs
	@echo "Open build/docs/index.html in a browser."

fixtures: $(VENV)/run ## make the lab folders of the tests anew from their recipes
	@$(BIN)/python -m support.fixtures

lock: ## pin the newest versions that pyproject.toml allows (needs uv)
	$(UV) pip compile $(COMPILE) --upgrade --group build -o requirements.lock
	$(UV) pip compile $(COMPILE) --upgrade --group dev -c requirements.lock -o requirements-dev.lock

COMPILE = pyproject.toml --quiet --universal --python-version 3.10 --generate-hashes --no-strip-extras \
	--custom-compile-command "make lock"

clean: ## remove everything that make has made (never your labs)
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find labs grader bench support tests -name __pycache__ -prune -exec rm -rf {} +

# A lock names every package, so pip looks for no others. It would compile with one CPU what it
# installs: $(VENV)/compiled does that with all CPUs, or while the types are checked.
PIP_INSTALL = $(BIN)/python -m pip install --quiet --no-compile --no-deps

# Set-up. Each step leaves a stamp file when it succeeds, so that make repeats a failed step.

# A virtual environment cannot be moved: make builds it anew in a renamed folder or without its Python.
ifneq ($(shell test -x $(BIN)/python && cat $(VENV)/made-in),$(CURDIR))
$(VENV)/made-in: always
endif

$(VENV)/made-in:
	@for python in $(PYTHON) ""; do \
		$$python -c 'import sys; sys.exit(not (3, 10) <= sys.version_info < (3, 14))' \
			2>/dev/null && break; \
	done; \
	test "$$python" || { \
		echo "Ticklab needs Python 3.10 to 3.13; $(firstword $(PYTHON)) here is" \
			"$$($(firstword $(PYTHON)) --version 2>/dev/null || echo missing)."; \
		echo "Install one of these versions and run make again, or name it: make PYTHON=/path/to/python"; \
		exit 1; \
	} >&2; \
	$$python -c 'import ensurepip, venv' 2>/dev/null || { \
		echo "$$python cannot make virtual environments: its module venv or ensurepip is missing."; \
		echo "On Debian and Ubuntu: sudo apt install python3-venv. Then run make again."; \
		exit 1; \
	} >&2; \
	echo "Making $(VENV) with $$($$python --version) ..."; \
	$$python -m venv --clear $(VENV) && pwd > $@

$(VENV)/run: requirements.lock pyproject.toml $(VENV)/made-in
	@set -- $${CC:-gcc}; command -v "$$1" >/dev/null || $(BIN)/python -c 'import ziglang' 2>/dev/null || { \
		echo "No C compiler: '$$1' was not found, and the labs measure with C. Install one:"; \
		echo "  Debian, Ubuntu   sudo apt install gcc libc6-dev"; \
		echo "  Fedora           sudo dnf install gcc"; \
		echo "  macOS            xcode-select --install"; \
		echo "  without rights   $(BIN)/python -m pip install ziglang"; \
		echo "Then run make again. If your compiler has another name: make CC=clang"; \
		exit 1; \
	} >&2
	@echo "Installing JupyterLab and the other packages that the labs need (about a minute, once) ..."
	@$(PIP_INSTALL) --require-hashes -r requirements.lock
	@$(PIP_INSTALL) --no-build-isolation -e .
	@touch $@

$(VENV)/dev: requirements-dev.lock $(VENV)/run
	@echo "Installing the packages that the tests need ..."
	@$(PIP_INSTALL) --require-hashes -r requirements-dev.lock
	@touch $@

# Bytecode of all packages. Where Python may not write it (PYTHONDONTWRITEBYTECODE), every process
# would else compile each module anew: the tests take half as long again.
$(VENV)/compiled: $(VENV)/run $(wildcard $(VENV)/dev)
	@$(BIN)/python -m compileall -q -j 0 $(VENV)/lib
	@touch $@

# What a student receives: the notebooks without their solutions.
build/released.made: $(shell find notebooks -not -path '*/.*') grader/with_nbgrader/release.py $(VENV)/run
	@echo "Releasing the notebooks ..."
	@$(BIN)/python -m grader.with_nbgrader.release notebooks build/released
	@touch $@
