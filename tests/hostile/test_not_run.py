"""Python files and settings in a student's folder are not run by the commands of the kit."""

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

from testing.hostile.modules import MODULES, plant
from testing.paths import FIXTURES

LAB = "01-timer-overhead"
COURSE = "systems"
LABS = Path(sys.executable).with_name("labs")


@dataclass(frozen=True)
class Place:
    """A student's labs with Python files that note when they are run, and an exchange elsewhere."""

    folder: Path
    exchange: Path
    environment: dict[str, str]
    ran: Callable[[], list[str]]

    def labs(self, here: Path, *words: str) -> subprocess.CompletedProcess[str]:
        """`labs` as a student types it in the folder `here`."""
        return subprocess.run(
            [LABS, *words], cwd=here, env=self.environment, capture_output=True, text=True
        )


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
    return Place(folder, exchange, {**os.environ, "JUPYTER_CONFIG_DIR": str(top / "jupyter")}, ran)


@pytest.fixture(params=[".", LAB], ids=["beside the lab", "in the lab"])
def here(request: pytest.FixtureRequest, place: Place) -> Path:
    """The folder in which the student types the command."""
    return place.folder / str(request.param)


def test_python_itself_runs_them(place: Place, here: Path) -> None:
    names = [module.removesuffix(".py").removesuffix("/__init__") for module in MODULES]
    subprocess.run([sys.executable, "-c", f"import {', '.join(names)}"], cwd=here, check=True)
    assert place.ran() == [str(here / module) for module in MODULES]


def test_labs_hand_in(place: Place, here: Path) -> None:
    done = place.labs(here, "hand-in", str(place.folder / LAB), "--json")
    assert place.ran() == []
    report = json.loads(done.stdout)
    assert report["submitted"] == COURSE, done.stderr
    assert report["points"][0] == report["points"][1] > 0
    (there,) = (place.exchange / COURSE / "inbound").iterdir()
    assert (there / "figures.json").is_file()
    shutil.rmtree(there)


def test_labs_report(place: Place, here: Path) -> None:
    done = place.labs(here, "report", "--output", "mine.html")
    assert place.ran() == []
    assert done.returncode == 0, done.stderr
    assert "01 Timer overhead" in (here / "mine.html").read_text(encoding="utf-8")
    (here / "mine.html").unlink()


def test_labs_watch(place: Place, here: Path) -> None:
    with subprocess.Popen(
        [LABS, "watch"], cwd=here, env=place.environment, stdout=subprocess.PIPE, text=True
    ) as watching:
        assert watching.stdout is not None
        watching.stdout.readline()
        points = watching.stdout.readline()
        watching.send_signal(signal.SIGINT)
    assert place.ran() == []
    assert points.startswith(f"{LAB}: 5 of 5 figures passed")


def test_labs_doctor(place: Place, here: Path) -> None:
    done = place.labs(here, "doctor", "--administrator", "--json")
    assert place.ran() == []
    points = {each["point"]: each for each in json.loads(done.stdout)}
    assert points["exchange"]["seen"] == str(place.exchange)
