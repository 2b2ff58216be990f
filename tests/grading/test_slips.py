"""Of every figure of every lab: correct in another form it passes, off by a known slip it is named.

The figures and recordings are those of honest runs, saved under fixtures/honest.
"""

from __future__ import annotations

import math
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from bench.honest import random_values
from bench.honest.random_values import asked_in, wrong_values
from grader.cases.case import Case, digits_of
from grader.cases.expected import ACCEPTED_WITHIN
from grader.cases.spec import Quantity
from grader.cases.verdict import Outcome, Verdict
from grader.facts.sources import source_of
from grader.figures import LABS, FigureSpec, figure_named
from grader.judging import lab_folder
from grader.judging.check import check, open_case
from labs.course import figures
from labs.course.figures import Figure
from labs.recording.declared import is_first_time
from labs.recording.file import Recording, read
from labs.results.result import result_of
from labs.units import Clock
from testing.paths import FIXTURES

FOLDER = FIXTURES / "honest"

TIMES = [
    spec
    for lab, specs in LABS.items()
    for spec in specs
    if spec.is_time and not spec.of and not spec.demonstrates and (FOLDER / lab).is_dir()
]
IDS = [spec.id for spec in TIMES]


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


@pytest.mark.parametrize("spec", TIMES, ids=IDS)
@pytest.mark.parametrize("unit", ["ns", "µs", "ms", "ticks"])
def test_to_three_digits_and_in_any_declared_unit_it_passes(spec: FigureSpec, unit: str) -> None:
    value = clock_of(spec).convert(in_ns(spec), "ns", unit)
    verdict = judged(spec, float(f"{value:.3g}"), unit)
    assert (verdict.outcome, codes(verdict)) == (Outcome.PASSED, [])


@pytest.mark.parametrize("spec", TIMES, ids=IDS)
@pytest.mark.parametrize("factor", [1e3, 1e-3, 1e6])
def test_off_by_a_thousand_is_named(spec: FigureSpec, factor: float) -> None:
    assert codes(judged(spec, by_this_kit(spec) * factor, "ns")) == ["unit-slip"]


@pytest.mark.parametrize("spec", TIMES, ids=IDS)
@pytest.mark.parametrize("factor", [2.0, 0.5])
def test_off_by_two_is_named(spec: FigureSpec, factor: float) -> None:
    verdict = judged(spec, by_this_kit(spec) * factor, "ns")
    if spec.quantity is Quantity.OVERHEAD and verdict.outcome is Outcome.PASSED:
        line = result_of(submitted(spec)[1], spec.variant).line
        assert line is not None and line.empty is not None
        assert line.empty.value == pytest.approx(factor * line.overhead.value, rel=0.2)
        pytest.skip("here the empty sample, a right answer too, is that many intercepts")
    assert verdict.outcome is Outcome.FAILED
    # Where a number of this very recording lies there, that is named: a round trip, the loop.
    assert codes(verdict) and "figure-not-from-recording" not in codes(verdict)


@pytest.mark.parametrize("spec", TIMES, ids=IDS)
def test_off_by_the_ratio_of_the_clocks_is_named(spec: FigureSpec) -> None:
    clock = clock_of(spec)
    ratio = clock.frequency_hz / 1e9
    if math.isclose(ratio, 1.0, rel_tol=0.05):
        pytest.skip("a tick of this clock is a nanosecond")
    found = codes(judged(spec, by_this_kit(spec) * ratio, "ns"))
    # Where the mean of a whole column happens to lie there, both are told.
    of_clocks = {"ticks-for-nanoseconds", "nominal-clock", "cycles-for-ticks", "one-of-two-slips"}
    assert set(found) & of_clocks


@pytest.mark.parametrize("spec", TIMES, ids=IDS)
def test_off_by_the_timer_is_named(spec: FigureSpec) -> None:
    recording = submitted(spec)[1]
    # A first time is the first sample less the later ones.
    cancels = spec.quantity is Quantity.DIFFERENCE or is_first_time(recording, spec.variant)
    if spec.quantity is Quantity.OVERHEAD or cancels:
        pytest.skip("this figure is the timer, or a difference in which it cancels")
    timer = clock_of(spec).convert(recording.number("counter.overhead") or 0, "ticks", "ns")
    if timer < 0.05 * in_ns(spec):
        pytest.skip("the timer is lost in this figure")
    found = codes(judged(spec, by_this_kit(spec) + timer, "ns"))
    assert found and "figure-not-from-recording" not in found


SWITCHES = [spec for spec in TIMES if spec.kernel.endswith("_switch")]


@pytest.mark.parametrize("spec", SWITCHES, ids=[spec.id for spec in SWITCHES])
def test_a_round_trip_for_a_switch_is_named_and_no_clock_is_blamed(spec: FigureSpec) -> None:
    net = result_of(submitted(spec)[1], spec.variant).net
    assert net is not None
    for timed in (net.whole, net.unsubtracted):
        value = clock_of(spec).convert(timed.value, "ticks", "ns")
        # The calls of a condition variable that finds its turn are next to nothing: where they are
        # lost in what is accepted, so is the mistake.
        lost = net.net.contains(timed.value) or timed.value < (1 + ACCEPTED_WITHIN) * net.net.value
        named = [] if lost else ["read-and-write-counted-along"]
        assert codes(judged(spec, value, "ns")) == named


@pytest.mark.parametrize("spec", SWITCHES, ids=[spec.id for spec in SWITCHES])
def test_another_switch_of_the_same_run_is_named_and_no_clock_is_blamed(spec: FigureSpec) -> None:
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
        assert codes(judgement) == [found] and f" {other}" in judgement.findings[0].evidence


ALL = [spec for lab, specs in LABS.items() for spec in specs if (FOLDER / lab).is_dir()]
WRONG = [(0.0, "own"), (-1.0, "own"), (3.0, "own"), (1e12, "own"), (-1e308, "own"), (2.0, "ns")]


@pytest.mark.parametrize("spec", ALL, ids=[spec.id for spec in ALL])
def test_no_figure_however_wrong_breaks_its_check(spec: FigureSpec, tmp_path: Path) -> None:
    # In its folder: relations are checked beside what they relate.
    folder = tmp_path / spec.lab
    shutil.copytree(FOLDER / spec.lab, folder)
    honest = figures.read(folder)[spec.id]
    assert isinstance(honest, Figure)
    for value, unit in [*WRONG, (1.0, "choice"), (1.0, "times"), (1.0, "bushels")]:
        unit = honest.unit if unit == "own" else unit
        figures.put(folder, replace(honest, value=value, unit=unit))
        needed = [each for each in LABS[spec.lab] if each.id in (spec.id, *spec.of)]
        asked = {spec.lab: tuple(needed)}
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(lab_folder, "figures_of", asked.__getitem__)
            verdicts = lab_folder.check_folder(folder, spec.lab)
        assert Outcome.NOT_GRADED not in {verdict.outcome for verdict in verdicts}


SUSPECTS = [
    spec
    for spec in LABS["08-five-reports-on-trial"]
    if any(choice.known for choice in spec.choices)
]


@pytest.mark.parametrize("spec", SUSPECTS, ids=[spec.id for spec in SUSPECTS])
def test_who_names_another_printed_figure_is_told_what_speaks_against_that_one(
    spec: FigureSpec, tmp_path: Path
) -> None:
    folder = tmp_path / spec.lab
    shutil.copytree(FOLDER / spec.lab, folder)
    for number, choice in enumerate(spec.choices, start=1):
        figures.put(folder, Figure(spec.id, number, "choice", None))
        verdicts = lab_folder.check_folder(folder, spec.lab)
        judgement = next(verdict for verdict in verdicts if verdict.figure == spec.id)
        if not choice.known:
            assert judgement.outcome is Outcome.PASSED
            continue
        assert codes(judgement) == ["conclusion-against-table"]
        words = judgement.findings[0].evidence
        # And not which one it was.
        right = [each.text for each in spec.choices if not each.known]
        assert choice.known in words and not any(each in words for each in right)


def test_a_value_that_follows_from_nothing_is_given_no_cause() -> None:
    asked = [each for folder in random_values.folders()[::3] for each in asked_in(folder)]
    tried = list(wrong_values(asked, 150))
    named = [each for each in tried if each.cause]
    assert 100 * len(named) <= 2 * random_values.MOST_NAMED * len(tried), named


@pytest.mark.parametrize(
    ("value", "digits"),
    [(16.4, 3), (0.0205, 3), (52, 2), (1041.666667, 10), (5200, 3), (120, 3), (7, 1), (0, 0)],
)
def test_how_many_digits_a_value_was_given_with(value: float, digits: int) -> None:
    assert digits_of(value) == digits


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


@pytest.mark.parametrize(("name", "factor", "digits", "is_named"), OFF_BY)
def test_a_factor_is_named_only_as_far_as_the_digits_of_the_figure_tell(
    name: str, factor: float, digits: int, is_named: bool
) -> None:
    spec = figure_named(name)
    value = by_this_kit(spec) * factor
    found = codes(judged(spec, float(f"{value:.{digits}g}"), "ns"))
    assert found
    assert ("figure-not-from-recording" not in found) == is_named
