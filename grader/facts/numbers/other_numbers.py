"""Numbers that a run also shows, and that are not what a figure asks for.

Each is one number of the figure's own recording, in the unit of the figure, with the words for it.
A number that somebody may have computed from several is in `grader.facts.numbers.slips`.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from grader.cases.case import Case
from grader.cases.spec import Quantity
from labs.recording import proof
from labs.recording.declared import is_first_time
from labs.results.result import result_of

#: A number, in the unit asked for, and what it is.
Shown = tuple[float, str]

#: Somebody who reads the count of switches elsewhere finds one or two more or fewer.
NEAR_COUNT = 0.05


def numbers_of(case: Case) -> Iterator[Shown]:
    """The other numbers of the recording of `case`."""
    if case.others:
        return
    quantity = case.spec.quantity
    if quantity is Quantity.OVERHEAD:
        yield from _beside_overhead(case)
    elif quantity in (Quantity.COST, Quantity.WHOLE):
        yield from _beside_cost(case)
        if is_first_time(case.recording, case.spec.variant):
            yield from _of_first_times(case)
    elif quantity is Quantity.STEP:
        yield from _beside_step(case)
    elif quantity is Quantity.SWITCHES:
        yield from _of_counts(case)


def _beside_overhead(case: Case) -> Iterator[Shown]:
    line = case.result.line
    if line is None:
        return
    per_unit = line.clock.ticks_in(case.spec.unit)
    yield line.cost.value / per_unit, "the slope of your line, the cost of one addition"


def _beside_cost(case: Case) -> Iterator[Shown]:
    net = case.result.net
    for result in (case.result, result_of(case.recording, case.spec.variant, case.spec.unit)):
        # In core cycles a run shows a line of its own: at one speed.
        if result.line is not None:
            what = "the intercept of your line, the cost of the readings"
            yield result.line.overhead.into(case.spec.unit, result.clock).value, what
    if net is not None and net.baseline is not None:
        per_unit = case.result.clock.ticks_in(case.spec.unit)
        what = f"the cost of {net.baseline_variant}, which is to be subtracted"
        yield net.baseline.value / per_unit, what


def _of_first_times(case: Case) -> Iterator[Shown]:
    recording = case.recording
    mine = recording.rows_of(case.spec.variant)
    ticks = recording.ticks[mine] / case.result.clock.ticks_in(case.spec.unit)
    if not len(ticks):
        return
    median, largest = float(np.median(ticks)), float(ticks.max())
    yield median, "the median of all samples, which are later calls except for one in each process"
    yield largest, "the largest of all samples, of one process"
    if median:
        yield largest / median, "a ratio: the largest sample divided by the median one"


def _beside_step(case: Case) -> Iterator[Shown]:
    line, samples = case.result.line, case.recording.samples(case.spec.variant)
    per_unit = case.result.clock.ticks_in(case.spec.unit)
    step = case.result.clock.step / per_unit
    if line is not None:
        yield line.overhead.value / per_unit, "the overhead of a pair of readings"
    if len(samples):
        least = float(samples.ticks.min()) / per_unit
        if least > step:
            yield least, "the shortest sample"
    yield 2 * step, "twice the step, where no two samples lie next to each other"


def _of_counts(case: Case) -> Iterator[Shown]:
    seen = proof.of_variant(case.recording, case.spec.variant)
    if seen is None:
        return
    yield seen.claim, "what the C kernel claims, not what the OS counted"
    whole = f"about the switches of the whole run, of which the OS counted {seen.counted:,}"
    given = case.submitted or 0.0
    is_count = given >= 1 and given == int(given)
    if is_count and abs(given - seen.counted) <= max(1, NEAR_COUNT * seen.counted):
        yield given, whole
    if seen.each:
        yield 1 / seen.each, "upside down: exchanges for one switch"


def whole_samples(case: Case) -> Iterator[tuple[int, float]]:
    """Each batch size and the mean of its samples, in the unit asked for; then without warm-up."""
    recording, name = case.recording, case.spec.variant
    per_unit = case.result.clock.ticks_in(case.spec.unit)
    mine = recording.rows_of(name)
    for size in sorted(set(recording.batch[mine].tolist())):
        for rows in (mine, mine & (recording.sample >= 0)):
            ticks = recording.ticks[rows & (recording.batch == size)]
            if len(ticks):
                yield int(size), float(ticks.mean()) / per_unit
