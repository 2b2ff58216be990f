"""Executes the cells that an instructor tagged for it, in the sandbox, and gives their points.

Figures are judged by their recordings, and nothing is executed, unless a course asks for it:
`execute_tagged_cells(c)` in its nbgrader_config.py. Then the code cells with the tag `execute`, and
no others, are executed one after the other in one kernel: answers, and the tests behind them. A
test without an error has all its points; if its last line is a number, it has so many points.

Where there is no sandbox, nothing is executed, and these tests wait for a person.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from nbformat import NotebookNode
from nbgrader import utils
from traitlets import Int

from grader.figures.verdict import Outcome, Verdict
from grader.sandbox import NoSandbox
from grader.sandbox.provisioner import Executed, Execution, execute
from grader.submissions.safe_files import printable
from grader.submissions.submitted_notebook import as_node
from grader.with_nbgrader.replay import Replay
from grader.with_nbgrader.verdict_cells import KEY, cell_output

#: The tag of a cell that is to be executed.
TAG = "execute"


class ReplayAndExecute(Replay):
    """Judges the figures as Replay does, and then executes the tagged cells."""

    timeout = Int(30, min=1, help="The most seconds that one cell may take.").tag(config=True)

    def preprocess(
        self, nb: NotebookNode, resources: dict[str, Any]
    ) -> tuple[NotebookNode, dict[str, Any]]:
        """Writes the verdicts, what the tagged cells printed, and the points of their tests."""
        everything = list(nb.cells)
        cells = [cell for cell in everything if is_tagged(cell)]
        # To Replay, a test that belongs to no figure is a mistake.
        nb.cells = [cell for cell in everything if not is_tagged(cell)]
        nb, resources = super().preprocess(nb, resources)
        _put_back(nb, everything)
        if cells:
            self._execute(cells, resources)
        return nb, resources

    def _execute(self, cells: list[NotebookNode], resources: dict[str, Any]) -> None:
        folder = Path(resources["metadata"]["path"])
        try:
            execution = execute([cell.source for cell in cells], folder, self.timeout)
        except NoSandbox as error:
            execution = Execution([Executed() for _ in cells], str(error))
        for cell, executed in zip(cells, execution.cells, strict=True):
            cell.execution_count = None
            cell.outputs = _printed(executed)
            if not utils.is_grade(cell) or utils.is_solution(cell):
                continue
            verdict = _verdict(cell, executed, execution.stopped)
            _write(cell, verdict)
            resources.setdefault(KEY, {})[verdict.figure] = verdict.outcome.value
            if verdict.outcome is Outcome.NOT_GRADED:
                student = printable(resources["nbgrader"]["student"])
                reason = printable(verdict.reason, 300)
                self.log.warning("%s, %s: not graded: %s", student, verdict.figure, reason)


def is_tagged(cell: NotebookNode) -> bool:
    """Whether the instructor wants this cell to be executed."""
    return cell.cell_type == "code" and TAG in cell.metadata.get("tags", [])


def _put_back(nb: NotebookNode, everything: list[NotebookNode]) -> None:
    """Puts each tagged cell before the cell that it was before; Replay may have added others."""
    behind: NotebookNode | None = None
    for cell in reversed(everything):
        if is_tagged(cell):
            places = [place for place, one in enumerate(nb.cells) if one is behind]
            nb.cells.insert(places[0] if places else len(nb.cells), cell)
        behind = cell


def _verdict(cell: NotebookNode, executed: Executed, stopped: str) -> Verdict:
    """The points of one test cell. A fault of ours or of the test gives none and takes none."""
    name = str(cell.metadata.nbgrader["grade_id"])
    most = float(cell.metadata.nbgrader["points"])
    if not executed.done:
        reason = f"This cell was not executed to its end: {stopped or 'the kernel did not answer'}."
        return Verdict(name, Outcome.NOT_GRADED, 0.0, most, reason)
    if executed.error is not None:
        return Verdict(name, Outcome.FAILED, 0.0, most, "This test ended with an error.")
    points = _number(executed.result)
    if points is None and executed.result is not None:
        reason = f"This test gave {printable(executed.result)}, which is no number of points."
        return Verdict(name, Outcome.NOT_GRADED, 0.0, most, reason)
    given = most if points is None else min(max(points, 0.0), most)
    outcome = Outcome.PASSED if given == most else Outcome.FAILED
    words = "passed" if given == most else f"gave {given:g} of {most:g} points"
    return Verdict(name, outcome, given, most, f"This test {words}.")


def _number(text: str | None) -> float | None:
    """The finite number in `text`; None if it is none."""
    try:
        number = float(text or "")
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _write(cell: NotebookNode, verdict: Verdict) -> None:
    """The verdict as nbgrader reads it (a last result that is a number), and for a reader."""
    cell.metadata[KEY] = verdict.as_json()
    cell.outputs.insert(0, _stream(f"{verdict.reason}\n"))
    if verdict.outcome is not Outcome.NOT_GRADED:
        cell.outputs.append(cell_output("execute_result", {"text/plain": repr(verdict.points)}))


def _printed(executed: Executed) -> list[NotebookNode]:
    """What a cell printed. Its errors are text too: nbgrader gives 0 points for an error output,
    and for anything on standard error, also for a mere warning."""
    texts = (executed.text, executed.error, executed.result)
    return [_stream(text if text.endswith("\n") else f"{text}\n") for text in texts if text]


def _stream(text: str) -> NotebookNode:
    return as_node({"output_type": "stream", "name": "stdout", "text": text})
