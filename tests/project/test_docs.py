"""What the docs say is so: of labs, commands and calls."""

from __future__ import annotations

import ast
import importlib
import inspect
import json
import os
import pkgutil
import platform
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import grader.commands
import grader.commands.cli
import labs.commands
import labs.commands.cli
from bench.pages import commands, written
from bench.pages.followed import PAGES
from labs.c_kernels.toolchain import CompileError, not_a_c_kernel
from labs.commands.arguments import COMMANDS
from labs.course.figures import Figure
from labs.course.figures import read as read_figures
from labs.messages import ARGUMENTS
from labs.notebook.broken_pair import Pair
from labs.notebook.run import Run
from labs.notebook.session import Session
from labs.recording.file import Recording, read
from labs.results.result import REASONS, result_of
from labs.run import broken, variants
from labs.run.c_process import RunFailed
from labs.run.measure import Plan, measure_now
from support import example_lab
from support.paths import FIXTURES, REPOSITORY

# What the pages for instructors and students claim of the labs is so: names, points, figures.


DOCS = REPOSITORY / "docs"
FOR_PEOPLE = sorted([*(DOCS / "instructors").rglob("*.md"), *(DOCS / "students").rglob("*.md")])
LABS = sorted((DOCS / "instructors" / "labs").glob("*.md"))
#: The saved run behind the last column of a table, where it has one.
EMULATED = "{}-emulated-aarch64"
#: Figures of the pages are rounded to three digits.
ROUNDING = 0.006


def text_of(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def cells_of(lab: str) -> list[dict[str, Any]]:
    path = REPOSITORY / "notebooks" / lab / f"{lab}.ipynb"
    cells: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return cells


def prose_of(lab: str) -> str:
    """The text of a notebook, without marks."""
    text = "\n".join("".join(cell["source"]) for cell in cells_of(lab))
    return " ".join(re.sub(r"[*`#]", "", text).split())


def in_italics(text: str) -> list[str]:
    return re.findall(r"(?<![*\w])\*([^*\n]+)\*(?![*\w])", text)


def rows(text: str) -> Iterator[list[str]]:
    """The rows of tables, as their cells without blanks around them."""
    for line in re.findall(r"^\|(.+)\|$", text, re.MULTILINE):
        yield [cell.strip() for cell in line.split("|")]


def slug(heading: str) -> str:
    kept = re.sub(r"[^\w\s-]", "", heading.strip().lower())
    return re.sub(r"\s", "-", kept)


def test_there_is_a_script_for_each_lab() -> None:
    labs = sorted(path.name for path in (REPOSITORY / "notebooks").iterdir() if path.is_dir())
    assert [page.stem for page in LABS] == labs


def test_the_plan_of_a_term_says_of_each_lab_where_it_belongs() -> None:
    told = [row[0] for row in rows(text_of(DOCS / "instructors" / "term-plan.md"))]
    told = [each for each in told if re.match(r"\d\d ", each)]
    assert told == [page.stem.replace("-", " ") for page in LABS]


def test_the_page_on_hubs_says_of_each_lab_what_to_arrange() -> None:
    told: list[int] = []
    for row in rows(text_of(DOCS / "instructors" / "hub-and-laptops.md")):
        if span := re.fullmatch(r"(\d\d)(?: to (\d\d))?", row[0]):
            told += range(int(span[1]), int(span[2] or span[1]) + 1)
    assert told == [int(page.stem[:2]) for page in LABS]


def test_the_readme_lists_the_labs_with_their_questions_and_minutes() -> None:
    listed = [row for row in rows(text_of(REPOSITORY / "README.md")) if row[0][:2].isdigit()]
    stated = []
    for lab in sorted(path.stem for path in (REPOSITORY / "notebooks").glob("*/*.ipynb")):
        first = "".join(cells_of(lab)[0]["source"])
        [asks] = re.findall(r"^# (?:Start here: )?(.+)$", first, re.MULTILINE)
        [minutes] = re.findall(r"^\*(\d+) minutes\.\*", first, re.MULTILINE)
        stated.append([lab, asks[0].upper() + asks[1:], minutes])
    assert [[*row[:2], row[-1]] for row in listed] == stated


@pytest.mark.parametrize(
    "page", [REPOSITORY / "README.md", *FOR_PEOPLE], ids=lambda page: page.stem
)
def test_links_of_a_page_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\(([^)]+)\)", text_of(page))
    for link in links:
        assert "://" not in link
        path, _, place = link.partition("#")
        target = page.parent / path if path else page
        assert target.is_file(), link
        if place:
            headings = re.findall(r"^#+ (.+)$", text_of(target), re.MULTILINE)
            assert place in map(slug, headings), link


@pytest.mark.parametrize("page", LABS, ids=lambda page: page.stem)
def test_what_a_script_names_is_in_its_notebook(page: Path) -> None:
    text, prose = text_of(page), prose_of(page.stem)
    named = [words.replace("`", "").rstrip(".") for words in in_italics(text)]
    assert len(named) >= (6 if page.stem == "00-start-here" else 8)  # lab 00 has six parts
    assert [words for words in named if words not in prose] == []
    assert len(list(rows(text))) > 10


@pytest.mark.parametrize("page", LABS, ids=lambda page: page.stem)
def test_minutes_of_a_script_follow_each_other_to_45(page: Path) -> None:
    spans = [re.fullmatch(r"(\d+) to (\d+)", row[0]) for row in rows(text_of(page))]
    times = [(int(span[1]), int(span[2])) for span in spans if span]
    assert times[0][0] == 0
    assert times[-1][1] == 45
    assert [end for _, end in times[:-1]] == [begin for begin, _ in times[1:]]


@pytest.mark.parametrize("page", LABS, ids=lambda page: page.stem)
def test_findings_of_a_script_are_in_the_catalogue(page: Path) -> None:
    part = text_of(page).partition("## Misconceptions")[2]
    codes = [row[0].strip("`") for row in rows(part) if row[0].startswith("`")]
    assert len(codes) >= 3
    assert [code for code in codes if code not in catalogue()] == []


def catalogue() -> set[str]:
    table = (DOCS / "pitfalls.md").read_text(encoding="utf-8")
    return {row[0].strip("`") for row in rows(table) if row[0].startswith("`")}


def saved_figures(folder: Path) -> dict[str, tuple[float, str]]:
    stated = read_figures(folder).values()
    return {each.id: (each.value, each.unit) for each in stated if isinstance(each, Figure)}


def claimed(page: Path, column: int) -> Iterator[tuple[str, float, str]]:
    """Figure, value and unit in a column of the table of answers."""
    for row in rows(text_of(page)):
        cell = re.sub(r"conclusion (\d)", r"\1 choice", row[column]) if len(row) > column else ""
        found = re.fullmatch(r"([\d.,]+) (\w+)", cell)
        if found and row[0].startswith("`"):
            yield row[0].strip("`"), float(found[1].replace(",", "")), found[2]


@pytest.mark.parametrize("page", LABS[1:], ids=lambda page: page.stem)
def test_answers_of_a_shared_machine_are_those_of_the_saved_run(page: Path) -> None:
    saved = saved_figures(FIXTURES / "honest" / page.stem)
    said = list(claimed(page, 1))
    assert len(said) >= min(5, len(saved))
    for name, value, unit in said:
        assert unit == saved[name][1]
        assert value == pytest.approx(saved[name][0], rel=ROUNDING), name


@pytest.mark.parametrize("page", LABS, ids=lambda page: page.stem)
def test_answers_of_an_emulated_machine_are_those_of_its_saved_run(page: Path) -> None:
    said = list(claimed(page, 2))
    folder = FIXTURES / "honest_runs" / EMULATED.format(page.stem)
    assert bool(said) == folder.is_dir() == ("(emulated)" in text_of(page))
    saved = saved_figures(folder) if said else {}
    compared = [each for each in said if saved[each[0]][1] == each[2]]
    assert len(compared) >= len(said) - 1
    for name, value, _ in compared:
        assert value == pytest.approx(saved[name][0], rel=ROUNDING), name


@pytest.mark.parametrize("page", LABS, ids=lambda page: page.stem)
def test_saved_runs_that_a_script_names_exist(page: Path) -> None:
    for name in re.findall(r"`(tests/fixtures/[^`]+)`", text_of(page)):
        assert (REPOSITORY / name).is_dir(), name


def test_points_in_the_rubrics_are_those_of_the_notebooks() -> None:
    text = text_of(DOCS / "instructors" / "rubrics.md")
    table = text.partition("## Points of a lab")[2].partition("\n## ")[0]
    said = {row[0]: row[1:] for row in rows(table) if re.fullmatch(r"\d\d", row[0])}
    for lab in (page.stem for page in LABS):
        marks = [cell["metadata"].get("nbgrader", {}) for cell in cells_of(lab)]
        figures = sum(each.get("points") or 0 for each in marks if not each.get("solution"))
        report = sum(each.get("points") or 0 for each in marks if each.get("solution"))
        figures_said, report_said, total_said = said[lab[:2]]
        assert float(figures_said) == figures
        assert float(report_said.replace("none", "0")) == report
        assert float(total_said) == figures + report


def test_points_and_minutes_of_a_script_are_those_of_its_notebook() -> None:
    for page in LABS[1:]:
        minutes = re.search(r"\*(\d+) minutes", "".join(cells_of(page.stem)[0]["source"]))
        assert minutes
        assert f"{minutes[1]} minutes" in text_of(page)
        points = sum(
            cell["metadata"].get("nbgrader", {}).get("points") or 0 for cell in cells_of(page.stem)
        )
        assert f"The lab has {points:g} points" in text_of(page)


def test_the_sentence_that_a_page_explains_is_that_of_a_saved_run() -> None:
    run = read(FIXTURES / "honest" / "01-timer-overhead" / "recordings" / "fenced.csv")
    page = text_of(DOCS / "students" / "reading-your-plot.md")
    assert f"```text\n{result_of(run, 'fenced').sentence()}\n```" in page


def test_the_page_on_plots_explains_each_reason_for_what_was_set_aside() -> None:
    page = text_of(DOCS / "students" / "reading-your-plot.md")
    part = page.partition("## What was set aside")[2].partition("\n## ")[0]
    told = [row[0].strip("`") for row in rows(part) if row[0].startswith("`")]
    assert told == [words.removeprefix("{count} ") for words in REASONS.values()]


def test_pages_name_no_machine_path_and_load_nothing() -> None:
    elsewhere = r"/work/|/root/|!\[[^]]*\]\((?!\.\./images/)|<script|<img"
    for page in FOR_PEOPLE:
        text = text_of(page)
        assert text.startswith("# ")
        assert not re.search(elsewhere, text), page


# The commands in README and docs are those that the programs take, and the cheap ones are run.
# Running each command would take minutes: others parse, by the parser that the program itself
# uses. `python -m bench pages` types them all; what it leaves out is said below.


#: The pages whose blocks hold nothing but commands, text of programs, and files.
OURS = sorted([*(DOCS / "instructors").rglob("*.md"), *(DOCS / "students").rglob("*.md")])
OTHERS = [REPOSITORY / "README.md", *sorted(DOCS.glob("*.md"))]

#: A block with its language, or with a directive of the site such as `{include}`.
FENCE = re.compile(r"^```([^\n`]*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
PROGRAMS = {"labs": labs.commands, "grader": grader.commands}


class Command(NamedTuple):
    """A command as a page has it, and the page."""

    page: str
    text: str


def fenced(page: Path) -> Iterator[str]:
    """The commands in the fenced blocks without a language, one a line."""
    text = page.read_text(encoding="utf-8")
    for language, block in FENCE.findall(text):
        if not language:
            yield from filter(None, block.splitlines())


def lines_for_programs(page: Path) -> Iterator[str]:
    """The commands `labs` and `grader` in blocks of both kinds, without a comment behind them."""
    text = page.read_text(encoding="utf-8")
    blocks = [block for language, block in FENCE.findall(text) if not language]
    lines = [line for block in blocks for line in block.splitlines()]
    for line in (*lines, *re.findall(r"^ {4,}(\S.*)$", text, re.MULTILINE)):
        # before it: variables of the shell, or another program that starts this one
        found = re.match(r"(?:[\w=\"'. /-]*\s)?((?:labs|grader) [a-z-][^#]*)", line)
        if found:
            yield found[1].strip()


def names_for_programs(page: Path) -> Iterator[str]:
    """The commands `labs` and `grader` within a line: often only a name, or a name and options."""
    text = page.read_text(encoding="utf-8")
    yield from re.findall(r"`((?:labs|grader) [a-z-][^`\n]*)`", text)


OURS_FENCED = [Command(page.name, text) for page in OURS for text in fenced(page)]
IN_BLOCKS = sorted(
    {Command(page.name, text) for page in (*OURS, *OTHERS) for text in lines_for_programs(page)}
)
WITHIN_LINES = sorted(
    {Command(page.name, text) for page in (*OURS, *OTHERS) for text in names_for_programs(page)}
)


@pytest.fixture
def parse_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """The programs parse their words, and then do nothing."""
    for package in PROGRAMS.values():
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            loaded = importlib.import_module(module.name)
            for name in list(vars(loaded)):
                if name == "run" or name.startswith("run_"):
                    monkeypatch.setattr(loaded, name, lambda _: 0)


def status(words: list[str]) -> int:
    """The exit status of `labs` or `grader` with these words, in this process."""
    main = labs.commands.cli.main if words[0] == "labs" else grader.commands.cli.main
    try:
        return main(words[1:])
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 1


@pytest.mark.usefixtures("parse_only")
def test_each_command_of_ours_is_one_that_the_program_takes() -> None:
    assert len(IN_BLOCKS) > 60
    refused = [each for each in IN_BLOCKS if status(shlex.split(each.text)) != 0]
    assert refused == []


@pytest.mark.usefixtures("parse_only")
def test_each_command_that_a_sentence_names_exists_with_its_options(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert len(WITHIN_LINES) > 40
    wrong = []
    for each in WITHIN_LINES:
        program, name, *_ = each.text.split()
        exists = status([program, name, "--help"]) == 0
        options = re.findall(r"(?<=\s)--[a-z-]+", each.text)
        taken = capsys.readouterr().out
        if not exists or [one for one in options if one not in taken]:
            wrong.append(each)
    assert wrong == []


@pytest.mark.usefixtures("parse_only")
def test_a_command_that_no_program_takes_is_found() -> None:
    assert status(["labs", "hand-out"]) != 0
    assert status(["grader", "export", "01-timer-overhead", "--cvs", "grades.csv"]) != 0


def has(text: str) -> bool:
    """Whether a page of ours has this command."""
    return any(each.text == text for each in OURS_FENCED)


def test_the_commands_of_a_first_evening_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    for text in ("labs --version", "labs start --no-lab", "labs progress"):
        assert has(text)
        assert status(shlex.split(text)) == 0
    assert "Next: 00-start-here" in capsys.readouterr().out
    lab = tmp_path / "ticklab-labs" / "01-timer-overhead"
    assert (lab / "01-timer-overhead.ipynb").is_file()
    shutil.copytree(FIXTURES / "honest" / lab.name, lab, dirs_exist_ok=True)
    monkeypatch.chdir(lab)
    assert has("grader check .")
    assert status(["grader", "check", "."]) == 0
    assert "18 of 18 points" in capsys.readouterr().out


def test_the_line_that_finds_the_cache_prints_it(tmp_path: Path) -> None:
    (text,) = [each.text for each in OURS_FENCED if each.text.startswith("python -c ")]
    words = [sys.executable, *shlex.split(text)[1:]]
    environment = {**os.environ, "TICKLAB_CACHE": str(tmp_path), "PYTHONPATH": str(REPOSITORY)}
    done = subprocess.run(words, capture_output=True, text=True, env=environment, check=True)
    assert done.stdout.strip() == str(tmp_path)


@pytest.mark.skipif(
    not hasattr(os, "sched_getaffinity") or not {0, 1} <= os.sched_getaffinity(0),
    reason="needs the CPUs 0 and 1",
)
def test_a_cpuset_of_one_cpu_refuses_and_says_why(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    refused = ("pipe-pinned --cpu 0", "pipe-two-cpus")
    texts = [f"labs measure process_switch --variant {words}" for words in refused]
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {1})
    try:
        ends = [status(shlex.split(text)) for text in texts]
    finally:
        os.sched_setaffinity(0, before)
    assert ends == [2, 3]
    assert capsys.readouterr().err.splitlines() == [
        "labs measure: cpu 0: this process may use CPU 1; choose one of these, or leave the option "
        "out",
        "labs measure: pipe-two-cpus: not on this machine: this process may use one CPU only",
    ]


# Every command of every page is typed by a benchmark, or there is a reason why not. `python -m
# bench pages` follows the pages; those on adding a lab are for `bench adding_a_lab`.


FOLLOWED = {page.path for page in PAGES}
TYPED = FOLLOWED | {f"docs/{page}" for page in example_lab.PAGES}
EVERY = [each for page in commands.pages() for each in commands.of_page(page)]
#: Lines among commands that are none: what the reader does.
BETWEEN = {"(write figures.json)"}


def test_pages_are_there_once() -> None:
    assert len(FOLLOWED) == len(PAGES) > 12
    assert not TYPED - set(commands.pages())


def test_every_command_is_typed_or_has_a_reason() -> None:
    assert len(EVERY) > 150
    typed = {each.text for each in EVERY if each.page in TYPED}
    neither = {
        each for each in EVERY if each.text not in typed and not commands.why_not_typed(each.text)
    }
    assert neither == set()


def test_no_reason_is_left_of_a_command_that_went() -> None:
    texts = {each.text for each in EVERY}
    assert set(commands.NOT_TYPED) <= texts


def test_a_page_has_the_commands_whose_status_it_announces() -> None:
    for page in PAGES:
        texts = {each.text for each in commands.of_page(page.path)}
        assert page.ends.keys() <= texts
        assert page.later is None or page.later[0] in texts


@pytest.mark.parametrize("page", commands.pages())
def test_no_line_between_commands_is_overlooked(page: str) -> None:
    text = (REPOSITORY / page).read_text(encoding="utf-8")
    for block in commands.blocks(text):
        of_block = list(commands.of_text("".join(f"    {line}\n" for line in block.lines)))
        if block.fenced or of_block:
            assert set(block.lines) - set(of_block) <= BETWEEN


def test_a_line_of_a_program_is_no_command() -> None:
    lines = ("grader = 5", "make(it)", "python: 3", "source=1", "labsome text", "make", "make docs")
    block = "".join(f"    {line}\n" for line in lines)
    assert list(commands.of_text(block)) == ["make", "make docs"]
    assert list(commands.of_text('    CC="gcc -g" labs list  # all\n')) == ['CC="gcc -g" labs list']
    assert list(commands.of_text("```python\nmake docs\n```\n")) == []


def test_make_has_the_targets_of_the_pages() -> None:
    rules = (REPOSITORY / "Makefile").read_text(encoding="utf-8")
    named = {each.text.split()[1] for each in EVERY if each.text.startswith("make ")}
    assert {"lab", "docs"} <= named
    targets = re.findall(r"^([a-z]+(?: [a-z]+)*):", rules, re.MULTILINE)
    assert named <= {target for line in targets for target in line.split()}


@pytest.mark.parametrize(
    ("command", "listed"),
    [
        ("labs measure my_function.c", ["own", "loop"]),
        ("labs measure my_function.c --variant own,longer", ["own", "longer", "loop"]),
    ],
)
def test_the_c_that_the_reader_is_told_to_write_can_be_built(
    tmp_path: Path, command: str, listed: list[str]
) -> None:
    written.before("docs/own-function.md", command, tmp_path)
    assert [each.name for each in variants.of_kernel(str(tmp_path / "my_function.c"))] == listed


# What a text tells a reader to type can be typed: each call takes the arguments that it names.
# The texts are those in the Python of labs and grader, in the hints, and in the notebooks'
# Markdown.


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


@pytest.mark.slow
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


# The C kernels of docs/own-function.md and docs/defended-figure.md; another file is none.


PAGE = (REPOSITORY / "docs" / "own-function.md").read_text(encoding="utf-8")


def test_the_c_kernel_to_copy_lists_its_function_and_the_empty_loop(tmp_path: Path) -> None:
    (source,) = re.findall(r"^```c\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    file = tmp_path / "my_function.c"
    file.write_text(source, encoding="utf-8")
    own, loop = variants.of_kernel(str(file))
    assert (own.name, own.missing, loop.name) == ("own", "", "loop")
    assert not loop.missing


def test_the_c_kernel_of_the_defended_figure_counts_what_it_claims(tmp_path: Path) -> None:
    page = (REPOSITORY / "docs" / "defended-figure.md").read_text(encoding="utf-8")
    (source,) = re.findall(r"^```c\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    file = tmp_path / "hits.c"
    file.write_text(source, encoding="utf-8")
    names = ["alone", "contended", "loop"]
    listed = variants.of_kernel(str(file))
    assert [each.name for each in listed] == names
    chosen = tuple(each.name for each in listed[:2] if not each.missing)
    found = measure_now(Plan(str(file), chosen, samples=200, processes=2))
    claimed = found.total("variant.alone.claimed_operations")
    assert claimed and claimed == found.total("variant.alone.counted_operations")
    if "contended" in chosen:
        assert found.total("variant.contended.operations_of_others")


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc asks for it")
@pytest.mark.parametrize("late", ["", "#include <stdio.h>\n#define _GNU_SOURCE\n"])
def test_the_kit_says_what_must_stand_above_the_first_include(late: str, tmp_path: Path) -> None:
    (source,) = re.findall(r"^```c\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    file = tmp_path / "my_function.c"
    file.write_text(source.replace("#define _GNU_SOURCE\n", late), encoding="utf-8")
    with pytest.raises(CompileError) as refused:
        variants.of_kernel(str(file))
    assert "write #define _GNU_SOURCE above the first #include" in refused.value.messages[0].text


def test_a_program_of_its_own_is_said_to_be_no_c_kernel(tmp_path: Path) -> None:
    file = tmp_path / "mine.c"
    file.write_text("int main(void) { return 0; }\n", encoding="utf-8")
    with pytest.raises(RunFailed, match=r"mine\.c: this is not a C kernel: .*MEASURE\(\.\.\.\)"):
        variants.of_kernel(str(file))


def test_what_a_c_kernel_looks_like_is_named_by_what_a_wheel_has() -> None:
    named = re.search(r"`labs (new) \w+`.* (/\S+\.c)$", not_a_c_kernel("it has no main"))
    assert named is not None
    assert named[1] in COMMANDS and Path(named[2]).is_file()
    assert "docs/" not in named.string
