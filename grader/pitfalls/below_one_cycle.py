"""Less than one core cycle for something that is executed, one after the other."""

from __future__ import annotations

from grader.cases.case import Case
from grader.cases.spec import RELATIONS, Quantity
from grader.cases.verdict import Level
from grader.facts.observed import is_below_the_clock, usual_ticks
from grader.pitfalls.pitfall import Live, Pitfall
from labs.analysis import core_clock
from labs.common.units import rounded
from labs.recording.declared import is_first_time

#: What is executed in turn takes a core cycle each; how long that is, is known to a few percent.
LEAST_CYCLES = 0.9

#: By C kernel the variants that are there to show that nothing is executed.
NOTHING_EXECUTED = {"procedure_call": ("inlined",)}


def detect(case: Case) -> str | None:
    asked = {Quantity.COST, Quantity.WHOLE, *RELATIONS}
    if case.spec.quantity not in asked or case.spec.of_overhead:
        return None
    for name in case.spec.variants:
        if name in NOTHING_EXECUTED.get(case.spec.kernel, ()):
            continue
        found = _sample(case, name)
        if found is not None:
            return found
    cycles = _cycles_given(case)
    samples = case.recording.samples(case.spec.variant)
    if case.accepted_values or (is_below_the_clock(samples) and len(samples.batch_sizes) > 1):
        return None  # samples of several sizes, all below the clock: it is the clock that is coarse
    if cycles is not None and cycles < LEAST_CYCLES:
        return (
            f"You gave {case.as_submitted()}, which is {rounded(cycles)} core cycles for one "
            "operation."
        )
    return None


def _sample(case: Case, name: str) -> str | None:
    """A sample that is shorter than what it holds."""
    samples = case.recording.samples(name)
    cycle = core_clock.shortest_cycle(case.recording, samples.clock)
    if not len(samples) or not cycle or is_first_time(case.recording, name):
        return None
    if is_below_the_clock(samples):
        return None
    size = int(samples.batch.max())
    mean = usual_ticks(samples, size)
    if size == 0 or mean >= LEAST_CYCLES * size * cycle:
        return None
    return (
        f"Your samples hold {size} {name}, one after the other, and take {rounded(mean / cycle)} "
        "core cycles on average."
    )


def _cycles_given(case: Case) -> float | None:
    cycle = case.result.clock.core_cycle_ticks
    if case.spec.quantity is not Quantity.COST or case.submitted is None or not cycle:
        return None
    return case.result.clock.convert(case.submitted, case.spec.unit, "cycles")


PITFALL = Pitfall(
    code="below-one-cycle",
    level=Level.VALIDITY,
    symptom="The figure is shorter than this operation can be.",
    misconception="An operation that waits for the one before it takes at least one core cycle. "
    "Too much was subtracted, because the overhead is known only to one step of the clock.",
    experiment="Subtract nothing: take the slope over several numbers of operations.",
    seen_in="a benchmark suite: 0.6 cycles for an addition, by a quantized overhead",
    detect=detect,
    yields_to=(
        "clock-read-too-early",
        "work-optimised-away",
        "not-one-chain",
        "end-not-read",
        "baseline-does-it-too",
    ),
    broken=(Live("quantized_overhead", "call-args0"),),
)
