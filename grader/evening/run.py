"""Prepares the grading of a class: the lock, what workers must know, and who is to be graded."""

from __future__ import annotations

import contextlib
import dataclasses
import fcntl
import logging
import secrets
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nbgrader import utils

from grader.evening.compute import result_path
from grader.evening.graded import Job, Plan, key_of, read_result, write_json
from grader.evening.write import Writer
from grader.submissions.safe_copy import printable
from grader.with_nbgrader.autograde import CourseAutograde, read_released, released_folder
from grader.with_nbgrader.places import students_in, trusted_part
from grader.with_nbgrader.replay import Replay
from grader.with_nbgrader.staged import UNFINISHED, remove_empty_above, remove_left
from labs.common.version import __version__


class Stopped(Exception):
    """The run ended early; the message says why, and what to do."""


@dataclass
class Class:
    """The submissions of a run, in the order in which nbgrader would grade them.

    `computed` are those students whose results an earlier run has left to enter.
    """

    jobs: list[Job] = field(default_factory=list)
    computed: set[str] = field(default_factory=set)
    skipped: int = 0

    @property
    def to_compute(self) -> list[Job]:
        """The submissions that must be graded."""
        return [job for job in self.jobs if job.student not in self.computed]


class Run:
    """One run of one lab. Use it as a context: it holds the lock of this lab."""

    def __init__(self, converter: CourseAutograde) -> None:
        self.converter = converter
        self.course = converter.coursedir
        self.lab = str(self.course.assignment_id)
        self.log: logging.Logger = converter.log
        self._aside = _top(converter)
        self._held = contextlib.ExitStack()

    def __enter__(self) -> Run:
        """Takes the lock. Raises Stopped if another run of this lab has it."""
        self._aside.mkdir(parents=True, exist_ok=True)
        path = self._aside / f".lock-{self.lab}"
        file = self._held.enter_context(path.open("w"))
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            self._held.close()
            raise Stopped(
                f"another `grader autograde {self.lab}` is at work in this course; wait for it"
            ) from error
        self._held.callback(lambda: path.unlink(missing_ok=True))
        self._remove_plans()
        return self

    def __exit__(self, *_: object) -> None:
        self._remove_plans()
        self._held.close()
        remove_empty_above(self._aside / "student")

    def _remove_plans(self) -> None:
        """Whoever still works by a plan sees that the run is over when the plan is gone."""
        for path in self._aside.glob(f".plan-{self.lab}-*.json*"):
            path.unlink(missing_ok=True)

    def plan(self, writer: Writer) -> tuple[Plan, Path]:
        """What every worker must know, and the file that holds it.

        Raises Stopped if nothing was released, and OSError.
        """
        converter, course = self.converter, self.course
        release = released_folder(course, self.lab)
        released = sorted(path.stem for path in release.glob("*.ipynb"))
        known = [name for name in released if name in writer.notebooks]
        if not known:
            raise Stopped(
                f"the gradebook has no notebook of {release}: run "
                f"`nbgrader generate_assignment {self.lab}` first"
            )
        replay = Replay(parent=converter)
        plan = Plan(
            lab=self.lab,
            token=secrets.token_hex(8),
            notebooks={name: self._sanitized(release / f"{name}.ipynb") for name in known},
            of_gradebook=writer.notebooks,
            released=released,
            sources=self._sources(),
            ignore=list(course.ignore),
            trusted=str(trusted_part(course, course.submitted_directory)),
            permissions=str(converter.permissions),
            groupshared=bool(course.groupshared),
            check=replay.check,
            presenter=replay.presenter,
            rules=[__version__],
        )
        path = self._aside / f".plan-{self.lab}-{plan.token}.json"
        write_json(path, dataclasses.asdict(plan))
        return plan, path

    def _sanitized(self, path: Path) -> str:
        """The released notebook after nbgrader's first pass, in which the gradebook corrects it."""
        converter: Any = self.converter
        converter._sanitizing = True
        converter.exporter = converter.exporter_class(parent=converter, config=converter.config)
        converter._init_preprocessors()
        names = {"student": "", "assignment": self.lab, "notebook": path.stem}
        resources = {
            "metadata": {"name": path.stem, "path": str(path.parent)},
            "nbgrader": {**names, "db_url": self.course.db_url},
        }
        text, _ = converter.exporter.from_notebook_node(read_released(path), resources)
        return str(text)

    def _sources(self) -> list[tuple[str, str]]:
        """The files of the source that come into each student's folder."""
        course = self.course
        self.converter.keep_evidence(self.lab)
        top = course.format_path(course.source_directory, ".", self.lab)
        excluded = {
            str(Path(top) / name) for name in self.converter.exclude_overwriting.get(self.lab, [])
        }
        found = utils.find_all_files(top, [*course.ignore, "*.ipynb"])
        return [
            (str(Path(path).absolute()), str(Path(path).relative_to(top)))
            for path in sorted(found)
            if path not in excluded
        ]

    def find(self, plan: Plan) -> Class:
        """The submissions that are to be graded, and what earlier runs have left of them.

        Raises NbGraderException if nothing was submitted.
        """
        found = Class()
        converter: Any = self.converter
        converter.init_notebooks()
        names = {str(path): student for student, path in self._students().items()}
        for folder in sorted(converter.assignments):
            student = names[folder]
            converter.notebooks = converter.assignments[folder]
            unfinished = converter.unfinished_folder(self.lab, student)
            flags = converter.accounts.of.get(student, {})
            accounts = {
                recording: [(flag.words, list(flag.students)) for flag in each]
                for recording, each in flags.items()
            }
            job = Job(student, folder, str(unfinished), accounts)
            if self._is_left(plan, job):
                found.computed.add(student)
            elif not converter.is_wanted(self.lab, student):
                self.log.info("Skipping existing assignment: %s", printable(folder, 300))
                found.skipped += 1
                continue
            found.jobs.append(job)
        return found

    def _students(self) -> dict[str, Path]:
        course = self.course
        return students_in(course, course.submitted_directory, self.lab, course.student_id)

    def forget(self, student: str) -> None:
        """Removes what is left of a submission for which there is no result."""
        unfinished = self.converter.unfinished_folder(self.lab, student)
        remove_left(unfinished)
        remove_empty_above(unfinished)

    def _is_left(self, plan: Plan, job: Job) -> bool:
        """Whether an earlier run has computed this and not entered it, and it still holds.

        Whatever else it left of this submission is removed.
        """
        unfinished = Path(job.unfinished)
        if not unfinished.parent.exists():
            return False
        result = read_result(result_path(unfinished))
        if result is None or not unfinished.is_dir() or result.key != key_of(plan, job):
            remove_left(unfinished)
            remove_empty_above(unfinished)
            return False
        return True


def _top(converter: Any) -> Path:
    """The folder of all unfinished results, in which no student can write."""
    course = converter.coursedir
    final = trusted_part(course, course.autograded_directory)
    return final / UNFINISHED
