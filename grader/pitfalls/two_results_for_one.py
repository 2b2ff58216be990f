"""A recording holds several results, and the figure is another one's, or a mean of two."""

from __future__ import annotations

from grader.cases.case import Case
from grader.cases.digits import is_number_of_samples
from grader.cases.spec import Quantity
from grader.cases.verdict import Level
from grader.facts.wide_interval import caveat
from grader.pitfalls.pitfall import Live, MistakeKind, Pitfall
from labs.analysis.net_cost import parts_of
from labs.common.units import rounded
from labs.results import naive
from labs.results.result import result_of

#: Within this share of the right value a figure is taken for it, however it was computed.
NEAR = 0.05


def detect(case: Case) -> str | None:
    spec, recording = case.spec, case.recording
    if spec.quantity is not Quantity.COST or case.submitted is None or case.others:
        return None
    if not _is_switch(case, spec.variant):
        return None
    own = _value(case, spec.variant)
    # An interval that is not to be believed may hold the other results as well.
    if case.right and (not caveat(case) or abs(case.submitted - own) < NEAR * abs(own)):
        return None
    for name in recording.variants:
        if name == spec.variant or not _is_switch(case, name):
            continue
        other = _value(case, name)
        for value, what in (
            (other, "the result of"),
            ((own + other) / 2, f"the mean of {spec.variant} and"),
        ):
            if is_number_of_samples(case, value):
                return (
                    f"You gave {case.as_submitted()}: {what} {name}. Your recording gives "
                    f"{spec.variant} {rounded(own)} and {name} {rounded(other)} {spec.unit}."
                )
    return None


def _is_switch(case: Case, variant: str) -> bool:
    """Whether `variant` times an exchange between tasks, of which a switch is a part."""
    return parts_of(case.recording, variant) > 1


def _value(case: Case, variant: str) -> float:
    return naive.naive_value(result_of(case.recording, variant, case.spec.unit))


PITFALL = Pitfall(
    code="two-results-for-one",
    level=Level.INTERPRETATION,
    symptom="The figure is another result of the same run, or a mean of two.",
    misconception="Two variants, or two pairs of readings around different parts of an exchange, "
    "time two things; their mean is neither.",
    experiment="Write down what happens between the readings of each, then keep the one that the "
    "lab asks for.",
    seen_in="report B: both processes print a result, and a guess explains their difference",
    detect=detect,
    explains=MistakeKind.CONTENTS,
    broken=(Live("both_sides_print", "thread-switch-pipe", handed_in="pipe-by-the-peer"),),
)
