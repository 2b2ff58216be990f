"""The text of a notebook file, as nbformat writes it, in a third of its time.

nbformat copies the notebook deeply, and Python's JSON encoder is slow if it indents. Of the
notebooks of a class, most cells are those of the released one: their text is made once.
"""

from __future__ import annotations

import json
from json.encoder import encode_basestring
from typing import Any

from nbformat import NotebookNode
from nbformat.v4.rwbase import split_lines, strip_transient

_CELL_LEVEL = 2


class Texts:
    """The texts of the cells of one released notebook."""

    def __init__(self, released: NotebookNode) -> None:
        """`released` is used up: it is not to be read afterwards."""
        cells = _on_file(released).cells
        self._known = {
            cell["id"]: (cell, _text(cell, _CELL_LEVEL)) for cell in cells if "id" in cell
        }

    def of(self, notebook: NotebookNode) -> str:
        """The text of the file of `notebook`, which is used up."""
        notebook = _on_file(notebook)
        cells = [_indent(_CELL_LEVEL) + self._of_cell(cell) for cell in notebook.cells]
        rest = {key: value for key, value in notebook.items() if key != "cells"}
        fields = {key: _text(value, 1) for key, value in rest.items()}
        fields["cells"] = f"[{','.join(cells)}{_indent(1)}]" if cells else "[]"
        inside = ",".join(
            f"{_indent(1)}{encode_basestring(key)}: {fields[key]}" for key in sorted(fields)
        )
        return f"{{{inside}{_indent(0)}}}\n"

    def _of_cell(self, cell: NotebookNode) -> str:
        same, text = self._known.get(cell.get("id", ""), (None, ""))
        return text if same == cell else _text(cell, _CELL_LEVEL)


def _on_file(notebook: NotebookNode) -> NotebookNode:
    """The notebook as it is on file: texts are lists of lines."""
    stripped: NotebookNode = strip_transient(split_lines(notebook))  # type: ignore[no-untyped-call]
    return stripped


def _text(value: Any, level: int) -> str:
    """`value` as JSON, indented by one space for each level, with its keys sorted."""
    if isinstance(value, str):
        return encode_basestring(value)
    if isinstance(value, dict):
        inner = [
            f"{encode_basestring(key)}: {_text(value[key], level + 1)}" for key in sorted(value)
        ]
        return _bracketed("{", inner, "}", level)
    if isinstance(value, (list, tuple)):
        return _bracketed("[", [_text(each, level + 1) for each in value], "]", level)
    if value is None or isinstance(value, bool):
        return "null" if value is None else "true" if value else "false"
    return repr(value) if type(value) is int else json.dumps(value)


def _bracketed(begin: str, inner: list[str], end: str, level: int) -> str:
    if not inner:
        return begin + end
    between = _indent(level + 1)
    return f"{begin}{between}{f',{between}'.join(inner)}{_indent(level)}{end}"


def _indent(level: int) -> str:
    return "\n" + " " * level
