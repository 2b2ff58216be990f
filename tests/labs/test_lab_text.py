"""The text and the cells of the labs, without running them."""

from __future__ import annotations

import ast
import contextlib
import inspect
import io
import json
import re
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import pytest

from grader.figures import LABS
from grader.figures.spec import FigureSpec
from grader.with_nbgrader.release import release
from labs.course import published
from labs.notebook import ckernel_magic
from labs.notebook.session import Session
from support import notebook_as_markdown as notebook
from support.paths import REPOSITORY

# Every number in a notebook's prose that can be computed is computed, or can be checked here. A
# measured number, one with a unit of time or a share, must be one that a report printed: what
# this machine gives stands in the output of a cell, never in the prose. Any other number must
# stand in the code that the prose is about.


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


# A notebook and its Markdown are the same: each lab becomes the other, byte by byte, and back.


PATHS = sorted((REPOSITORY / "notebooks").glob("*/*.ipynb"))
LAB = "03-system-call"


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_the_markdown_of_a_lab_makes_the_same_file(path: Path) -> None:
    file = path.read_text(encoding="utf-8")
    assert notebook.as_file(notebook.of_text(path.stem, notebook.as_text(json.loads(file)))) == file


def test_a_block_of_another_language_belongs_to_the_text() -> None:
    text = "<!-- read -->\n```c\nlong k;\n```\nRead it.\n"
    (cell,) = notebook.of_text(LAB, text)["cells"]
    assert (cell["cell_type"], "".join(cell["source"])) == (
        "markdown",
        "```c\nlong k;\n```\nRead it.",
    )


def test_what_nbgrader_must_know_follows_from_the_cell() -> None:
    text = (
        '```python figure check-floor\ncheck("system-call-floor")\n```\n\n'
        "```python decision choose\n### BEGIN SOLUTION\nx = 1\n### END SOLUTION\n```\n\n"
        "```python run-only look\nx\n```\n\n<!-- report: answer -->\nIt costs ...\n"
    )
    check, decision, look, report = notebook.of_text(LAB, text)["cells"]
    graded = check["metadata"]["nbgrader"]
    assert (graded["grade_id"], graded["points"], graded["locked"]) == (
        "system-call-floor",
        2,
        True,
    )
    assert decision["metadata"]["nbgrader"]["solution"]
    assert "points" not in decision["metadata"]["nbgrader"]
    assert look["metadata"] == {"tags": ["run-only"]}
    assert report["metadata"]["nbgrader"]["points"] == 4


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("It begins.\n", "line 1: .* belongs to no cell"),
        ("<!-- a -->\nText.\n\n```python run-only b\n1\n```\nMore.\n", "line 7: .* to no cell"),
        ("```python decide a\n1\n```\n", "decision"),
        ("```python run-only a\n1\n", "the code cell a has no end"),
        ("<!-- a -->\nText.\n```python run-only a\n1\n```\n", "2 cells have the id a"),
    ],
)
def test_what_is_no_notebook_is_refused_with_the_place(text: str, said: str) -> None:
    with pytest.raises(notebook.BadText, match=said):
        notebook.of_text(LAB, text)


@pytest.mark.parametrize(
    "text",
    ['```python figure check-x\ncheck("no-such-figure")\n```\n', "<!-- essay: answer -->\nText.\n"],
)
def test_a_figure_or_an_answer_without_points_is_named(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    draft = tmp_path / "draft.md"
    draft.write_text(text, encoding="utf-8")
    assert notebook.main([LAB, "--from", str(draft)]) == 1
    said = capsys.readouterr().err
    assert "grader/figures" in said and "rubrics.json" in said
    assert ("no-such-figure" in said) or ("essay" in said)


# What a finding tells the student to look at can be typed into the notebook as it stands.


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
            names.add(ckernel_magic.variable_of(first.removeprefix("%%ckernel")))
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


# The line below a decision of lab 09 is printed for each wrong choice, and for no right one.


LADDER = "09-memory-ladder"

#: The figures that a cell may use before it prints: none of them decides what it prints.
RUNS = ("orders",)

LARGER = "A cache may hold this set: choose a larger one."
ONLY_ORDER = "Let only the order differ: the same set, in an order that nobody foresees."
FEWER_NODES = (
    "Divide 256 KiB by the distance of the nodes: choose the set with fewer than 256 nodes."
)

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
    ("strides-run", {"fewer": "random-4096-256k"}, []),
    ("strides-run", {"fewer": "random-256-256k"}, [FEWER_NODES]),
    ("strides-run", {"fewer": "random-256k"}, [FEWER_NODES]),
]


def sources() -> dict[str, str]:
    """The Python cells of the lab by their ids, in which the solutions are left out."""
    path = REPOSITORY / "notebooks" / LADDER / f"{LADDER}.ipynb"
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


def printed_by(source: str, chosen: dict[str, Any]) -> list[str]:
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
    assert printed_by(sources()[cell], chosen) == lines


def test_every_line_about_a_choice_is_among_these() -> None:
    said = {(key, line) for key, text in sources().items() for line in lines_of_choices(text)}
    assert said == {(cell, line) for cell, _, lines in CHOICES for line in lines}
    right = {cell for cell, _, lines in CHOICES if not lines}
    assert {cell for cell, _ in said} == right


def test_the_report_of_lab_10_states_the_pages_that_a_sample_holds() -> None:
    (words,) = (
        text
        for cell in cells("10-page-fault")
        if "in a sample;" in (text := prose("".join(cell["source"])))
    )
    least, most = re.findall(r"(\d+) to (\d+) in a sample;", words)[0]
    planned = re.search(
        r"batches\[\] = \{([\d, ]+)\}", (REPOSITORY / "kernels_c" / "page_fault.c").read_text()
    )
    assert planned is not None
    sizes = planned[1].split(", ")
    assert (least, most) == (sizes[0], sizes[-1])
