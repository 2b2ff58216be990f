"""Every lab: its form holds, and its released form runs, measures here, and gives no points.

That its solution passes is shown by `test_pages.py`, which runs it on saved recordings.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbformat import NotebookNode
from nbgrader.nbgraderformat import MetadataValidator

from bench.labs import decisions
from grader.figures import LABS, figures_of
from grader.figures.verdict import Outcome
from grader.judging.lab_folder import check_folder
from grader.with_nbgrader.release import STUB_LINE, ClearSolutionsByCell, release
from labs.c_kernels import toolchain
from labs.course import guide
from labs.notebook import run_errors
from labs.notebook.panel import Panel
from labs.notebook.session import Session
from labs.recording.file import read
from support import forked
from support.notebook_as_markdown import FOLDED
from support.paths import REPOSITORY
from support.pressed_panel import press, set_to

#: What the kit says of a run whose samples lie on no line: nothing later can be made of it.
NO_FIGURE = "so there is no figure"

NOTEBOOKS = REPOSITORY / "notebooks"
#: JupyterLab keeps what follows this heading folded away.
FOLDED_MARK = "jp-MarkdownHeadingCollapsed"
NAMES = sorted(path.parent.name for path in NOTEBOOKS.glob("*/*.ipynb"))

MOST_WORDS = 60
#: In the claim, in the core of a lab, in what goes further, in lab 00, and on average in a lab.
MOST_IN_CLAIM, MOST_IN_CORE, MOST_FURTHER = 50, 1_000, 700
MOST_IN_FIRST, MOST_ON_AVERAGE = 300, 1_500
#: Cells in the core, in what goes further, and on average in a lab.
MOST_CORE_CELLS, MOST_FURTHER_CELLS, MOST_CELLS = 36, 20, 50
CORE_DECISIONS, MOST_CORE_FIGURES = range(6, 9), 4
#: What the data then answer in what goes further: decisions, C, predictions, and a panel with a
#: "Do:" above it.
FURTHER_DECISIONS = 4
MOST_LINES = 12
MOST_QUESTIONS = 5
#: What a lab's folder gets by running it: no file of the repository.
MADE_BY_RUNNING = ("figures.json", "predictions.json", "recordings/")

_SOLUTION_MARK = re.compile(r"### (BEGIN|END) SOLUTION")
_FENCED_CODE = re.compile(r"^```.*?^```", re.M | re.S)
_LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s]+)\)")
_FILE = re.compile(r"`((?:[\w.-]+/)*[\w-]+\.(?:c|h|py|csv|json|ipynb|md)|recordings/)`")


def source_of(name: str) -> dict[str, Any]:
    stated: dict[str, Any] = json.loads((NOTEBOOKS / name / f"{name}.ipynb").read_text("utf-8"))
    return stated


def text(cell: dict[str, Any]) -> str:
    return "".join(cell["source"])


def cells(name: str, kind: str) -> list[dict[str, Any]]:
    return [cell for cell in source_of(name)["cells"] if cell["cell_type"] == kind]


def prose(markdown: str) -> str:
    """Markdown as it is read: without targets of links, tags and code blocks."""
    without_code = _FENCED_CODE.sub("", markdown)
    return re.sub(r"<[^>]+>", "", _LINK.sub(r"\2", without_code))


def words(markdown: str) -> int:
    return sum(1 for word in prose(markdown).split() if re.search(r"\w", word))


def headings(name: str) -> list[tuple[int, str]]:
    return [
        (len(match[1]), match[2].strip())
        for cell in cells(name, "markdown")
        for match in re.finditer(r"^(#+) (.+)$", _FENCED_CODE.sub("", text(cell)), re.M)
    ]


# ---------------------------------------------------------------------------------- the form


def test_there_are_labs() -> None:
    assert NAMES[:2] == ["00-start-here", "01-timer-overhead"]
    assert set(LABS) <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_notebook_is_valid_and_was_cleaned(name: str) -> None:
    stated = source_of(name)
    nbformat.validate(stated)
    assert (stated["nbformat"], stated["nbformat_minor"]) == (4, 5)
    assert set(stated["metadata"]) == {"kernelspec", "language_info"}
    assert stated["metadata"]["kernelspec"]["name"] == "python3"
    assert stated["metadata"]["language_info"] == {"name": "python"}
    ids = [cell["id"] for cell in stated["cells"]]
    assert len(set(ids)) == len(ids)
    for cell in stated["cells"]:
        folded = {FOLDED_MARK} if cell["id"] == FOLDED else set()
        assert set(cell["metadata"]) - {"nbgrader", "tags"} == folded
        if cell["cell_type"] == "code":
            assert (cell["outputs"], cell["execution_count"]) == ([], None)


@pytest.mark.parametrize("name", NAMES)
def test_one_title_and_no_level_skipped(name: str) -> None:
    levels = [level for level, _ in headings(name)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    for before, after in itertools.pairwise(levels):
        assert after <= before + 1


@pytest.mark.parametrize("name", NAMES)
def test_few_words_before_a_code_cell(name: str) -> None:
    before = 0
    for cell in source_of(name)["cells"]:
        if cell["cell_type"] == "markdown":
            # An answer cell holds what the student writes, not what there is to read.
            own = cell["metadata"].get("nbgrader", {}).get("solution")
            before = 0 if own else before + words(text(cell))
        else:
            assert before <= MOST_WORDS, f"{before} words before {cell['id']}"
            before = 0


@pytest.mark.parametrize("name", NAMES)
def test_few_lines_in_a_code_cell(name: str) -> None:
    for cell in cells(name, "code"):
        marks = (line for line in text(cell).splitlines() if not STUB_LINE.fullmatch(line))
        visible = [line for line in marks if not _SOLUTION_MARK.search(line)]
        assert len(visible) <= MOST_LINES, f"{len(visible)} lines in {cell['id']}"
        assert all(len(line) <= 100 for line in visible), cell["id"]


@pytest.mark.parametrize("name", NAMES)
def test_a_printed_value_of_a_new_run_is_shown_with_its_warnings(name: str) -> None:
    """A load of -248 ns was printed, and only the run itself would have said that it is none."""
    for cell in cells(name, "code"):
        for run in re.findall(r"^(\w+) = lab\.measure\(", text(cell), re.M):
            printed = re.search(rf"^ *print\(.*\b{run}\b.*\.value", text(cell), re.M)
            shown = re.search(rf"^{run}$|compare\({run}\b", text(cell), re.M)
            assert shown or not printed, cell["id"]


@pytest.mark.parametrize(
    ("name", "false"),
    [
        # Its slope alone is judged: a first reading that does not wait got all points.
        ("01-timer-overhead", "begins as high as"),
        # A function that is not static stays in the program though nobody calls it.
        ("04-procedure-call", "If the program has no such function, the compiler pasted it in"),
    ],
)
def test_no_lab_says_what_a_student_found_false(name: str, false: str) -> None:
    assert not any(false in text(cell) for cell in cells(name, "markdown"))


@pytest.mark.parametrize("name", NAMES)
def test_few_questions(name: str) -> None:
    asked = "\n".join(prose(text(cell)) for cell in cells(name, "markdown"))
    body = re.sub(r"^# .*$", "", asked, flags=re.M)
    assert body.count("?") <= MOST_QUESTIONS


@pytest.mark.parametrize("name", NAMES)
def test_links_and_files_named_exist(name: str) -> None:
    anchors = {"#" + re.sub(r"\s", "-", title) for _, title in headings(name)}
    for cell in cells(name, "markdown"):
        for mark, words_shown, target in _LINK.findall(text(cell)):
            assert words_shown.strip(), f"{target}: no text (of an image: what it shows)"
            if target.startswith("#"):
                assert target in anchors, target
            elif not re.match(r"https?://", target):
                assert (NOTEBOOKS / name / target).is_file(), f"{mark}{target}"
        assert "<img" not in text(cell), "an image by Markdown, with words for what it shows"
        for file in _FILE.findall(text(cell)):
            made = file.startswith(MADE_BY_RUNNING)
            assert made or any(
                (REPOSITORY / folder / file).exists() for folder in ("", "kernels_c")
            )


@pytest.mark.parametrize("name", NAMES)
def test_hints_and_steps_are_those_that_the_lab_uses(name: str) -> None:
    its_guide = guide.of_lab(name)  # refuses empty hints, and more than 50 words
    everything = "\n".join(map(text, source_of(name)["cells"]))
    named = set(re.findall(r'lab\.hint\("([^"]+)"', everything))
    assert named <= set(its_guide.hints)
    assert its_guide.steps
    for step in its_guide.steps:
        ways = {"recording": ('save="{}', "--save {}", '"{}": (')}.get(step.kind, ('"{}',))
        assert any(way.format(step.name) in everything for way in ways), step


@pytest.mark.parametrize("name", NAMES)
def test_nbgrader_metadata(name: str) -> None:
    marked = [cell for cell in source_of(name)["cells"] if "nbgrader" in cell["metadata"]]
    grade_ids = [cell["metadata"]["nbgrader"]["grade_id"] for cell in marked]
    assert len(set(grade_ids)) == len(grade_ids)
    for cell in marked:
        stated = cell["metadata"]["nbgrader"]
        assert stated["schema_version"] == 3
        assert stated["cell_type"] == cell["cell_type"]
        assert stated["task"] is False
        assert stated["grade"] == ("points" in stated)
        assert stated["locked"] == (not stated["solution"])
        has_region = bool(_SOLUTION_MARK.search(text(cell)))
        assert has_region == (stated["solution"] and cell["cell_type"] == "code")
        MetadataValidator().validate_cell(nbformat.from_dict(cell))  # type: ignore[no-untyped-call]


#: The labs whose core fits a class: all but the first, which takes ten minutes.
IN_CLASS = [name for name in NAMES if name in LABS]


def parts(name: str) -> dict[str, list[dict[str, Any]]]:
    """The cells of a lab by part: each begins at the cell with its heading."""
    found: dict[str, list[dict[str, Any]]] = {"core": []}
    for cell in source_of(name)["cells"]:
        begins = re.match(r"## (Going further|Report|For the grader)$", text(cell), re.M)
        if cell["cell_type"] == "markdown" and begins:
            found[begins[1]] = []
        found[list(found)[-1]].append(cell)
    return found


def is_check(cell: dict[str, Any]) -> bool:
    return text(cell).startswith("check(")


def words_in(some: list[dict[str, Any]]) -> int:
    own = [cell for cell in some if cell["cell_type"] == "markdown"]
    return sum(words(text(cell)) for cell in own if "nbgrader" not in cell["metadata"])


def of_kind(some: list[dict[str, Any]], *kinds: str) -> int:
    tags = [cell["metadata"].get("tags", []) for cell in some]
    return sum(bool(set(kinds) & set(its)) for its in tags)


@pytest.mark.parametrize("name", IN_CLASS)
def test_the_core_of_a_lab_fits_a_class(name: str) -> None:
    core = parts(name)["core"]
    assert len(core) <= MOST_CORE_CELLS
    assert words_in(core) <= MOST_IN_CORE
    assert of_kind(core, "decision", "c") in CORE_DECISIONS
    assert of_kind(core, "c") >= 1, "the exercise in C is part of the core"
    assert 1 <= of_kind(core, "figure") <= MOST_CORE_FIGURES
    claim = re.search(r"^## The claim$(.*?)(?=^## )", "\n".join(map(text, core)), re.M | re.S)
    assert claim is not None and words(claim[1]) <= MOST_IN_CLAIM


# A lab of somebody's own may be shorter.
@pytest.mark.parametrize("name", [name for name in IN_CLASS if name < "12"])
def test_the_data_answer_what_goes_further(name: str) -> None:
    further = parts(name)["Going further"]
    asked = of_kind(further, "decision", "c", "prediction")
    above = {id(cell): text(before) for before, cell in itertools.pairwise(further)}
    asked += sum("lab.panel(" in text(cell) and "**Do:**" in above[id(cell)] for cell in further)
    assert asked >= FURTHER_DECISIONS


@pytest.mark.parametrize("name", IN_CLASS)
def test_what_goes_further_is_short_and_apart(name: str) -> None:
    assert list(parts(name)) == ["core", "Going further", "Report", "For the grader"]
    further = parts(name)["Going further"]
    assert len(further) <= MOST_FURTHER_CELLS
    assert words_in(further) <= MOST_FURTHER
    report = parts(name)["Report"]
    assert [bool(cell["metadata"].get("nbgrader")) for cell in report] == [False, True]


@pytest.mark.parametrize("name", IN_CLASS)
def test_the_graders_cells_stand_folded_at_the_end(name: str) -> None:
    heading, *checks = parts(name)["For the grader"]
    assert heading["id"] == FOLDED and heading["metadata"][FOLDED_MARK] is True
    assert all(map(is_check, checks))
    assert not any(map(is_check, parts(name)["core"]))


def test_the_first_lab_is_short_and_shows_how_every_lab_works() -> None:
    every = source_of(NAMES[0])["cells"]
    assert words_in(every) <= MOST_IN_FIRST
    shown = ("prediction", "decision", "figure")
    assert all(of_kind(every, kind) == 1 for kind in shown)
    everything = "\n".join(map(text, every))
    assert "lab.hint(" in everything and "lab.hand_in()" in everything and "`...`" in everything


@pytest.mark.parametrize("name", [NAMES[0], *IN_CLASS])
def test_what_is_asked_for_begins_with_do(name: str) -> None:
    """One sentence in bold says what to do; what explains it comes after it."""
    before = ""
    for cell in source_of(name)["cells"]:
        if cell["cell_type"] == "markdown":
            # The claim and the title of a part may stand above what is asked for.
            before = re.sub(r"^.*?(?=^\*\*Do:\*\* )", "", text(cell), flags=re.M | re.S)
            above = text(cell).removesuffix(before)
            assert re.fullmatch(r"(?:## The claim\n.*?(?=## )|#+ .*|\*.*\*|\s+)*", above, re.S)
        elif "solution" in cell["metadata"].get("nbgrader", {}) and not is_check(cell):
            assert before.startswith("**Do:** "), f"nothing asks for {cell['id']}"
            before = ""


@pytest.mark.parametrize("name", IN_CLASS)
def test_the_rhythm_of_a_lab(name: str) -> None:
    """Predict, observe, explain, isolate, prove: each part is there, and none needs a widget."""
    code = "\n".join(text(cell) for cell in cells(name, "code"))
    markdown_text = "\n".join(text(cell) for cell in cells(name, "markdown"))
    first = text(source_of(name)["cells"][0])
    assert "You will be able to" in first
    assert "## The claim" in markdown_text and re.search(r"[Rr]eport [A-E]", markdown_text)
    assert "published" in code + markdown_text
    for part in ("lab.predict(", "lab.panel(", "lab.progress()", "lab.wrap_up()"):
        assert part in code, part
    by_hand = [cell for cell in cells(name, "markdown") if "nbgrader" in cell["metadata"]]
    assert by_hand, "a report in two or three sentences"


@pytest.mark.parametrize("name", IN_CLASS)
def test_an_optional_step_is_one_of_what_goes_further(name: str) -> None:
    """Progress waits for the core alone."""
    core = "\n".join(map(text, parts(name)["core"]))
    for step in guide.of_lab(name).steps:
        if step.kind not in ("report", "hand-in"):
            named = [each for each in (f'"{step.name}"', f"save {step.name}") if each in core]
            assert bool(named) != step.further, step


@pytest.mark.parametrize("name", NAMES)
def test_the_student_does_the_work(name: str) -> None:
    kinds = decisions.of_lab(NOTEBOOKS / name / f"{name}.ipynb")
    assert kinds.faults == ()
    assert kinds.holds, kinds.counts


def c_exercises(name: str) -> list[str]:
    return [
        text(cell)
        for cell in cells(name, "code")
        if text(cell).startswith("%%ckernel") and "SOLUTION" in text(cell)
    ]


@pytest.mark.parametrize("name", [name for name in NAMES if name in LABS])
def test_a_lab_has_c_to_complete_whose_stub_says_what_to_do(name: str) -> None:
    assert c_exercises(name)
    left_out = ClearSolutionsByCell().code_stub["c"]
    for exercise in c_exercises(name):
        stub = re.sub(r"[^\n]*BEGIN SOLUTION.*?END SOLUTION[^\n]*", left_out, exercise, flags=re.S)
        with pytest.raises(toolchain.CompileError) as refused:
            toolchain.build_text(stub.partition("\n")[2], "stub")
        # To do and no problem: what is not begun is no mistake.
        assert run_errors.of_error(refused.value).tone == "open"
        assert "complete this region" in run_errors.of_error(refused.value).heading


@pytest.mark.parametrize("name", NAMES)
def test_every_figure_has_one_check_cell_with_its_points(name: str) -> None:
    checks = {
        stated["grade_id"]: (stated["points"], text(cell))
        for cell in cells(name, "code")
        if (stated := cell["metadata"].get("nbgrader", {})).get("grade")
    }
    wanted = figures_of(name) if name in LABS else ()
    assert checks == {spec.id: (spec.max_points, f'check("{spec.id}")') for spec in wanted}


# ------------------------------------------------------------------------------------ the runs


@pytest.fixture(scope="module")
def kernel_finds_us() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch, forked.kernels():
        patch.setenv("PYTHONPATH", str(REPOSITORY))
        yield


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("released") / "labs"
    release(NOTEBOOKS, folder)
    return folder


def executed(folder: Path) -> NotebookNode:
    """The notebook of the lab folder `folder`, run top to bottom; an error ends the test.

    Its runs take few samples: `test_wheel.py` runs a lab in its full length.
    """
    notebook = nbformat.read(folder / f"{folder.name}.ipynb", as_version=4)  # type: ignore[no-untyped-call]
    first = "from grader import lab_pages\nlab_pages.install_short()"
    notebook.cells.insert(0, nbformat.v4.new_code_cell(first, id="short"))  # type: ignore[no-untyped-call]
    client = NotebookClient(
        notebook,
        timeout=300,
        kernel_name="python3",
        resources={"metadata": {"path": str(folder)}},
    )
    try:
        return client.execute()
    except CellExecutionError as error:
        shown = "\n".join(
            output["data"]["text/plain"]
            for cell in notebook.cells
            for output in cell.get("outputs", [])
            if "text/plain" in output.get("data", {})
        )
        if NO_FIGURE in shown:
            pytest.skip(f"this machine was too busy: {shown[shown.rindex(NO_FIGURE) - 300 :]}")
        raise AssertionError(f"{shown}\n{error}") from None


@pytest.mark.slow
@pytest.mark.usefixtures("kernel_finds_us")
@pytest.mark.parametrize("name", NAMES)
def test_released_runs_to_its_end_and_gets_no_points(name: str, released: Path) -> None:
    notebook = executed(released / name)
    everything = "\n".join(cell.source for cell in notebook.cells)
    assert "SOLUTION" not in everything
    if name in LABS:
        for verdict in check_folder(released / name, name):
            assert (verdict.outcome, verdict.points) == (Outcome.FAILED, 0)


@pytest.mark.slow
@pytest.mark.parametrize("name", IN_CLASS)
def test_its_panel_runs_draws_and_saves(name: str, tmp_path: Path) -> None:
    """`test_browser.py` does this in JupyterLab, for two labs."""
    (made,) = [text(cell) for cell in cells(name, "code") if "lab.panel(" in text(cell)]
    names: dict[str, Any] = {"lab": Session(name, tmp_path)}
    exec(made.replace("lab.panel(", "shown = lab.panel("), names)
    shown: Panel = names["shown"]
    set_to(shown, samples="200", processes="2")
    press(shown)
    assert "Done: " in shown.controls._status.value
    assert '<img alt="Samples of' in shown.controls.plot.value
    assert len(read(tmp_path / "recordings" / "panel.csv").processes) == 2
