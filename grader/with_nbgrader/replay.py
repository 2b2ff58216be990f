"""Replaces nbgrader's Execute: judges figures from their evidence and runs nothing.

:class:`Replay` writes the reasons, a plot of the recording, and the points into the test cell of
each figure. :class:`SaveVerdicts` puts the points into the gradebook. If a figure was not graded,
it leaves the figure open for a person.
"""

from __future__ import annotations

import atexit
import functools
import logging
import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nbformat import NotebookNode
from nbgrader.api import Gradebook
from nbgrader.preprocessors import NbGraderPreprocessor, SaveAutoGrades
from traitlets import Unicode

from grader.figures.verdict import Verdict
from grader.judging.flags import AccountFlag, AccountFlags
from grader.judging.worker import Ways, Worker
from grader.submissions.safe_files import printable
from grader.with_nbgrader import class_flags, verdict_cells
from grader.with_nbgrader.locked_gradebook import raise_if_no_room

#: The function that makes the page with the evidence below free texts.
EVIDENCE = "grader.judging.presentation.evidence_html"
#: The fingerprints of the run that each figure names.
Runs = dict[str, list[str]]


@functools.lru_cache(maxsize=4)
def worker_of_this_process(ways: Ways) -> Worker:
    """The process that judges for this one; it ends with it."""
    worker = Worker(ways=ways)
    atexit.register(worker.close)
    return worker


@dataclass(frozen=True)
class Judged:
    """What a notebook got: as it was judged, as it was written, and the flags on accounts."""

    verdicts: dict[str, Verdict]
    written: verdict_cells.Written
    accounts: dict[str, list[str]]


def judge_into(
    nb: NotebookNode,
    folder: Path,
    student: str,
    lab: str,
    ways: Ways,
    flags: Mapping[str, Sequence[AccountFlag]],
    log: logging.Logger,
    copied: Callable[[Runs], Iterable[str]] = lambda runs: (),
) -> Judged:
    """Judges the figures in `folder` and writes each verdict into its test cell of `nb`.

    If our check fails, it leaves the figures open. `flags` has those on accounts, by recording.
    `copied` gets the runs of the submission, and names the figures whose run others hold too. The
    workers of `grader autograde` ask that later, and in the order of the class.
    """
    judged = worker_of_this_process(ways).judge(folder, lab)
    for line in judged.log.splitlines():
        log.error("%s", printable(line, 300))
    verdicts = verdict_cells.verdicts_of(judged)
    found = class_flags.raised_by_accounts(flags, verdicts)
    accounts = {figure: [flag.words for flag in each] for figure, each in found.items()}
    raised = {figure: [verdict_cells.IN_ANOTHER] for figure in copied(runs_of(verdicts))}
    for figure, words in accounts.items():
        raised[figure] = [*raised.get(figure, ()), *words]
    for line in class_flags.asked_about(student, found):
        log.warning("%s", line)
    written = verdict_cells.write_verdicts(nb, lab, judged, raised, ways.presenter, log)
    for figure, reason in written.not_graded.items():
        log.warning("%s, %s: not graded: %s", printable(student), figure, printable(reason, 300))
    return Judged(verdicts, written, accounts)


def runs_of(verdicts: Mapping[str, Verdict]) -> Runs:
    """The fingerprints of the run that each figure names."""
    return {name: list(each.fingerprints) for name, each in verdicts.items() if each.fingerprints}


class Replay(NbGraderPreprocessor):  # type: ignore[misc]
    """Judges the figures of one submission and writes each verdict into its test cell."""

    check = Unicode(
        "grader.judging.lab_folder.check_handed_in",
        help="Judges the figures in a folder: called with the folder and the lab's name.",
    ).tag(config=True)
    presenter = Unicode(
        "grader.judging.presentation",
        help="The module that writes a verdict as text and plots its recording.",
    ).tag(config=True)

    def preprocess(
        self, nb: NotebookNode, resources: dict[str, Any]
    ) -> tuple[NotebookNode, dict[str, Any]]:
        """Fills in the test cells of `nb`; if our check fails, it leaves the figure open."""
        resources[verdict_cells.KEY] = {}
        if any(map(verdict_cells.is_test, nb.cells)):
            of, folder = resources["nbgrader"], Path(resources["metadata"]["path"])
            converter = getattr(self.parent, "parent", None)
            flags = getattr(converter, "accounts", AccountFlags()).of.get(of["student"], {})
            ways = Ways(self.check, self.presenter, EVIDENCE)
            copied = functools.partial(self._copied, of, getattr(converter, "coursedir", None))
            judged = judge_into(
                nb, folder, of["student"], of["notebook"], ways, flags, self.log, copied
            )
            resources[verdict_cells.KEY] = judged.written.outcomes
        return nb, resources

    def _copied(self, of: Mapping[str, str], course: Any, runs: Runs) -> list[str]:
        """The figures whose run is in another student's submission too."""
        if course is None:
            return []
        register = class_flags.EvidenceRegister(Path(course.root) / class_flags.REGISTER)
        try:
            copies = register.enter(of["student"], of["assignment"], runs)
        except sqlite3.Error as error:
            raise_if_no_room(error)
            self.log.warning("The search for copies failed: %s: %s", register.path, error)
            return []
        for line in class_flags.same_run_as(of["student"], copies):
            self.log.warning("%s", line)
        return list(copies)


class SaveVerdicts(SaveAutoGrades):  # type: ignore[misc]
    """Saves points as nbgrader does, but leaves a figure without a verdict open for a person."""

    def preprocess(
        self, nb: NotebookNode, resources: dict[str, Any]
    ) -> tuple[NotebookNode, dict[str, Any]]:
        """Puts the points and comments of `nb` into the gradebook."""
        of = resources["nbgrader"]
        place = of["notebook"], of["assignment"], of["student"]
        with Gradebook(of["db_url"]) as gradebook:
            for cell, points in verdict_cells.scores_of(
                nb, resources.get(verdict_cells.KEY, {}), self.log
            ).items():
                grade = gradebook.find_grade(cell, *place)
                grade.auto_score = points
                grade.needs_manual_grade = verdict_cells.needs_a_person(points, grade.manual_score)
            for cell, words in verdict_cells.comments_of(nb).items():
                gradebook.find_comment(cell, *place).auto_comment = words
            gradebook.db.commit()
        return nb, resources
