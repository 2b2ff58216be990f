"""Runs the steps of a small class in processes that can be killed, and says what they left.

Starting nbgrader takes seconds. So one process imports it once, and each run is a fork of it.
"""

from __future__ import annotations

import os
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import psutil
from nbgrader.apps.nbgraderapp import NbGraderApp

# What the course's settings and the command name, so that each fork has it already.
import grader.class_grading.autograde_class
import grader.class_grading.class_feedback
import grader.class_grading.collect_class
import grader.with_nbgrader.feedback
import grader.with_nbgrader.nbgrader_exchange
import grader.with_nbgrader.pages.formgrader
import grader.with_nbgrader.pages.student_text  # noqa: F401
from grader.commands.cli import main
from support.small_exchange import ExchangeCourse

_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT
_CHANGES = {"os.rename", "os.mkdir", "os.rmdir", "os.remove", "os.chmod", "sqlite3.connect"}

State = tuple[dict[str, str], dict[str, Any]]


class Place(Protocol):
    """A course folder, and the environment of the commands that run in it."""

    @property
    def folder(self) -> Path: ...

    @property
    def environment(self) -> dict[str, str]: ...


@dataclass(frozen=True)
class Ran:
    """How a run ended: exit status (negative for a signal), what it said, how long it took.

    `changes` is how often it was about to change a file or to open the gradebook.
    """

    status: int
    said: str
    seconds: float
    changes: int = 0


def state(course: ExchangeCourse) -> State:
    """All folders that the steps make, and the gradebook."""
    return course.files(), course.gradebook()


def run(
    course: Place,
    words: tuple[str, ...],
    kill_after_s: float | None = None,
    kill_at_change: int | None = None,
    whom: Callable[[list[int]], Sequence[int]] = lambda processes: processes[:1],
) -> Ran:
    """Runs one command of nbgrader in the course, or of `grader`, and kills it if told so.

    `whom` chooses which of its processes are killed after `kill_after_s`: by default the first one.
    """
    with tempfile.TemporaryDirectory() as scratch:
        said, counted = Path(scratch) / "said", Path(scratch) / "changes"
        begin = time.monotonic()
        child = os.fork()
        if child == 0:
            _be_nbgrader(course, words, said, counted, kill_at_change)
        if kill_after_s is not None:
            time.sleep(kill_after_s)
            for process in whom(_processes(child)):
                with suppress(ProcessLookupError):  # it ended just now
                    os.kill(process, signal.SIGKILL)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        text = said.read_text(errors="replace")
        changes = int(counted.read_text()) if counted.exists() else 0
        return Ran(status, text, time.monotonic() - begin, changes)


def _processes(first: int) -> list[int]:
    """The process `first`, and those that it started. It may have ended."""
    try:
        return [first, *(each.pid for each in psutil.Process(first).children(recursive=True))]
    except psutil.NoSuchProcess:
        return [first]


def _be_nbgrader(
    course: Place, words: tuple[str, ...], said: Path, counted: Path, kill_at: int | None
) -> None:
    """In the child: is the command, and ends the process."""
    status, changes = 1, [0]
    try:
        output = os.open(said, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        os.dup2(output, 1)
        os.dup2(output, 2)
        os.environ.update(course.environment)
        os.chdir(course.folder)
        root = str(course.folder.parent)

        def about_to(event: str, arguments: tuple[Any, ...]) -> None:
            if event == "open":
                path, _, flags = arguments
                if not (flags and flags & _WRITING and str(path).startswith(root)):
                    return
            elif event not in _CHANGES:
                return
            changes[0] += 1
            if changes[0] == kill_at:
                os.kill(os.getpid(), signal.SIGKILL)

        sys.addaudithook(about_to)
        try:
            if words[0] == "grader":
                status = main(list(words[1:]))
            else:
                NbGraderApp.launch_instance(list(words))
                status = 0
        except SystemExit as end:
            status = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        counted.write_text(str(changes[0]))
        os._exit(status)
