"""What a run cannot show well: switches of tasks bound to no CPU, and values of wide intervals.

Such a figure is judged as what its machine or its run can show, and the verdict says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TypeVar

from grader.figures.case import Case
from grader.figures.expected import Expected, Range
from grader.figures.spec import CHOICE, Praise, Quantity
from labs.analysis.thresholds import AS_WIDE_AS_VALUE, WIDEST
from labs.recording import counts, run_conditions
from labs.recording.declared import Estimand
from labs.recording.file import Recording
from labs.units import rounded

# Some machines can bind no task to a CPU (macOS; a filter of calls). There, two tasks may each have
# a CPU, and a handoff between them wakes up a CPU. Nobody can say whether a run measured this or a
# switch. So the grader judges the figure as a handoff between tasks, wherever the OS put them.
#
# The grader believes this only if the recording states it, and if no other recording of the same
# machine contradicts it. Students gain nothing by it, because the runs and the work are the same.

PINNING = "cpu.pinning"

#: What a machine without pinning measures.
HANDOFFS_IN_ITS_PLACE = (
    "the OS chose the CPUs of the tasks, so the run measured handoffs, which need not be switches "
    "on one CPU; such a machine can show no more"
)

#: These texts replace the praise and the advice about the cost of a switch.
UNBOUND_PRAISE = Praise(
    "You measured what this machine can show, and your recording states its limits.",
    by=("two-cpus-not-one",),
)
UNBOUND_LOOK_NEXT = (
    "Repeat the run on a machine that can bind tasks to a CPU, such as a Linux virtual machine: "
    "how much of your figure is left?"
)

Other = TypeVar("Other")


def binds_no_task(recording: Recording) -> bool:
    """Whether the machine of a recording can bind no task to a CPU.

    A C kernel that was built without pinning shows nothing about the machine.
    """
    return recording.conditions.get(PINNING, "").startswith("none:") and bool(
        run_conditions.why_unbound(recording)
    )


def caveat_of_unbound(case: Case) -> str:
    """A sentence on what a figure from such a machine measures; '' for other machines."""
    for each in case.others or (case,):
        switching = any(counts.claim_of(each.recording, name) for name in each.spec.variants)
        if switching and binds_no_task(each.recording):
            why = run_conditions.why_unbound(each.recording)
            return f"That machine cannot bind a task to a CPU ({why}): {HANDOFFS_IN_ITS_PLACE}."
    return ""


def without_contradicted(
    recordings: Mapping[str, Recording | Other],
) -> dict[str, Recording | Other]:
    """The same recordings without contradicted claims that a machine cannot pin.

    If one recording of a machine shows that it can pin, we remove the claim from its others.
    """
    usable = [each for each in recordings.values() if isinstance(each, Recording)]
    can_pin = {_machine(each) for each in usable if PINNING not in each.conditions}
    return {
        name: _without_claim(each)
        if isinstance(each, Recording) and PINNING in each.conditions and _machine(each) in can_pin
        else each
        for name, each in recordings.items()
    }


def _machine(recording: Recording) -> tuple[str, ...]:
    return (*recording.condition("os")[:1], *recording.condition("machine.cpu")[:1])


def _without_claim(recording: Recording) -> Recording:
    left = {key: value for key, value in recording.conditions.items() if key != PINNING}
    changed = replace(recording, conditions=MappingProxyType(left))
    changed.__dict__["rows"] = recording.rows  # byte for byte as in the file, as the hash needs
    return changed


# Runs whose interval is wide: too wide to believe a value, or too wide to show anything.
#
# A run whose interval is wider than `widest` of its figure is not to be believed. Such a figure
# passes within its interval, because a busy machine does this to everybody. The verdict says how
# wide the interval is and how to make it narrower. It praises nothing that so wide an interval
# cannot show. What is rightly next to nothing keeps its praise, which is about the run and not
# about the value.
#
# An interval as wide as its value shows nothing, because it holds half of the value. The smallest
# slip that the grader knows is a factor of two, so it could not tell that slip from the right
# figure. What may be next to nothing (a difference, or the rest of something) is compared with what
# it was taken from. "Not distinguishable from zero" is a right answer if the interval is narrow
# beside that.

WIDE_PRAISE = Praise(
    "Your figure is one that this run allows.",
    by=("figure-not-from-recording", "interval-as-wide-as-value"),
)
#: The run's own warning, which knows how long to measure.
WARNING = "not-believable"
AGAIN = "measure again, or for longer"
#: First times differ by whole steps of the clock, however many a run takes.
WITHIN_A_STEP = (
    "This interval is no wider than two steps of the clock, so a longer run can hardly show "
    "more. Which clock of this machine has smaller steps?"
)

#: The name of what most intervals are compared with.
VALUE = "the value"

#: The quantities that a run gives with an interval.
WITH_INTERVAL = (
    Quantity.COST,
    Quantity.OVERHEAD,
    Quantity.WHOLE,
    Quantity.RATIO,
    Quantity.DIFFERENCE,
)


@dataclass(frozen=True)
class Measure:
    """What an interval is compared with: `size` in the unit of the figure, and its name."""

    size: float
    name: str


def ends(expected: Expected) -> Range:
    """The ends of the interval that the student saw, or of the judged one if no run shows it."""
    return expected.shown or (expected.low, expected.high)


def width(expected: Expected) -> float:
    """Half the width of the 95 % interval as a share of its value; 0 if there is no interval."""
    if expected.unit == CHOICE or expected.high <= expected.low:
        return 0.0
    low, high = ends(expected)
    return (high - low) / 2 / max(abs(expected.value), 1e-12)


def times_too_wide(case: Case) -> tuple[Expected, float, Measure] | None:
    """The first accepted value, and its interval's width in terms of what it is compared with.

    None if the width is below 1, or if the figure has no interval of its own. A relation between
    figures has none: the figures have already lost their points. None as well if the machine can
    bind no task to a CPU: there the OS decides in each process anew what a handoff is.
    """
    expected = case.expected
    if expected is None or case.others or case.spec.quantity not in WITH_INTERVAL:
        return None
    if _within_a_step(case) or caveat_of_unbound(case):
        return None
    low, high = ends(expected)
    measure = compared_with(case, expected)
    if expected.high <= expected.low or (high - low) / 2 < AS_WIDE_AS_VALUE * measure.size:
        return None
    return expected, (high - low) / max(measure.size, 1e-12), measure


def _within_a_step(case: Case) -> bool:
    """Whether the figure is about overheads, and the intervals lie within a step of their clocks.

    Then the clock is the limit, and not the run: a student can choose a longer batch for a cost,
    but cannot choose another clock.
    """
    return case.spec.of_overhead and _no_wider_than_the_clock(case)


def _no_wider_than_the_clock(case: Case) -> bool:
    """Whether half of each interval lies within a step of its clock."""
    results = [case.results[name] for name in case.spec.variants]
    return all(
        each.estimate is not None
        and each.estimate.half_width * each.clock.ticks_in(each.unit) <= each.clock.coarseness
        for each in results
    )


def compared_with(case: Case, expected: Expected) -> Measure:
    """What the interval of this figure must be narrow beside: the value, or what it was part of."""
    spec, found = case.spec, Measure(abs(expected.value), VALUE)
    if not spec.may_be_nothing:
        return found
    divisor = spec.divisor if spec.quantity is Quantity.DIFFERENCE else 1.0
    for name in (*spec.variants, *spec.compare_with):
        result = case.results.get(name)
        if result is None or result.estimate is None:
            continue
        per_unit = result.clock.ticks_in(spec.unit) / result.clock.ticks_in(result.unit)
        size = abs(result.estimate.value) / per_unit / divisor
        if size > found.size:
            found = Measure(size, name if divisor == 1 else f"{name} divided by {divisor:g}")
    return found


def is_next_to_nothing(case: Case) -> bool:
    """Whether this figure may be nothing, and the interval of the accepted value holds 0."""
    shown = case.matching_value
    if shown is None or not case.spec.may_be_nothing:
        return False
    low, high = ends(shown)
    return low < high and low <= 0 <= high


def caveat_of_width(case: Case) -> str:
    """A sentence on the width of this figure's interval; '' if it is narrow enough."""
    shown = case.matching_value
    if shown is None:
        return ""
    if is_next_to_nothing(case):
        return (
            "The interval holds 0, so this run does not distinguish the figure from zero. This "
            "is a result, and the interval shows how large the figure can be."
        )
    if width(shown) <= case.spec.widest:
        return ""
    wide = rounded(100 * width(shown), 2)
    if case.spec.widest > WIDEST:
        return (
            f"Half of the interval's width is {wide} % of the value. Beyond "
            f"{100 * WIDEST:.0f} %, do not believe the value. Beyond "
            f"{rounded(100 * case.spec.widest)} %, the limit for this figure, the grader passes "
            "any value within the interval."
        )
    return (
        f"Half of the interval's width is {wide} % of the value. Beyond "
        f"{100 * WIDEST:.0f} %, do not believe the value; the grader then passes any value within "
        "the interval."
    )


def look_next_if_wide(case: Case) -> str:
    """How to make the interval narrower, from the run's own warning if it has one.

    Options are written as in the cell that measures: own C has those of a command. A first time is
    one sample of each process: its median cannot be finer than a step of the clock.
    """
    of_first_time = case.spec.estimand is Estimand.FIRST_TIME and not case.others
    if of_first_time and _no_wider_than_the_clock(case):
        return WITHIN_A_STEP
    advices = (
        replace(warning, python=not each.spec.own).try_this
        for each in case.others or (case,)
        for result in each.results.values()
        for warning in result.warnings
        if warning.code == WARNING
    )
    advice = next(advices, AGAIN)
    return f"{advice[0].upper()}{advice[1:]}. Is the interval narrower then?"
