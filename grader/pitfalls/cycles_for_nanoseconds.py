"""Core cycles handed in as if a cycle were a nanosecond, or the other way round."""

from __future__ import annotations

from grader.cases.case import Case
from grader.cases.digits import is_number, is_times
from grader.cases.verdict import Level
from grader.pitfalls.pitfall import MistakeKind, Pitfall
from labs.common.units import NANOSECONDS, UnknownUnit, canonical, rounded
from labs.results.result import result_of

#: A core this near to 1 GHz does take a ns for a cycle.
SAME = 0.01


def detect(case: Case) -> str | None:
    clock = case.result.clock
    cycle = clock.core_cycle_ticks
    if case.right or case.expected is None or not case.spec.is_time or not cycle:
        return None
    try:
        unit = canonical(case.figure.unit)
    except UnknownUnit:
        return None
    per_ns = clock.frequency_hz / 1e9 / cycle
    if abs(per_ns - 1) <= SAME or not (unit in NANOSECONDS or unit == "cycles"):
        return None
    factor, other = (1 / per_ns, "ns") if unit == "cycles" else (per_ns, "cycles")
    if not is_times(case, factor) and not _is_shown_in(case, other, unit):
        return None
    meant = "core cycles" if other == "cycles" else "ns"
    return (
        f"You gave {case.as_submitted()}; your recording gives {case.expected.as_text()}. In "
        f"this run the core made {rounded(per_ns, 4)} cycles a ns: you gave the value in {meant} "
        f"and called it {unit}."
    )


def _is_shown_in(case: Case, other: str, unit: str) -> bool:
    """Whether the run shows this number in the unit `other`, and it was called `unit`.

    A run shows its core cycles at one speed, so that their number is not quite that of its ns.
    """
    if case.others or case.spec.unit not in (unit, other):
        return False
    shown = result_of(case.recording, case.spec.variant, other).estimate
    clock = case.result.clock
    return shown is not None and is_number(case, clock.convert(shown.value, unit, case.spec.unit))


PITFALL = Pitfall(
    code="cycles-for-nanoseconds",
    level=Level.INTERPRETATION,
    symptom="The figure is off by the frequency of the core.",
    misconception="A core cycle is a nanosecond only at 1 GHz; a number keeps the unit it was "
    "printed with.",
    experiment="Show the run in both units and write each number with its unit.",
    seen_in="report A: cycles beside the nanoseconds of other reports",
    detect=detect,
    explains=MistakeKind.CLOCK,
    yields_to=(
        "creation-without-its-end",
        "read-and-write-counted-along",
        "touching-counted-as-switch",
        "two-results-for-one",
    ),
)
