"""A class of 20 honest students among all hostile submissions, through every step of real nbgrader.

The honest ones get their points, each hostile one gets its own outcome, and every page of feedback
and of the formgrader is opened in Chromium (:mod:`bench.exchange.hostile_pages`). The hostile ones
hand in hostile answers too, and some honest ones have a name that is hard on a page. What is
released and exported of such a class, `test_exchange.py` and `test_all_steps.py` show.
"""

from __future__ import annotations

import itertools
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from nbgrader.api import Gradebook

from bench.report import must_hold, say, skipped, verdict
from grader.figures import figures_of
from grader.with_nbgrader.course import make_course
from support.hostile.case import HONEST, Hostile, all_cases
from support.hostile.in_answers import ANSWERS, HONEST_ANSWER, answered
from support.paths import REPOSITORY
from support.small_exchange import EARLY, SETTINGS

try:
    from bench.exchange import hostile_pages
    from bench.labs import jupyterlab
except ImportError:
    MISSING = "playwright is not installed"
else:
    MISSING = "" if jupyterlab.CHROMIUM else "chromium is not installed"

HONEST_STUDENTS = 20
#: Names that may be an honest student's, and that end a text, an address or a window.
ODD_NAMES = ("W" * 150, "o'neil; x", "{{7}}${7}", "\u5f20 \u4f1f")
MOST_SECONDS = 10.0


@dataclass(frozen=True)
class Student:
    """One who hands in: an honest submission where there is no `case`, and an answer in words."""

    name: str
    case: Hostile | None = None
    answer: str = "honest"

    @property
    def what(self) -> str:
        """What is hostile of this student's pages, for a line about them."""
        if self.case is None:
            if self.answer != "honest":
                return f"in the answers {self.answer}"
            return "an odd name" if self.name in ODD_NAMES else "honest"
        return f"{self.case.kind}, {self.case.name}; in the answers {self.answer}"


def run(quick: bool, save: Path | None = None) -> bool:
    """The class of each lab that has hostile submissions; `save` is for pictures of the pages."""
    cases = [case for case in all_cases() if case.kind != "unreadable" or os.geteuid() != 0]
    labs = sorted({case.lab for case in cases})
    must_hold(
        f"{HONEST_STUDENTS} honest students keep their points among {len(cases)} hostile ones in "
        f"{len(labs)} labs, each of whom gets an outcome of their own; in Chromium, no page asks "
        "another machine for anything or opens a dialog, and every score is seen"
    )
    faults = []
    for lab in labs[:1] if quick else labs:
        own = [case for case in cases if case.lab == lab]
        faults += class_of(lab, _students(own), save and save / lab)
    return verdict(not faults, f"{len(faults)} faults")


def _students(cases: list[Hostile]) -> list[Student]:
    """The class: the answers take turns, so that each lab has all of them."""
    honest = [Student(f"honest-{number:02}") for number in range(HONEST_STUDENTS)]
    odd = [Student(name) for name in ODD_NAMES]
    answers = itertools.cycle(ANSWERS)
    hostile = [
        Student(f"hostile-{number:03}", case, next(answers)) for number, case in enumerate(cases)
    ]
    more = len(ANSWERS) - len(hostile)
    return (
        honest
        + odd
        + hostile
        + [Student(f"answer-{number:02}", None, next(answers)) for number in range(max(0, more))]
    )


def class_of(lab: str, students: list[Student], save: Path | None = None) -> list[str]:
    """What is wrong after the class of `lab` was graded and has its feedback."""
    with tempfile.TemporaryDirectory(prefix="ticklab-class-") as scratch:
        course = Path(scratch) / "course"
        make_course(course, REPOSITORY / "notebooks")
        with (course / "nbgrader_config.py").open("a", encoding="utf-8") as config:
            config.write(SETTINGS)
        _nbgrader(course, "generate_assignment", lab)
        for student in students:
            _hand_in(course, lab, student)
        _nbgrader(course, "collect", lab)
        found = _not_collected(course, lab, students)
        begin = time.monotonic()
        _nbgrader(course, "autograde", lab, "--create")
        seconds = (time.monotonic() - begin) / len(students)
        _nbgrader(course, "generate_feedback", lab)
        say(f"   {lab:<22}{len(students):>4} students, {seconds:.2f} s for each submission")
        found += [
            *_wrong_points(course, lab, students),
            *([f"{lab}: {seconds:.1f} s for each submission"] if seconds > MOST_SECONDS else []),
        ]
        for fault in found:
            say(f"      {fault}")
        if MISSING:
            skipped(f"the pages in a browser, {MISSING}")
        else:
            what = {student.name: student.what for student in students}
            found += hostile_pages.faults(course, lab, what, save)
        return found


def _hand_in(course: Path, lab: str, student: Student) -> None:
    """Lay the submission into the exchange, as `nbgrader submit` does."""
    folder = _of_course(course) / "inbound" / f"{student.name}+{lab}+{EARLY}+cmFuZG9t"
    folder.mkdir(parents=True)
    if student.case is None:
        shutil.copytree(HONEST / lab, folder, dirs_exist_ok=True)
    else:
        student.case.write(folder)
    released = json.loads((course / "release" / lab / f"{lab}.ipynb").read_text("utf-8"))
    notebook = answered(released, ANSWERS.get(student.answer, HONEST_ANSWER))
    path = folder / f"{lab}.ipynb"
    path.write_text(json.dumps(notebook), encoding="utf-8")
    if student.case is not None and student.case.notebook is not None:
        student.case.notebook(path)
    for name, text in (("timestamp.txt", EARLY), ("submission_secret.txt", student.name)):
        if not (folder / name).exists():
            (folder / name).write_text(text, encoding="utf-8")


def _of_course(course: Path) -> Path:
    """The folder of the course in the exchange."""
    return course.parent / "exchange" / "ticklab"


def _not_collected(course: Path, lab: str, students: list[Student]) -> list[str]:
    """Who was not collected, and should have been or was not told a reason."""
    log = (course / "nbgrader.log").read_text("utf-8", "replace")
    found = []
    for student in students:
        if (course / "submitted" / student.name / lab).is_dir():
            continue
        if student.case is None or f"Not collected: {student.name}" not in log:
            found.append(f"{lab}: {student.name} was not collected, {student.what}")
    return found


def _nbgrader(course: Path, *words: str) -> None:
    """Run a command of nbgrader. What it refuses it reports; the points are looked at later."""
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    command = [sys.executable, "-m", "nbgrader", *words]
    with (course / "nbgrader.log").open("ab") as log:
        subprocess.run(command, cwd=course, env=environment, stdout=log, stderr=log, check=False)


def _wrong_points(course: Path, lab: str, students: list[Student]) -> list[str]:
    found = []
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as gradebook:

        def points(student: str) -> float:
            submission = gradebook.find_submission(lab, student)
            return sum(
                grade.auto_score or 0.0
                for notebook in submission.notebooks
                for grade in notebook.grades
            )

        full = sum(spec.max_points for spec in figures_of(lab))
        for student in students:
            if not (course / "submitted" / student.name).is_dir():
                continue  # refused by collect, with a reason
            own, case = points(student.name), student.case
            if case is None:
                if own != full:
                    found.append(f"{lab}: {student.name} gets {own:g} of {full:g}")
            elif case.points not in (None, own) or own < case.keeps or own > full:
                found.append(f"{lab}, {case.kind}, {case.name}: {own:g} points of {case.points}")
    return found
