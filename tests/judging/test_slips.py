"""Of every figure of every lab: correct in another form it passes, off by a known slip it is named.

The figures and recordings are those of honest runs, saved under fixtures/honest.
"""

from __future__ import annotations

import itertools
import math
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from bench.honest import random_values
from bench.honest.random_values import asked_in, wrong_values
from grader.evidence.other_numbers import ways
from grader.evidence.sources import source_of
from grader.figures import LABS, figure_named
from grader.figures.case import Case, digits_of
from grader.figures.expected import ACCEPTED_WITHIN
from grader.figures.spec import CHOICE, FigureSpec, Quantity
from grader.figures.verdict import Outcome, Verdict
from grader.judging import lab_folder
from grader.judging.check import check, open_case
from grader.pitfalls import pitfall_named
from labs.course import figures
from labs.course.figures import Figure
from labs.recording.declared import is_first_time
from labs.recording.file import Recording, read
from labs.results.result import result_of
from labs.units import Clock, in_four_digits
from support.finding_words import MOST_WORDS, words_of
from support.paths import FIXTURES

FOLDER = FIXTURES / "honest"
SAVED = [lab for lab in LABS if (FOLDER / lab).is_dir()]
TIMES = {
    lab: [spec for spec in LABS[lab] if spec.is_time and not spec.of and not spec.demonstrates]
    for lab in SAVED
}
BY_LAB = pytest.mark.parametrize("lab", [lab for lab, specs in TIMES.items() if specs])


def submitted(spec: FigureSpec) -> tuple[Figure, Recording]:
    figure = figures.read(FOLDER / spec.lab)[spec.id]
    assert isinstance(figure, Figure) and figure.recording
    return figure, read(FOLDER / spec.lab / figure.recording)


def judged(spec: FigureSpec, value: float, unit: str) -> Verdict:
    figure, recording = submitted(spec)
    saved = (FOLDER / spec.lab / (figure.recording or "")).with_suffix(".c")
    handed_in = replace(figure, value=value, unit=unit)
    return check(spec, handed_in, recording, source_of(recording, saved))


def codes(verdict: Verdict) -> list[str]:
    return [finding.code for finding in verdict.findings]


def is_named(found: list[str]) -> bool:
    return bool(found) and "figure-not-from-recording" not in found


def clock_of(spec: FigureSpec) -> Clock:
    return submitted(spec)[1].clock(spec.variant)


def in_ns(spec: FigureSpec) -> float:
    figure = submitted(spec)[0]
    return clock_of(spec).convert(figure.value, figure.unit, "ns")


def by_this_kit(spec: FigureSpec) -> float:
    """What today's kit gives, in ns; an older one may have made the figure that was handed in."""
    case = open_case(spec, *submitted(spec))
    assert isinstance(case, Case) and case.expected is not None
    return case.result.clock.convert(case.expected.value, spec.unit, "ns")


@BY_LAB
def test_to_three_digits_and_in_any_declared_unit_it_passes(lab: str) -> None:
    refused: dict[tuple[str, str], Verdict] = {}
    for spec, unit in itertools.product(TIMES[lab], ("ns", "µs", "ms", "ticks")):
        value = clock_of(spec).convert(in_ns(spec), "ns", unit)
        verdict = judged(spec, float(f"{value:.3g}"), unit)
        if verdict.outcome is not Outcome.PASSED or verdict.findings:
            refused[spec.id, unit] = verdict
    assert refused == {}


@BY_LAB
def test_off_by_a_thousand_is_named(lab: str) -> None:
    found = {
        (spec.id, factor): codes(judged(spec, by_this_kit(spec) * factor, "ns"))
        for spec, factor in itertools.product(TIMES[lab], (1e3, 1e-3, 1e6))
    }
    assert {each: named for each, named in found.items() if named != ["unit-slip"]} == {}


@BY_LAB
def test_off_by_two_is_named(lab: str) -> None:
    unnamed: dict[tuple[str, float], Verdict] = {}
    for spec, factor in itertools.product(TIMES[lab], (2.0, 0.5)):
        verdict = judged(spec, by_this_kit(spec) * factor, "ns")
        if spec.quantity is Quantity.OVERHEAD and verdict.outcome is Outcome.PASSED:
            # Here the empty sample, a right answer too, is that many intercepts.
            line = result_of(submitted(spec)[1], spec.variant).line
            assert line is not None and line.empty is not None
            assert line.empty.value == pytest.approx(factor * line.overhead.value, rel=0.2)
        # Where a number of this very recording lies there, that is named: a round trip, the loop.
        elif verdict.outcome is not Outcome.FAILED or not is_named(codes(verdict)):
            unnamed[spec.id, factor] = verdict
    assert unnamed == {}


def test_one_baseline_subtracted_and_nothing_divided_is_not_called_a_division() -> None:
    spec = figure_named("process-switch-pipe-pinned")
    net = result_of(submitted(spec)[1], spec.variant).net
    assert net is not None and net.baseline is not None and net.times == net.parts == 2
    clock = clock_of(spec)
    whole, base = (clock.convert(each.value, "ticks", "ns") for each in (net.whole, net.baseline))
    told = judged(spec, whole - base, "ns").findings[0].evidence
    assert f"or {in_four_digits(whole)} - {in_four_digits(base)}: the whole is not divided" in told


@BY_LAB
def test_off_by_the_ratio_of_the_clocks_is_named(lab: str) -> None:
    # Where the mean of a whole column happens to lie there, both are told.
    of_clocks = {"ticks-for-nanoseconds", "nominal-clock", "cycles-for-ticks", "one-of-two-slips"}
    found: dict[str, list[str]] = {}
    for spec in TIMES[lab]:
        ratio = clock_of(spec).frequency_hz / 1e9
        if not math.isclose(ratio, 1.0, rel_tol=0.05):  # else a tick is a nanosecond
            found[spec.id] = codes(judged(spec, by_this_kit(spec) * ratio, "ns"))
    assert {each: named for each, named in found.items() if of_clocks.isdisjoint(named)} == {}


@BY_LAB
def test_off_by_the_timer_is_named(lab: str) -> None:
    found: dict[str, list[str]] = {}
    for spec in TIMES[lab]:
        recording = submitted(spec)[1]
        # A first time is the first sample less the later ones.
        cancels = spec.quantity is Quantity.DIFFERENCE or is_first_time(recording, spec.variant)
        timer = clock_of(spec).convert(recording.number("counter.overhead") or 0, "ticks", "ns")
        if spec.quantity is Quantity.OVERHEAD or cancels or timer < 0.05 * in_ns(spec):
            continue  # this figure is the timer, or the timer cancels or is lost in it
        found[spec.id] = codes(judged(spec, by_this_kit(spec) + timer, "ns"))
    assert {each: named for each, named in found.items() if not is_named(named)} == {}


SWITCHES = [spec for specs in TIMES.values() for spec in specs if spec.kernel.endswith("_switch")]


def test_a_round_trip_for_a_switch_is_named_and_no_clock_is_blamed() -> None:
    for spec in SWITCHES:
        net = result_of(submitted(spec)[1], spec.variant).net
        assert net is not None
        most = (1 + ACCEPTED_WITHIN) * net.net.value
        for timed in (net.whole, net.unsubtracted):
            value = clock_of(spec).convert(timed.value, "ticks", "ns")
            # The calls of a condition variable that finds its turn are next to nothing: where they
            # are lost in what is accepted, so is the mistake.
            lost = net.net.contains(timed.value) or timed.value < most
            named = [] if lost else ["read-and-write-counted-along"]
            assert codes(judged(spec, value, "ns")) == named, spec.id


def test_another_switch_of_the_same_run_is_named_and_no_clock_is_blamed() -> None:
    for spec in SWITCHES:
        recording = submitted(spec)[1]
        for other in recording.variants:
            estimate = result_of(recording, other).estimate
            if other == spec.variant or estimate is None:
                continue
            judgement = judged(spec, estimate.value, "ns")
            is_switch = recording.number(f"variant.{other}.parts") == 2
            is_baseline = other in recording.condition(f"variant.{spec.variant}.baseline")
            found = "two-results-for-one" if is_switch else "figure-not-from-recording"
            found = "another-number-of-the-run" if is_baseline else found
            assert codes(judgement) == [found], (spec.id, other)
            assert f" {other}" in judgement.findings[0].evidence, spec.id


WRONG = [(0.0, "own"), (-1.0, "own"), (1e12, "own"), (-1e308, "own"), (2.0, "ns")]


@pytest.mark.parametrize("lab", SAVED)
def test_no_figure_however_wrong_breaks_its_check(
    lab: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # In its folder: relations are checked beside what they relate.
    folder = tmp_path / lab
    shutil.copytree(FOLDER / lab, folder)
    asked: dict[str, tuple[FigureSpec, ...]] = {}
    monkeypatch.setattr(lab_folder, "figures_of", asked.__getitem__)
    handed_in = figures.read(folder)
    for spec in LABS[lab]:
        honest = handed_in[spec.id]
        assert isinstance(honest, Figure)
        asked[lab] = tuple(each for each in LABS[lab] if each.id in (spec.id, *spec.of))
        for value, unit in [*WRONG, (1.0, "choice"), (1.0, "bushels")]:
            unit = honest.unit if unit == "own" else unit
            figures.put(folder, replace(honest, value=value, unit=unit))
            verdicts = lab_folder.check_folder(folder, lab)
            outcomes = {verdict.outcome for verdict in verdicts}
            assert Outcome.NOT_GRADED not in outcomes, (spec.id, value, unit)
        figures.put(folder, honest)


TRIALS = "08-five-reports-on-trial"
SUSPECTS = [spec for spec in LABS[TRIALS] if any(choice.known for choice in spec.choices)]


def test_who_names_another_printed_figure_is_told_what_speaks_against_that_one(
    tmp_path: Path,
) -> None:
    shutil.copytree(FOLDER / TRIALS, tmp_path / TRIALS)
    for spec in SUSPECTS:
        right = [each.text for each in spec.choices if not each.known]
        for number, choice in enumerate(spec.choices, start=1):
            figures.put(tmp_path / TRIALS, Figure(spec.id, number, "choice", None))
            verdicts = lab_folder.check_folder(tmp_path / TRIALS, TRIALS)
            judgement = next(verdict for verdict in verdicts if verdict.figure == spec.id)
            if not choice.known:
                assert judgement.outcome is Outcome.PASSED, spec.id
                continue
            assert codes(judgement) == ["conclusion-against-table"], (spec.id, number)
            words = judgement.findings[0].evidence
            # And not which one it was.
            assert choice.known in words and not any(each in words for each in right)


def test_a_value_that_follows_from_nothing_is_given_no_cause() -> None:
    asked = [each for folder in random_values.folders()[::3] for each in asked_in(folder)]
    tried = list(wrong_values(asked, 150))
    named = [each for each in tried if each.cause]
    assert 100 * len(named) <= 2 * random_values.MOST_NAMED * len(tried), named


def test_how_many_digits_a_value_was_given_with() -> None:
    values = (16.4, 0.0205, 52, 1041.666667, 5200, 120, 7, 400, 0)
    assert [digits_of(value) for value in values] == [3, 3, 2, 10, 3, 3, 1, 2, 0]


#: Figures of three labs and units, and one more digit or one less of a number that a slip makes.
EVEN = ("system-call-floor", "call-args6", "footprint-processes-8-0")


@pytest.mark.parametrize("factor", [10.0, 0.1, 2.0, 1e-3, 1.2])
@pytest.mark.parametrize("name", EVEN)
def test_a_digit_more_or_less_changes_nothing_in_the_verdict(name: str, factor: float) -> None:
    spec = figure_named(name)
    value = by_this_kit(spec) * factor
    verdicts = [judged(spec, float(f"{value:.{digits}g}"), "ns") for digits in (3, 4, 6)]
    assert len({(*codes(each), each.points) for each in verdicts}) == 1


def test_what_a_value_costs_is_what_it_is_off_by() -> None:
    """A value that is far off costs half, whatever it is called; a slip of the unit does not."""
    for name in ("call-args6", "footprint-processes-8-0", "page-fault-copy", "ladder-memory"):
        spec = figure_named(name)
        for factor, kept in ((15.0, 0.5), (1 / 15, 0.5), (10.0, 0.5), (2.0, 0.75), (1e3, 0.75)):
            verdict = judged(spec, by_this_kit(spec) * factor, "ns")
            assert verdict.points == kept * spec.max_points, (name, factor)


@pytest.mark.parametrize("lab", SAVED)
def test_no_way_to_a_wrong_number_takes_more_than_60_words(lab: str) -> None:
    long = {}
    for spec in (spec for spec in LABS[lab] if not spec.of and spec.unit != CHOICE):
        figure, recording = submitted(spec)
        case = open_case(spec, replace(figure, value=12.345678), recording)
        assert isinstance(case, Case)
        for way in ways(case):
            told = pitfall_named(way.code).finding(f"You gave {case.as_submitted()}: {way.what}")
            if words_of(told, spec) > MOST_WORDS:
                long[spec.id, way.code] = told
    assert long == {}


#: Of a figure, what it is off by and to how many digits it is given; whether that is named.
OFF_BY = [
    ("thread-switch-pipe", 2.0, 3, True),
    ("thread-switch-pipe", 2.0, 2, False),
    ("thread-switch-pipe", 2.04, 4, False),
    ("system-call-getppid", 2.596, 4, True),
    ("system-call-getppid", 2.69, 4, False),
    ("system-call-getppid", 2.69, 3, False),
    ("system-call-getppid", 1000.0, 2, True),
]


def test_a_factor_is_named_only_as_far_as_the_digits_of_the_figure_tell() -> None:
    for name, factor, digits, named in OFF_BY:
        spec = figure_named(name)
        value = by_this_kit(spec) * factor
        found = codes(judged(spec, float(f"{value:.{digits}g}"), "ns"))
        assert found and is_named(found) == named, (name, factor, digits)
