"""Replaces nbgrader's Execute: judges figures from their evidence and runs nothing.

:class:`Replay` writes the reasons, a plot of the recording, and the points into the test cell of
each figure. :class:`SaveVerdicts` puts the points into the gradebook. If a figure was not graded,
it leaves the figure open for a person.
"""

from __future__ import annotations

import atexit
import base64
import functools
import math
import sqlite3
from dataclasses import replace
from pathlib import Path
from typing import Any

from nbformat import NotebookNode
from nbformat.notebooknode import from_dict
from nbgrader import utils
from nbgrader.preprocessors import NbGraderPreprocessor, SaveAutoGrades
from traitlets import Unicode
from traitlets.utils.importstring import import_item

from grader.cases.verdict import Outcome, Verdict
from grader.judging.accounts import AccountFlag, AccountFlags
from grader.judging.judgement import Judgement, NotGraded, Shown, shown
from grader.judging.worker import Ways, Worker
from grader.submissions.safe_copy import printable
from grader.with_nbgrader.evidence_register import EvidenceRegister
from grader.with_nbgrader.pages.evidence import evidence_cell
from grader.with_nbgrader.pages.notes import keep_flags
from labs.common.html import inline

# In CSS pixels: as wide as a page of feedback, whatever the resolution of the image.
_PLOT_WIDTH = 680
#: The register of runs, in the course folder, and the flag on a run that it has twice. Feedback
#: shows the flag, so it names nobody; the log does.
REGISTER = "ticklab-runs.db"
IN_ANOTHER = "another student's submission in this course holds the same run"
# Replay passes the outcomes to SaveVerdicts, and into the cell's metadata, under this key.
_KEY = "ticklab"


@functools.lru_cache(maxsize=4)
def _worker(ways: Ways) -> Worker:
    """The worker of this process; it ends with it."""
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
        resources[_KEY] = outcomes = {}
        cells = [cell for cell in nb.cells if _is_test(cell)]
        if not cells:
            return nb, resources
        free_texts = [cell for cell in nb.cells if _is_free_text(cell)]
        folder = Path(resources["metadata"]["path"])
        lab = resources["nbgrader"]["notebook"]
        judged = self._judged(folder, lab)
        fault = judged.reason if isinstance(judged, NotGraded) else ""
        views = judged.shown if isinstance(judged, Judgement) else {}
        verdicts = {each.figure: each for each in getattr(judged, "verdicts", ())}
        raised = self._flags_of_class(verdicts, resources["nbgrader"])
        for figure, flags in raised.items():
            verdict = verdicts[figure]
            verdicts[figure] = replace(verdict, flags=(*verdict.flags, *flags))
            png = views[figure].png if figure in views else None
            views[figure] = replace(self._plain(verdicts[figure]), png=png)
        for cell in cells:
            figure = cell.metadata.nbgrader["grade_id"]
            most = float(cell.metadata.nbgrader["points"])
            reason = fault or f"lab {lab} has no figure of this name to judge"
            verdict = verdicts.get(figure) or _open(figure, most, reason)
            points = _points(verdict, most)
            if points is None and verdict.outcome is not Outcome.NOT_GRADED:
                verdict = _open(figure, most, f"the check gave {verdict.points!r} points")
            view = views.get(figure) if verdict is verdicts.get(figure) else None
            cell.outputs = _outputs(verdict, view or self._plain(verdict), points, most)
            cell.execution_count = None
            cell.metadata[_KEY] = {**verdict.as_json(), "points": points or 0.0, "max_points": most}
            outcomes[figure] = verdict.outcome.value
            if verdict.outcome is Outcome.NOT_GRADED:
                student = resources["nbgrader"]["student"]
                reason = printable(verdict.reason, 300)
                self.log.warning("%s, %s: not graded: %s", printable(student), figure, reason)
        if isinstance(judged, Judgement) and judged.evidence:
            for number, cell in enumerate(free_texts, start=1):
                place = nb.cells.index(cell) + 1
                nb.cells.insert(place, evidence_cell(judged.evidence, number))
        keep_flags(nb)
        return nb, resources

    def _judged(self, folder: Path, lab: str) -> Judgement | NotGraded:
        """The judgement of a worker process; a fault must not cost this student or the next."""
        evidence = "grader.with_nbgrader.pages.evidence.evidence_html"
        judged = _worker(Ways(self.check, self.presenter, evidence)).judge(folder, lab)
        for line in judged.log.splitlines():
            self.log.error("%s", printable(line, 300))
        return judged

    def _flags_of_class(
        self, verdicts: dict[str, Verdict], of: dict[str, Any]
    ) -> dict[str, list[str]]:
        """The flags that come from a comparison with the rest of the class, by figure."""
        raised = {figure: [IN_ANOTHER] for figure in self._copied(verdicts, of)}
        accounts = getattr(getattr(self.parent, "parent", None), "accounts", AccountFlags())
        flags = accounts.of.get(of["student"], {})
        asked: dict[AccountFlag, list[str]] = {}
        for figure, verdict in verdicts.items():
            for flag in flags.get(verdict.recording or "", ()):
                raised.setdefault(figure, []).append(flag.words)
                asked.setdefault(flag, []).append(figure)
        for flag, figures in asked.items():
            others = ", ".join(printable(name) for name in flag.students)
            words = f"{flag.words}{f' ({others})' if others else ''}"
            self.log.warning("%s, %s: %s", printable(of["student"]), ", ".join(figures), words)
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
            self.log.warning("The search for copies failed: %s: %s", register.path, error)
            return []
        for figure, students in copies.items():
            names = ", ".join(printable(name) for name in students)
            self.log.warning(
                "%s, %s: the same run as of %s", printable(of["student"]), figure, names
            )
        return list(copies)

    def _plain(self, verdict: Verdict) -> Shown:
        """A verdict that the worker did not give, without a plot."""
        try:
            return shown(verdict, import_item(self.presenter))
        except Exception:
            self.log.exception("The verdict on %s could not be presented in full", verdict.figure)
            return shown(verdict, None)


class SaveVerdicts(SaveAutoGrades):  # type: ignore[misc]
    """Saves points as nbgrader does, but leaves a figure without a verdict open for a person.

    nbgrader gives *full* points to a test cell without output, whatever the cause. This class gives
    points only to a cell that Replay has judged.
    """

    def _add_score(self, cell: NotebookNode, resources: dict[str, Any]) -> None:
        grade_id = cell.metadata.nbgrader["grade_id"]
        outcome = resources.get(_KEY, {}).get(grade_id, Outcome.NOT_GRADED.value)
        if not _is_test(cell) or outcome != Outcome.NOT_GRADED.value:
            super()._add_score(cell, resources)
            return
        grade = self.gradebook.find_grade(
            grade_id, self.notebook_id, self.assignment_id, self.student_id
        )
        grade.auto_score = None
        grade.needs_manual_grade = True
        self.gradebook.db.commit()


def _is_test(cell: NotebookNode) -> bool:
    """Whether the check gives the points of this cell, and not a person."""
    return bool(utils.is_grade(cell)) and not utils.is_solution(cell) and cell.cell_type == "code"


def _is_free_text(cell: NotebookNode) -> bool:
    """Whether a person gives the points for this answer."""
    return bool(utils.is_grade(cell) and utils.is_solution(cell))


def _outputs(
    verdict: Verdict, view: Shown, points: float | None, most: float
) -> list[NotebookNode]:
    """The cell's outputs: text, plot, and the points that nbgrader reads, if there are any."""
    text, page = view.text, view.page
    if points is not None and verdict.max_points != most:
        scaled = f"In this course, this figure counts as {points:g} of {most:g} points."
        text, page = f"{text}\n{scaled}", page + inline("<p>{{ words }}</p>", words=scaled)
    outputs = [_output("display_data", {"text/plain": text, "text/html": page})]
    if view.png:
        alt = f"Plot of the recording of figure {verdict.figure}"
        outputs.append(
            _output(
                "display_data",
                {"text/plain": alt, "image/png": base64.b64encode(view.png).decode("ascii")},
                metadata={"image/png": {"alt": alt, "width": _PLOT_WIDTH}},
            )
        )
    if points is not None:
        outputs.append(_output("execute_result", {"text/plain": repr(points)}))
    return outputs


def _output(
    kind: str, data: dict[str, str], metadata: dict[str, Any] | None = None
) -> NotebookNode:
    """One output of a cell."""
    output: dict[str, Any] = {"output_type": kind, "data": data, "metadata": metadata or {}}
    if kind == "execute_result":
        output["execution_count"] = None
    node: NotebookNode = from_dict(output)  # type: ignore[no-untyped-call]
    return node


def _open(figure: str, most: float, reason: str) -> Verdict:
    return Verdict(figure, Outcome.NOT_GRADED, 0.0, most, reason)


def _points(verdict: Verdict, most: float) -> float | None:
    """The points for a cell worth `most`, from 0 to `most`; None if the verdict gives none.

    We scale them if an instructor gave the cell other points than the lab's figure has.
    """
    if verdict.outcome is Outcome.NOT_GRADED:
        return None
    points = verdict.points
    if verdict.max_points > 0 and verdict.max_points != most:
        points = points * most / verdict.max_points
    if not math.isfinite(points):
        return None
    return min(max(points, 0.0), most)
