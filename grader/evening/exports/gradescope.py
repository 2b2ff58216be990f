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
from pathlib import Path
from typing import Any

from grader.evening.exports.moodle import Reasons
from grader.evening.exports.sheet import Graded, Part, Sheet
from grader.evening.exports.written import Written, some
from grader.submissions.names import trouble_with_name
from labs.common.files import write_atomically

VISIBILITIES = ("after_published", "after_due_date", "visible", "hidden")
_INDEX = "students.json"
_SETUP = "#!/bin/sh\n# Nothing to install: the image of Gradescope has Python.\n"
_RUN = Path(__file__).with_name("hand_out.py")


def write(
    sheet: Sheet,
    folder: Path,
    reasons: Reasons,
    visibility: str = VISIBILITIES[0],
    *,
    unfinished: bool = False,
) -> Written:
    """Writes `results/STUDENT/results.json` and the autograder into `folder`.

    With `unfinished`, students whose grades wait for a person get a file too. Raises CannotWrite.
    """
    students = sheet.so_far if unfinished else sheet.final
    named: dict[str, str] = {}
    refused, unknown, written = [], [], 0
    for student, graded in students.items():
        if trouble_with_name(student) is not None:
            refused.append(student)
            continue
        results = _results(graded, reasons(student), visibility)
        path = folder / "results" / student / "results.json"
        write_atomically(path, (json.dumps(results, indent=1) + "\n").encode())
        written += 1
        email = graded.email or (student if "@" in student else "")
        if email:
            named[email.strip().casefold()] = student
        else:
            unknown.append(student)
    write_atomically(folder / _INDEX, (json.dumps(named, indent=1) + "\n").encode())
    script = _RUN.read_text(encoding="utf-8")
    for name, text in (("setup.sh", _SETUP), ("run_autograder", script)):
        write_atomically(folder / name, text.encode())
        (folder / name).chmod(0o755)
    notes = []
    if unknown:
        notes.append(
            f"The gradebook has no e-mail address of {some(unknown)}, so the autograder cannot "
            "find their results. Add it: nbgrader db student add ID --email=ADDRESS"
        )
    if refused:
        notes.append(f"Left out, because the name cannot be a folder's: {some(refused)}.")
    return Written(folder, written, tuple(notes))


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
        "output": reason or ("A person grades this part." if part.waits else ""),
        "output_format": "text",
        "visibility": visibility,
    }
    if not part.waits:
        full = part.score >= part.most
        test |= {"score": round(part.score, 4), "status": "passed" if full else "failed"}
    return test
