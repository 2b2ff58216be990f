"""The time of many operations, handed in as that of one: the divisor is forgotten."""

from __future__ import annotations

from grader.cases.case import Case
from grader.cases.digits import is_number, is_rounded
from grader.cases.spec import Quantity
from grader.cases.verdict import Level
from grader.facts import traps
from grader.facts.numbers.other_numbers import whole_samples
from grader.pitfalls.pitfall import Live, MistakeKind, Pitfall
from labs.common.units import rounded

#: Twice the cost is another slip: a pair counted as one (grader.pitfalls.half_or_double).
FEWEST = 3


def detect(case: Case) -> str | None:
    if case.spec.quantity not in (Quantity.COST, Quantity.WHOLE) or case.submitted is None:
        return None
    return _several_claimed(case) if case.right else _sample(case)


def _sample(case: Case) -> str | None:
    """The figure is a whole sample, or what the operations of one cost together."""
    line = case.result.line
    if line is None:
        return None
    per_unit = line.clock.ticks_in(case.spec.unit)
    for k, mean in zip(line.batch, line.location / per_unit, strict=True):
        if k >= FEWEST and _is_total(case, float(mean), float(k)):
            return (
                f"You gave {case.as_submitted()}: your samples with {k:.0f} operations inside "
                f"take {rounded(float(mean))} {case.spec.unit} for all of them together."
            )
    for k, plain in whole_samples(case):
        if k >= FEWEST and is_rounded(case, plain):
            return (
                f"You gave {case.as_submitted()}: that is the plain mean of your samples with {k} "
                f"operations inside, {rounded(plain)} {case.spec.unit} for all of them together."
            )
    return None


def _is_total(case: Case, mean: float, k: float) -> bool:
    """Whether the figure is a sample, or k times the cost of one operation."""
    totals = [mean, *(each.value * k for each in case.accepted_values)]
    return any(is_number(case, total) for total in totals)


def _several_claimed(case: Case) -> str | None:
    """One round makes several system calls, and the figure is that of a round."""
    if case.spec.kernel not in traps.KERNELS:
        return None
    for name, result, claimed in traps.claiming(case):
        each = claimed / (result.net.parts if result.net is not None else 1)
        if each >= 2:
            return (
                f"Your variant {name} states that one round makes {claimed:g} system calls; "
                f"{case.as_submitted()} is the time of one round."
            )
    return None


PITFALL = Pitfall(
    code="cost-of-many-for-one",
    level=Level.INTERPRETATION,
    symptom="The figure is the time of many operations, not of one.",
    misconception="A sample holds k operations, and one round of the loop may hold several: "
    "divide by the number of all of them.",
    experiment="Double the operations in a sample: the cost of one stays the same, a total "
    "doubles.",
    seen_in="common where a loop is unrolled, or a total is read for a mean",
    detect=detect,
    explains=MistakeKind.CONTENTS,
    shows_in_recording=True,
    # With calls that cost half a switch, a round trip is three switches.
    yields_to=("read-and-write-counted-along", "two-results-for-one"),
    broken=(Live("four_calls_for_one", "system-call-getppid"),),
)
