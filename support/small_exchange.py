"""A small course with an exchange, into which tests hand in as students do, or as nobody should."""

from __future__ import annotations

import copy
import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

from nbgrader.api import Gradebook

from grader.with_nbgrader.student_folders import RECORD
from support.small_course import FIGURES, LAB, Course

#: The exchange lies next to the course, also in a copy of both.
SETTINGS = """
import pathlib
c.Exchange.root = str(pathlib.Path(__file__).parent.parent / "exchange")
"""
EARLY, LATE = "2025-01-02 03:04:05.678901 UTC", "2025-02-03 04:05:06.789012 UTC"


class ExchangeCourse(Course):
    """The course of one small lab, and the folder in which its students hand in."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.steps: dict[str, subprocess.CompletedProcess[str]] = {}
        self.exchange = folder / "exchange"
        self.inbound = self.exchange / "ticklab" / "inbound"
        self.inbound.mkdir(parents=True)
        self.exchange.chmod(0o777)
        config = self.folder / "nbgrader_config.py"
        config.write_text(config.read_text() + SETTINGS)

    def copied_to(self, folder: Path) -> ExchangeCourse:
        """A copy of the course and its exchange in the new `folder`."""
        made = copy.copy(self)
        for name in ("course", "exchange"):
            shutil.copytree(self.folder.parent / name, folder / name, symlinks=True)
        made.folder, made.exchange = folder / "course", folder / "exchange"
        made.inbound = made.exchange / "ticklab" / "inbound"
        return made

    def name_of(self, student: str, when: str = EARLY) -> str:
        """The name of a submission, as nbgrader makes it."""
        return f"{student}+{LAB}+{when}+cmFuZG9t"

    def hand_in(
        self, student: str, when: str = EARLY, figures: Any = FIGURES, answer: str = ""
    ) -> Path:
        """Lays a submission into the exchange as `nbgrader submit` does; returns its folder."""
        folder = self.inbound / self.name_of(student, when)
        folder.mkdir()
        (folder / "figures.json").write_text(json.dumps(figures))
        (folder / "recordings").mkdir()
        (folder / "recordings" / "run.csv").write_text(f"evidence of {student!a}")
        text = json.dumps(self.answered())
        (folder / f"{LAB}.ipynb").write_text(text.replace("answer to report", answer or "mine"))
        (folder / "timestamp.txt").write_text(when)
        (folder / "submission_secret.txt").write_text(f"secret of {student!a} at {when}")
        return folder

    def submitted(self, student: str) -> Path:
        """The collected submission."""
        return self.folder / "submitted" / student / LAB

    def files(self) -> dict[str, str]:
        """Every file that the steps made, with its content, and links with their targets."""
        found = {}
        places = [self.folder / name for name in ("submitted", "autograded", "feedback")]
        for place in [*places, self.exchange / "ticklab" / "feedback"]:
            for top, folders, names in os.walk(place):
                for name in [*folders, *names]:
                    path = Path(top) / name
                    key = os.fsencode(path.relative_to(place.parent)).decode("utf-8", "replace")
                    if path.is_symlink():
                        found[key] = f"-> {path.readlink()}"
                    else:
                        found[key] = "" if path.is_dir() else _content(path)
        return found

    def gradebook(self) -> dict[str, Any]:
        """Everything that the gradebook says of each submission, without random ids."""
        with Gradebook(f"sqlite:///{self.folder / 'gradebook.db'}") as gradebook:
            return {
                submission.student.id: (
                    str(submission.timestamp),
                    sorted(
                        (grade.name, grade.auto_score, grade.manual_score, grade.needs_manual_grade)
                        for notebook in submission.notebooks
                        for grade in notebook.grades
                    ),
                    sorted(
                        (comment.name, comment.auto_comment)
                        for notebook in submission.notebooks
                        for comment in notebook.comments
                    ),
                )
                for submission in gradebook.assignment_submissions(LAB)
            }


def _content(path: Path) -> str:
    """The text of a file; of a record, without the time at which a copied folder was changed."""
    text = path.read_text(errors="replace")
    if path.name != RECORD:
        return text
    return json.dumps({key: value for key, value in json.loads(text).items() if key != "changed"})
