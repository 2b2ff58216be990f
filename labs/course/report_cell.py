"""The report in a student's notebook: the cells of text that the lab leaves to be written."""

from __future__ import annotations

import json
from pathlib import Path

from labs import limits, paths
from labs.files import read_bounded

#: What stands in a released cell that is to be written.
_STUB = "Write your answer here."


def texts(notebook: bytes) -> dict[str, str]:
    """The text of each such cell, by its id; empty for what is no notebook."""
    try:
        cells = json.loads(notebook)["cells"]
        return {
            str(cell["metadata"]["nbgrader"]["grade_id"]): "".join(cell["source"]).strip()
            for cell in cells
            if cell["cell_type"] == "markdown"
            and cell["metadata"].get("nbgrader", {}).get("solution")
        }
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}


def empty(notebook: bytes, lab: str) -> tuple[str, ...]:
    """The ids of those cells that are empty, or still as they were released."""
    before = _released(lab)
    return tuple(
        name for name, text in texts(notebook).items() if text in ("", _STUB, before.get(name))
    )


def is_written(folder: Path) -> bool:
    """Whether the notebook in `folder`, as last saved, has its report. Raises OSError."""
    path = notebook_in(folder)
    if path is None:
        return False
    notebook = read_bounded(path, limits.MOST_NOTEBOOK_BYTES)
    return bool(texts(notebook)) and not empty(notebook, path.stem)


def notebook_in(folder: Path) -> Path | None:
    """The notebook of the lab in `folder`: the one with its name, or the only one."""
    there = sorted(folder.glob("*.ipynb"))
    named = [path for path in there if path.stem == folder.resolve().name]
    return next(iter(named or (there if len(there) == 1 else [])), None)


def _released(lab: str) -> dict[str, str]:
    """The texts as released; empty if this machine has no released labs."""
    try:
        return texts((paths.released() / lab / f"{lab}.ipynb").read_bytes())
    except OSError:
        return {}
