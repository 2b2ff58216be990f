"""Replaces nbgrader's Execute: judges figures from their evidence and runs nothing.

:class:`Replay` writes the reasons, a plot of the recording, and the points into the test cell of
each figure. :class:`SaveVerdicts` puts the points into the gradebook. If a figure was not graded,
it leaves the figure open for a person.
"""

from __future__ import annotations

import atexit
import functools
import sqlite3
from pathlib import Path
from typing import Any

from nbformat import NotebookNode
from nbgrader.preprocessors import NbGraderPreprocessor, SaveAutoGrades
from traitlets import Unicode

from grader.cases.verdict import Verdict
from grader.judging.flags import AccountFlags
from grader.judging.worker import Judgement, NotGraded, Ways, Worker
from grader.submissions.safe_files import printable
from grader.with_nbgrader.class_flags import (
    REGISTER,
    EvidenceRegister,
    asked_about,
    raised_by_accounts,
    same_run_as,
)
from grader.with_nbgrader.gradebook_lock import raise_if_no_room
from grader.with_nbgrader.verdict_cells import (
    IN_ANOTHER,
    KEY,
    auto_comment,
    auto_score,
    is_test,
    needs_a_person,
    verdicts_of,
    write_verdicts,
)

#: The function that makes the page with the evidence below free texts.
EVIDENCE = "grader.judging.presentation.evidence_html"


@functools.lru_cache(maxsize=4)
def worker_of_this_process(ways: Ways) -> Worker:
    """The process that judges for this one; it ends with it."""
    worker = Worker(ways=ways)
    atexit.register(worker.close)
    return worker


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
        resources[KEY] = {}
        if not any(map(is_test, nb.cells)):
            return nb, resources
        of = resources["nbgrader"]
        judged = self._judged(Path(resources["metadata"]["path"]), of["notebook"])
        raised = self._flags_of_class(verdicts_of(judged), of)
        written = write_verdicts(nb, of["notebook"], judged, raised, self.presenter, self.log)
        for figure, reason in written.not_graded.items():
            student = printable(of["student"])
            self.log.warning("%s, %s: not graded: %s", student, figure, printable(reason, 300))
        resources[KEY] = written.outcomes
        return nb, resources

    def _judged(self, folder: Path, lab: str) -> Judgement | NotGraded:
        """The judgement of a worker process; a fault must not cost this student or the next."""
        worker = worker_of_this_process(Ways(self.check, self.presenter, EVIDENCE))
        judged = worker.judge(folder, lab)
        for line in judged.log.splitlines():
            self.log.error("%s", printable(line, 300))
        return judged

    def _flags_of_class(
        self, verdicts: dict[str, Verdict], of: dict[str, Any]
    ) -> dict[str, list[str]]:
        """The flags that come from a comparison with the rest of the class, by figure."""
        raised = {figure: [IN_ANOTHER] for figure in self._copied(verdicts, of)}
        accounts = getattr(getattr(self.parent, "parent", None), "accounts", AccountFlags())
        found = raised_by_accounts(accounts.of.get(of["student"], {}), verdicts)
        for figure, flags in found.items():
            raised.setdefault(figure, []).extend(flag.words for flag in flags)
        for line in asked_about(of["student"], found):
            self.log.warning("%s", line)
        return raised

    def _copied(self, verdicts: dict[str, Verdict], of: dict[str, Any]) -> list[str]:
        """The figures whose run is in another student's submission too."""
        course = getattr(getattr(self.parent, "parent", None), "coursedir", None)
        if course is None:
            return []
        register = EvidenceRegister(Path(course.root) / REGISTER)
        runs = {figure: each.fingerprints for figure, each in verdicts.items() if each.fingerprints}
        try:
            copies = register.enter(of["student"], of["assignment"], runs)
        except sqlite3.Error as error:
            raise_if_no_room(error)
            self.log.warning("The search for copies failed: %s: %s", register.path, error)
            return []
        for line in same_run_as(of["student"], copies):
            self.log.warning("%s", line)
        return list(copies)


class SaveVerdicts(SaveAutoGrades):  # type: ignore[misc]
    """Saves points as nbgrader does, but leaves a figure without a verdict open for a person."""

    def _add_score(self, cell: NotebookNode, resources: dict[str, Any]) -> None:
        grade = self.gradebook.find_grade(
            cell.metadata.nbgrader["grade_id"],
            self.notebook_id,
            self.assignment_id,
            self.student_id,
        )
        grade.auto_score = auto_score(cell, resources.get(KEY, {}), self.log)
        grade.needs_manual_grade = needs_a_person(grade.auto_score, grade.manual_score)
        self.gradebook.db.commit()

    def _add_comment(self, cell: NotebookNode, resources: dict[str, Any]) -> None:
        comment = self.gradebook.find_comment(
            cell.metadata.nbgrader["grade_id"],
            self.notebook_id,
            self.assignment_id,
            self.student_id,
        )
        comment.auto_comment = auto_comment(cell)
        self.gradebook.db.commit()
