"""The text of a notebook file is what nbformat writes."""

from __future__ import annotations

import copy
import json
from typing import Any

import nbformat
import pytest

from grader.submissions.submitted_notebook import Attachments, Texts
from testing.paths import REPOSITORY

NOTEBOOKS = sorted((REPOSITORY / "notebooks").glob("*/*.ipynb"))
PICTURE: Attachments = {"a.png": {"image/png": "aGVsbG8="}}


def node(document: dict[str, Any]) -> nbformat.NotebookNode:
    read: nbformat.NotebookNode = nbformat.reads(json.dumps(document), as_version=4)  # type: ignore
    return read


def text_of(notebook: nbformat.NotebookNode) -> str:
    text: str = nbformat.writes(notebook)  # type: ignore[no-untyped-call]
    return text + "\n"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_every_lab(path: Any) -> None:
    released = json.loads(path.read_text("utf-8"))
    texts = Texts(node(released))
    assert texts.of(node(released)) == text_of(node(released))
    answered = copy.deepcopy(released)
    for number, cell in enumerate(answered["cells"]):
        if number % 3 == 0:
            cell["source"] = "one\r\nline \u2028 \u2029 \x0c \x85 é \U0001f600 </script>\n\n\ttab"
        if number % 4 == 0:
            cell["metadata"]["ticklab"] = {"points": 1e-7, "flags": [], "levels": {"a": [1, 2.5]}}
    first = next(cell for cell in answered["cells"] if cell["cell_type"] == "code")
    first["outputs"] = [
        {"output_type": "stream", "name": "stdout", "text": "a\nb"},
        {
            "output_type": "display_data",
            "metadata": {},
            "data": {"text/html": "<p>\n</p>", "image/png": "aGVsbG8=\n"},
        },
    ]
    words = next(cell for cell in answered["cells"] if cell["cell_type"] == "markdown")
    words["attachments"] = PICTURE
    answered["cells"].append(first | {"id": "another"})
    assert texts.of(node(answered)) == text_of(node(answered))


def test_a_notebook_without_cells_and_of_an_older_format() -> None:
    empty: dict[str, Any] = {"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    assert Texts(node(empty)).of(node(empty)) == text_of(node(empty))
    cell = {"cell_type": "markdown", "metadata": {"trusted": True}, "source": ""}
    older = empty | {"nbformat_minor": 4, "cells": [cell, cell]}
    assert Texts(node(older)).of(node(older)) == text_of(node(older))
