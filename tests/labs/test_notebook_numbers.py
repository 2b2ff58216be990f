"""Every number in a notebook's prose that can be computed is computed, or can be checked here.

A measured number, one with a unit of time or a share, must be one that a report printed: what this
machine gives stands in the output of a cell, never in the prose. Any other number must stand in the
code that the prose is about.
"""

from __future__ import annotations

import inspect
import json
import re
from typing import Any

import pytest

from labs.course import published
from labs.notebook.session import Session
from testing.paths import REPOSITORY

NOTEBOOKS = REPOSITORY / "notebooks"
NAMES = sorted(path.parent.name for path in NOTEBOOKS.glob("*/*.ipynb"))

#: Numbers up to this one count things in words: six arguments, two processes, answer 3.
COUNTING = 12
#: What is neither measured nor in code, and why it may stand in prose.
ALLOWED = {
    "95": "the level of every interval",
    "324264": "the number of Intel's paper",
}
MEASURED = r"ns|µs|us|ms|s|seconds?|(?:core )?cycles?|ticks?|[GM]Hz|%|times"

_NUMBER = re.compile(
    rf"(?<![\w.,/-])(\d+(?:,\d{{3}})*(?:\.\d+)?)(?![\w-]|[.,]\d)(?:\s*({MEASURED})(?!\w))?"
)
_YEAR = re.compile(r"(?:19|20)\d\d")


def cells(name: str) -> list[dict[str, Any]]:
    stated: list[dict[str, Any]] = json.loads(
        (NOTEBOOKS / name / f"{name}.ipynb").read_text("utf-8")
    )["cells"]
    return stated


def prose(markdown: str) -> str:
    """Markdown without code, targets of links and tags."""
    text = re.sub(r"^```.*?^```", "", markdown, flags=re.M | re.S)
    text = re.sub(r"`[^`]*`", "CODE", text)
    return re.sub(r"<[^>]+>", "", re.sub(r"\]\([^)]*\)", "]", text))


def numbers(markdown: str) -> list[tuple[float, str]]:
    """Every number in the prose with the unit behind it; minutes and names of labs are none."""
    text = re.sub(r"\*\d+ minutes\.\*|\b[Ll]ab \d\d\b", "", prose(markdown))
    return [(float(value.replace(",", "")), unit) for value, unit in _NUMBER.findall(text)]


def in_code(name: str) -> set[float]:
    """The numbers in the notebook's code, in the C kernels, and in the defaults of `measure`."""
    texts = ["".join(cell["source"]) for cell in cells(name) if cell["cell_type"] == "code"]
    texts += [path.read_text("utf-8") for path in (REPOSITORY / "kernels_c").rglob("*.[ch]")]
    found = {
        float(number.replace("_", ""))
        for text in texts
        for number in re.findall(r"\d+(?:_\d{3})*(?:\.\d+)?", text)
    }
    defaults = inspect.signature(Session.measure).parameters.values()
    return found | {float(p.default) for p in defaults if isinstance(p.default, int | float)}


def printed(markdown: str) -> set[float]:
    """What the reports that `markdown` names print (any, where it names none), and their counts."""
    named = re.findall(r"\b[Rr]eport ([A-E])\b", markdown) or [None]
    known = [each for report in named for each in published.figures(report=report)]
    counts = {float(each.iterations) for each in known if each.iterations}
    # As one says them: 10 million.
    return {each.value for each in known} | counts | {count / 1e6 for count in counts}


@pytest.mark.parametrize("name", NAMES)
def test_a_measured_number_in_prose_is_one_that_a_report_printed(name: str) -> None:
    code = in_code(name)
    for cell in cells(name):
        if cell["cell_type"] != "markdown":
            continue
        text = "".join(cell["source"])
        for value, unit in numbers(text):
            said = f"{value:g} {unit} in {cell['id']}: compute it in a cell, or quote a report"
            if f"{value:g}" in ALLOWED or value in printed(text):
                continue
            assert not unit, said
            counted = value <= COUNTING and value == int(value)
            assert counted or value in code or _YEAR.fullmatch(f"{value:g}"), said


@pytest.mark.parametrize("name", NAMES)
def test_what_is_said_of_points_minutes_and_labs_is_so(name: str) -> None:
    points = {
        cell["id"]: cell["metadata"]["nbgrader"]["points"]
        for cell in cells(name)
        if cell["metadata"].get("nbgrader", {}).get("points")
    }
    asked = ""
    for cell in cells(name):
        text = "".join(cell["source"])
        if cell["id"] in points:
            said = re.findall(r"\((\d+) points?\b", asked)
            assert not said or [float(said[-1])] == [points[cell["id"]]], cell["id"]
            asked = ""
        elif cell["cell_type"] == "markdown":
            asked = text
            for lab in re.findall(r"\b[Ll]ab (\d\d)\b", prose(text)):
                assert any(other.startswith(f"{lab}-") for other in NAMES), (cell["id"], lab)
    (minutes,) = re.findall(r"\*(\d+) minutes\.\*", "".join(cells(name)[0]["source"]))
    # The core of a lab fits a class.
    assert 5 <= int(minutes) <= 45


def test_the_numbers_are_found_in_prose() -> None:
    text = "It is 28.5 cycles, *45 minutes.* or 10,000 runs; `5 ns` x86-64 Lab 02, 95 % and 3.2s."
    assert numbers(text) == [
        (28.5, "cycles"),
        (10000, ""),
        (95, "%"),
    ]


def test_what_is_allowed_is_used() -> None:
    everything = {
        f"{number:g}"
        for name in NAMES
        for cell in cells(name)
        for number, _ in numbers("".join(cell["source"]))
    }
    assert everything >= set(ALLOWED)
