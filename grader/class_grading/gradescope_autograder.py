#!/usr/bin/env python3
"""Gradescope's `run_autograder`: copies the results of the student who has handed in.

It runs nothing of the student's. `grader export LAB --gradescope DIR` puts a copy of this file into
DIR. In Gradescope's image there is no Ticklab, so it imports none of it.
"""

from __future__ import annotations

import json
import os
import pathlib

_NOBODY = "There is no grade for this submission. Please ask your instructor."
_DISAGREE = "The members of this group have different grades. Please ask your instructor."


def main() -> None:
    """Writes results/results.json below /autograder, or below $AUTOGRADER.

    A group gets the result that all its graded members have. Where there is none, nothing is
    written, and the exit status is 1: Gradescope shows no score then, and 0 would be a grade.
    """
    autograder = pathlib.Path(os.environ.get("AUTOGRADER", "/autograder"))
    metadata = json.loads((autograder / "submission_metadata.json").read_text(encoding="utf-8"))
    emails = [str(user.get("email", "")).strip().casefold() for user in metadata.get("users", [])]
    graded = autograder / "source"
    known = json.loads((graded / "students.json").read_text(encoding="utf-8"))
    students = {known[email] for email in emails if email in known}
    found = {(graded / "results" / each / "results.json").read_bytes() for each in students}
    if len(found) != 1:
        raise SystemExit(_DISAGREE if found else _NOBODY)
    target = autograder / "results" / "results.json"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(found.pop())


if __name__ == "__main__":
    main()
