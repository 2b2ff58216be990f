"""A factor of a thousand between the figure and its recording: ns printed as µs."""

from __future__ import annotations

import math
from dataclasses import replace

from grader.cases.case import Case
from grader.cases.digits import is_times
from grader.cases.verdict import Level
from grader.pitfalls.pitfall import Live, MistakeKind, Pitfall
from labs.common.units import rounded

#: A slope known to this factor is distinguishable from one a thousand times larger or smaller.
KNOWN_TO = 4.0

#: Values that differ by at most this share lie close together.
CLOSE = 0.02


def detect(case: Case) -> str | None:
    if not case.spec.is_time:
        return None
    if case.right or case.expected is None:
        return _in_the_c(case) if not case.others else None
    for power in (-9, -6, -3, 3, 6, 9):
        if _is_times(case, 10.0**power):
            larger = "larger" if power > 0 else "smaller"
            return (
                f"You gave {case.as_submitted()}; your recording gives {case.expected.as_text()}: "
                f"the digits agree, the figure is {10 ** abs(power):,} times {larger}."
            )
    return None


def _is_times(case: Case, factor: float) -> bool:
    """Whether the value is a right one times `factor`, or that to two digits.

    Of no other factor are two digits enough: nothing else is a thousand times off. For ns printed
    as µs, everything in the interval counts, where it is narrow.
    """
    submitted = case.submitted
    if not submitted or is_times(case, factor):
        return bool(submitted)
    if abs(math.log10(factor)) == 3 and any(
        replace(each, exact=True).accepts(submitted / factor)
        and each.high - each.low <= CLOSE * abs(each.value)
        for each in case.accepted_values
    ):
        return True
    per_unit = case.figure.value / submitted  # where the student rounded
    products = (each.value * factor * per_unit for each in case.accepted_values)
    return any(float(f"{product:.2g}") == case.figure.value for product in products)


def _in_the_c(case: Case) -> str | None:
    """The clock's unit is misstated: an addition, one core cycle, takes a thousand by it."""
    line, cycle = case.result.line, case.result.clock.core_cycle_ticks
    if not case.spec.of_overhead or line is None or not cycle:
        return None
    cost = line.cost
    if cost.low <= 0 or cost.high > KNOWN_TO * cost.low:
        return None
    power = 3 * round(math.log10(cost.value / cycle) / 3)
    # A bent line may be too flat, but never a thousand times too steep.
    if power == 0 or (power < 0 and not line.straight):
        return None
    if abs(math.log10(cost.value / cycle) - power) > math.log10(KNOWN_TO):
        return None
    return (
        f"By the clock that your C states, an addition takes {rounded(cost.value / cycle)} core "
        f"cycles, but it takes only one. {case.as_submitted()} is off by the same factor."
    )


PITFALL = Pitfall(
    code="unit-slip",
    level=Level.INTERPRETATION,
    symptom="The figure is off by a whole power of a thousand.",
    misconception="A number was copied without its unit: ns and µs differ by 1,000.",
    experiment="Divide the total time of the run by its operations, and write the unit next to "
    "every number.",
    seen_in="report C: 3.2 s for 10 million calls printed as 320 µs a call",
    detect=detect,
    explains=MistakeKind.UNIT,
    shows_in_recording=True,
    broken=(Live("ns_called_us", "timer-overhead-monotonic"),),
)
