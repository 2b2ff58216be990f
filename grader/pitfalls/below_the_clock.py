"""One operation between two readings that are too coarse to show it."""

from __future__ import annotations

import numpy as np

from grader.cases.case import Case
from grader.cases.spec import Quantity
from grader.cases.verdict import Level
from grader.pitfalls.pitfall import Live, Pitfall
from labs.common.units import rounded
from labs.recording.declared import is_first_time
from labs.recording.file import Samples

#: A sample minus the timer can be distinguished from 0 if it is at least so many steps long.
STEPS = 4

NO_TIMES = (Quantity.OVERHEAD, Quantity.STEP, Quantity.SWITCHES)


def detect(case: Case) -> str | None:
    if case.spec.quantity in NO_TIMES or case.spec.of_overhead:
        return None
    for name in case.spec.variants:
        samples = case.recording.samples(name)
        if is_first_time(case.recording, name) or set(samples.batch[samples.batch > 0]) != {1}:
            continue
        step = samples.clock.step
        whole = float(np.median(samples.ticks[samples.batch == 1]))
        empty = _empty(case, samples)
        if whole - empty >= max(STEPS * step, empty):
            continue
        return (
            f"Each of your samples holds one {name} and typically takes {rounded(whole)} ticks; "
            f"an empty sample takes {rounded(empty)}, and the clock steps by {step}."
        )
    return None


def _empty(case: Case, samples: Samples) -> float:
    """A sample with nothing in it, in ticks; 0 where the recording does not tell."""
    if (samples.batch == 0).any():
        return float(np.median(samples.ticks[samples.batch == 0]))
    clocks = case.recording.condition(f"clock.{samples.variant}.name")
    if set(clocks) - set(case.recording.condition("counter")):
        return 0.0  # another clock than the one whose overhead is stated
    return case.recording.number("counter.overhead") or 0.0


PITFALL = Pitfall(
    code="below-the-clock",
    level=Level.SUFFICIENCY,
    symptom="One operation is too short for this clock to show it.",
    misconception="The average of such samples does not show the operation: it is shorter than "
    "the readings around it and vanishes in their spread.",
    experiment="Put 256, 512 and 1,024 operations into a sample, and take the slope.",
    seen_in="report A: one call of a few cycles between two readings of rdtsc",
    detect=detect,
    broken=(Live("one_call", "call-args0"),),
)
