"""Python files, settings and programs in a student's folder are not run by the kit's commands."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from support.hostile.modules import MODULES, plant
from support.paths import FIXTURES
from support.programs import call

LAB = "01-timer-overhead"
COURSE = "systems"
HERE = Path(sys.executable).parent


@dataclass(frozen=True)
class Place:
    """A student's labs with Python files that note when they are run, and an exchange elsewhere."""

    folder: Path
    exchange: Path
    environment: dict[str, str]
    ran: Callable[[], list[str]]

    def typed(self, here: Path, command: str, *words: str) -> subprocess.CompletedProcess[str]:
        """A command of the kit as somebody types it in the folder `here`."""
        return call(HERE / command, *words, cwd=here, env=self.environment)

    def labs(self, here: Path, *words: str) -> subprocess.CompletedProcess[str]:
        return self.typed(here, "labs", *words)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    top = tmp_path_factory.mktemp("place")
    folder = top / "labs"
    shutil.copytree(FIXTURES / "honest" / LAB, folder / LAB)
    notebook = {"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    (folder / LAB / f"{LAB}.ipynb").write_text(json.dumps(notebook))
    exchange = top / "exchange"
    shutil.copytree(folder / LAB, exchange / COURSE / "outbound" / LAB)
    (exchange / COURSE / "inbound").mkdir()
    for each in (exchange, *exchange.rglob("*")):
        each.chmod(0o777)
    settings = {"Exchange": {"root": str(exchange), "cache": str(top / "cache")}}
    (top / "jupyter").mkdir()
    (top / "jupyter" / "nbgrader_config.json").write_text(json.dumps(settings))
    ran = plant(folder, folder / LAB, noted_in=top / "ran.txt")
    environment = {
        **os.environ,
        "JUPYTER_CONFIG_DIR": str(top / "jupyter"),
        "TICKLAB_CACHE": str(top / "built"),
        # Some people's shells have these, in which an empty part means the current folder.
        "PATH": f":.:{os.environ['PATH']}",
        "LD_LIBRARY_PATH": ":/usr/lib",
        "PYTHONSTARTUP": "json.py",
    }
    return Place(folder, exchange, environment, ran)


@pytest.fixture(params=[".", LAB], ids=["beside the lab", "in the lab"])
def here(request: pytest.FixtureRequest, place: Place) -> Path:
    """The folder in which the student types the command."""
    return place.folder / str(request.param)


def test_python_and_a_shell_themselves_run_them(place: Place, here: Path) -> None:
    names = [module.removesuffix(".py").removesuffix("/__init__") for module in MODULES]
    subprocess.run(
        [sys.executable, "-c", f"import {', '.join(names)}"], cwd=here, check=True,
        env={**os.environ, "PYTHONPATH": ""},
    )  # fmt: skip
    assert {str(here / module) for module in MODULES} - set(place.ran()) <= {
        str(here / "sitecustomize.py")  # Python may have one already
    }
    subprocess.run(["gcc", "--version"], cwd=here, env=place.environment, capture_output=True)
    assert place.ran() == [str(here / "gcc")]


def test_labs_hand_in(place: Place) -> None:
    done = place.labs(place.folder / LAB, "hand-in", str(place.folder / LAB), "--json")
    assert place.ran() == []
    report = json.loads(done.stdout)
    assert report["submitted"] == COURSE, done.stderr
    assert report["points"][0] == report["points"][1] > 0
    (there,) = (place.exchange / COURSE / "inbound").iterdir()
    assert (there / "figures.json").is_file()
    shutil.rmtree(there)


def test_labs_report(place: Place) -> None:
    done = place.labs(place.folder / LAB, "report", "--output", "mine.html")
    assert place.ran() == []
    assert done.returncode == 0, done.stderr
    assert "01 Timer overhead" in (place.folder / LAB / "mine.html").read_text(encoding="utf-8")
    (place.folder / LAB / "mine.html").unlink()


def test_labs_watch(place: Place) -> None:
    with subprocess.Popen(
        [HERE / "labs", "watch"],
        cwd=place.folder / LAB,
        env=place.environment,
        stdout=subprocess.PIPE,
        text=True,
    ) as watching:
        assert watching.stdout is not None
        watching.stdout.readline()
        points = watching.stdout.readline()
        watching.send_signal(signal.SIGINT)
    assert place.ran() == []
    assert points.startswith(f"{LAB}: 5 of 5 figures passed")


def test_labs_doctor(place: Place) -> None:
    done = place.labs(place.folder / LAB, "doctor", "--administrator", "--json")
    assert place.ran() == []
    points = {each["point"]: each for each in json.loads(done.stdout)}
    assert points["exchange"]["seen"] == str(place.exchange)


def test_labs_measure(place: Place) -> None:
    """With the compiler, its assembler and linker, and the C kernel itself."""
    few = ("--samples", "50", "--processes", "2", "--flags=-O3")  # not in the cache yet
    done = place.labs(place.folder, "measure", "timer_overhead", *few)
    assert place.ran() == []
    assert done.returncode == 0, done.stderr


def test_grader_check(place: Place) -> None:
    done = place.typed(place.folder, "grader", "check", str(place.folder / LAB))
    assert place.ran() == []
    assert done.returncode == 0, done.stderr


def test_grader_collect(place: Place, tmp_path: Path) -> None:
    course = str(tmp_path / "course")
    made = place.typed(tmp_path, "grader", "course", course)
    assert made.returncode == 0, made.stderr
    shutil.copytree(place.folder / LAB, tmp_path / "download" / "ada" / LAB)
    words = (str(tmp_path / "download"), "--course", course, "--lab", LAB)
    done = place.typed(place.folder, "grader", "collect", *words)
    assert place.ran() == []
    assert "students collected  1" in done.stdout, done.stderr


def test_labs_show(place: Place, tmp_path: Path) -> None:
    """matplotlib's settings in the folder would ask for LaTeX."""
    recording = next((place.folder / LAB / "recordings").glob("*.csv"))
    done = place.labs(place.folder, "show", str(recording), "--output", str(tmp_path / "run.html"))
    assert place.ran() == []
    assert done.returncode == 0, done.stderr
