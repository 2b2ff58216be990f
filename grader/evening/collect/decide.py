"""Whether a submission counts, becomes an earlier version, or is there already.

The newest counts. Where the time of one of two is not known, what is collected later counts, but
nothing that was collected once comes back: so a second run over the same sources changes nothing.
"""

from __future__ import annotations

import datetime
import enum
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatch
from typing import Any

from grader.evening.collect.items import NotTaken

Record = dict[str, Any]

#: What `nbgrader submit` adds, or we do: two submissions that differ in it alone are the same.
BY_NBGRADER = frozenset({"timestamp.txt", "submission_secret.txt"})


def files_of_student(paths: Iterable[str], ignore: Sequence[str] = ()) -> int:
    """How many of the files the student made; nbgrader takes none whose path fits `ignore`."""
    return sum(
        path not in BY_NBGRADER
        and not any(fnmatch(part, glob) for part in path.split("/") for glob in ignore)
        for path in paths
    )


class Did(enum.Enum):
    """What became of a submission."""

    NEW = "collected"
    NEWER = "collected, replaces"
    EARLIER = "kept as earlier"
    SAME = "was collected"
    BACK = "collected again"


@dataclass(frozen=True)
class Arrived:
    """A submission of a student: what its record will say, with `content` as its fingerprint."""

    record: Record

    @property
    def content(self) -> str:
        """The same for two submissions with the same files."""
        return str(self.record["content"])

    def is_newer_than(self, record: Record) -> bool | None:
        """Whether it was handed in after the submission of `record`; None if that is not known."""
        order, before = self.record.get("order"), record.get("order")
        if isinstance(order, int) and isinstance(before, int) and order != before:
            return order > before
        when, then = when_of(self.record), when_of(record)
        if when is not None and then is not None and when != then:
            return when > then
        return None


@dataclass
class State:
    """What the course has of one student: the record of what counts, and those of earlier ones."""

    current: Record | None
    earlier: list[Record] = field(default_factory=list)

    def decide(self, arrived: Arrived) -> Did:
        """What to do with a submission; afterwards the state is as if that was done."""
        if self.current is None:
            # An interrupted run has moved it away, or somebody has removed the newer one.
            again = [each for each in self.earlier if content_of(each) == arrived.content]
            if again:
                self.earlier.remove(again[-1])
                self.current = again[-1]
                return Did.BACK
            self.current = arrived.record
            return Did.NEW
        if content_of(self.current) == arrived.content:
            return Did.SAME
        newer = arrived.is_newer_than(self.current)
        known = any(content_of(each) == arrived.content for each in self.earlier)
        if known and not newer:
            return Did.SAME
        if newer is False:
            self.earlier.append(arrived.record)
            return Did.EARLIER
        self.earlier.append(self.current)
        self.current = arrived.record
        return Did.NEWER

    def counts(self, record: Record) -> bool:
        """Whether the submission that counts has the files of `record`."""
        return content_of(self.current or {}) == content_of(record)

    def check_person(self, who: str) -> None:
        """Raises NotTaken if what was collected under this id is another person's.

        `who` is how the source names the student: `Canvas 77`, for instance.
        """
        before = str((self.current or {}).get("who") or "")
        source = who.partition(" ")[0]
        if who and before != who and before.partition(" ")[0] == source:
            raise NotTaken(f"what was collected under this id is of {before}, and this is of {who}")


def fingerprint(hashes: Mapping[str, str]) -> str:
    """One SHA-256 for the files with these hashes, by path."""
    lines = "".join(f"{digest}  {path}\n" for path, digest in sorted(hashes.items()))
    return hashlib.sha256(lines.encode()).hexdigest()


def content_of(record: Record) -> str:
    """The fingerprint in a record; of one that nbgrader's exchange gave, that of its files."""
    if isinstance(record.get("content"), str):
        return str(record["content"])
    hashes = record.get("sha256")
    if not isinstance(hashes, dict):
        return ""
    return fingerprint({str(k): str(v) for k, v in hashes.items() if k not in BY_NBGRADER})


def when_of(record: Record) -> datetime.datetime | None:
    """When the submission of a record was handed in; None if that is not known."""
    try:
        return datetime.datetime.fromisoformat(record["when"])
    except (KeyError, TypeError, ValueError):
        return None
