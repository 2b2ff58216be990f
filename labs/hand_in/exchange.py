"""Submit a lab to the nbgrader exchange of the student's course, and check that exchange.

nbgrader itself lists what the courses have released, and submits. It runs in a process of its own.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from labs import paths
from labs.machine.fitness import Point

#: nbgrader needs about two seconds to start; an exchange on a slow network drive takes longer.
_TIME_LIMIT_S = 120.0

#: It is run as a program too; see below.
_THIS_MODULE = "labs.hand_in.exchange"

#: nbgrader logs why it gives up as critical, or as an error.
_REASON = re.compile(r"^\[\w+ \| (?:CRITICAL|ERROR)\] (.+)$", re.MULTILINE)


class NotSubmitted(RuntimeError):
    """The exchange did not take the lab; the message says why, and what to do."""


def courses_with(lab: str) -> tuple[str, ...]:
    """The courses whose exchange has released `lab`; empty if there is no exchange here.

    Raises NotSubmitted if Jupyter's settings name another exchange, and it cannot be used.
    """
    try:
        listed = json.loads(run_python(_THIS_MODULE, "released"))
        found = tuple(
            sorted(str(course) for course, released in listed["released"] if released == lab)
        )
    except (NotSubmitted, ValueError, TypeError):
        return ()
    if listed["trouble"]:
        raise NotSubmitted(listed["trouble"])
    return found


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
        done = paths.run(paths.python_command(module, *words), _TIME_LIMIT_S)
    except subprocess.TimeoutExpired as error:
        raise NotSubmitted(f"nbgrader did not answer within {_TIME_LIMIT_S:g} s") from error
    worst = _REASON.search(done.stderr)
    # Another exchange can log that it failed, and end with status 0 all the same.
    if done.returncode != 0 or (module == "nbgrader" and worst is not None):
        said = worst[1] if worst is not None else done.stderr.strip()[-300:]
        raise NotSubmitted(said or f"nbgrader ended with status {done.returncode}")
    return done.stdout


#: The steps of an exchange, as nbgrader's settings call them.
_STEPS = (
    "release_assignment", "fetch_assignment", "submit", "list", "collect", "release_feedback",
    "fetch_feedback",
)  # fmt: skip
_NAME = "exchange"
#: What a student must be allowed in each folder of a course.
_NEEDED = {"inbound": os.W_OK | os.X_OK, "outbound": os.R_OK | os.X_OK}
_BY_UPLOAD = "Hand in by uploading the archive that labs hand-in makes."
_AS_A_STUDENT = (
    "Make these folders as nbgrader makes them: inbound with mode 733, outbound with 755."
)


def root_of_exchange() -> Path | None:
    """The folder of the exchange that nbgrader uses here; None if there is none to look at.

    It is the one that Jupyter's settings name, as for students. This takes about two seconds.
    """
    try:
        found = json.loads(run_python(_THIS_MODULE, "root"))
    except (NotSubmitted, ValueError):
        return None
    return Path(found) if isinstance(found, str) and found else None


def check_exchange(root: Path | None) -> Point:
    """Whether a student can fetch and submit labs with the exchange in the folder `root`."""
    if root is None:
        return Point(_NAME, "SKIPPED", "nbgrader names no folder for an exchange")
    make = f"sudo install -d -m 1777 {root}"
    try:
        if not root.exists():
            return Point(
                _NAME,
                "SKIPPED",
                f"there is no folder {root}: students hand in by uploading an archive",
                administrator=f"If your course uses nbgrader's exchange, make it: {make}",
            )
        if not _may(root, os.R_OK | os.W_OK | os.X_OK):
            return Point(
                _NAME,
                "CAUTION",
                f"students may not write to {root}: nbgrader will not use it",
                _BY_UPLOAD,
                f"Allow it; nobody can remove what belongs to another account then: {make}",
            )
        closed = [str(each) for each in _closed(root)]
    except OSError as error:
        return Point(_NAME, "SKIPPED", f"{root} cannot be read: {error.strerror or error}")
    if closed:
        return Point(
            _NAME,
            "CAUTION",
            f"students cannot use {', '.join(closed[:3])}{' and others' if closed[3:] else ''}",
            _BY_UPLOAD,
            _AS_A_STUDENT,
        )
    return Point(_NAME, "PASS", str(root))


def _closed(root: Path) -> Iterator[Path]:
    """The folders of courses that a student cannot use as nbgrader does."""
    for course in sorted(each for each in root.iterdir() if each.is_dir()):
        if not _may(course, os.R_OK | os.X_OK):
            yield course
            continue
        for name, needed in _NEEDED.items():
            if (course / name).is_dir() and not _may(course / name, needed):
                yield course / name


def _may(folder: Path, needed: int) -> bool:
    """Whether this account may do that in the folder; asked by root: whether every account may."""
    if os.geteuid() != 0:
        return os.access(folder, needed)
    return folder.stat().st_mode & needed == needed


# The program that prints what nbgrader knows of the exchange. `nbgrader list` prints the released
# labs for a reader only (nbgrader 0.9.6).


def main(asked: str) -> int:
    """Print as JSON what is `asked`; the exit status is 1 if there is no exchange.

    `released` prints a list of [course, lab] and the trouble with another exchange than nbgrader's
    own, and `root` the folder of the exchange, or null if it is another one.
    """
    # Here: only this program loads nbgrader, which takes long.
    from nbgrader.apps import NbGrader
    from nbgrader.auth import Authenticator
    from nbgrader.coursedir import CourseDirectory
    from nbgrader.exchange import ExchangeFactory
    from nbgrader.exchange.abc import ExchangeError

    app = NbGrader()
    app.load_config_file()
    config = app.config
    factory = ExchangeFactory(config=config)
    another = steps_of_another(factory)
    lister = factory.List(
        coursedir=CourseDirectory(config=config),
        authenticator=Authenticator(config=config),
        config=config,
    )
    found: object = None if another else lister.root
    if asked == "released":
        released: set[tuple[str, str]] = set()
        trouble = only_partly_another(factory)
        try:
            if not trouble:
                released = {(each["course_id"], each["assignment_id"]) for each in lister.start()}
        except Exception as error:  # another exchange may be of any make
            if not another:
                if isinstance(error, ExchangeError):
                    return 1
                raise
            trouble = f"{another['list']} failed: {error or type(error).__name__}"
        found = {"released": sorted(released), "trouble": trouble}
    sys.stdout.write(json.dumps(found) + "\n")
    return 0


def steps_of_another(factory: Any) -> dict[str, str]:
    """The steps for which settings name another exchange than nbgrader's own, with their classes.

    `factory` is nbgrader's ExchangeFactory.
    """
    from nbgrader.exchange.default import Exchange

    steps = {each: getattr(factory, each) for each in _STEPS}
    return {
        step: f"{kind.__module__}.{kind.__qualname__}"
        for step, kind in steps.items()
        if not issubclass(kind, Exchange)
    }


def only_partly_another(factory: Any) -> str:
    """A sentence if settings name another exchange for some steps and not for all; '' if not."""
    another = steps_of_another(factory)
    missing = [each for each in _STEPS if each not in another]
    if not another or not missing:
        return ""
    named = ", ".join(f"{step} ({kind})" for step, kind in another.items())
    return (
        f"Jupyter's settings name another exchange for {named}, and none for {', '.join(missing)}. "
        "Students would hand in at one and be collected from the other: name the exchange for "
        "every step, as c.ExchangeFactory.STEP in nbgrader_config.py, or for none"
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
