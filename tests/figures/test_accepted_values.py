"""What passes is what the verdict states, and all of what the student was shown.

The figures and recordings are those of honest runs, saved under fixtures/honest.
"""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from grader.figures import LABS, figure_named
from grader.figures.expected import Expected, accepted_as_text, related, why_more_is_accepted
from grader.figures.spec import CHOICE, TIMES, FigureSpec, Quantity
from grader.figures.verdict import Outcome
from grader.judging.check import check
from grader.judging.presentation import as_html, as_text
from labs.analysis.confidence import ByProcess, Estimate
from labs.results.result import result_of
from labs.terminal import typeset
from labs.units import Clock
from support.honest_cases import honest, honest_case, judged

NUMBERS = [
    spec
    for specs in LABS.values()
    for spec in specs
    if spec.unit != CHOICE and not spec.demonstrates
]
READ_OFF_A_RUN = [
    spec for spec in NUMBERS if spec.quantity in (Quantity.COST, Quantity.OVERHEAD) and not spec.of
]
_NUMBER = r"-?[\d,]+(?:\.\d+)?(?:e-?\d+)?"


def by_id(spec: FigureSpec) -> str:
    return spec.id


def numbers(text: str) -> list[float]:
    return [float(each.replace(",", "")) for each in re.findall(_NUMBER, text)]


@pytest.mark.parametrize("spec", NUMBERS, ids=by_id)
def test_every_stated_value_passes_and_the_next_ones_do_not(spec: FigureSpec) -> None:
    """Of relations too, and of counts: the rule is one."""
    right = judged(spec, honest(spec.id).value, honest(spec.id).unit)
    assert right.accepted.endswith(f" {spec.unit}")
    ends = []
    for stated in right.accepted.removesuffix(f" {spec.unit}").split(" or "):
        low, high = numbers(stated)[0], numbers(stated)[-1]
        ends += [low, high]
        for value in (low, (low + high) / 2, high):
            assert judged(spec, value, spec.unit).outcome is Outcome.PASSED, (value, right)
    wide = max(ends) - min(ends)
    for value in (min(ends) - 0.05 * wide, max(ends) + 0.05 * wide):
        if value > 0 or spec.quantity is not Quantity.SWITCHES:
            verdict = judged(spec, value, spec.unit)
            assert verdict.outcome is Outcome.FAILED, (value, verdict)
            assert verdict.accepted.endswith(f" {spec.unit}")


@pytest.mark.parametrize("spec", READ_OFF_A_RUN, ids=by_id)
def test_both_printed_ends_of_the_run_pass(spec: FigureSpec) -> None:
    case = honest_case(spec)
    for unit in ("ns", "us", "ticks"):
        if unit == "us" and spec.unit == "cycles":
            continue  # a cost of some cycles has no digits left in us
        printed = result_of(case.recording, spec.variant, unit).value_as_text()
        low, high = numbers(printed.split("interval")[1])
        for value in (low, high):
            if value > 0:
                verdict = judged(spec, value, unit)
                assert verdict.outcome is Outcome.PASSED, (printed, value, verdict.reason)


@pytest.mark.parametrize("spec", NUMBERS, ids=by_id)
def test_a_failed_verdict_says_in_text_and_html_what_is_accepted(spec: FigureSpec) -> None:
    verdict = judged(spec, honest(spec.id).value * 1.37 * 4.4 + 1, honest(spec.id).unit)
    assert verdict.outcome is Outcome.FAILED
    assert f"Accepted: {verdict.accepted}." in as_text(verdict)
    in_page = typeset(verdict.accepted)
    assert f"<em>Accepted:</em> {in_page}." in as_html(verdict)
    assert verdict.as_json()["accepted"] == verdict.accepted
    assert f"Accepted: {verdict.accepted}." in verdict.reason
    if verdict.why_accepted:
        assert f"{verdict.accepted}. {verdict.why_accepted}" in as_text(verdict)
        assert f"{in_page}. {verdict.why_accepted}</p>" in as_html(verdict)
        assert f"{verdict.accepted}. {verdict.why_accepted}" in verdict.reason


def test_a_run_at_another_level_has_no_accepted_value() -> None:
    """The values of the -O2 run were called accepted where the -O0 run was asked for."""
    spec = figure_named("call-args6")
    case = honest_case(spec)
    value = honest(spec.id).value
    other = {**case.recording.conditions, "flags": "-O2"}
    for recording, stated in (
        (case.recording, True),
        (replace(case.recording, conditions=other), False),
    ):
        figure = replace(case.figure, value=3 * value)
        verdict = check(spec, figure, recording)
        assert verdict.outcome is Outcome.FAILED
        assert bool(verdict.accepted) == stated
        assert ("Accepted" in as_text(verdict)) == ("Accepted" in verdict.reason) == stated


def test_no_verdict_on_a_conclusion_states_the_right_one() -> None:
    for specs in LABS.values():
        for spec in specs:
            if spec.unit == CHOICE and not spec.demonstrates:
                assert judged(spec, 99, CHOICE).accepted == ""


def test_inside_the_interval_that_was_shown_it_passes() -> None:
    """100 us failed where the run showed 82 to 106 us and the grader judged by 88 to 98."""
    expected = Expected(93.0, 88.2, 97.6, "us", shown=(82.0, 106.0))
    assert all(expected.accepts(value) for value in (82.0, 93.0, 100.0, 106.0))
    assert not any(expected.accepts(value) for value in (81.4, 107.0))
    assert accepted_as_text([expected]) == "82 to 106 us"


def test_beside_a_narrow_interval_5_percent_of_the_value_pass() -> None:
    expected = Expected(15.6, 15.31, 15.89, "us")
    tried = (14.8, 14.83, 15.31, 15.89, 16.0, 16.3, 16.37, 16.4)
    assert [value for value in tried if expected.accepts(value)] == list(tried[1:-1])
    assert accepted_as_text([expected]) == "14.82 to 16.38 us"
    below = Expected(-15.6, -15.89, -15.31, "us")
    assert [value for value in tried if below.accepts(-value)] == list(tried[1:-1])


def test_next_to_the_interval_of_an_exact_figure_only_the_rounded_value_passes() -> None:
    """16.3 passed beside an interval that ends at 15.89."""
    expected = Expected(15.6, 15.31, 15.89, "us", exact=True)
    tried = (15.2, 15.31, 15.89, 15.95, 16.0, 16.3)
    accepted = [value for value in tried if expected.accepts(value)]
    assert accepted == [15.31, 15.89, 16.0]
    assert accepted_as_text([expected]) == "15.31 to 15.89 us", "16 is said in words"


def test_why_a_value_beside_the_interval_is_accepted_is_said() -> None:
    for expected, why in (
        (Expected(93.0, 82.0, 106.0, "us"), ""),
        (Expected(2.0, 2.0, 2.0, TIMES, shown=(1.995, 2.005)), ""),
        # The value in two digits is 16 us; three digits may leave an interval this narrow.
        (Expected(15.6, 15.31, 15.89, "us", exact=True), "This includes rounded values."),
        (Expected(20.4996, 20.4990, 20.5002, "ns", exact=True), "This includes rounded values."),
        (Expected(20.4996, 20.4990, 20.5002, "ns"), "This includes values within 5 %."),
        (
            Expected(93.0, 80.0, 106.0, "us", shown=(82.0, 106.0)),
            "This includes values at each clock speed of the run.",
        ),
    ):
        assert why_more_is_accepted([expected]) == why


def test_a_ratio_is_printed_with_1_on_its_side_of_the_interval() -> None:
    """A student read "95 % interval 1 to 1.06" where lab.compare printed 1.003 to 1.056."""
    assert "1.003 to 1.056" in Expected(1.030, 1.003, 1.056, TIMES).as_text()
    assert "0.998 to 1.056" in Expected(1.030, 0.998, 1.056, TIMES).as_text()
    assert Expected(1.43, 1.40, 1.46, TIMES).as_text() == "1.43 times (95 % interval 1.40 to 1.46)"


def test_a_narrow_interval_leaves_room_for_three_digits() -> None:
    expected = Expected(20.4996, 20.4990, 20.5002, "ns", exact=True)
    assert all(expected.accepts(value) for value in (20.0, 20.5, 20.4996))
    assert not any(expected.accepts(value) for value in (20.1, 20.7, 21.0))


def test_two_digits_are_those_of_the_unit_of_the_figure() -> None:
    """53 ticks of 53.4 are 20.385 ns, which is no rounding of 20.54 ns."""
    in_ticks = Expected(53.4 / 2.6, 20.53, 20.55, "ns", one=1 / 2.6, exact=True)
    assert in_ticks.accepts(53 / 2.6)
    assert not replace(in_ticks, one=1.0).accepts(53 / 2.6)


def test_counts_near_zero_and_far_from_it_follow_one_rule() -> None:
    for counted, passes, fails in (
        (0.00003, (0.0, 0.00003, 0.005), (0.01, 2.0)),
        (0.0, (0.0, 0.00003), (0.01,)),
        (2.0004, (2.0, 2.0004, 2.003), (1.9, 2.1, 0.0)),
    ):
        expected = Expected(
            counted,
            counted,
            counted,
            "times",
            shown=(max(0.0, counted - 0.005), counted + 0.005),
            exact=True,
        )
        assert all(expected.accepts(value) for value in passes)
        assert not any(expected.accepts(value) for value in fails)


def test_zero_passes_if_the_interval_holds_it() -> None:
    for value in (0.3, 0.0, -0.1):
        assert Expected(value, -0.5, 0.9, "cycles").accepts(0.0)
        assert not Expected(value + 2, 1.5, 2.9, "cycles").accepts(0.0)


def test_an_empty_sample_far_from_the_intercept_is_not_the_overhead() -> None:
    for figure_id, outcome in (
        ("timer-overhead-fenced", Outcome.PASSED),  # its readings wait for the work
        ("timer-overhead-monotonic", Outcome.FAILED),
    ):
        spec = figure_named(figure_id)
        case = honest_case(spec)
        line = case.result.line
        assert line is not None and line.empty is not None, figure_id
        value = line.empty.into("ns", case.result.clock).value
        verdict = judged(spec, value, "ns")
        assert verdict.outcome is outcome
        if outcome is Outcome.FAILED:
            assert "mean of your empty samples" in verdict.findings[0].evidence


def test_an_interval_of_programs_that_took_turns_is_told_with_its_level() -> None:
    """It is of 99.8 %, as where the notebook compares the two runs."""
    spec, clock = figure_named("switch-ratio-same-mechanism"), Clock(1e9, 1)
    speed, known = np.linspace(0.95, 1.05, 12), np.full(12, 0.1)
    for turns, level in (("a call", "99.8 %"), ("", "95 %")):
        first, second = (
            Estimate(
                *(value, value - 1, value + 1, "ns", "", 12, 12),
                ByProcess(object(), np.arange(12), value * speeds, known, turns=turns),
            )
            for value, speeds in ((40.0, speed), (20.0, speed[::-1]))
        )
        (right,) = related(spec, (first, second), clock, "times")
        assert f"({level} interval" in right.as_text()
