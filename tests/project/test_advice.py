"""What a text tells a reader to type can be typed: each call takes the arguments that it names.

The texts are those in the Python of labs and grader, in the hints, and in the notebooks' Markdown.
"""

from __future__ import annotations

import ast
import inspect
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from labs.messages import ARGUMENTS
from labs.notebook.broken_pair import Pair
from labs.notebook.run import Run
from labs.notebook.session import Session
from labs.recording.file import Recording, read
from labs.run import broken
from testing.paths import FIXTURES, REPOSITORY

#: A call of `lab`; what is in its parentheses has at most one pair more.
CALL = re.compile(r"\blab\.(\w+)\(((?:[^()]|\([^()]*\))*)\)")
#: What stands for a value that is filled into a text.
FILLED = "x"


def texts_of_python(path: Path) -> Iterator[str]:
    """The strings of a module; what is filled into one is `FILLED`."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.JoinedStr):
            yield "".join(
                str(each.value) if isinstance(each, ast.Constant) else "x" for each in node.values
            )
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def texts() -> Iterator[tuple[str, str]]:
    for package in ("labs", "grader"):
        for path in sorted((REPOSITORY / package).rglob("*.py")):
            for text in texts_of_python(path):
                yield path.name, text
    for path in sorted((REPOSITORY / "labs/course/hints").glob("*.json")):
        yield path.name, path.read_text("utf-8").replace('\\"', '"')
    for path in sorted((REPOSITORY / "notebooks").rglob("*.ipynb")):
        for cell in json.loads(path.read_text("utf-8"))["cells"]:
            if cell["cell_type"] == "markdown":
                yield path.name, "".join(cell["source"])


def wrong_call(name: str, inside: str) -> str:
    """Why `lab.NAME(INSIDE)` cannot be called; '' if it can, or if it is no Python."""
    method = getattr(Session, name, None)
    if method is None and name != FILLED:
        return "no such method"
    if not callable(method):
        return ""
    try:
        call = ast.parse(f"lab.{name}({inside})", mode="eval").body
    except SyntaxError:
        return ""
    assert isinstance(call, ast.Call)
    known = inspect.signature(method).parameters
    given = [each.arg for each in call.keywords if each.arg]
    strange = [each for each in given if each not in known]
    return f"takes no {strange[0]}" if strange else ""


def test_each_call_in_a_text_takes_what_it_names() -> None:
    seen = 0
    wrong = {}
    for where, text in texts():
        for name, inside in CALL.findall(text):
            seen += 1
            if why := wrong_call(name, inside):
                wrong[where, f"lab.{name}({inside})"] = why
    assert seen > 100
    assert wrong == {}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('lab.broken("x", within=5)', "takes no within"),
        ('lab.measure("system_call", within=5)', ""),
        ("lab.figure(a, b, unit=1, evidence=2)", "takes no evidence"),
        ("lab.publish()", "no such method"),
    ],
)
def test_a_call_that_cannot_be_made_is_found(text: str, why: str) -> None:
    ((name, inside),) = CALL.findall(text)
    assert wrong_call(name, inside) == why


def test_the_options_that_warnings_advise_are_those_of_measuring() -> None:
    assert {*ARGUMENTS.values()} <= {*inspect.signature(Session.measure).parameters}


def _short(recording: Recording) -> Recording:
    """The first three processes: their intervals are wide, so that a run advises more."""
    columns = ("variant_index", "process", "sample", "batch", "ticks")
    kept = {name: getattr(recording, name)[recording.process < 3] for name in columns}
    return replace(recording, **kept)


@pytest.mark.parametrize("name", ["bare_mutex", "cached_getpid", "wrong_registers"])
def test_a_pair_advises_no_argument_that_lab_broken_lacks(name: str) -> None:
    folder = FIXTURES / "honest/08-five-reports-on-trial/recordings"
    halves = [read(folder / f"{which}-{name}.csv") for which in ("broken", "repaired")]
    pair = Pair(broken.find(name), *(Run.of(_short(each), python=True) for each in halves))
    taken = {*inspect.signature(Session.broken).parameters}
    assert any(each.result().warnings for each in (pair.broken, pair.repaired))
    for words in (pair.as_text(), pair.as_html()):
        named = re.findall(rf"\b({'|'.join(ARGUMENTS.values())})=", words)
        assert {*named} <= taken, words
