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
from dataclasses import replace
from pathlib import Path

import pytest

from grader.docs_site import Stage, beside_estimate
from grader.examples import example_of
from grader.figures.spec import Quantity
from grader.figures.verdict import Verdict
from grader.judging import presentation
from grader.judging.lab_folder import check_folder, check_handed_in
from grader.own_report import labs_in, plots_of_lab, question
from grader.pitfalls import CATALOGUE
from labs.commands.show import page_of
from labs.course import predictions
from labs.notebook.panel_runs import Form, KeptRun, drawing_of
from labs.notebook.run import MOST_VALUES, Later, Run
from labs.plots import style
from labs.recording.file import read
from labs.results import remarks
from labs.results.result import Result, result_of, sensible
from labs.survey import survey
from labs.survey.survey import Measurement, Row
from labs.units import rounded, unit_symbol
from support.paths import FIXTURES

LABS = sorted((FIXTURES / "honest").iterdir())
#: Overheads, first times, costs with a baseline, and costs of several tasks in microseconds.
WITH_QUESTION = [LABS[number] for number in (1, 2, 3, 7)]
_ALT = re.compile(r'<img[^>]*\balt="([^"]*)"')


@functools.cache
def runs_of(folder: Path) -> tuple[Run, ...]:
    """The saved runs of a lab that give a figure."""
    found = [Run.of(read(path)) for path in sorted((folder / "recordings").glob("*.csv"))]
    return tuple(run for run in found if run.result().estimate is not None)


def described(page: str) -> str:
    """The descriptions of all pictures of a page."""
    return plain(html.unescape(" ".join(_ALT.findall(page))))


def plain(words: str) -> str:
    """Words with the signs that are typed, as `printed` has them."""
    return words.replace("\xa0", " ").replace("\N{MINUS SIGN}", "-").replace(" us", " µs")


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


def test_that_there_is_no_warning_is_said_of_a_run_that_has_none_not_even_a_quiet_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen = set()
    for run in (each for folder in LABS for each in runs_of(folder)):
        alone = run[run.variant]
        told = alone.told((alone.result(),))
        said = remarks.of_results(told)
        warned = bool(said.warnings or said.quiet or remarks.shared(told))
        # A reader took "no warning" beside two of five samples set aside for a contradiction.
        warned |= any(each.aside_as_text() for each in told)
        assert ("; no warning" in alone._repr_html_()) != warned
        with monkeypatch.context() as patched:
            patched.setattr(remarks, "shared", lambda _: ("core shared nearly all the time",))
            assert "no warning" not in alone._repr_html_()
        for doubted in (
            replace(alone, contradicts=("Both cannot be true.",)),
            replace(alone, later=Later("no CPU")),
        ):
            assert "no warning" not in doubted._repr_html_()
        seen.add(warned)
    assert seen == {True, False}


@pytest.mark.parametrize("folder", LABS, ids=lambda folder: folder.name)
def test_a_saved_run_that_is_shown_has_its_value_in_its_plots(folder: Path) -> None:
    for run in runs_of(folder)[:1]:
        first = Run.of(run.recording, (run.result().variant,))
        evidence = first.evidence()
        value = printed(first.result(), evidence.unit)
        assert value in described(page_of(first, "run.csv"))


@pytest.mark.parametrize("folder", LABS, ids=lambda folder: folder.name)
def test_other_plots_of_a_run_have_its_value_too(folder: Path) -> None:
    for run in runs_of(folder):
        value = printed(run.result())
        cells = {cell for row in run.compare().table.rows for cell in row}
        assert value.rpartition(" ")[0] in cells
        estimate = run.result().estimate
        if estimate is not None and estimate.by_process is not None:
            assert value in plain(run.plot_processes().description), run.variant


@pytest.mark.parametrize("folder", LABS, ids=lambda folder: folder.name)
def test_the_runs_of_a_panel_are_drawn_with_the_values_of_its_table(folder: Path) -> None:
    for run in runs_of(folder):
        settings = Form(run.recording.kernel, run.variant)
        kept = [KeptRun.of(number, settings, run[run.variant]) for number in (1, 2)]
        drawn = drawing_of(kept)
        assert drawn is not None
        value = kept[-1].value_as_text()[0]
        assert f"run 2: {value}" in drawn.description
        assert [row[1] for row in drawn.table.rows] == [value, value]
        assert drawn.svg.count(value.replace("-", "\N{MINUS SIGN}")) == 2


def test_the_page_of_a_pitfall_draws_what_was_handed_in(tmp_path: Path) -> None:
    drawn = set()
    for pitfall in CATALOGUE[::4]:
        example = None if pitfall.tells_answer else example_of(pitfall.code)
        if example is None or not example.same_samples or example.shows.figure is None:
            continue
        for page in beside_estimate("x", example.shows, Stage(tmp_path, tmp_path)):
            (said,) = re.findall(r":alt: (.*)", page)
            (number,) = re.findall(r"handed in (\S+) ", said)
            value = float(number.replace(",", "").replace("\N{MINUS SIGN}", "-"))
            assert value == pytest.approx(example.shows.figure.value, rel=1e-3)
            drawn.add(pitfall.code)
    assert len(drawn) >= 3


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


def test_the_value_of_each_run_of_a_report_is_in_a_plot_of_its_lab() -> None:
    for lab in labs_in(FIXTURES / "honest"):
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


@pytest.mark.parametrize("folder", WITH_QUESTION, ids=lambda folder: folder.name)
def test_the_value_of_each_run_of_a_question_is_in_a_picture_of_its_page(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The description is read here; the pixels, which take longest, are drawn for `page_of`.
    monkeypatch.setattr(style, "png", lambda _: b"")
    text, claims = question.page(folder / "recordings", "ns")
    drawn, found = described(text), 0
    for sentence in claims:
        if value := re.search(r": (?:cost|overhead|first time) (\S+ \S+?)[ ,.(]", sentence):
            assert plain(value[1]) in drawn, sentence
            found += 1
    assert found
