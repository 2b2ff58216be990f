"""Grades as `results.json` files for Gradescope, and an autograder that hands them out.

Gradescope takes results from an autograder only: a zip file with `setup.sh` and `run_autograder`,
which leaves `/autograder/results/results.json`
(https://gradescope-autograders.readthedocs.io/en/latest/specs/). Who handed in is in
`/autograder/submission_metadata.json`
(https://gradescope-autograders.readthedocs.io/en/latest/submission_metadata/). Our
`run_autograder` looks there for the student's e-mail address and copies that student's file; it
runs nothing of the student's.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from glob import escape
from pathlib import Path
from typing import Any

from grader.evening.exports.moodle import Reasons
from grader.evening.exports.sheet import Graded, Part, Sheet
from grader.evening.exports.written import Written, some
from grader.submissions.names import trouble_with_name
from labs.common.files import UNFINISHED

VISIBILITIES = ("after_published", "after_due_date", "visible", "hidden")
_INDEX = "students.json"
_SETUP = "#!/bin/sh\n# Nothing to install: the image of Gradescope has Python.\n"
_RUN = Path(__file__).with_name("hand_out.py")


class NotAnExport(Exception):
    """The folder holds something else, which we do not replace; the message says so."""


def write(
    sheet: Sheet,
    folder: Path,
    reasons: Reasons,
    visibility: str = VISIBILITIES[0],
    *,
    unfinished: bool = False,
) -> Written:
    """Writes `results/STUDENT/results.json` and the autograder into `folder`, in one step.

    An earlier export is replaced as a whole, so that nobody's old results stay. With `unfinished`,
    students whose grades wait for a person get a file too. Raises NotAnExport and OSError.
    """
    if folder.exists() and not _is_replaceable(folder):
        raise NotAnExport(f"{folder} is no earlier export, and it is not empty; name a new folder")
    students = sheet.so_far if unfinished else sheet.final
    taken = {name: each for name, each in students.items() if trouble_with_name(name) is None}
    folder = folder.absolute()
    folder.parent.mkdir(parents=True, exist_ok=True)
    for left in folder.parent.glob(
        f".{escape(folder.name)}.*{UNFINISHED}"
    ):  # by one that was killed
        shutil.rmtree(left, ignore_errors=True)
    with tempfile.TemporaryDirectory(UNFINISHED, f".{folder.name}.", folder.parent) as scratch:
        new = Path(scratch) / "new"
        for student, graded in taken.items():
            path = new / "results" / student / "results.json"
            path.parent.mkdir(parents=True)
            _write_json(path, _results(graded, reasons(student), visibility))
        known = _autograder(new, taken)
        if folder.exists():
            folder.rename(Path(scratch) / "old")
        new.rename(folder)
    refused = [student for student in students if student not in taken]
    return Written(folder, len(taken), _notes([s for s in taken if s not in known], refused))


def _is_replaceable(folder: Path) -> bool:
    return folder.is_dir() and ((folder / _INDEX).is_file() or not any(folder.iterdir()))


def _autograder(folder: Path, students: dict[str, Graded]) -> set[str]:
    """Writes the autograder; returns the students whom it can find by their address."""
    emails = {
        student: graded.email or (student if "@" in student else "")
        for student, graded in students.items()
    }
    named = {email.strip().casefold(): student for student, email in emails.items() if email}
    folder.mkdir(parents=True, exist_ok=True)
    _write_json(folder / _INDEX, named)
    for name, text in (("setup.sh", _SETUP), ("run_autograder", _RUN.read_text(encoding="utf-8"))):
        (folder / name).write_text(text, encoding="utf-8")
        (folder / name).chmod(0o755)
    return set(named.values())


def _write_json(path: Path, content: object) -> None:
    path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def _notes(unknown: list[str], refused: list[str]) -> tuple[str, ...]:
    notes = []
    if unknown:
        names = some(sorted(unknown))
        notes.append(
            f"The gradebook has no e-mail address, or not one of their own, of {names}. So the "
            "autograder cannot find their results. Add it in the formgrader, under Manage "
            "Students, or by a file with the columns id and email: nbgrader db student import FILE"
        )
    if refused:
        notes.append(f"Left out, because the name cannot be a folder's: {some(refused)}.")
    return tuple(notes)


def _results(graded: Graded, reasons: dict[str, str], visibility: str) -> dict[str, Any]:
    """One results.json. Its score counts, and not the sum of the tests: a penalty may be in it."""
    output = ["Graded by Ticklab from your figures and recordings."]
    if graded.penalty:
        output.append(f"Handed in late: {graded.penalty:g} points less.")
    if graded.waits:
        output.append("Some parts wait for a person, so this score is not final.")
    return {
        "score": round(graded.score, 4),
        "output": "\n".join(output),
        "visibility": visibility,
        "tests": [_test(part, reasons.get(part.name, ""), visibility) for part in graded.parts],
    }


def _test(part: Part, reason: str, visibility: str) -> dict[str, Any]:
    test: dict[str, Any] = {
        "name": part.name,
        "max_score": part.most,
        "output": reason or part.comment or ("A person grades this part." if part.waits else ""),
        "output_format": "text",
        "visibility": visibility,
    }
    if not part.waits:
        full = part.score >= part.most
        test |= {"score": round(part.score, 4), "status": "passed" if full else "failed"}
    return test
