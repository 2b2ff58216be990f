"""A value that is printed is in the picture beside it, in all labs and on every surface.

A picture is read by its description and its table, as somebody does who cannot see it.
"""

from __future__ import annotations

import functools
import html
import json
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from grader.cases.spec import Quantity
from grader.cases.verdict import Verdict
from grader.judging import presentation
from grader.judging.lab_folder import check_folder, check_handed_in
from grader.own_report import Lab, labs_in, plots_of_lab
from labs.commands.show import page_of
from labs.course import predictions
from labs.notebook.run import MOST_VALUES, Run
from labs.recording.file import read
from labs.results.result import Result, result_of, sensible
from labs.survey import survey
from labs.survey.survey import Measurement, Row
from labs.units import rounded, unit_symbol
from testing.paths import FIXTURES

LABS = sorted((FIXTURES / "honest").iterdir())
_ALT = re.compile(r'<img[^>]*\balt="([^"]*)"')


@functools.cache
def runs_of(folder: Path) -> tuple[Run, ...]:
    """The saved runs of a lab that give a figure."""
    found = [Run.of(read(path)) for path in sorted((folder / "recordings").glob("*.csv"))]
    return tuple(run for run in found if run.result().estimate is not None)


def described(page: str) -> str:
    """The descriptions of all pictures of a page."""
    words = html.unescape(" ".join(_ALT.findall(page)))
    return words.replace("\xa0", " ").replace("\N{MINUS SIGN}", "-")


def printed(result: Result, unit: str = "") -> str:
    """The value as a result is printed, with its unit."""
    shown = result_of(result.recording, result.variant, unit or result.unit)
    assert shown.estimate is not None
    return f"{sensible(shown.estimate)[0]} {unit_symbol(shown.unit)}"


@pytest.mark.parametrize("folder", LABS, ids=lambda folder: folder.name)
def test_after_a_run_the_value_is_on_the_axis_and_in_its_evidence(folder: Path) -> None:
    for run in runs_of(folder):
        for result in [each for each in run.results if each.estimate is not None]:
            alone = run[result.variant]
            assert printed(result) in described(alone._repr_html_()), result.variant
            evidence = alone.evidence()
            value = printed(result, evidence.unit)
            assert value.replace("-", "\N{MINUS SIGN}") in evidence.description
            assert value.rpartition(" ")[0] in [row[3] for row in evidence.table.rows]
        if 1 < len(run.results) <= MOST_VALUES:
            words = described(run._repr_html_())
            assert all(printed(each) in words for each in run.results if each.estimate is not None)


@pytest.mark.parametrize("folder", LABS, ids=lambda folder: folder.name)
def test_a_saved_run_that_is_shown_has_its_value_in_its_plots(folder: Path) -> None:
    for run in runs_of(folder)[:1]:
        first = Run.of(run.recording, (run.result().variant,))
        evidence = first.evidence()
        value = printed(first.result(), evidence.unit)
        assert value in described(page_of(first, "run.csv"))


def verdicts_of(folder: Path) -> Iterator[Verdict]:
    return (each for each in check_folder(folder, folder.name) if each.recording is not None)


@pytest.mark.parametrize("folder", LABS[1:], ids=lambda folder: folder.name)
def test_a_check_and_the_feedback_draw_what_was_handed_in(folder: Path) -> None:
    drawn = 0
    for verdict in verdicts_of(folder):
        words = described(presentation.as_html(verdict))
        if "On one axis" not in words:
            continue
        drawn += 1
        number, low, high = verdict.values["measured"]
        for name, value, rounded_by in (
            ("handed in", verdict.values["submitted"], 0.0),
            ("your recording", number, 0.05 * (high - low)),
        ):
            (found,) = re.findall(rf"{name} (-?[\d.,]+) ", words)
            near = pytest.approx(value, rel=2e-3, abs=rounded_by)
            assert float(found.replace(",", "")) == near, verdict.figure
        told = " ".join((verdict.reason, *(each.evidence for each in verdict.findings)))
        if interval := re.search(r"gives \S+ \w+ \(95 % interval ([\d.,]+) to ([\d.,]+) ", told):
            ends = [float(each.replace(",", "")) for each in interval.groups()]
            near = pytest.approx([low, high], rel=2e-3, abs=0.06 * (high - low))
            assert ends == near, verdict.figure
        svg = presentation.plot_svg(verdict, folder)
        if svg:
            assert re.search(r"font-weight='bold'>[^<]*\d (?:ns|µs|ms|s)</text>", svg)
    assert drawn or not list(verdicts_of(folder))


@pytest.mark.parametrize("judge", [check_folder, check_handed_in])
def test_a_prediction_is_a_tick_in_a_check_and_in_feedback(
    judge: Callable[[Path, str], list[Verdict]], tmp_path: Path
) -> None:
    lab, figure = "01-timer-overhead", "timer-overhead-fenced"
    folder = shutil.copytree(FIXTURES / "honest" / lab, tmp_path / lab)
    stated = {figure: [{"value": 0.03, "unit": "us"}]}
    (folder / predictions.FILE_NAME).write_text(json.dumps(stated))
    [verdict] = [each for each in judge(folder, lab) if each.figure == figure]
    assert "your prediction 30 ns" in described(presentation.as_html(verdict))


def test_each_figure_of_the_survey_is_on_its_one_axis() -> None:
    rows = []
    for folder in LABS:
        for run in runs_of(folder):
            of = Measurement(run.recording.kernel, (), (1, 1))
            rows += [Row(of, each.variant, each, each.no_figure, ()) for each in run.results]
    drawing = survey.overview(rows)
    assert drawing is not None
    drawn = {(name, value) for _, name, value in drawing.table.rows}
    for section in survey.sections(rows):
        for row in section.rows:
            if row.result is not None and row.result.estimate is not None:
                value = row.result.estimate.value
                assert (survey.name_of(row), rounded(value, 4)) in drawn
    assert len(drawn) > 50


@pytest.mark.parametrize("lab", labs_in(FIXTURES / "honest"), ids=lambda lab: lab.name)
def test_the_value_of_each_run_of_a_report_is_in_a_plot_of_its_lab(lab: Lab) -> None:
    tables = [shown.table for shown in plots_of_lab(lab.rows)]
    cells = {cell.partition(" (")[0] for table in tables for row in table.rows for cell in row}
    for row in lab.rows:
        # What repeats a mistake on purpose is not drawn among the right figures.
        if row.result is None or row.result.estimate is None or row.spec.demonstrates:
            continue
        if row.spec.quantity in (Quantity.COST, Quantity.OVERHEAD):
            values = {value.partition(" (")[0] for value in row.values()}
            values |= {printed(row.result, unit).rpartition(" ")[0] for unit in ("us", "ms")}
            assert values & cells, row.spec.id
