"""Core cycles handed in as counter ticks, or the other way round."""

from __future__ import annotations

from grader.cases.case import Case
from grader.cases.digits import is_number, is_times
from grader.cases.verdict import Level
from grader.pitfalls.pitfall import MistakeKind, Pitfall
from labs.common.units import NANOSECONDS, SPELLINGS, rounded
from labs.results.result import result_of


def detect(case: Case) -> str | None:
    cycle = case.result.clock.core_cycle_ticks
    if case.right or case.expected is None or not case.spec.is_time or not cycle:
        return None
    # Of a time only this way round: the other is a division by the core's clock (nominal_clock).
    unit = case.figure.unit.strip()
    is_time = SPELLINGS.get(unit, unit) in NANOSECONDS
    factors = (1 / cycle,) if is_time else (1 / cycle, cycle)
    off = any(is_times(case, factor) for factor in factors) or _is_shown_in_other_unit(case)
    if abs(cycle - 1) <= 0.02 or not off:
        return None
    if is_times(case, 2.0) or is_times(case, 0.5):
        return None  # plainer, and a core at twice the counter's rate looks the same
    return (
        f"You gave {case.as_submitted()}; your recording gives {case.expected.as_text()}. On this "
        f"machine a core cycle takes {rounded(cycle)} ticks, and that is the factor between them."
    )


def _is_shown_in_other_unit(case: Case) -> bool:
    """Whether the run shows this number in core cycles and it was called ticks, or the reverse.

    A run shows its core cycles at one speed, so that their number is not quite that of its ticks.
    """
    unit = SPELLINGS.get(case.figure.unit.strip(), case.figure.unit.strip())
    if case.others or unit not in ("ticks", "cycles"):
        return False
    other = "cycles" if unit == "ticks" else "ticks"
    shown = result_of(case.recording, case.spec.variant, other).estimate
    clock = case.result.clock
    return shown is not None and is_number(case, clock.convert(shown.value, unit, case.spec.unit))


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
