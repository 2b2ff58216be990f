"""Numbers that are made of the right rows of a table in a wrong way, or of another row."""

from __future__ import annotations

from collections.abc import Iterator

from grader.cases.case import Case
from labs.common.units import rounded
from labs.recording.file import BadRecording, Recording
from labs.results.result import result_of

#: A number, how it was computed, and how it should be.
Slip = tuple[float, str, str]

#: Of a run with more rows than this, no other row is tried: some pair of many fits any number.
MOST_ROWS = 4
#: A row that is less than this share of another one makes no difference beside it.
LEAST_BESIDE = 0.01


def of_rows(case: Case) -> Iterator[Slip]:
    """The figure's row with another row of its run: subtracted, added, averaged, divided by."""
    own, mine = case.spec.variant, cost_of(case, case.spec.variant)
    if mine is None or case.expected is None:
        return
    right = f"{own} alone, {case.expected.as_text()}"
    for name, other in _other_rows(case, case.recording, (own,)):
        if abs(mine) < LEAST_BESIDE * abs(other) or abs(other) < LEAST_BESIDE * abs(mine):
            continue  # then each of these is one of the two
        yield mine - other, f"{own} - {name}", right
        yield other - mine, f"{name} - {own}", right
        yield mine + other, f"{own} + {name}", right
        yield (mine + other) / 2, f"({own} + {name}) / 2", right
        if other:
            yield mine / other, f"a ratio, {own} / {name}", right


def of_ratio(case: Case) -> Iterator[Slip]:
    """Slips in over / under."""
    if case.expected is None:
        return
    over, under = case.spec.operands[:2]
    right = f"{over} / {under} = {case.expected.as_text()}"
    yield case.expected.value - 1, f"({over} - {under}) / {under}", right
    yield 100 * case.expected.value, "the ratio in percent", right
    first, second = (_operand(case, name) for name in (over, under))
    if first is None or second is None:
        return
    for unit, length in (("ns", 1.0), ("us", 1000.0)):
        yield (first - second) / length, f"the difference {over} - {under} in {unit}", right
    if case.others:
        recording, used = case.others[0].recording, [each.spec.variant for each in case.others]
    else:
        recording, used = case.recording, list(case.spec.variants)
        means = [_mean_of_column(recording, name) for name in (over, under)]
        if means[1]:
            what = "the ratio of the means of whole samples, with all that is in them"
            yield means[0] / means[1], what, right
    for name, other in _other_rows(case, recording, tuple(used), "ns"):
        if other:
            yield first / other, f"{over} / {name}", right
        if second:
            yield other / second, f"{name} / {under}", right
            yield (first - other) / second, f"({over} - {name}) / {under}", right


def of_relation(case: Case) -> Iterator[Slip]:
    """Slips in the difference of two figures."""
    first, second = (_operand(case, name) for name in case.spec.operands[:2])
    if first is None or second is None:
        return
    over, under = case.spec.operands[:2]
    unit, clock = case.spec.unit, case.result.clock
    one, other = (clock.convert(each, "ns", unit) for each in (first, second))
    right = f"{over} - {under}"
    yield other - one, f"{under} - {over}, the other way round", right
    yield one + other, f"{over} + {under}, added", right
    nets = [case.results[name].net for name in (over, under)]
    if nets[0] is None or nets[1] is None:
        return
    for parts in {each.parts for each in nets if each is not None} - {1.0}:
        yield parts * (one - other), f"{parts:g} x ({over} - {under})", right
    if nets[0].baseline is not None:
        again = nets[0].baseline.times(nets[0].times / nets[0].parts).into(unit, clock).value
        done = f"{over} - {under} - {rounded(again)}, the baseline subtracted a second time"
        yield one - other - again, done, right
    timed = [each.unsubtracted.into(unit, clock).value for each in nets if each is not None]
    what = f"{over} - {under}, each as timed: their baselines were not subtracted"
    yield timed[0] - timed[1], what, right


def cost_of(case: Case, name: str, unit: str = "") -> float | None:
    """The cost of a variant of the recording, in the unit asked for; None if there is none."""
    result = case.results.get(name) or result_of(case.recording, name, "ns")
    if result.estimate is None:
        return None
    return result.clock.convert(result.estimate.value, "ns", unit or case.spec.unit)


def _operand(case: Case, name: str) -> float | None:
    """An operand of a relation, in ns."""
    estimate = case.results[name].estimate
    return None if estimate is None else estimate.value


def _other_rows(
    case: Case, recording: Recording, used: tuple[str, ...], unit: str = ""
) -> Iterator[tuple[str, float]]:
    """The other variants with their costs, in the unit asked for; without the baselines."""
    baselines = {
        stated
        for name in recording.variants
        for stated in recording.condition(f"variant.{name}.baseline")
    }
    others = [name for name in recording.variants if name not in {*used, *baselines}]
    if len(others) > MOST_ROWS:
        others = [name for name in others if name in case.spec.compare_with]
    for name in others:
        try:
            result = result_of(recording, name, "ns")
            if result.estimate is not None:
                value = result.estimate.value
                yield name, result.clock.convert(value, "ns", unit or case.spec.unit)
        except (KeyError, ValueError, BadRecording):
            continue


def _mean_of_column(recording: Recording, name: str) -> float:
    """The plain mean of a column, in ns."""
    ticks = recording.ticks[recording.rows_of(name)]
    return float(ticks.mean()) / recording.clock(name).ticks_in("ns") if len(ticks) else 0.0
