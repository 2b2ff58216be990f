"""Rebuilds the notebook to grade from the released one; only answers come from the student.

A submitted notebook can be damaged in many ways: cells are deleted, duplicated or unlocked, points
are changed, metadata are missing, the JSON is truncated. So we repair nothing. We take the released
notebook and move the text of the answer cells into it by id. We leave everything else out, and list
it for the instructor in the log and in the first cell of the notebook to grade.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass

from nbformat import NotebookNode
from nbformat.notebooknode import from_dict

from grader.submissions.pictures import kept_pictures
from grader.submissions.safe_copy import printable
from grader.submissions.student_notebook import StudentCell, Submitted
from labs.common.limits import MOST_ANSWER, MOST_ANSWER_LINES
from labs.common.units import plural

NOTE_CELL_ID = "set-aside"
_MOST_NOTES = 20
# An invisible character that is no letter. If it follows "<", a browser shows text and not a tag.
_WORD_JOINER = "\u2060"
# The beginnings of a tag and of a character reference (which may spell a scheme), and the schemes
# of links that run something. Markdown would drop a backslash before the colon.
_HARMFUL = re.compile(
    r"<(?=[a-z/!?])|&(?=#|[a-z][a-z0-9]*;)|\b(?:javascript|vbscript|data|file)(?=[\s\\]*:)",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Rebuilt:
    """The notebook to grade, and one note for each part of the student's that was left out."""

    notebook: NotebookNode
    set_aside: tuple[str, ...]


def rebuild(released: NotebookNode, submitted: Submitted, notes: Sequence[str] = ()) -> Rebuilt:
    """The released notebook with the student's answers in it.

    `released` is not changed. `notes` are earlier notes (files left out, a notebook found under
    another name). No content of `submitted` makes this function raise.
    """
    notebook = _copy(released)
    remarks = [*notes, *submitted.notes]
    if submitted.trouble:
        remarks.append(submitted.trouble)
    own = {str(marks["grade_id"]): cell for cell in notebook.cells if (marks := _marks(cell))}
    by_id = _by_id(notebook, submitted, remarks)
    for grade_id, cell in own.items():
        found = by_id.pop(grade_id, [])
        if _marks(cell).get("solution"):
            _move_in(cell, found, submitted.trouble, remarks)
        elif found:
            _note_locked(cell, found, remarks)
    for grade_id, cells in by_id.items():
        kind = "graded cell" if any(cell.graded for cell in cells) else "cell"
        remarks.append(f"added {kind} {quoted(grade_id)}: not part of the released notebook")
    _note_rest(notebook, submitted, remarks)
    set_aside = _bounded(remarks)
    notebook.metadata["ticklab"] = {"set_aside": list(set_aside)}
    if set_aside:
        notebook.cells.insert(0, _note(set_aside, notebook))
    return Rebuilt(notebook, set_aside)


def neutral(text: str) -> str:
    """`text` as Markdown that looks the same but contains no HTML tags and no links that run code.

    The formgrader shows Markdown in the browser of an instructor who is signed in.
    :mod:`grader.with_nbgrader.pages.student_text` also cleans it there, but only if the server has
    read our settings.
    """
    return _HARMFUL.sub(lambda found: found[0] + _WORD_JOINER, text)


def quoted(name: str) -> str:
    """A name chosen by a student, as code in a note; it cannot end the code or begin a tag."""
    return "`" + neutral(printable(name).replace("`", "'")) + "`"


def known_answers(released: NotebookNode, submitted: Submitted) -> int:
    """How many of the released notebook's answer cells the submitted one has, matched by id."""
    wanted = {
        marks["grade_id"]
        for cell in released.cells
        if (marks := _marks(cell)) and marks.get("solution")
    }
    return len(wanted & {cell.grade_id for cell in submitted.cells})


def _copy(released: NotebookNode) -> NotebookNode:
    """A copy without outputs. nbgrader's marks of its cells are shared: nobody changes them."""
    notebook = NotebookNode(released)  # type: ignore[no-untyped-call]
    notebook["metadata"] = deepcopy(released.metadata)
    notebook["cells"] = [NotebookNode(cell) for cell in released.cells]  # type: ignore
    for cell in notebook.cells:
        cell["metadata"] = NotebookNode(cell.metadata)  # type: ignore[no-untyped-call]
        if cell.cell_type == "code":
            cell["outputs"], cell["execution_count"] = [], None
    return notebook


def _marks(cell: NotebookNode) -> dict[str, object]:
    """nbgrader's metadata of a released cell; empty if the cell has none."""
    marks = cell.metadata.get("nbgrader") or {}
    return dict(marks) if marks.get("grade_id") else {}


def _by_id(
    notebook: NotebookNode, submitted: Submitted, remarks: list[str]
) -> dict[str, list[StudentCell]]:
    """The student's cells by grade id; cells without metadata are matched by nbformat's cell id."""
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
        remarks.append(
            f"recognised by the cell id, without nbgrader's metadata: {plural(recovered, 'cell')}"
        )
    return cells


def _move_in(
    cell: NotebookNode, found: list[StudentCell], trouble: str | None, remarks: list[str]
) -> None:
    """Puts the student's text into one answer cell, or a text that says why there is none.

    An unreadable answer is not an unanswered question. The text that replaces it differs from the
    stub, so that nbgrader asks for a person and does not give zero.
    """
    grade_id = str(_marks(cell)["grade_id"])
    # Of duplicates we take the first that was changed: a student may copy a cell, then answer it.
    answers = [one for one in found if one.source.strip() != cell.source.strip()]
    chosen = answers[0] if answers else found[0] if found else None
    if chosen is None:
        reason = trouble or "the cell is not in the submitted notebook"
        if not trouble:
            remarks.append(f"answer cell {quoted(grade_id)}: deleted, or its id is gone")
        _say_unreadable(cell, reason)
        return
    if len(found) > 1:
        remarks.append(f"answer cell {quoted(grade_id)}: appears {len(found)} times, one was taken")
    if chosen.cell_type != cell.cell_type:
        remarks.append(f"answer cell {quoted(grade_id)}: turned into {quoted(chosen.cell_type)}")
    if (too_long := _too_long(chosen.source)) is not None:
        remarks.append(f"answer cell {quoted(grade_id)}: {too_long}")
        _say_unreadable(cell, f"it is {too_long}")
    elif answers and cell.cell_type == "markdown":
        cell.source = neutral(chosen.source)
        pictures, reasons = kept_pictures(chosen.attachments)
        if pictures:
            cell["attachments"] = pictures
        remarks += [f"answer cell {quoted(grade_id)}: {reason}" for reason in reasons]
    elif answers:
        cell.source = chosen.source


def _too_long(answer: str) -> str | None:
    """How an answer is too long to be shown; None if it is not. Each heading takes milliseconds."""
    if len(answer) > MOST_ANSWER:
        return f"longer than {MOST_ANSWER} characters"
    if len(answer.splitlines()) > MOST_ANSWER_LINES:
        return f"longer than {MOST_ANSWER_LINES} lines"
    return None


def _say_unreadable(cell: NotebookNode, reason: str) -> None:
    """Marks an answer for grading by hand; an answer cell without points keeps its stub."""
    if not _marks(cell).get("grade"):
        return
    text = f"No readable answer: {neutral(reason)}. Please grade this answer by hand."
    if cell.cell_type == "code":
        opening = "%%ckernel\n// " if cell.source.startswith("%%ckernel") else "# "
        text = opening + text
    cell.source = text


def _note_locked(cell: NotebookNode, found: list[StudentCell], remarks: list[str]) -> None:
    """Adds remarks on how the student changed a locked cell; the released cell stays."""
    marks = _marks(cell)
    name = quoted(str(marks["grade_id"]))
    if len(found) > 1:
        remarks.append(f"locked cell {name}: appears {len(found)} times")
    for one in found:
        if one.source.strip() != cell.source.strip():
            remarks.append(f"locked cell {name}: its text was changed")
        if one.points is not None and one.points != marks.get("points"):
            remarks.append(f"locked cell {name}: its points were changed")
        if one.locked is False:
            remarks.append(f"locked cell {name}: it was unlocked")


def _note_rest(notebook: NotebookNode, submitted: Submitted, remarks: list[str]) -> None:
    """Adds remarks on the student's own cells, and on released cells that were deleted."""
    if submitted.trouble:
        return
    grade_ids = {cell.grade_id for cell in submitted.cells}
    cell_ids = {cell.cell_id for cell in submitted.cells} - {None}
    for cell in notebook.cells:
        marks = _marks(cell)
        gone = marks.get("grade_id") not in grade_ids and cell.get("id") not in cell_ids
        if marks and not marks.get("solution") and gone:
            remarks.append(f"locked cell {quoted(str(marks['grade_id']))}: deleted")
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
        remarks.append(
            f"{plural(len(extra), 'cell')} that the student added; see the submitted notebook"
        )


def _bounded(remarks: list[str]) -> tuple[str, ...]:
    """Each remark once, and no more of them than fit on a screen."""
    notes = list(dict.fromkeys(remarks))
    if len(notes) > _MOST_NOTES:
        notes = [*notes[:_MOST_NOTES], f"and {len(notes) - _MOST_NOTES} more"]
    return tuple(notes)


def _note(set_aside: tuple[str, ...], notebook: NotebookNode) -> NotebookNode:
    """The cell that lists for a person what was left out of this notebook."""
    lines = "\n".join(f"- {neutral(note)}" for note in set_aside)
    text = (
        "**Left out when this notebook was rebuilt for grading**\n\n"
        f"{lines}\n\n"
        "Below is the released notebook with the answers that could be read. The grader judges "
        "figures from `figures.json` and the recordings, whatever happened to the notebook."
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
