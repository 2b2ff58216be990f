"""What a finding tells the student to look at can be typed into the notebook as it stands."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path

import pytest

from grader.figures import LABS, FigureSpec
from grader.with_nbgrader.release import release
from labs.notebook import measuring
from testing.paths import REPOSITORY

SPECS = [spec for specs in LABS.values() for spec in specs if spec.look_at]


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("released") / "labs"
    release(REPOSITORY / "notebooks", folder)
    return folder


def names_of(notebook: Path) -> set[str]:
    """Every name that the cells of a released notebook import or assign."""
    names: set[str] = set()
    for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] != "code":
            continue
        first, _, _ = source.partition("\n")
        if first.startswith("%%ckernel"):
            names.add(measuring.variable_of(first.removeprefix("%%ckernel")))
            continue
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                names.add(node.id)
            if isinstance(node, ast.alias):
                names.add(node.asname or node.name)
    return names


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.id)
def test_what_to_look_at_uses_names_of_the_notebook(spec: FigureSpec, released: Path) -> None:
    known = names_of(released / spec.lab / f"{spec.lab}.ipynb")
    for code in re.findall(r"`([^`]+)`", spec.look_at):
        used = {node.id for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Name)}
        assert used <= known, code
