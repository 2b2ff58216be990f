"""The line below a decision of lab 09 is printed for each wrong choice, and for no right one."""

from __future__ import annotations

import ast
import contextlib
import io
import json
import re
from typing import Any
from unittest.mock import MagicMock

import pytest

from testing.paths import REPOSITORY

LAB = "09-memory-ladder"

#: The figures that a cell may use before it prints: none of them decides what it prints.
RUNS = ("orders",)

LARGER = "A cache may hold this set: choose a larger one."
ONLY_ORDER = "Let only the order differ: the same set, in an order that nobody foresees."
STRIDE = "Let only the stride differ: 64 bytes in one variant, and 4096 in the other."

#: A cell, what is chosen there, and the lines that it prints.
CHOICES: list[tuple[str, dict[str, Any], list[str]]] = [
    ("naive-run", {"size": "128m"}, []),
    ("naive-run", {"size": "16k"}, [LARGER]),
    ("naive-run", {"size": "1m"}, [LARGER]),
    ("orders-run", {"other": "random-128m"}, []),
    ("orders-run", {"other": "random-1m"}, [ONLY_ORDER]),
    ("orders-run", {"other": "random-64m"}, [ONLY_ORDER]),
    ("orders-run", {"other": "random-4096-4m"}, [ONLY_ORDER]),
    ("orders-run", {"other": "ordered-1m"}, [ONLY_ORDER]),
    ("orders-run", {"other": "ordered-128m"}, [ONLY_ORDER]),
    ("strides-run", {"two": ["random-4m", "random-4096-4m"]}, []),
    ("strides-run", {"two": ["random-4096-4m", "random-4m"]}, []),
    ("strides-run", {"two": ["random-4m", "random-256-4m"]}, [STRIDE]),
    ("strides-run", {"two": ["random-256-4m", "random-4096-4m"]}, [STRIDE]),
    ("strides-run", {"two": ["ordered-4096-4m", "random-4096-4m"]}, [STRIDE]),
    ("strides-run", {"two": ["random-4m", "ordered-4096-4m"]}, [STRIDE]),
    ("strides-run", {"two": ["random-4m", "random-4m"]}, [STRIDE]),
]


def sources() -> dict[str, str]:
    """The Python cells of the lab by their ids, in which the solutions are left out."""
    path = REPOSITORY / "notebooks" / LAB / f"{LAB}.ipynb"
    cells = json.loads(path.read_text("utf-8"))["cells"]
    texts = {each["id"]: "".join(each["source"]) for each in cells if each["cell_type"] == "code"}
    solution = re.compile(r"### BEGIN SOLUTION\n.*?### END SOLUTION\n", re.DOTALL)
    return {key: solution.sub("", text) for key, text in texts.items() if text[:2] != "%%"}


def lines_of_choices(source: str) -> list[str]:
    """The lines that a cell prints only if a choice was wrong."""
    return [
        str(call.args[0].value)
        for branch in ast.walk(ast.parse(source))
        if isinstance(branch, ast.If)
        for call in ast.walk(branch)
        if isinstance(call, ast.Call)
        and call.args
        and isinstance(call.args[0], ast.Constant)
        and getattr(call.func, "id", "") == "print"
    ]


def printed(source: str, chosen: dict[str, Any]) -> list[str]:
    """What a cell prints after this choice, where no run is carried out."""
    runs = {name: MagicMock() for name in RUNS}
    names = {"lab": MagicMock(), "display": lambda _: None, **runs, **chosen}
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        exec(source, names)
    return said.getvalue().splitlines()


@pytest.mark.parametrize(("cell", "chosen", "lines"), CHOICES)
def test_line_is_printed_for_wrong_choices_only(
    cell: str, chosen: dict[str, Any], lines: list[str]
) -> None:
    assert printed(sources()[cell], chosen) == lines


def test_every_line_about_a_choice_is_among_these() -> None:
    said = {(key, line) for key, text in sources().items() for line in lines_of_choices(text)}
    assert said == {(cell, line) for cell, _, lines in CHOICES for line in lines}
    right = {cell for cell, _, lines in CHOICES if not lines}
    assert {cell for cell, _ in said} == right
