"""Puts collected submissions into the course: each one whole, and none over another.

A submission is copied aside, its copies are read again, and a record of it is written; a rename is
the last step. An earlier submission of the same student moves to a hidden folder, which nbgrader
ignores.
"""

from __future__ import annotations

import contextlib
import datetime
import fcntl
import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from grader.submissions.safe_copy import copy
from grader.with_nbgrader.exchange.entries import Entry
from grader.with_nbgrader.places import trusted_part
from grader.with_nbgrader.record import RECORD, parsed, record_in

COLLECTING, EARLIER = ".collecting", ".earlier"


class Collected:
    """The submissions of one lab in a course folder."""

    def __init__(self, course: Any, assignment: str) -> None:
        self._course, self._assignment = course, assignment
        root = trusted_part(course, course.submitted_directory)
        self._collecting, self._earlier = root / COLLECTING / assignment, root / EARLIER

    def folder(self, student: str) -> Path:
        """Where nbgrader looks for the submission of `student`."""
        step = self._course.submitted_directory
        return Path(self._course.format_path(step, student, self._assignment))

    def entry(self, student: str) -> Entry | None:
        """What was collected from `student`; None if nothing is there.

        If the folder was made by hand or by an earlier version, its owner is not known. If the
        folder is gone, an earlier version still says who its owner was.
        """
        folder = self.folder(student)
        if folder.is_dir() and not folder.is_symlink():
            when = self._course.get_existing_timestamp(str(folder))
            unknown = Entry("", student, when or datetime.datetime.min, None, 0)
            return _read(folder, student) or unknown
        return None

    def earlier_owner(self, student: str) -> int | None:
        """Who owned the version that was moved away last; None if there is none."""
        found = [_read(version, student) for version in self._versions(student)]
        owners = [each.owner for each in found if each is not None]
        return owners[-1] if owners else None

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """Keeps other collects of this lab out; first removes what an interrupted one left.

        Raises BlockingIOError if another one runs, and OSError.
        """
        self._collecting.mkdir(parents=True, exist_ok=True)
        handle = os.open(self._collecting, os.O_RDONLY)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            for left in self._collecting.iterdir():
                shutil.rmtree(left)
            try:
                yield
            finally:
                for folder in (self._collecting, self._collecting.parent):
                    with contextlib.suppress(OSError):
                        folder.rmdir()
        finally:
            os.close(handle)

    def take(self, entry: Entry, source: Path, ignore: Sequence[str]) -> list[str]:
        """Copies the folder `source` of the exchange into its place; returns what was left out.

        Raises OSError; then what was there before is unchanged.
        """
        return self.put(entry.student, entry.as_json(), source, ignore)

    def put(
        self,
        student: str,
        record: dict[str, Any],
        source: Path,
        ignore: Sequence[str],
        *,
        as_earlier: bool = False,
    ) -> list[str]:
        """Copies the folder `source` into the place of `student`; returns what was left out.

        The record gets the hashes of all files. With `as_earlier`, what is there stays, and the
        copy becomes an earlier version. Raises OSError; then what was there before is unchanged.
        """
        folder, new = self.folder(student), self._collecting / student
        try:
            first = (f"{self._assignment}.ipynb",)
            taken = copy(source, new, [*ignore, RECORD], first=first)
            left_out = [*record.get("left_out", []), *taken.left_out]
            stated = {**record, "left_out": left_out, "sha256": taken.hashes}
            (new / RECORD).write_text(json.dumps(stated, indent=1), encoding="utf-8")
            _sync(new)
            folder.parent.mkdir(parents=True, exist_ok=True)
            if self._course.groupshared:
                _share(new)
            if as_earlier:
                new.rename(self._place_for_earlier(student))
            elif folder.is_dir():
                kept = self._place_for_earlier(student)
                folder.rename(kept)
                try:
                    new.rename(folder)
                except OSError:
                    kept.rename(folder)
                    raise
            else:
                new.rename(folder)
        except OSError:
            shutil.rmtree(new, ignore_errors=True)
            raise
        return taken.left_out

    def scratch(self) -> Path:
        """A new folder for what is unpacked, removed with what an interrupted collect left."""
        return Path(tempfile.mkdtemp(prefix=".", dir=self._collecting))

    def record(self, student: str) -> dict[str, Any]:
        """The record of what was collected from `student`; empty if there is none."""
        return parsed(record_in(self.folder(student)))

    def mark(self, student: str, more: dict[str, Any]) -> None:
        """Changes some entries of the record of what was collected, alone. Raises OSError."""
        stated, new = {**self.record(student), **more}, self._collecting / student
        new.mkdir()
        (new / RECORD).write_text(json.dumps(stated, indent=1), encoding="utf-8")
        _sync(new)
        (new / RECORD).replace(self.folder(student) / RECORD)
        new.rmdir()

    def earlier_records(self, student: str) -> list[dict[str, Any]]:
        """The records of the versions that were moved away, in the order of their folders."""
        return [parsed(record_in(version)) for version in self._versions(student)]

    def put_back(self, student: str, record: dict[str, Any]) -> None:
        """Moves the last earlier version with this record back into its place. Raises OSError."""
        same = [each for each in self._versions(student) if parsed(record_in(each)) == record]
        self.folder(student).parent.mkdir(parents=True, exist_ok=True)
        same[-1].rename(self.folder(student))

    def _versions(self, student: str) -> list[Path]:
        """The folders of the versions that were moved away, the last one last."""
        return sorted((self._earlier / student / self._assignment).glob("*"))

    def _place_for_earlier(self, student: str) -> Path:
        """A new path for an earlier version, named by its order, so that the last is last."""
        versions = self._earlier / student / self._assignment
        versions.mkdir(parents=True, exist_ok=True)
        numbers = [int(path.name) for path in versions.iterdir() if path.name.isdecimal()]
        return versions / f"{max(numbers, default=0) + 1:04d}"


def _read(folder: Path, student: str) -> Entry | None:
    """The entry in the record of `folder`; None if there is no record or it is not one of ours."""
    try:
        return Entry.from_json(parsed(record_in(folder)), student)
    except (ValueError, KeyError, TypeError):
        return None


def _sync(folder: Path) -> None:
    """Writes the files under `folder` to the disk: a rename must not come before them."""
    for path in [*folder.rglob("*"), folder]:
        handle = os.open(path, os.O_RDONLY)
        try:
            # Some file systems sync no folders, and need not.
            with contextlib.suppress(OSError) if path.is_dir() else contextlib.nullcontext():
                os.fsync(handle)
        finally:
            os.close(handle)


def _share(folder: Path) -> None:
    """Permissions for other instructors, as nbgrader gives them with `groupshared`."""
    for path in [folder, *folder.rglob("*")]:
        more = 0o2770 if path.is_dir() else 0o660
        with contextlib.suppress(PermissionError):
            path.chmod(path.stat().st_mode & 0o2777 | more)
