"""Writes verdicts into the cells of a notebook, and says what the gradebook gets for each cell.

This needs no gradebook. So nbgrader's own steps (:mod:`grader.with_nbgrader.replay`) and the
workers of `grader autograde` (:mod:`grader.class_grading.grading_process`) share it, and give the
same points.
"""

from __future__ import annotations

import json
import logging
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from nbformat import NotebookNode
from nbgrader import utils
from traitlets.utils.importstring import import_item

from grader.figures.verdict import EVIDENCE_CELL, NO_FIGURE, Outcome, Verdict
from grader.judging.worker import Judgement, NotGraded, Shown, shown
from grader.submissions.safe_files import cut, printable
from grader.submissions.submitted_notebook import as_node
from labs.html import SVG, inline

#: The key of an outcome in the metadata of its cell.
KEY = "ticklab"
#: The flag on a run that another submission has too. Feedback shows the flag, so it names nobody.
IN_ANOTHER = "another student's submission in this course holds the same run or a part of it"
#: nbgrader's words below an answer that nobody changed.
NO_RESPONSE = "No response."

#: The flags that come from a comparison with the rest of the class, by figure.
Raised = Mapping[str, Sequence[str]]


@dataclass
class Written:
    """What was written: the verdict of each test cell, and the figures that were not graded."""

    verdicts: dict[str, Verdict] = field(default_factory=dict)

    @property
    def outcomes(self) -> dict[str, str]:
        """The outcome of each figure."""
        return {figure: each.outcome.value for figure, each in self.verdicts.items()}

    @property
    def not_graded(self) -> dict[str, str]:
        """Why a figure waits for a person, by figure."""
        return {
            figure: each.reason
            for figure, each in self.verdicts.items()
            if each.outcome is Outcome.NOT_GRADED
        }


def verdicts_of(judged: Judgement | NotGraded) -> dict[str, Verdict]:
    """The verdicts by figure; none if the submission as a whole was not judged."""
    return {each.figure: each for each in getattr(judged, "verdicts", ())}


def write_verdicts(
    nb: NotebookNode,
    lab: str,
    judged: Judgement | NotGraded,
    raised: Raised,
    presenter: str,
    log: logging.Logger,
) -> Written:
    """Writes each verdict into its test cell of `nb`, and the evidence below free texts.

    A figure without a verdict is left open for a person. `presenter` names the module that shows a
    verdict with flags that the judge did not know.
    """
    written = Written()
    cells = [cell for cell in nb.cells if is_test(cell)]
    if not cells:
        return written
    free_texts = [cell for cell in nb.cells if utils.is_grade(cell) and utils.is_solution(cell)]
    fault = judged.reason if isinstance(judged, NotGraded) else ""
    views = dict(judged.shown) if isinstance(judged, Judgement) else {}
    verdicts = verdicts_of(judged)
    for figure, flags in raised.items():
        verdicts[figure], views[figure] = _flagged(
            verdicts[figure], flags, views.get(figure), presenter, log
        )
    for cell in cells:
        figure = cell.metadata.nbgrader["grade_id"]
        most = float(cell.metadata.nbgrader["points"])
        reason = fault or f"lab {lab} has no figure of this name to judge"
        verdict = verdicts.get(figure) or _open(figure, most, reason)
        if _points(verdict, most) is None and verdict.outcome is not Outcome.NOT_GRADED:
            verdict = _open(figure, most, f"the check gave {verdict.points!r} points")
        not_asked = (cell.metadata.get(KEY) or {}).get("not_asked")
        if not_asked and [each.code for each in verdict.findings] == [NO_FIGURE]:
            verdict = _open(figure, most, str(not_asked))
        view = views.get(figure) if verdict is verdicts.get(figure) else None
        _write(cell, verdict, view or _plain(verdict, presenter, log))
        written.verdicts[figure] = verdict
    if isinstance(judged, Judgement) and judged.evidence:
        for number, cell in enumerate(free_texts, start=1):
            nb.cells.insert(nb.cells.index(cell) + 1, evidence_cell(judged.evidence, number))
    keep_flags(nb)
    return written


def evidence_cell(page: str, number: int) -> NotebookNode:
    """A cell that shows `page`; it is not an answer and has no points."""
    return as_node(
        {
            "cell_type": "code",
            "id": f"{EVIDENCE_CELL}{number}",
            "metadata": {"editable": False, "deletable": False},
            "execution_count": None,
            "source": "# for the grader: the evidence in the recordings",
            "outputs": [cell_output("display_data", {"text/html": page})],
        }
    )


def write_flags(
    nb: NotebookNode,
    verdicts: Mapping[str, Verdict],
    raised: Raised,
    presenter: str,
    log: logging.Logger,
) -> None:
    """Writes the verdicts of some figures anew, with more flags; each cell keeps its plot."""
    for cell in nb.cells:
        figure = cell.metadata.get("nbgrader", {}).get("grade_id")
        if not is_test(cell) or figure not in raised or figure not in verdicts:
            continue
        plots = [output for output in cell.outputs if SVG in output.get("data", {})]
        flagged, view = _flagged(verdicts[figure], raised[figure], None, presenter, log)
        _write(cell, flagged, view)
        cell.outputs[1:1] = plots
    keep_flags(nb)


def auto_score(
    cell: NotebookNode, outcomes: Mapping[str, str], log: logging.Logger
) -> float | None:
    """The automatic points of a graded cell, as nbgrader gives them; None leaves it to a person.

    nbgrader gives *full* points to a test cell without output, whatever the cause. We give points
    only to a cell with an outcome.
    """
    outcome = outcomes.get(cell.metadata.nbgrader["grade_id"], Outcome.NOT_GRADED.value)
    if is_test(cell) and outcome == Outcome.NOT_GRADED.value:
        return None
    points, _ = utils.determine_grade(cell, log)
    return None if points is None else float(points)


def scores_of(
    nb: NotebookNode, outcomes: Mapping[str, str], log: logging.Logger
) -> dict[str, float | None]:
    """The automatic points of every graded cell, by its name."""
    cells = filter(utils.is_grade, nb.cells)
    return {cell.metadata.nbgrader["grade_id"]: auto_score(cell, outcomes, log) for cell in cells}


def needs_a_person(automatic: float | None, manual: float | None) -> bool:
    """Whether a person must look at a graded cell; also if one gave points before."""
    return manual is not None or automatic is None


def auto_comment(cell: NotebookNode) -> str | None:
    """nbgrader's comment on an answer cell: a remark if the student left it as released."""
    unchanged = cell.metadata.nbgrader.get("checksum", None) == utils.compute_checksum(cell)
    return NO_RESPONSE if unchanged and not utils.is_task(cell) else None


def comments_of(nb: NotebookNode) -> dict[str, str | None]:
    """The automatic comment on every answer cell, by its name."""
    cells = (cell for cell in nb.cells if utils.is_solution(cell) or utils.is_task(cell))
    return {cell.metadata.nbgrader["grade_id"]: auto_comment(cell) for cell in cells}


def is_test(cell: NotebookNode) -> bool:
    """Whether the check gives the points of this cell, and not a person."""
    return bool(utils.is_grade(cell)) and not utils.is_solution(cell) and cell.cell_type == "code"


def _flagged(
    verdict: Verdict, flags: Sequence[str], view: Shown | None, presenter: str, log: logging.Logger
) -> tuple[Verdict, Shown]:
    """A verdict with more flags, and how it looks with the plot of `view`."""
    verdict = replace(verdict, flags=(*verdict.flags, *flags))
    plot = view.plot if view is not None else ""
    return verdict, replace(_plain(verdict, presenter, log), plot=plot)


def _plain(verdict: Verdict, presenter: str, log: logging.Logger) -> Shown:
    """A verdict that the judge did not give, without a plot."""
    try:
        return shown(verdict, import_item(presenter))
    except Exception:
        log.exception("The verdict on %s could not be presented in full", verdict.figure)
        return shown(verdict, None)


def _write(cell: NotebookNode, verdict: Verdict, view: Shown) -> None:
    """Writes one verdict into its cell."""
    most = float(cell.metadata.nbgrader["points"])
    points = _points(verdict, most)
    cell.outputs = _outputs(verdict, view, points, most)
    cell.execution_count = None
    cell.metadata[KEY] = {**verdict.as_json(), "points": points or 0.0, "max_points": most}


def _outputs(
    verdict: Verdict, view: Shown, points: float | None, most: float
) -> list[NotebookNode]:
    """The cell's outputs: text, plot, and the points that nbgrader reads, if there are any."""
    text, page = view.text, view.page
    if points is not None and verdict.max_points != most:
        scaled = f"In this course, this figure counts as {points:g} of {most:g} points."
        text, page = f"{text}\n{scaled}", page + inline("<p>{{ words }}</p>", words=scaled)
    outputs = [cell_output("display_data", {"text/plain": text, "text/html": page})]
    if view.plot:
        alt = f"Plot of the recording of figure {verdict.figure}"
        shown_as, about = {"text/plain": alt, SVG: view.plot}, {SVG: {"alt": alt}}
        outputs.append(cell_output("display_data", shown_as, about))
    if points is not None:
        outputs.append(cell_output("execute_result", {"text/plain": repr(points)}))
    return outputs


def cell_output(
    kind: str, data: dict[str, str], metadata: dict[str, Any] | None = None
) -> NotebookNode:
    """One output of a cell, as nbformat has it."""
    output: dict[str, Any] = {"output_type": kind, "data": data, "metadata": metadata or {}}
    if kind == "execute_result":
        output["execution_count"] = None
    return as_node(output)


def _open(figure: str, most: float, reason: str) -> Verdict:
    # Here: only what could not be judged asks the catalogue what it is.
    from grader.figures import figure_named, is_known

    asked = figure_named(figure).asked if is_known(figure) else ""
    return Verdict(figure, Outcome.NOT_GRADED, 0.0, most, reason, asked=asked)


def _points(verdict: Verdict, most: float) -> float | None:
    """The points for a cell worth `most`, from 0 to `most`; None if the verdict gives none.

    We scale them if an instructor gave the cell other points than the lab's figure has.
    """
    if verdict.outcome is Outcome.NOT_GRADED:
        return None
    points = verdict.points
    if verdict.max_points > 0 and verdict.max_points != most:
        points = points * most / verdict.max_points
    return min(max(points, 0.0), most) if math.isfinite(points) else None


# Flags and parts that were set aside, where a person sees them: in the lists of submissions.
#
# Each autograded notebook keeps its notes in its own metadata, which is the end of the file. A list
# reads these ends: 5,000 whole notebooks are too much for a page.

#: Few notebooks have more than the first of these after their cells.
_TAIL_BYTES = (4_096, 65_536)
#: nbformat writes the notebook's own metadata at this depth, and no other. Inside of a text, a line
#: never ends, so no student writes this.
_METADATA = b'\n "metadata": '
_MOST_NOTES, _MOST_CHARACTERS = 8, 200


def keep_flags(notebook: NotebookNode) -> None:
    """Writes the flags of all figures into the metadata of the notebook."""
    flags = []
    for cell in notebook.cells:
        own = cell.metadata.get(KEY) or {}
        flags += [f"{own.get('figure')}: {words}" for words in own.get("flags") or ()]
    notebook.metadata.setdefault(KEY, {})["flags"] = flags


def notes_of(notebook: Path) -> dict[str, list[str]]:
    """What a list shows of a graded notebook: `flags` and `set_aside`, few and short.

    Both are empty if the notebook has none, or if it cannot be read.
    """
    try:
        with notebook.open("rb", buffering=0) as file:
            tail, size = b"", file.seek(0, 2)
            for most in _TAIL_BYTES:
                if _METADATA not in tail:
                    file.seek(max(0, size - most))
                    tail = file.read(most)
        metadata = json.loads(b"{" + tail[tail.rindex(_METADATA) :])["metadata"]
        own = metadata.get(KEY, {})
        return {key: _short(own.get(key)) for key in ("flags", "set_aside")}
    except (OSError, ValueError, RecursionError, AttributeError, KeyError, TypeError):
        return {"flags": [], "set_aside": []}


def _short(notes: Any) -> list[str]:
    found = [printable(each, _MOST_CHARACTERS) for each in notes or () if isinstance(each, str)]
    return cut(found, _MOST_NOTES)
