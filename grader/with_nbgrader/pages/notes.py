"""Flags and parts that were set aside, where a person sees them: in the lists of submissions.

Each autograded notebook keeps its notes in its own metadata, which is the end of the file. A list
reads these ends: 5,000 whole notebooks are too much for a page.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from nbformat import NotebookNode

from grader.submissions.safe_copy import printable

KEY = "ticklab"
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
    rest = len(found) - _MOST_NOTES
    return found if rest <= 0 else [*found[:_MOST_NOTES], f"and {rest} more"]
