"""Rebuilds the notebook to grade from the released one: only answers come from the student.

Repairing what a student handed in has no end (cells deleted, duplicated, unlocked, of changed
points, metadata stripped, JSON cut short), so nothing is repaired: the released notebook stands,
and the text of the answer cells is moved in by id. Everything else is set aside, and the instructor
is told of it, in the log and in the first cell of the notebook to grade.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass

from nbformat import NotebookNode
from nbformat.notebooknode import from_dict

from grader.submissions.safe_copy import printable
from grader.submissions.student_notebook import StudentCell, Submitted

MOST_ANSWER = 40_000
NOTE_CELL_ID = "set-aside"
_MOST_NOTES = 20
# Invisible, and no letter: a browser takes "<" for text, not for a tag, when this follows it.
_WORD_JOINER = "\u2060"
# What begins a tag, what stands for another character (and may spell a scheme), and the schemes
# of addresses that run something; a backslash before the colon would be dropped by Markdown.
_HARMFUL = re.compile(
    r"<(?=[a-z/!?])|&(?=#|[a-z][a-z0-9]*;)|\b(?:javascript|vbscript|data|file)(?=[\s\\]*:)",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Rebuilt:
    """The notebook to grade, and one sentence for each thing of the student's that is not in it."""

    notebook: NotebookNode
    set_aside: tuple[str, ...]


def rebuild(released: NotebookNode, submitted: Submitted, notes: Sequence[str] = ()) -> Rebuilt:
    """The released notebook with the student's answers in it.

    `released` is left as it is. `notes` is what is known already (files left out, a notebook found
    under another name). Nothing that `submitted` holds makes this raise.
    """
    notebook = _copy(released)
    told = [*notes, *submitted.notes]
    if submitted.trouble:
        told.append(submitted.trouble)
    own = {str(marks["grade_id"]): cell for cell in notebook.cells if (marks := _marks(cell))}
    by_id = _by_id(notebook, submitted, told)
    for grade_id, cell in own.items():
        found = by_id.pop(grade_id, [])
        if _marks(cell).get("solution"):
            _move_in(cell, found, submitted.trouble, told)
        elif found:
            _tell_of_locked(cell, found, told)
    for grade_id, cells in by_id.items():
        kind = "graded cell" if any(cell.graded for cell in cells) else "cell"
        told.append(f"added {kind} {quoted(grade_id)}: not part of the released notebook")
    _tell_of_rest(notebook, submitted, told)
    set_aside = _bounded(told)
    notebook.metadata["ticklab"] = {"set_aside": list(set_aside)}
    if set_aside:
        notebook.cells.insert(0, _note(set_aside, notebook))
    return Rebuilt(notebook, set_aside)


def neutral(text: str) -> str:
    """Markdown in which no HTML tag can begin and no link runs a script, looking the same.

    The formgrader shows Markdown in the browser of an instructor who is signed in. There
    :mod:`grader.with_nbgrader.student_text` cleans it, too, but only where the server has read our
    settings.
    """
    return _HARMFUL.sub(lambda found: found[0] + _WORD_JOINER, text)


def quoted(name: str) -> str:
    """A name of the student's making as code in a note; it cannot end the code or begin a tag."""
    return "`" + neutral(printable(name).replace("`", "'")) + "`"


def known_answers(released: NotebookNode, submitted: Submitted) -> int:
    """How many of the released notebook's answer cells the submitted one has, by id."""
    wanted = {
        marks["grade_id"]
        for cell in released.cells
        if (marks := _marks(cell)) and marks.get("solution")
    }
    return len(wanted & {cell.grade_id for cell in submitted.cells})


def _copy(released: NotebookNode) -> NotebookNode:
    """A copy without outputs: a student's are never kept, and the released one has none to lose."""
    notebook: NotebookNode = deepcopy(released)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    return notebook


def _marks(cell: NotebookNode) -> dict[str, object]:
    """nbgrader's metadata of a released cell; empty for a cell that nbgrader does not know."""
    marks = cell.metadata.get("nbgrader") or {}
    return dict(marks) if marks.get("grade_id") else {}


def _by_id(
    notebook: NotebookNode, submitted: Submitted, told: list[str]
) -> dict[str, list[StudentCell]]:
    """The student's cells by grade id; by nbformat's cell id where the metadata were stripped."""
    cells: dict[str, list[StudentCell]] = defaultdict(list)
    for cell in submitted.cells:
        if cell.grade_id is not None:
            cells[cell.grade_id].append(cell)
    stripped = {
        cell.cell_id: cell
        for cell in reversed(submitted.cells)
        if cell.grade_id is None and cell.cell_id is not None
    }
    recovered = 0
    for released in notebook.cells:
        grade_id = _marks(released).get("grade_id")
        twin = stripped.get(released.get("id", ""))
        if isinstance(grade_id, str) and twin is not None and grade_id not in cells:
            cells[grade_id].append(twin)
            recovered += 1
    if recovered:
        told.append(f"{recovered} cells had lost nbgrader's metadata; known again by their cell id")
    return cells


def _move_in(
    cell: NotebookNode, found: list[StudentCell], trouble: str | None, told: list[str]
) -> None:
    """Puts the student's text into one answer cell, or says in its place why there is none.

    An answer that nobody could read is not an unanswered question: the text that replaces it
    differs from the stub, so that nbgrader asks for a person instead of giving zero.
    """
    grade_id = str(_marks(cell)["grade_id"])
    # Of duplicates the first that was worked on: a cell may have been copied, then answered.
    answers = [one for one in found if one.source.strip() != cell.source.strip()]
    chosen = answers[0] if answers else found[0] if found else None
    if chosen is None:
        reason = trouble or "the cell is not in the submitted notebook"
        if not trouble:
            told.append(f"answer cell {quoted(grade_id)}: deleted, or its id is gone")
        _say_unreadable(cell, reason)
        return
    if len(found) > 1:
        told.append(f"answer cell {quoted(grade_id)}: there {len(found)} times, one was taken")
    if chosen.cell_type != cell.cell_type:
        told.append(f"answer cell {quoted(grade_id)}: turned into {quoted(chosen.cell_type)}")
    if chosen.has_attachments:
        told.append(f"answer cell {quoted(grade_id)}: its attached images were not taken over")
    if len(chosen.source) > MOST_ANSWER:
        told.append(f"answer cell {quoted(grade_id)}: longer than {MOST_ANSWER} characters")
        _say_unreadable(cell, f"it is longer than {MOST_ANSWER} characters")
    elif answers:
        cell.source = neutral(chosen.source) if cell.cell_type == "markdown" else chosen.source


def _say_unreadable(cell: NotebookNode, reason: str) -> None:
    """Marks an answer that is graded by hand; an answer cell without points keeps its stub."""
    if not _marks(cell).get("grade"):
        return
    text = f"No readable answer: {neutral(reason)}. To be graded by hand."
    if cell.cell_type == "code":
        opening = "%%ckernel\n// " if cell.source.startswith("%%ckernel") else "# "
        text = opening + text
    cell.source = text


def _tell_of_locked(cell: NotebookNode, found: list[StudentCell], told: list[str]) -> None:
    """Says how a cell that students do not write was changed; the released one stands."""
    marks = _marks(cell)
    name = quoted(str(marks["grade_id"]))
    if len(found) > 1:
        told.append(f"locked cell {name}: there {len(found)} times")
    for one in found:
        if one.source.strip() != cell.source.strip():
            told.append(f"locked cell {name}: its text was changed")
        if one.points is not None and one.points != marks.get("points"):
            told.append(f"locked cell {name}: its points were changed")
        if one.locked is False:
            told.append(f"locked cell {name}: it was unlocked")


def _tell_of_rest(notebook: NotebookNode, submitted: Submitted, told: list[str]) -> None:
    """Counts the student's own cells and names released ones that are gone."""
    if submitted.trouble:
        return
    grade_ids = {cell.grade_id for cell in submitted.cells}
    cell_ids = {cell.cell_id for cell in submitted.cells} - {None}
    for cell in notebook.cells:
        marks = _marks(cell)
        gone = marks.get("grade_id") not in grade_ids and cell.get("id") not in cell_ids
        if marks and not marks.get("solution") and gone:
            told.append(f"locked cell {quoted(str(marks['grade_id']))}: deleted")
    texts = {cell.source.strip() for cell in notebook.cells}
    ids = {cell["id"] for cell in notebook.cells if "id" in cell}
    extra = [
        cell
        for cell in submitted.cells
        if cell.grade_id is None
        and cell.cell_id not in ids
        and cell.source.strip()
        and cell.source.strip() not in texts
    ]
    if extra:
        told.append(f"{len(extra)} cells of the student's own; they are in the submitted notebook")


def _bounded(told: list[str]) -> tuple[str, ...]:
    """Each note once, and no more of them than fit on a screen."""
    notes = list(dict.fromkeys(told))
    if len(notes) > _MOST_NOTES:
        notes = [*notes[:_MOST_NOTES], f"and {len(notes) - _MOST_NOTES} more"]
    return tuple(notes)


def _note(set_aside: tuple[str, ...], notebook: NotebookNode) -> NotebookNode:
    """The cell that tells a person what is not in this notebook."""
    lines = "\n".join(f"- {neutral(note)}" for note in set_aside)
    text = (
        "**Set aside when this notebook was rebuilt for grading**\n\n"
        f"{lines}\n\n"
        "The released notebook stands below, with the answers that could be read. Figures are "
        "judged from `figures.json` and the recordings, whatever happened to the notebook."
    )
    cell: dict[str, object] = {
        "cell_type": "markdown",
        "metadata": {"editable": False, "deletable": False},
        "source": text,
    }
    if notebook.nbformat_minor >= 5:  # older notebooks have no ids of cells
        cell["id"] = NOTE_CELL_ID
    node: NotebookNode = from_dict(cell)  # type: ignore[no-untyped-call]
    return node
