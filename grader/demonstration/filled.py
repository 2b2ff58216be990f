"""Fills a course with a made-up class, whose submissions of one lab wait to be graded."""

from __future__ import annotations

import datetime
import subprocess
import tempfile
from pathlib import Path

from grader.demonstration.measured import MeasuredEvidence, demonstrable
from grader.demonstration.students import STUDENTS, Evidence, Lab, NoEvidence, make_submission
from grader.figures import LABS, figures_of
from labs.common import python
from labs.common.spelling import suggestion

# nbgrader takes a few seconds. A step that takes longer than this has hung.
_PATIENCE_S = 300


class CannotFill(Exception):
    """The class cannot be put into the course; the message says why."""


def must_be_fillable(course: Path, lab: str) -> None:
    """Raises CannotFill unless `lab` has figures and nobody has handed in anything."""
    if lab not in LABS:
        raise CannotFill(f"no figures are asked in {lab}{suggestion(lab, tuple(LABS))}")
    submitted = course / "submitted"
    if submitted.is_dir() and any(submitted.iterdir()):
        raise CannotFill(
            f"{submitted} is not empty. A made-up class belongs only into a new course: name "
            "another folder"
        )


def fill(course: Path, lab: str, evidence: Evidence | None = None) -> str:
    """Generates `lab` in `course` and hands it in for each student; returns what to report.

    `evidence` is as for `make_submission`; if it is None, each student measures here and now.
    Raises CannotFill; then nobody has handed in anything.
    """
    _generate(course, lab)
    parts = Lab(lab, course / "source" / lab, course / "release" / lab)
    with tempfile.TemporaryDirectory(dir=course, prefix=".class-") as scratch:
        made = Path(scratch) / "submitted"
        try:
            for student in STUDENTS:
                folder = made / student / lab
                make_submission(folder, student, parts, evidence or MeasuredEvidence())
                now = datetime.datetime.now(datetime.timezone.utc).replace(tzinfo=None)
                (folder / "timestamp.txt").write_text(f"{now} UTC", encoding="utf-8")
        except NoEvidence as error:
            raise CannotFill(f"the made-up class cannot measure {lab}: {error}") from error
        made.rename(course / "submitted")  # fails if somebody has collected meanwhile
    asked, handed_in = len(figures_of(lab)), len(demonstrable(lab))
    all_of_it = "all" if asked == handed_in else f"{handed_in} of"
    left_out = "" if asked == handed_in else ", and left out what needs C of their own"
    return (
        f"{len(STUDENTS)} made-up students have handed in {lab}. Each measured {all_of_it} its "
        f"{asked} figures on this machine{left_out}. All but the student `honest` then changed "
        "something; the names say what."
    )


def _generate(course: Path, lab: str) -> None:
    """Runs nbgrader's generate_assignment in the course, unless the lab is generated already."""
    if (course / "release" / lab / f"{lab}.ipynb").is_file():
        return
    done = subprocess.run(
        python.command("nbgrader", "generate_assignment", lab),
        cwd=course,
        capture_output=True,
        text=True,
        timeout=_PATIENCE_S,
    )
    if done.returncode:
        last = "\n".join(done.stderr.splitlines()[-15:])
        raise CannotFill(f"nbgrader generate_assignment {lab} failed:\n{last}")
