"""Figures that somebody computes by hand from the samples of a run: are they right, and told so?

An honest student may reduce the samples otherwise than the kit does. Each run is reduced by each
of the ordinary estimators below, over all samples after the warm-up, with those that the kit
leaves out. The value is rounded to three or four digits, handed in with the recording, and checked.
"""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from bench import machine
from bench.honest import submissions
from bench.honest.circumstances import Circumstance
from bench.honest.figures import CannotMeasure
from bench.report import must_hold, say, verdict
from grader.figures import LABS
from grader.figures.spec import FigureSpec, Quantity
from grader.figures.verdict import Outcome, Verdict
from grader.judging.check import check
from grader.judging.presentation import as_text
from labs.course.figures import Figure
from labs.recording import declared
from labs.recording.file import Recording
from labs.results.result import result_of

REDUCTIONS, REDUCTIONS_QUICK = 300, 60
LEAST_FULL = 0.99
#: Words that say where a figure was taken from, or that it was not computed from its samples.
ACCUSES = re.compile(r"(another|other|earlier) (run|machine|page|computer)\b|published|not follow")

CIRCUMSTANCES = (Circumstance("quiet"), Circumstance("2 busy processes", busy=2))

Floats = NDArray[np.float64]
Line = tuple[float, float]  # slope and intercept, in ticks


def _through(location: Callable[[Floats], float]) -> Callable[[Floats, Floats], Line]:
    def line(k: Floats, ticks: Floats) -> Line:
        sizes = np.unique(k)
        slope, intercept = np.polyfit(sizes, [location(ticks[k == size]) for size in sizes], 1)
        return float(slope), float(intercept)

    return line


def _all(k: Floats, ticks: Floats) -> Line:
    slope, intercept = np.polyfit(k, ticks, 1)
    return float(slope), float(intercept)


def _two_points(k: Floats, ticks: Floats) -> Line:
    low, high = k.min(), k.max()
    first, last = ticks[k == low].mean(), ticks[k == high].mean()
    slope = (last - first) / (high - low)
    return float(slope), float(first - slope * low)


#: The ordinary ways to a line.
LINES: dict[str, Callable[[Floats, Floats], Line]] = {
    "least squares": _all,
    "line of means": _through(lambda each: float(each.mean())),
    "line of medians": _through(lambda each: float(np.median(each))),
    "line of lower quartiles": _through(lambda each: float(np.percentile(each, 25))),
    "two points": _two_points,
}
#: What the first operations of all processes have in common.
LOCATIONS: dict[str, Callable[[Floats], float]] = {
    "mean": lambda each: float(each.mean()),
    "median": lambda each: float(np.median(each)),
}


def by_hand(spec: FigureSpec, recording: Recording) -> Iterator[tuple[str, float]]:
    """Each way and its value, in the unit asked for."""
    name = spec.variant
    per_unit = result_of(recording, name, spec.unit).clock.ticks_in(spec.unit)
    if declared.is_first_time(recording, name):
        mine = recording.rows_of(name)
        first = recording.ticks[mine & (recording.sample == recording.sample[mine].min())]
        later = recording.ticks[mine & (recording.sample > recording.sample[mine].min())]
        for how, location in LOCATIONS.items():
            extra = location(first.astype(float)) - location(later.astype(float))
            yield how, extra / per_unit
        return
    baseline = recording.condition(f"variant.{name}.baseline")
    times = recording.number(f"variant.{name}.baseline_times") or 1.0
    parts = recording.number(f"variant.{name}.parts") or 1.0
    for how, line in LINES.items():
        slope, intercept = _of(recording, name, line)
        if spec.quantity is Quantity.OVERHEAD:
            yield how, intercept / per_unit
            continue
        if baseline:
            slope -= times * _of(recording, baseline[0], line)[0]
        yield how, slope / parts / per_unit


def _of(recording: Recording, name: str, line: Callable[[Floats, Floats], Line]) -> Line:
    rows = recording.rows_of(name) & (recording.sample >= 0) & (recording.batch > 0)
    return line(recording.batch[rows].astype(float), recording.ticks[rows].astype(float))


ASKED = [
    spec
    for specs in LABS.values()
    for spec in specs
    if spec.quantity in (Quantity.COST, Quantity.OVERHEAD) and not spec.of
]


def run(quick: bool) -> bool:
    """All figures that are the cost of something, in turn, until there are enough."""
    wanted = REDUCTIONS_QUICK if quick else REDUCTIONS
    must_hold(f"of {wanted} figures by hand {LEAST_FULL:.0%} get full marks, and none is accused")
    made = full = accused = 0
    for circumstance in CIRCUMSTANCES:
        until = made + wanted // len(CIRCUMSTANCES)
        with machine.busy(circumstance.busy):
            for number in itertools.count():
                if made >= until or number >= wanted:
                    break
                for how, spec, found in _one(circumstance, number):
                    passed = found.outcome is Outcome.PASSED
                    made, full = made + 1, full + passed
                    accused += bool(ACCUSES.search(as_text(found)))
                    if not passed:
                        words = [f"{each.code}: {each.evidence}" for each in found.findings]
                        reason = "; ".join(words) or found.reason
                        say(f"   {circumstance.name}, {spec.id}, {how}: {reason}")
    return verdict(
        full >= LEAST_FULL * made and not accused,
        f"{full} of {made} figures by hand in full ({full / made:.1%}), {accused} accused",
    )


def _one(circumstance: Circumstance, number: int) -> Iterator[tuple[str, FigureSpec, Verdict]]:
    spec, chance = ASKED[number % len(ASKED)], random.Random(f"{circumstance.name} {number}")
    plan = submissions.plan_of(spec, circumstance, chance)
    try:
        recording, _ = submissions.recorded(spec, plan, circumstance, chance)
    except CannotMeasure as why:
        say(f"   left out: {why}")
        return
    for how, value in by_hand(spec, recording):
        if value <= 0:
            continue  # nobody hands in that a call takes less than nothing
        given = float(f"{value:.{chance.choice([3, 4])}g}")
        figure = Figure(spec.id, given, spec.unit, "recordings/run.csv")
        yield how, spec, check(spec, figure, recording, plan.source)
