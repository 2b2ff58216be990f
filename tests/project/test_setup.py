"""What is installed is said in several files; these say the same."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from labs.version import __version__
from support.paths import REPOSITORY
from support.programs import call

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

PYPROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT = PYPROJECT["project"]
PYTHONS = ["3.10", "3.11", "3.12", "3.13"]

RUN = PROJECT["dependencies"]
ZIG = PROJECT["optional-dependencies"]["zig"]
BUILD = PYPROJECT["dependency-groups"]["build"]
DEV = [line for line in PYPROJECT["dependency-groups"]["dev"] if isinstance(line, str)]

LOCKS = {"requirements.lock": [*RUN, *BUILD], "requirements-dev.lock": [*RUN, *BUILD, *DEV]}

# Where conda-forge's name differs: its `matplotlib` brings a whole GUI toolkit along.
CONDA_NAMES = {"matplotlib-base": "matplotlib"}
#: What pip adds to the conda environment.
ADDED_BY_PIP = {"tree-sitter-c"}
CONDA_ONLY = {"python", "pip", "make", "c-compiler"}


def ranges(lines: list[str]) -> dict[str, SpecifierSet]:
    requirements = [Requirement(line) for line in lines]
    return {canonicalize_name(r.name): r.specifier for r in requirements}


def pins(lock: str) -> list[tuple[Requirement, int]]:
    """Each requirement of a lock with the number of its hashes."""
    text = (REPOSITORY / lock).read_text(encoding="utf-8").replace("\\\n", " ")
    lines = [line for line in text.splitlines() if line and not line.lstrip().startswith("#")]
    return [(Requirement(line.split("--hash")[0]), line.count("--hash=sha256:")) for line in lines]


def pinned(lock: str, python: str) -> dict[str, str]:
    """What a lock installs under the last release of this Python, on Linux x86-64."""
    here = {"sys_platform": "linux", "os_name": "posix", "platform_machine": "x86_64"}
    here |= {"python_version": python, "python_full_version": f"{python}.99"}
    versions: dict[str, str] = {}
    for pin, _ in pins(lock):
        if pin.marker is None or pin.marker.evaluate(here):
            name = canonicalize_name(pin.name)
            assert name not in versions, f"{name} is pinned twice for Python {python}"
            versions[name] = str(pin.specifier).removeprefix("==")
    return versions


def environment() -> Any:
    return yaml.safe_load((REPOSITORY / "environment.yml").read_text(encoding="utf-8"))


def test_environment_yml_and_pyproject_ask_for_the_same() -> None:
    conda = ranges([line for line in environment()["dependencies"] if isinstance(line, str)])
    assert conda["python"] == SpecifierSet(PROJECT["requires-python"])
    assert conda.keys() >= CONDA_ONLY
    named_as_in_pyproject = {
        CONDA_NAMES.get(name, name): versions
        for name, versions in conda.items()
        if name not in CONDA_ONLY
    }
    wanted = ranges(RUN)
    assert named_as_in_pyproject == {n: wanted[n] for n in wanted if n not in ADDED_BY_PIP}


def test_environment_yml_names_one_channel_and_ticklab() -> None:
    assert environment()["channels"] == ["conda-forge"]
    # Not `-e .`: `labs start` would find no released labs. test_wheel.py installs the wheel.
    assert environment()["dependencies"][-1] == {"pip": ["."]}


@pytest.mark.parametrize("lock", LOCKS)
def test_every_pin_is_exact_and_hashed(lock: str) -> None:
    for pin, hashes in pins(lock):
        assert re.fullmatch(r"==[^*]+", str(pin.specifier)), pin
        assert hashes > 0, pin


@pytest.mark.parametrize("python", PYTHONS)
@pytest.mark.parametrize("lock", LOCKS)
def test_lock_pins_each_direct_dependency_within_its_range(lock: str, python: str) -> None:
    versions = pinned(lock, python)
    for name, allowed in ranges(LOCKS[lock]).items():
        assert name in versions, f"{name} is missing for Python {python}: make lock"
        assert versions[name] in allowed, f"{name} {versions[name]} is not {allowed}: make lock"


@pytest.mark.parametrize("python", PYTHONS)
def test_both_locks_pin_the_same_versions(python: str) -> None:
    run, dev = (pinned(lock, python) for lock in LOCKS)
    assert run.items() <= dev.items()


@pytest.mark.parametrize("lock", LOCKS)
def test_locks_name_no_host(lock: str) -> None:
    text = (REPOSITORY / lock).read_text(encoding="utf-8")
    assert "://" not in text
    assert not re.search(r"\bhttps?\b|index-url|find-links|trusted-host", text)


def test_every_direct_dependency_has_its_reason() -> None:
    text = (REPOSITORY / "docs" / "dependencies.md").read_text(encoding="utf-8")
    reasons = dict(re.findall(r"^- `([^`]+)`: (.{10,})$", text, flags=re.MULTILINE))
    assert reasons.keys() == ranges([*RUN, *ZIG, *BUILD, *DEV]).keys()


def test_the_citation_names_this_version_and_licence() -> None:
    cited = yaml.safe_load((REPOSITORY / "CITATION.cff").read_text(encoding="utf-8"))
    assert cited["cff-version"] == "1.2.0" and cited["message"] and cited["authors"]
    assert cited["version"] == __version__
    assert " AND ".join(cited["license"]) == PROJECT["license"]


@pytest.mark.parametrize(
    "form", sorted(REPOSITORY.glob(".github/ISSUE_TEMPLATE/*.yml")), ids=lambda form: form.stem
)
def test_a_form_for_an_issue_asks_what_it_needs(form: Path) -> None:
    stated = yaml.safe_load(form.read_text(encoding="utf-8"))
    assert stated["name"] and stated["description"]
    for field in stated["body"]:
        assert field["type"] in ("textarea", "input") and field["attributes"]["label"]
    assert any(field.get("validations", {}).get("required") for field in stated["body"])


def test_ci_runs_the_tests() -> None:
    script = REPOSITORY / ".ci" / "run"
    assert os.access(script, os.X_OK)
    assert re.search(r"^make test$", script.read_text(encoding="utf-8"), flags=re.MULTILINE)
    subprocess.run(["bash", "-n", script], check=True)


def test_make_alone_lists_every_target() -> None:
    listed = make().stdout
    for target in ("lab", "test", "lint", "bench", "class", "help"):
        assert f"make {target}" in listed


def make(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    # Not what an enclosing make tells its children.
    ours = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    return call("make", *arguments, cwd=REPOSITORY, env=ours | variables)


# The interpreter behind the virtual environment that runs the tests.
PYTHON = f"PYTHON={Path(sys.executable).resolve()}"


@pytest.fixture
def old_python(tmp_path: Path) -> Path:
    """Says no to every question, as a Python of another release does."""
    python = tmp_path / "python3"
    python.write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
    python.chmod(0o755)
    return python


def test_make_says_which_python_it_needs(tmp_path: Path, old_python: Path) -> None:
    done = make("lab", f"VENV={tmp_path / 'venv'}", f"PYTHON={old_python}")
    assert done.returncode != 0
    assert "needs Python 3.10 to 3.13" in done.stderr
    assert not (tmp_path / "venv").exists()


@pytest.fixture(scope="module")
def venv(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A virtual environment that make has made, with nothing installed."""
    venv = tmp_path_factory.mktemp("made") / "venv"
    done = make(f"{venv}/made-in", f"VENV={venv}", PYTHON)
    assert done.returncode == 0, done.stderr
    return venv


def test_make_says_that_a_compiler_is_missing(venv: Path) -> None:
    done = make("lab", f"VENV={venv}", PYTHON, "CC=no-such-compiler")
    assert done.returncode != 0
    assert "No C compiler: 'no-such-compiler' was not found" in done.stderr
    assert "apt install gcc" in done.stderr
    assert not (venv / "run").exists()


def test_a_failed_set_up_leaves_no_stamp_and_is_done_again(venv: Path) -> None:
    for _ in range(2):
        done = make("lab", f"VENV={venv}", PYTHON, PIP_NO_INDEX="1")
        assert done.returncode != 0
        assert "Installing JupyterLab" in done.stdout
        assert not (venv / "run").exists()
