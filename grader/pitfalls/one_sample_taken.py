"""A single sample handed in for what all have in common: a step, the first one, a percentile."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from grader.cases.case import Case
from grader.cases.digits import FEWEST_DIGITS, OF_USUAL_SLIPS, is_number
from grader.cases.spec import Quantity
from grader.cases.verdict import Level
from grader.facts.observed import usual_ticks
from grader.pitfalls.pitfall import MistakeKind, Pitfall
from labs.common.units import rounded
from labs.recording.file import Samples

#: Nearer to the typical sample than this, it makes no difference that it is a single one.
CLEARLY_OFF = 0.01

PERCENTILES = (25, 75, 90, 95, 99)


def detect(case: Case) -> str | None:
    if case.spec.quantity is not Quantity.OVERHEAD or case.right:
        return None
    samples = case.recording.samples(case.spec.variant)
    empty = samples.only(samples.batch == 0)
    if not len(empty):
        return None
    per_unit, typical = samples.clock.ticks_in(case.spec.unit), usual_ticks(samples, 0)
    for ticks, what in _single_samples(empty):
        # A step in ns is often a round number.
        digits = OF_USUAL_SLIPS if ticks == samples.clock.step else FEWEST_DIGITS
        is_this = is_number(case, ticks / per_unit, digits)
        if abs(ticks - typical) < CLEARLY_OFF * typical or not is_this:
            continue
        return (
            f"You gave {case.as_submitted()}: that is {what}, {rounded(ticks)} "
            f"ticks{_also(samples, ticks)}. The mean of all {len(empty)} samples is "
            f"{rounded(typical / per_unit)} {case.spec.unit}; the clock steps by "
            f"{samples.clock.step} ticks."
        )
    return None


def _also(samples: Samples, ticks: float) -> str:
    """Where else somebody finds this number: a coarse clock shows the same for several sizes."""
    for size in samples.batch_sizes:
        chosen = samples.ticks[samples.batch == size]
        if size and len(chosen) and float(chosen.min()) == ticks:
            return f", or the shortest with {size} operations"
    return ""


def _single_samples(empty: Samples) -> Iterator[tuple[float, str]]:
    """The samples that somebody may take for all, in ticks, and what each of them is."""
    if empty.clock.step > 1:
        yield float(empty.clock.step), "one step of your clock"
    yield float(np.median(empty.ticks)), "the middle one of your empty samples"
    yield float(empty.ticks[0]), "the first of your empty samples"
    for percent in PERCENTILES:
        ticks = float(np.percentile(empty.ticks, percent))
        yield ticks, f"the {percent}th percentile of your empty samples"
    yield float(empty.ticks.max()), "the longest of your empty samples"


PITFALL = Pitfall(
    code="one-sample-taken",
    level=Level.INTERPRETATION,
    symptom="The figure is one sample, and not what the samples have in common.",
    misconception="A clock counts whole steps, and the true time lies between two of them.",
    experiment="Count how often each length occurs among the samples, and compute their mean.",
    seen_in="common where one reading is printed and copied",
    detect=detect,
    explains=MistakeKind.REDUCTION,
    yields_to=("minimum-taken",),
)
