"""What is asked of a worker of `grader autograde`, and what it answers: plain data, as JSON.

A worker writes one result file for each student. It is complete or it is not there. It says what
the gradebook gets; nobody unpickles it. What a run that was ended has left can be used by the next
one only if its key is the same: then it was made from the same files by the same rules.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import hashlib
import json
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from grader.with_nbgrader.staged import NEW

#: More files of a submission than these do not change its key; the limits of copying are far lower.
_MOST_FILES = 5_000
_MOST_RESULT_BYTES = 32_000_000


@dataclass(frozen=True)
class Plan:
    """What is the same for every student of a run; all paths are absolute.

    `notebooks` has the released notebooks by name, as nbgrader's first pass leaves them.
    `of_gradebook` names the notebooks that the gradebook has. `sources` are the files of the
    source, each with its place in the student's folder. `rules` stands for everything else that the
    points depend on.
    """

    lab: str
    token: str
    notebooks: dict[str, str]
    of_gradebook: list[str]
    released: list[str]
    sources: list[tuple[str, str]]
    ignore: list[str]
    trusted: str
    permissions: str
    groupshared: bool
    check: str
    presenter: str
    rules: list[str] = field(default_factory=list)

    @functools.cached_property
    def digest(self) -> str:
        """The same for two runs that grade alike."""
        stated = {**dataclasses.asdict(self), "token": ""}
        sources = [_stamp(Path(path)) for path, _ in self.sources]
        return hashlib.sha256(json.dumps([stated, sources]).encode()).hexdigest()


@dataclass(frozen=True)
class Job:
    """One student's submission. `accounts` has flags by recording: the words, and whom to ask."""

    student: str
    source: str
    unfinished: str
    accounts: dict[str, list[tuple[str, list[str]]]] = field(default_factory=dict)


@dataclass(frozen=True)
class NoResult:
    """Why there is no result file. If `stops`, no other submission can have one either."""

    why: str
    stops: bool = False


@dataclass
class Result:
    """What the gradebook gets for one student, and what the instructor is told.

    `scores` and `comments` are by notebook and cell. `missing` names notebooks that were not
    handed in. `verdicts` are those of the test cells, by notebook and figure, without the flags of
    the class; `accounts` are such flags. `runs` are the fingerprints for the register of runs;
    `copied` names, by notebook, the figures whose run others hold too, and whom. It is None until
    the register was asked. `trouble` says why there is no result.
    """

    student: str
    key: str = ""
    timestamp: str | None = None
    scores: dict[str, dict[str, float | None]] = field(default_factory=dict)
    comments: dict[str, dict[str, str | None]] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)
    verdicts: dict[str, dict[str, dict[str, Any]]] = field(default_factory=dict)
    accounts: dict[str, dict[str, list[str]]] = field(default_factory=dict)
    runs: dict[str, dict[str, list[str]]] = field(default_factory=dict)
    copied: dict[str, dict[str, list[str]]] | None = None
    set_aside: list[str] = field(default_factory=list)
    log: list[str] = field(default_factory=list)
    trouble: str = ""
    stops: bool = False

    @property
    def figures(self) -> Iterator[dict[str, Any]]:
        """Every verdict."""
        for verdicts in self.verdicts.values():
            yield from verdicts.values()


def key_of(plan: Plan, job: Job) -> str:
    """The key of a result: what it is made from, and by which rules."""
    top = Path(job.source)
    files = []
    for folder, folders, names in os.walk(top):
        folders.sort()
        files += [_stamp(Path(folder) / name) for name in [*sorted(names), *folders]]
        if len(files) > _MOST_FILES:
            break
    content = json.dumps([plan.digest, job.accounts, files[:_MOST_FILES]])
    return hashlib.sha256(content.encode()).hexdigest()


def _stamp(path: Path) -> list[object]:
    """What changes when a file changes, or when it can be read now and could not before.

    Other permissions do not count: to grade a recording changes them where both steps share it.
    """
    try:
        status = path.lstat()
    except OSError as error:
        return [str(path), error.errno]
    folder = stat.S_ISDIR(status.st_mode)
    kind = stat.S_IFMT(status.st_mode) | status.st_mode & stat.S_IRUSR
    return [str(path), kind, 0 if folder else status.st_size, status.st_mtime_ns]


def write_json(path: Path, stated: object) -> None:
    """Puts `stated` at `path` as a whole. Raises OSError.

    It is not synced to the disk: after a power cut, an incomplete file is made again. The file that
    is being written has a fixed name, so that one that was left is replaced.
    """
    new = path.with_name(path.name + NEW)
    try:
        new.write_bytes(json.dumps(stated).encode("ascii"))
        new.replace(path)
    except OSError:
        with contextlib.suppress(OSError):
            new.unlink()
        raise


def write_result(path: Path, result: Result) -> None:
    """Puts a result at `path` as a whole. Raises OSError."""
    write_json(path, vars(result))


def read_result(path: Path) -> Result | None:
    """The result at `path`; None if there is no complete one."""
    try:
        with path.open("rb") as file:
            content = file.read(_MOST_RESULT_BYTES + 1)
        if len(content) > _MOST_RESULT_BYTES:
            return None
        return Result(**json.loads(content))
    except (OSError, ValueError, TypeError, RecursionError):
        return None


def read_plan(path: Path) -> Plan:
    """The plan at `path`. Raises OSError or ValueError."""
    stated = json.loads(path.read_bytes())
    sources = [(path, place) for path, place in stated.pop("sources")]
    return Plan(**stated, sources=sources)
