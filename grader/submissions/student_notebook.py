"""Reads the notebook that a student handed in, whatever it holds.

We trust nothing in it: it may not be JSON, it may have no cells, and the metadata of a cell may be
wrong. We read only plain text, ids and the pictures of answers, and ignore outputs.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grader.submissions.safe_copy import read_regular
from labs.common.json_text import BadJson, parse, text_of
from labs.common.limits import MOST_CELLS, MOST_NOTEBOOK_BYTES

_CONTROL = {code: None for code in range(32) if chr(code) not in "\t\n"} | {127: None}


@dataclass(frozen=True)
class StudentCell:
    """One cell as the student left it. `grade_id` is None if its metadata are missing.

    `attachments` is whatever the notebook holds there: :mod:`grader.submissions.pictures` reads it.
    """

    grade_id: str | None
    cell_id: str | None
    cell_type: str
    source: str
    points: object = None
    locked: object = None
    graded: bool = False
    attachments: object = None


@dataclass(frozen=True)
class Submitted:
    """The cells. `trouble` says why none could be read; `notes` lists oddities without effect."""

    cells: tuple[StudentCell, ...] = ()
    trouble: str | None = None
    notes: tuple[str, ...] = ()


def read_submitted(path: Path) -> Submitted:
    """The cells of the notebook at `path`. Never raises; `trouble` says what is wrong and where."""
    if path.is_symlink():
        return Submitted(trouble="the notebook is a link; links are not followed")
    try:
        raw = read_regular(path, MOST_NOTEBOOK_BYTES)
    except FileNotFoundError:
        return Submitted(trouble="no notebook of this name was handed in")
    except OSError as error:
        return Submitted(trouble=f"the notebook cannot be opened: {error.strerror or error}")
    if len(raw) > MOST_NOTEBOOK_BYTES:
        most = f"{MOST_NOTEBOOK_BYTES // 1_000_000} MB"
        return Submitted(trouble=f"the notebook is larger than {most} and was not read")
    if not raw.strip():
        return Submitted(trouble="the notebook is an empty file")
    try:
        return _cells_of(parse(text_of(raw), lenient=True))
    except BadJson as error:
        return Submitted(trouble=f"the notebook {error}")


def clean(text: str) -> str:
    """`text` without control characters and lone surrogates, which files and pages cannot hold."""
    whole = text.replace("\r\n", "\n").translate(_CONTROL)
    return whole.encode("utf-8", "replace").decode("utf-8")


def _cells_of(document: Any) -> Submitted:
    """The cells of a parsed notebook of format 4, 3 or 2."""
    if not isinstance(document, dict):
        return Submitted(trouble="the file is valid JSON, but not a notebook: it is no object")
    notes: list[str] = []
    found = document.get("cells")
    sheets = document.get("worksheets")
    if not isinstance(found, list) and isinstance(sheets, list):
        lists = [sheet.get("cells") for sheet in sheets if isinstance(sheet, dict)]
        found = [cell for cells in lists if isinstance(cells, list) for cell in cells]
        notes.append("the notebook is in an old format (nbformat 3 or earlier)")
    if not isinstance(found, list):
        return Submitted(
            trouble="the file is valid JSON, but not a notebook: it has no list of cells"
        )
    if len(found) > MOST_CELLS:
        notes.append(f"the notebook has {len(found)} cells; the first {MOST_CELLS} were read")
    cells = [_cell_of(cell) for cell in found[:MOST_CELLS]]
    usable = tuple(cell for cell in cells if cell is not None)
    if len(usable) < len(cells):
        notes.append(f"{len(cells) - len(usable)} entries in the list of cells are not cells")
    return Submitted(cells=usable, notes=tuple(notes))


def _cell_of(cell: Any) -> StudentCell | None:
    """One cell, or None if it holds no text."""
    if not isinstance(cell, dict):
        return None
    # Format 3 calls the source of a code cell `input`.
    source = cell.get("source", cell.get("input"))
    if isinstance(source, list) and all(isinstance(line, str) for line in source):
        source = "".join(source)
    if not isinstance(source, str):
        return None
    metadata = cell.get("metadata")
    marks = metadata.get("nbgrader") if isinstance(metadata, dict) else None
    marks = marks if isinstance(marks, dict) else {}
    grade_id, cell_id, cell_type = marks.get("grade_id"), cell.get("id"), cell.get("cell_type")
    return StudentCell(
        grade_id=grade_id if isinstance(grade_id, str) else None,
        cell_id=cell_id if isinstance(cell_id, str) else None,
        cell_type=cell_type if isinstance(cell_type, str) else "",
        source=clean(source),
        points=marks.get("points"),
        locked=marks.get("locked"),
        graded=marks.get("grade") is True,
        attachments=cell.get("attachments"),
    )
