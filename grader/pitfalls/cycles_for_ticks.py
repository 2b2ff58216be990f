"""Core cycles handed in as counter ticks, or the other way round."""

from __future__ import annotations

from grader.cases.case import Case
from grader.cases.digits import is_times
from grader.cases.verdict import Level
from grader.pitfalls.pitfall import MistakeKind, Pitfall
from labs.common.units import NANOSECONDS, SPELLINGS, rounded


def detect(case: Case) -> str | None:
    cycle = case.result.clock.core_cycle_ticks
    if case.right or case.expected is None or not case.spec.is_time or not cycle:
        return None
    # Of a time only this way round: the other is a division by the core's clock (nominal_clock).
    unit = case.figure.unit.strip()
    is_time = SPELLINGS.get(unit, unit) in NANOSECONDS
    factors = (1 / cycle,) if is_time else (1 / cycle, cycle)
    if abs(cycle - 1) <= 0.02 or not any(is_times(case, factor) for factor in factors):
        return None
    if is_times(case, 2.0) or is_times(case, 0.5):
        return None  # plainer, and a core at twice the counter's rate looks the same
    return (
        f"You gave {case.as_submitted()}; your recording gives {case.expected.as_text()}. On this "
        f"machine a core cycle takes {rounded(cycle)} ticks, and that is the factor between them."
    )


PITFALL = Pitfall(
    code="cycles-for-ticks",
    level=Level.INTERPRETATION,
    symptom="The figure is off by the ratio of core clock and counter.",
    misconception="The counter runs at a fixed rate; the core runs faster or slower than it.",
    experiment="Time 1,000 dependent additions, one core cycle each, and count the ticks.",
    seen_in="report A: counter ticks called cycles; report C: cycles from the turbo clock",
    detect=detect,
    explains=MistakeKind.FACTOR,
)
