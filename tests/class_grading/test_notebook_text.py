"""The text of a notebook file is what nbformat writes."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import nbformat
import pytest

from grader.class_grading.grading_process import write_notebook
from grader.submissions.submitted_notebook import Attachments
from support.paths import REPOSITORY

NOTEBOOKS = sorted((REPOSITORY / "notebooks").glob("*/*.ipynb"))
PICTURE: Attachments = {"a.png": {"image/png": "aGVsbG8="}}


def node(document: dict[str, Any]) -> nbformat.NotebookNode:
    read: nbformat.NotebookNode = nbformat.reads(json.dumps(document), as_version=4)  # type: ignore
    return read


def text_of(notebook: nbformat.NotebookNode) -> str:
    text: str = nbformat.writes(notebook)  # type: ignore[no-untyped-call]
    return text + "\n"


def written(notebook: nbformat.NotebookNode, folder: Path) -> str:
    write_notebook(folder / "written.ipynb", notebook)
    return (folder / "written.ipynb").read_bytes().decode("utf-8")


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_every_lab(path: Path, tmp_path: Path) -> None:
    released = json.loads(path.read_text("utf-8"))
    assert written(node(released), tmp_path) == text_of(node(released))
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
    assert written(node(answered), tmp_path) == text_of(node(answered))


def test_a_notebook_without_cells_and_of_an_older_format(tmp_path: Path) -> None:
    empty: dict[str, Any] = {"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    assert written(node(empty), tmp_path) == text_of(node(empty))
    cell = {"cell_type": "markdown", "metadata": {"trusted": True}, "source": ""}
    older = empty | {"nbformat_minor": 4, "cells": [cell, cell]}
    assert written(node(older), tmp_path) == text_of(node(older))
