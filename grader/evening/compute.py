"""Grades one submission, without the gradebook: a folder, and a file with what the gradebook gets.

It takes the steps that `nbgrader autograde` takes with our settings, by the same functions: copy
the files, rebuild the notebook, judge the figures, write verdicts into the cells. A test compares
the folders and the gradebooks of both.
"""

from __future__ import annotations

import functools
import logging
import os
import secrets
import shutil
import traceback
from pathlib import Path

import nbformat
from nbgrader import utils

from grader.cases.verdict import Verdict
from grader.evening.graded import Job, NoResult, Plan, Result, key_of, read_plan, write_result
from grader.judging.accounts import AccountFlag
from grader.judging.judgement import Judgement, NotGraded
from grader.judging.worker import Ways
from grader.submissions.find_notebook import find_submitted
from grader.submissions.notebook_text import Texts
from grader.submissions.rebuild import quoted, rebuild
from grader.submissions.safe_copy import printable, take_in
from grader.with_nbgrader.careful_course import time_of_submission
from grader.with_nbgrader.class_flags.flags_of_class import asked_about, raised_by_accounts
from grader.with_nbgrader.gradebook_lock import cause_of
from grader.with_nbgrader.replay import EVIDENCE, worker_of_this_process
from grader.with_nbgrader.staged import PART, RESULT, remove_empty_above
from grader.with_nbgrader.verdict_cells import (
    auto_comment,
    auto_score,
    is_test,
    verdicts_of,
    write_verdicts,
)


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
    left_out = take_in(source, part, ignore, trusted=trusted, share=True)
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
        notes = [f"left out {quoted(note)}" for note in left_out]
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
    released, texts = _read(plan.notebooks[name])
    path = Path(job.source) / f"{name}.ipynb"
    submitted, found = find_submitted(path, released, set(plan.released))
    rebuilt = rebuild(released, submitted, [*notes, *found])
    student, notebook = printable(job.student), rebuilt.notebook
    for note in rebuilt.set_aside:
        log.warning("%s, %s: %s", student, name, note)
    result.set_aside += rebuilt.set_aside
    verdicts: dict[str, Verdict] = {}
    outcomes: dict[str, str] = {}
    if any(map(is_test, notebook.cells)):
        judged = _judged(plan, folder, name, log)
        verdicts = verdicts_of(judged)
        flags = {
            recording: [AccountFlag(words, tuple(names)) for words, names in each]
            for recording, each in job.accounts.items()
        }
        accounts = raised_by_accounts(flags, verdicts)
        for line in asked_about(job.student, accounts):
            log.warning("%s", line)
        raised = {figure: [flag.words for flag in each] for figure, each in accounts.items()}
        written = write_verdicts(notebook, name, judged, raised, plan.presenter, log)
        for figure, reason in written.not_graded.items():
            log.warning("%s, %s: not graded: %s", student, figure, printable(reason, 300))
        outcomes = written.outcomes
        result.accounts[name] = raised
        result.runs[name] = {
            figure: list(each.fingerprints)
            for figure, each in verdicts.items()
            if each.fingerprints
        }
        result.verdicts[name] = {
            figure: _without_flags_of_class(each, verdicts.get(figure)).plain()
            for figure, each in written.verdicts.items()
        }
    result.scores[name] = {
        cell.metadata.nbgrader["grade_id"]: auto_score(cell, outcomes, log)
        for cell in notebook.cells
        if utils.is_grade(cell)
    }
    result.comments[name] = {
        cell.metadata.nbgrader["grade_id"]: auto_comment(cell)
        for cell in notebook.cells
        if utils.is_solution(cell) or utils.is_task(cell)
    }
    write_notebook(folder / f"{name}.ipynb", notebook, texts)


def _without_flags_of_class(written: Verdict, judged: Verdict | None) -> Verdict:
    """The verdict in a cell as it was before the flags of the class.

    One without points that a cell can have was replaced, and then there is nothing to flag.
    """
    return judged if judged is not None and judged.outcome is written.outcome else written


def _judged(plan: Plan, folder: Path, lab: str, log: logging.Logger) -> Judgement | NotGraded:
    worker = worker_of_this_process(Ways(plan.check, plan.presenter, EVIDENCE))
    judged = worker.judge(folder, lab)
    for line in judged.log.splitlines():
        log.error("%s", printable(line, 300))
    return judged


def texts_of(released: str) -> Texts:
    """What makes the files of the notebooks that come from a released one."""
    return Texts(_parsed(released))


def write_notebook(path: Path, notebook: nbformat.NotebookNode, texts: Texts) -> None:
    """Writes a notebook as nbgrader does, and uses it up. Raises OSError."""
    path.write_text(texts.of(notebook), encoding="utf-8")


def read_notebook(path: Path) -> nbformat.NotebookNode:
    """Reads a notebook that we wrote. Raises OSError or ValueError."""
    return _parsed(path.read_text(encoding="utf-8"))


@functools.lru_cache(maxsize=8)
def _read(text: str) -> tuple[nbformat.NotebookNode, Texts]:
    """A released notebook, which whoever rebuilds one copies, and the texts of its cells."""
    return _parsed(text), texts_of(text)


def _parsed(text: str) -> nbformat.NotebookNode:
    notebook: nbformat.NotebookNode = nbformat.versions[4].reads_json(text)
    return notebook


@functools.lru_cache(maxsize=2)
def _plan(path: str) -> Plan:
    return read_plan(Path(path))


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
        self.log = logging.Logger("grader.evening", logging.WARNING)
        self.log.addHandler(self)

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(f"{record.levelname}: {record.getMessage()}")
