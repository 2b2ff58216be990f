"""An exchange that the settings of the whole system name is used by every step, or by none."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from labs.commands import cli
from support import forked
from support.demonstration_class import DemonstrationClass
from support.paths import FIXTURES
from support.small_course import FIGURES, LAB
from support.small_exchange import EARLY, ExchangeCourse

#: Several starts of nbgrader.
REAL_LAB = "01-timer-overhead"

#: Made up: it shares no class and no folder with nbgrader's own, and notes each step.
ELSEWHERE = """
import shutil
from pathlib import Path
from nbgrader.exchange import abc

PLACE = Path({place!r})


class Step:
    def init_src(self):
        with (PLACE / "steps").open("a") as file:
            file.write(type(self).__name__ + "\\n")

    def init_dest(self):
        pass

    def copied(self, source, target):
        shutil.copytree(source, target, dirs_exist_ok=True)


class ReleaseAssignment(Step, abc.ExchangeReleaseAssignment):
    def copy_files(self):
        course = self.coursedir
        lab = course.assignment_id
        source = course.format_path(course.release_directory, ".", lab)
        self.copied(source, PLACE / "outbound" / course.course_id / lab)


class FetchAssignment(Step, abc.ExchangeFetchAssignment):
    def copy_files(self):
        course = self.coursedir
        lab = course.assignment_id
        self.copied(PLACE / "outbound" / course.course_id / lab, Path(self.assignment_dir) / lab)


class Submit(Step, abc.ExchangeSubmit):
    def copy_files(self):
        lab = self.coursedir.assignment_id
        if (PLACE / "full").exists():
            return self.log.error("Failed to submit.")
        target = PLACE / "inbound" / "ada" / Path(lab).name
        self.copied(Path(self.assignment_dir) / lab, target)
        (target / "timestamp.txt").write_text({when!r})


class List(Step, abc.ExchangeList):
    def copy_files(self):
        pass

    def list_files(self):
        return [
            {{"course_id": each.parent.name, "assignment_id": each.name, "status": "released"}}
            for each in PLACE.glob("outbound/*/*")
        ]


class Collect(Step, abc.ExchangeCollect):
    def copy_files(self):
        course = self.coursedir
        for student in (PLACE / "inbound").iterdir():
            names = (course.submitted_directory, student.name, course.assignment_id)
            self.copied(student / course.assignment_id, course.format_path(*names))


class ReleaseFeedback(Step, abc.ExchangeReleaseFeedback):
    def copy_files(self):
        course = self.coursedir
        self.copied(Path(course.root) / course.feedback_directory, PLACE / "feedback")


class FetchFeedback(Step, abc.ExchangeFetchFeedback):
    def copy_files(self):
        lab = self.coursedir.assignment_id
        self.copied(PLACE / "feedback" / "ada" / lab, Path(self.assignment_dir) / lab / "feedback")
"""
STEPS = {
    "release_assignment": "ReleaseAssignment",
    "fetch_assignment": "FetchAssignment",
    "submit": "Submit",
    "list": "List",
    "collect": "Collect",
    "release_feedback": "ReleaseFeedback",
    "fetch_feedback": "FetchFeedback",
}


class Elsewhere:
    """The exchange and a hub's settings that name it for these steps, also for a course."""

    def __init__(self, top: Path, steps: dict[str, str]) -> None:
        self.place = top / "place"
        (self.place / "inbound").mkdir(parents=True)
        (top / "elsewhere.py").write_text(ELSEWHERE.format(place=str(self.place), when=EARLY))
        settings = top / "etc" / "jupyter"
        settings.mkdir(parents=True)
        lines = [f"c.ExchangeFactory.{step} = 'elsewhere.{kind}'" for step, kind in steps.items()]
        head = f"import sys\nsys.path.append({str(top)!r})\n"
        (settings / "nbgrader_config.py").write_text(head + "\n".join(lines) + "\n")
        self.course = ExchangeCourse(top)
        self.environment = self.course.environment
        self.environment |= {"JUPYTER_CONFIG_PATH": str(settings), "HOME": str(top)}

    def steps(self) -> list[str]:
        """The steps that it did since the last call."""
        noted = self.place / "steps"
        found = noted.read_text().split() if noted.exists() else []
        noted.unlink(missing_ok=True)
        return found

    def typed(self, here: Path, command: str, *words: str) -> subprocess.CompletedProcess[str]:
        return forked.run(here, self.environment, *words, module=f"{command}.commands.cli")


@pytest.fixture
def all_steps(tmp_path: Path) -> Elsewhere:
    made = Elsewhere(tmp_path, STEPS)
    made.course.generate()
    return made


def test_a_lab_goes_round_by_it_alone(all_steps: Elsewhere, tmp_path: Path) -> None:
    course = all_steps.course
    done = course.run("release_assignment", LAB)
    assert done.returncode == 0, done.stderr
    (home := tmp_path / "home").mkdir()
    student = {**all_steps.environment}
    done = forked.run(home, student, "fetch_assignment", LAB, "--course", "ticklab")
    assert (home / LAB / f"{LAB}.ipynb").is_file(), done.stderr
    made = course.submit("x", course.answered(), FIGURES)
    shutil.copytree(made, home / LAB, dirs_exist_ok=True)
    shutil.rmtree(course.folder / "submitted")
    page = home / LAB / "feedback" / EARLY / f"{LAB}.html"  # as `fetch_feedback` leaves it
    page.parent.mkdir(parents=True)
    page.write_text("of the first attempt")
    forked.run(home, student, "submit", LAB, "--course", "ticklab")
    assert all_steps.steps() == ["ReleaseAssignment", "FetchAssignment", "Submit"]

    words = ("collect", "exchange", "--lab", LAB, "--course", str(course.folder))
    shutil.copytree(home / LAB, all_steps.place / "inbound" / "=bob" / LAB)
    for dry in (["--dry-run"], []):
        done = all_steps.typed(tmp_path, "grader", *words, *dry)
        assert done.returncode == 1 and "=bob" in done.stdout, done.stderr
        assert "students collected  1" in done.stdout
        assert course.submitted("ada").exists() == (not dry)
    assert "nothing new since" in all_steps.typed(tmp_path, "grader", *words).stdout
    assert all_steps.steps() == ["Collect"] * 3
    (course.folder / "feedback" / "ada" / LAB).mkdir(parents=True)
    (course.folder / "feedback" / "ada" / LAB / f"{LAB}.html").write_text("well done")
    for step in ("list", "release_feedback", "fetch_feedback"):
        forked.run(course.folder, all_steps.environment, step, LAB)
    assert all_steps.steps() == ["List", "ReleaseFeedback", "FetchFeedback"]
    assert list(course.exchange.rglob("*")) == [course.inbound.parent, course.inbound]


def test_an_exchange_that_fails_is_a_sentence(all_steps: Elsewhere, tmp_path: Path) -> None:
    shutil.rmtree(all_steps.place / "inbound")
    words = ("collect", "exchange", "--lab", LAB, "--course", str(all_steps.course.folder))
    done = all_steps.typed(tmp_path, "grader", *words)
    assert done.returncode == 2
    assert "the exchange failed: FileNotFoundError" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.fixture
def enter(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Callable[[Elsewhere], None]]:
    """Takes the settings of a hub over, for what runs in this process."""

    def taken_over(hub: Elsewhere) -> None:
        for name, value in hub.environment.items():
            monkeypatch.setenv(name, value)

    monkeypatch.chdir(tmp_path)
    with forked.programs():
        yield taken_over


def hand_in(hub: Elsewhere, top: Path) -> None:
    """`labs hand-in` with a lab that is released there."""
    shutil.copytree(FIXTURES / "honest" / REAL_LAB, top / "labs" / REAL_LAB)
    (top / "labs" / REAL_LAB / f"{REAL_LAB}.ipynb").write_text(
        '{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}'
    )
    (hub.place / "outbound" / "systems" / REAL_LAB).mkdir(parents=True)
    cli.main(["hand-in", str(top / "labs" / REAL_LAB)])


def test_hand_in_submits_to_it(
    tmp_path: Path,
    enter: Callable[[Elsewhere], None],
    capsys: pytest.CaptureFixture[str],
) -> None:
    hub = Elsewhere(tmp_path, STEPS)
    enter(hub)
    hand_in(hub, tmp_path)
    assert "submitted to the exchange of the course systems" in capsys.readouterr().out
    assert hub.steps() == ["List", "Submit"]
    assert (hub.place / "inbound" / "ada" / REAL_LAB / "figures.json").is_file()


def test_what_it_did_not_take_is_not_called_submitted(
    tmp_path: Path,
    enter: Callable[[Elsewhere], None],
    capsys: pytest.CaptureFixture[str],
) -> None:
    """ngshare logs that it failed, and nbgrader ends with status 0."""
    hub = Elsewhere(tmp_path, STEPS)
    (hub.place / "full").touch()
    enter(hub)
    hand_in(hub, tmp_path)
    assert "NOT submitted to an exchange: Failed to submit." in capsys.readouterr().out


PARTS = {
    "all but collect": {step: kind for step, kind in STEPS.items() if step != "collect"},
    "collect alone": {"collect": "Collect"},
}


@pytest.mark.parametrize("part", PARTS)
def test_one_that_is_named_for_some_steps_is_used_by_none(
    part: str,
    tmp_path: Path,
    enter: Callable[[Elsewhere], None],
    capsys: pytest.CaptureFixture[str],
) -> None:
    hub = Elsewhere(tmp_path, PARTS[part])
    enter(hub)
    hand_in(hub, tmp_path)
    said = capsys.readouterr().out
    assert "NOT submitted" in said and "for every step" in said
    done = forked.run(hub.course.folder, hub.environment, "release_assignment", LAB)
    assert done.returncode != 0
    assert "for every step" in done.stderr and "Traceback" not in done.stderr
    words = ("collect", "exchange", "--lab", LAB, "--course", str(hub.course.folder))
    done = hub.typed(tmp_path, "grader", *words)
    assert done.returncode != 0 and "Traceback" not in done.stderr
    assert hub.steps() == []


def test_the_demonstration_uses_its_own(
    all_steps: Elsewhere, tmp_path: Path, enter: Callable[[Elsewhere], None]
) -> None:
    """Else its made-up students would hand in to the exchange of the hub."""
    enter(all_steps)
    one = DemonstrationClass.__new__(DemonstrationClass)
    one.folder = tmp_path
    one._nbgrader(all_steps.course.folder, "release_assignment", LAB)
    assert all_steps.steps() == []
    assert (all_steps.course.exchange / "ticklab" / "outbound" / LAB).is_dir()
