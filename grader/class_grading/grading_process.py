"""Grades single submissions in processes of their own, which take jobs and answer as JSON.

A worker writes one result file for each student. It is complete or it is not there. It says what
the gradebook gets; nobody unpickles it. What a run that was ended has left can be used by the next
one only if its key is the same: then it was made from the same files by the same rules.
"""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import functools
import hashlib
import json
import logging
import os
import secrets
import shutil
import stat
import sys
import traceback
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import nbformat
from nbformat.v4.rwbase import split_lines, strip_transient
from nbgrader import utils
from pydantic import ConfigDict, TypeAdapter, ValidationError

from grader.figures.verdict import Verdict
from grader.judging.flags import AccountFlag
from grader.judging.worker import Lost, ProcessPool, Ways, serve, verdict_from
from grader.submissions.safe_files import copy, printable, read_ahead
from grader.submissions.submitted_notebook import find_submitted, quoted, rebuild
from grader.with_nbgrader.careful_course import time_of_submission
from grader.with_nbgrader.course_folder import NEW, PART, RESULT, remove_empty_above
from grader.with_nbgrader.locked_gradebook import cause_of
from grader.with_nbgrader.replay import EVIDENCE, judge_into, runs_of
from grader.with_nbgrader.student_folders import RECORD
from grader.with_nbgrader.verdict_cells import comments_of, is_test, scores_of

#: More files of a submission than these do not change its key; the limits of copying are far lower.
_MOST_FILES = 5_000
_MOST_RESULT_BYTES = 32_000_000


@dataclass(frozen=True)
class Plan:
    """What is the same for every student of a run; all paths are absolute.

    `notebooks` has the released notebooks by name, as nbgrader's first pass leaves them; `earlier`
    those of earlier releases. `of_gradebook` names the notebooks that the gradebook has. `sources`
    are the files of the source, each with its place in the student's folder. `rules` stands for
    everything else that the points depend on.
    """

    lab: str
    token: str
    notebooks: dict[str, str]
    earlier: dict[str, list[str]]
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

    __pydantic_config__ = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False)

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


# Whoever reaches a worker may write what it answers, so nothing is taken for what it is not.
_RESULT: TypeAdapter[Result] = TypeAdapter(Result)
_ANSWER: TypeAdapter[NoResult | None] = TypeAdapter(NoResult | None)


def read_result(path: Path, student: str) -> Result | None:
    """The result of `student` at `path`; None if there is no complete one, or another's."""
    try:
        with path.open("rb") as file:
            content = file.read(_MOST_RESULT_BYTES + 1)
        if len(content) > _MOST_RESULT_BYTES:
            return None
        result = _RESULT.validate_json(content)
        return result if result.student == student and _is_whole(result) else None
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None


def _is_whole(result: Result) -> bool:
    """Whether what the parts of a result name is there. Raises what :func:`verdict_from` raises."""
    if result.timestamp is not None:
        datetime.datetime.fromisoformat(result.timestamp)
    for notebook, verdicts in result.verdicts.items():
        if not verdicts.keys() <= result.scores.get(notebook, {}).keys():
            return False
        if any(verdict_from(each).figure != figure for figure, each in verdicts.items()):
            return False
    named = {*result.accounts, *result.runs, *(result.copied or {})}
    return named <= result.verdicts.keys()


def answer_of(came: object) -> NoResult | None:
    """What a worker answered. An answer of another form is no result."""
    try:
        return _ANSWER.validate_python(came)
    except ValidationError:
        return NoResult("the process that grades it gave an answer of another form")


# Grading one submission without the gradebook. The steps and functions are those of `nbgrader
# autograde` with our settings: copy the files, rebuild the notebook, judge the figures, write
# verdicts into the cells. A test compares the folders and the gradebooks of both.


def result_path(unfinished: Path) -> Path:
    """The result file of an unfinished folder."""
    return unfinished.with_name(unfinished.name + RESULT)


def grade(plan_path: str, job: Job) -> None:
    """Grades one submission into its unfinished folder, and writes its result file last.

    If it fails, the result file says why. Raises OSError if not even this can be written. Several
    processes may do the same job: one of a cluster may live on that the cluster has given up. So
    each works in a folder of its own, and what comes when the run is over changes nothing.
    """
    unfinished = Path(job.unfinished)
    part = unfinished.with_name(f"{unfinished.name}{PART}{secrets.token_hex(8)}")
    heard = _Heard()
    try:
        result = _graded(_plan(plan_path), job, part, heard.log)
    except Exception as error:
        no = no_result(error)
        heard.log.error("%s", traceback.format_exc())
        result = Result(job.student, trouble=no.why, stops=no.stops)
    result.log = heard.lines
    try:
        if Path(plan_path).exists():
            _put(part, unfinished, result)
    finally:
        shutil.rmtree(part, ignore_errors=True)
        remove_empty_above(unfinished)


def no_result(error: Exception) -> NoResult:
    """Why `error` leaves a submission without a result."""
    cause = cause_of(error)
    words = cause or f"{type(error).__name__}: {printable(str(error), 300)}"
    return NoResult(words, stops=cause is not None)


def _put(part: Path, unfinished: Path, result: Result) -> None:
    """Puts a folder and its result file in place of what an earlier try has left."""
    unfinished.parent.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(unfinished, ignore_errors=True)
    if not result.trouble:
        part.rename(unfinished)
    write_result(result_path(unfinished), result)


def _graded(plan: Plan, job: Job, part: Path, log: logging.Logger) -> Result:
    source = Path(job.source)
    result = Result(job.student, key_of(plan, job))
    ignore, trusted = [*plan.ignore, "*.ipynb"], Path(plan.trusted)
    taken = copy(source, part, ignore, trusted, first=(RECORD,), share=True)
    notes = [f"left out {quoted(note)}" for note in taken.left_out]
    when = time_of_submission(source, log)
    result.timestamp = None if when is None else utils.parse_utc(when).isoformat()
    for path, place in plan.sources:
        target = part / place
        target.parent.mkdir(parents=True, exist_ok=True)
        target.unlink(missing_ok=True)
        shutil.copy(path, target)
    for name in plan.of_gradebook:
        if not (source / f"{name}.ipynb").exists():
            log.warning("No submitted file: %s", source / f"{name}.ipynb")
            result.missing.append(name)
    for name in plan.notebooks:
        _grade_notebook(plan, job, part, name, notes, result, log)
    _set_permissions(part, plan)
    return result


def _grade_notebook(
    plan: Plan,
    job: Job,
    folder: Path,
    name: str,
    notes: list[str],
    result: Result,
    log: logging.Logger,
) -> None:
    released = _parsed(plan.notebooks[name])
    path = Path(job.source) / f"{name}.ipynb"
    found = find_submitted(path, released, set(plan.released))
    earlier = [_parsed(text) for text in plan.earlier[name]]
    rebuilt = rebuild(released, found.submitted, [*notes, *found.notes], earlier)
    notebook = rebuilt.notebook
    for note in rebuilt.set_aside:
        log.warning("%s, %s: %s", printable(job.student), name, note)
    result.set_aside += rebuilt.set_aside
    outcomes: dict[str, str] = {}
    if any(map(is_test, notebook.cells)):
        flags = {
            recording: [AccountFlag(words, tuple(names)) for words, names in each]
            for recording, each in job.accounts.items()
        }
        ways = Ways(plan.check, plan.presenter, EVIDENCE)
        judged = judge_into(notebook, folder, job.student, name, ways, flags, log)
        outcomes = judged.written.outcomes
        result.accounts[name] = judged.accounts
        result.runs[name] = runs_of(judged.verdicts)
        result.verdicts[name] = {
            figure: _without_flags_of_class(each, judged.verdicts.get(figure)).plain()
            for figure, each in judged.written.verdicts.items()
        }
    result.scores[name] = scores_of(notebook, outcomes, log)
    result.comments[name] = comments_of(notebook)
    write_notebook(folder / f"{name}.ipynb", notebook)


def _without_flags_of_class(written: Verdict, judged: Verdict | None) -> Verdict:
    """The verdict in a cell as it was before the flags of the class.

    One without points that a cell can have was replaced, and then there is nothing to flag.
    """
    return judged if judged is not None and judged.outcome is written.outcome else written


def write_notebook(path: Path, notebook: nbformat.NotebookNode) -> None:
    """Writes a notebook as nbgrader does, and uses it up: nbformat copies it. Raises OSError."""
    on_file = strip_transient(split_lines(notebook))  # type: ignore[no-untyped-call]
    text = json.dumps(on_file, ensure_ascii=False, indent=1, sort_keys=True)
    path.write_text(f"{text}\n", encoding="utf-8")


def as_notebook(text: str) -> nbformat.NotebookNode:
    """The notebook in a text that we wrote. Raises ValueError."""
    notebook: nbformat.NotebookNode = nbformat.versions[4].reads_json(text)
    return notebook


#: A released notebook, which whoever rebuilds one copies.
_parsed = functools.lru_cache(maxsize=32)(as_notebook)


@functools.lru_cache(maxsize=2)
def _plan(path: str) -> Plan:
    """The plan at `path`. Raises OSError or ValueError."""
    return Plan(**json.loads(Path(path).read_bytes()))


def _set_permissions(folder: Path, plan: Plan) -> None:
    """Sets the permissions that nbgrader's `set_permissions` would set."""
    for top, _, names in os.walk(folder):
        for name in names:
            (Path(top) / name).chmod(int(plan.permissions, 8))
        mode = Path(top).stat().st_mode
        if plan.groupshared and mode & 0o2770 != 0o2770:
            try:
                Path(top).chmod((mode | 0o2770) & 0o2777)
            except PermissionError:
                continue


class _Heard(logging.Handler):
    """What was logged on one submission; it reaches the log file of the run in one piece."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []
        self.log = logging.Logger("grader.class_grading", logging.WARNING)
        self.log.addHandler(self)

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(f"{record.levelname}: {record.getMessage()}")


# Several processes of this machine that grade side by side.

#: While one submission is judged, the OS reads the one that comes so many later. A disk that others
#: use may need seconds for a file.
_AHEAD = 16


class LocalPool(ProcessPool):
    """`count` processes that grade; they end with this object.

    `trusted` is a folder above all submissions in which no student can write.
    """

    def __init__(self, plan: Path, count: int, trusted: Path) -> None:
        super().__init__("grader.class_grading.grading_process", count)
        self._plan, self._trusted = str(plan), trusted
        self._reading = ThreadPoolExecutor(1)

    def each(self, jobs: Sequence[Job]) -> Iterator[tuple[Job, NoResult | None]]:
        """Grades each job, and yields it when its result file is written, in the order of `jobs`.

        With it comes why there is no result file, or None.
        """

        def read(number: int) -> None:
            if number < len(jobs):
                self._reading.submit(read_ahead, Path(jobs[number].source), self._trusted)

        for number in range(_AHEAD):
            read(number)
        asked = [{"plan": self._plan, **dataclasses.asdict(job)} for job in jobs]
        answers = self.answers(asked, lambda number: read(number + _AHEAD))
        for job, came in zip(jobs, answers, strict=True):
            if isinstance(came, Lost):
                yield job, NoResult(f"the process that grades it {came.why}")
            else:
                yield job, answer_of(came)

    def __exit__(self, *raised: object) -> None:
        super().__exit__(*raised)
        self._reading.shutdown(cancel_futures=True)


def grade_stated(plan: str, **job: Any) -> dict[str, Any] | None:
    """Grades one submission in a process of a pool: why there is no result file, or None."""
    try:
        grade(plan, Job(**job))
    except OSError as error:
        return dataclasses.asdict(no_result(error))
    return None


def main() -> int:
    """Serve jobs until standard input ends."""
    return serve(lambda job: grade_stated(**job))


if __name__ == "__main__":
    sys.exit(main())
