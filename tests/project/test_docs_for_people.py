"""What the pages for instructors and students claim of the labs is so: names, points, figures."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from labs.course.figures import Figure
from labs.course.figures import read as read_figures
from labs.recording.file import read
from labs.results.result import REASONS, result_of
from testing.paths import FIXTURES, REPOSITORY

DOCS = REPOSITORY / "docs"
PAGES = sorted([*(DOCS / "instructors").rglob("*.md"), *(DOCS / "students").rglob("*.md")])
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


@pytest.mark.parametrize("page", [REPOSITORY / "README.md", *PAGES], ids=lambda page: page.stem)
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
    assert len(named) >= 8
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
        cell = re.sub(r"conclusion (\d)", r"\1 choice", row[column]) if len(row) == 4 else ""
        found = re.fullmatch(r"([\d.,]+) (\w+)", cell)
        if found and row[0].startswith("`"):
            yield row[0].strip("`"), float(found[1].replace(",", "")), found[2]


@pytest.mark.parametrize("page", LABS[1:], ids=lambda page: page.stem)
def test_answers_of_a_shared_machine_are_those_of_the_saved_run(page: Path) -> None:
    saved = saved_figures(FIXTURES / "honest" / page.stem)
    said = list(claimed(page, 2))
    assert len(said) >= min(5, len(saved))
    for name, value, unit in said:
        assert unit == saved[name][1]
        assert value == pytest.approx(saved[name][0], rel=ROUNDING), name


@pytest.mark.parametrize("page", LABS, ids=lambda page: page.stem)
def test_answers_of_an_emulated_machine_are_those_of_its_saved_run(page: Path) -> None:
    said = list(claimed(page, 3))
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
    for page in PAGES:
        text = text_of(page)
        assert text.startswith("# ")
        assert not re.search(r"/work/|/root/|!\[|<script|<img", text), page
