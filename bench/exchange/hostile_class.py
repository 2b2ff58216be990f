"""A class of 20 honest students among all hostile submissions, through real nbgrader.

The honest ones get their points, each hostile one gets its own outcome, and no page of feedback
loads anything.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from nbgrader.api import Gradebook

from bench.report import must_hold, say, verdict
from grader.figures import figures_of
from grader.with_nbgrader.course import make_course
from testing.hostile.case import HONEST, Hostile, all_cases
from testing.paths import REPOSITORY

HONEST_STUDENTS = 20
#: Whatever a page would load from anywhere.
_LOADED = re.compile(r"<(?:script|link|img|iframe)[^>]*\b(?:src|href)=[\"']?(?!data:|[\"'#])", re.I)
MOST_SECONDS = 10.0


def run(quick: bool) -> bool:
    """The class of each lab that has hostile submissions."""
    cases = [case for case in all_cases() if case.kind != "unreadable" or os.geteuid() != 0]
    labs = sorted({case.lab for case in cases})
    must_hold(
        f"{HONEST_STUDENTS} honest students keep their points among {len(cases)} hostile ones in "
        f"{len(labs)} labs, each of whom gets an outcome of their own"
    )
    faults = []
    for lab in labs[:1] if quick else labs:
        faults += _class_of(lab, [case for case in cases if case.lab == lab])
    for fault in faults:
        say(f"      {fault}")
    return verdict(not faults, f"{len(faults)} faults")


def _class_of(lab: str, cases: list[Hostile]) -> list[str]:
    """What is wrong after the class of `lab` was graded and has its feedback."""
    with tempfile.TemporaryDirectory(prefix="ticklab-class-") as scratch:
        course = Path(scratch) / "course"
        make_course(course, REPOSITORY / "notebooks")
        _nbgrader(course, "generate_assignment", lab)
        for number in range(HONEST_STUDENTS):
            _hand_in(course, lab, f"honest-{number:02}", None)
        for number, case in enumerate(cases):
            _hand_in(course, lab, f"hostile-{number:03}", case)
        begin = time.monotonic()
        _nbgrader(course, "autograde", lab, "--create")
        seconds = (time.monotonic() - begin) / (HONEST_STUDENTS + len(cases))
        _nbgrader(course, "generate_feedback", lab)
        say(f"   {lab:<22}{len(cases):>4} hostile, {seconds:.2f} s for each submission")
        return [
            *_wrong_points(course, lab, cases),
            *_wrong_pages(course, lab),
            *([f"{lab}: {seconds:.1f} s for each submission"] if seconds > MOST_SECONDS else []),
        ]


def _hand_in(course: Path, lab: str, student: str, case: Hostile | None) -> None:
    folder = course / "submitted" / student / lab
    folder.mkdir(parents=True)
    if case is None:
        shutil.copytree(HONEST / lab, folder, dirs_exist_ok=True)
    else:
        case.write(folder)
    shutil.copy(course / "release" / lab / f"{lab}.ipynb", folder)


def _nbgrader(course: Path, *words: str) -> None:
    """Run a command of nbgrader. What it refuses it reports; the points are looked at later."""
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    command = [sys.executable, "-m", "nbgrader", *words]
    with (course / "nbgrader.log").open("ab") as log:
        subprocess.run(command, cwd=course, env=environment, stdout=log, stderr=log, check=False)


def _wrong_points(course: Path, lab: str, cases: list[Hostile]) -> list[str]:
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
        for number in range(HONEST_STUDENTS):
            if (own := points(f"honest-{number:02}")) != full:
                found.append(f"{lab}: honest-{number:02} gets {own:g} of {full:g}")
        for number, case in enumerate(cases):
            own = points(f"hostile-{number:03}")
            if case.points not in (None, own) or own < case.keeps or own > full:
                found.append(f"{lab}, {case.kind}, {case.name}: {own:g} points of {case.points}")
    return found


def _wrong_pages(course: Path, lab: str) -> list[str]:
    found = []
    for folder in sorted((course / "submitted").iterdir()):
        page = course / "feedback" / folder.name / lab / f"{lab}.html"
        if not page.is_file():
            found.append(f"{lab}: {folder.name} has no page of feedback")
        elif loaded := _LOADED.search(page.read_text(encoding="utf-8")):
            found.append(f"{lab}: the page of {folder.name} loads {loaded[0][:80]}")
    return found
