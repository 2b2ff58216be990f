"""Slips of arithmetic, in the forms in which students make them, beside the formula as it is."""

from __future__ import annotations

import pytest

from grader.figures import figure_named
from grader.figures.verdict import Finding
from grader.judging.check import check
from labs.recording.file import Recording
from labs.results.result import result_of
from support.submitted_figures import CYCLE_TICKS, Clocked, figure, recording, switching

CONDVAR, PER_ARGUMENT = "thread-switch-condvar", "call-per-argument"


@pytest.fixture(scope="module")
def trips() -> Recording:
    """Round trips of 4,150 ns with calls of 470 ns on each side."""
    conditions = switching().conditions.items()
    variants = {"condvar": Clocked(60.0, 4150 * 2.6), "alone": Clocked(60.0, 470 * 2.6)}
    return recording(
        variants,
        kernel="thread_switch",
        samples=400,
        processes=3,
        extra={key: value for key, value in conditions if key.startswith(("variant.", "cpu."))},
    )


@pytest.fixture(scope="module")
def arguments() -> Recording:
    each = {"args0": 3.0, "args5": 4.1, "args6": 5.0, "args12": 11.3, "loop": 1.0}
    variants = {name: Clocked(42.6, cycles * CYCLE_TICKS) for name, cycles in each.items()}
    extra = {f"variant.{name}.baseline": "loop" for name in each if name != "loop"}
    return recording(variants, kernel="procedure_call", extra={"flags": "-O0", **extra})


def explained(figure_id: str, value: float, unit: str, run: Recording) -> Finding:
    verdict = check(figure_named(figure_id), figure(figure_id, value, unit), run)
    about = [each for each in verdict.findings if each.level.value in ("interpretation",)]
    about += [each for each in verdict.findings if each.code == "figure-not-from-recording"]
    assert len(about) == 1, verdict.findings
    return about[0]


def test_a_slip_in_a_net_cost_is_told_with_its_formula(trips: Recording) -> None:
    net = result_of(trips, "condvar", "ns").net
    assert net is not None and net.baseline is not None
    whole, base = net.whole.value / 2.6, net.baseline.value / 2.6
    for value, done in (
        ((whole - base) / 2, "(4,150 - 470) / 2"),
        ((whole + 2 * base) / 2, "(4,150 + 2 x 470) / 2"),
        ((whole - 2 * base) / 4, "(4,150 - 2 x 470) / 4"),
        (whole - 2 * base, "4,150 - 2 x 470"),
        (whole / 2 - 2 * base, "4,150 / 2 - 940"),
    ):
        told = explained(CONDVAR, float(f"{value:.5g}"), "ns", trips)
        assert told.code == "arithmetic-slip", done
        assert done in told.evidence
        assert "It should be (4,150 - 2 x 470) / 2 ns" in told.evidence, done


def test_the_mean_of_a_whole_column_is_no_cost(trips: Recording) -> None:
    mine = trips.rows_of("condvar")
    for chosen in (mine, mine & (trips.sample >= 0)):
        told = explained(CONDVAR, float(trips.ticks[chosen].mean()) / 2.6, "ns", trips)
        assert told.code == "arithmetic-slip" and "whole column" in told.evidence


def test_a_slip_in_a_difference_is_told(arguments: Recording) -> None:
    costs = []
    for name in ("args0", "args6", "args12"):
        estimate = result_of(arguments, name, "cycles").estimate
        assert estimate is not None
        costs.append(estimate.value)
    none, six, twelve = costs
    for value, done in (
        ((twelve - none) / 12, "(args12 - args0) / 12"),
        ((twelve - none) / 6, "(args12 - args0) / 6"),
        (twelve - six, "args12 - args6. "),
        ((twelve - six) / 7, "(args12 - args6) / 7"),
        (twelve / 6, "args12 / 6"),
    ):
        told = explained(PER_ARGUMENT, float(f"{value:.4g}"), "cycles", arguments)
        assert told.code == "arithmetic-slip", done
        assert done in told.evidence and "(args12 - args6) / 6" in told.evidence


def test_two_digits_swapped_are_told_and_two_that_are_not_neighbours_are_not(
    trips: Recording,
) -> None:
    estimate = result_of(trips, "condvar", "ns").estimate
    assert estimate is not None
    a, b, c, d = list(f"{estimate.value:.0f}")
    assert len({a, b, c, d}) == 4
    for wrong in (f"{b}{a}{c}{d}", f"{a}{c}{b}{d}"):
        told = explained(CONDVAR, float(wrong), "ns", trips)
        assert "two digits are swapped" in told.evidence
    for other in (f"{d}{b}{c}{a}", f"{b}{a}{d}{c}"):
        assert explained(CONDVAR, float(other), "ns", trips).code == "figure-not-from-recording"


def test_two_digits_of_a_negative_difference_are_told() -> None:
    each = {"args0": 3.0, "args6": 20.4, "args12": 11.32, "loop": 1.0}
    variants = {name: Clocked(42.6, cycles * CYCLE_TICKS) for name, cycles in each.items()}
    extra = {f"variant.{name}.baseline": "loop" for name in each if name != "loop"}
    falling = recording(variants, kernel="procedure_call", extra={"flags": "-O0", **extra})
    twelve, six = (result_of(falling, name, "cycles").estimate for name in ("args12", "args6"))
    assert twelve is not None and six is not None
    right = f"{(twelve.value - six.value) / 6:.3g}"
    assert right.startswith("-1.") and right[3] != "1"
    swapped = float(f"-{right[3]}.1{right[4:]}")
    told = explained(PER_ARGUMENT, swapped, "cycles", falling)
    assert "two digits are swapped" in told.evidence
    assert explained(PER_ARGUMENT, -swapped, "cycles", falling).code == "figure-not-from-recording"


def test_few_digits_name_no_slip(trips: Recording) -> None:
    for digits, named in ((1, False), (2, False), (3, True)):
        net = result_of(trips, "condvar", "us").net
        assert net is not None and net.baseline is not None, (digits, named)
        value = (net.whole.value - net.baseline.value) / 2 / 2600
        told = explained(CONDVAR, float(f"{value:.{digits}g}"), "us", trips)
        assert (told.code == "arithmetic-slip") == named, (digits, named)
