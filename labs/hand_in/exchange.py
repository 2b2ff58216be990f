"""Submit a lab to the nbgrader exchange of the student's course, if there is one.

nbgrader does both: it lists what the courses have released, and it submits.
"""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

from labs.common import python

#: nbgrader needs about two seconds to start; an exchange on a slow network drive takes longer.
_TIME_LIMIT_S = 120.0

#: nbgrader logs why it gives up as critical, or as an error.
_REASON = re.compile(r"^\[\w+ \| (?:CRITICAL|ERROR)\] (.+)$", re.MULTILINE)


class NotSubmitted(RuntimeError):
    """The exchange did not take the lab; the message says why, and what to do."""


def courses_with(lab: str) -> tuple[str, ...]:
    """The courses whose exchange has released `lab`; empty if there is no exchange here."""
    try:
        listed = json.loads(run_python("labs.hand_in.released_labs"))
        return tuple(sorted(str(course) for course, released in listed if released == lab))
    except (NotSubmitted, ValueError, TypeError):
        return ()


def submit(lab: str, labs_folder: Path, course: str) -> None:
    """Submit the folder of `lab` below `labs_folder` to `course`. Raises NotSubmitted."""
    where = f"--Exchange.assignment_dir={labs_folder}"
    run_python("nbgrader", "submit", lab, "--course", course, where)


def run_python(module: str, *words: str) -> str:
    """The output of the Python program `module`, which uses nbgrader. Raises NotSubmitted.

    nbgrader runs the settings in the current folder as code. It finds here only those of Jupyter,
    which an administrator or the student has chosen for the account.
    """
    try:
        done = subprocess.run(
            python.command(module, *words), cwd=python.NEUTRAL, capture_output=True, text=True,
            errors="replace", timeout=_TIME_LIMIT_S, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired as error:
        raise NotSubmitted(f"nbgrader did not answer within {_TIME_LIMIT_S:g} s") from error
    if done.returncode != 0:
        worst = _REASON.search(done.stderr)
        said = worst[1] if worst is not None else done.stderr.strip()[-300:]
        raise NotSubmitted(said or f"nbgrader ended with status {done.returncode}")
    return done.stdout
