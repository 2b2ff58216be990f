"""A lab's notebook in another language: the same cells, with their text from the catalogue.

Code, ids and the cells that nbgrader knows stay as they are, so figures and points are the same.
"""

from __future__ import annotations

import json
from typing import Any

from labs.languages.words import Words


def is_translated(cell: dict[str, Any]) -> bool:
    """Whether a cell is text of the lab, which nobody grades and nbgrader does not write."""
    return cell["cell_type"] == "markdown" and "nbgrader" not in cell["metadata"]


def in_language(notebook: bytes, words: Words) -> bytes:
    """The notebook with its text in the language of `words`. A cell without translation stays."""
    stated = json.loads(notebook)
    changed = False
    for cell in stated["cells"]:
        if is_translated(cell):
            text = "".join(cell["source"])
            shown = words.of_cell(text)
            if shown != text:
                cell["source"], changed = shown.splitlines(keepends=True), True
    if not changed:
        return notebook
    return (json.dumps(stated, indent=1, ensure_ascii=False) + "\n").encode()
