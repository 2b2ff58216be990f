"""Both sides print a result, and the figure is the other's, or a mean of the two."""

from __future__ import annotations

from grader.case import Case, is_meant
from grader.figures.spec import Quantity
from grader.pitfalls.pitfall import Live, Pitfall, Slip
from grader.verdict import Level
from labs import broken
from labs.result import result_of
from labs.units import rounded


def detect(case: Case) -> str | None:
    spec, recording = case.spec, case.recording
    if spec.quantity is not Quantity.COST or case.right or case.given is None or case.others:
        return None
    baselines = {
        name for each in recording.variants for name in recording.condition(_baseline(each))
    }
    rivals = [name for name in recording.variants if name not in (spec.variant, *baselines)]
    if not recording.number(f"variant.{spec.variant}.switches"):
        return None
    own = _value(case, spec.variant)
    for name in rivals:
        other = _value(case, name)
        for value, what in (
            (other, "the result of"),
            ((own + other) / 2, f"the mean of {spec.variant} and"),
        ):
            if is_meant(case.given, value):
                return (
                    f"You gave {case.as_submitted()}: {what} {name}. Your recording holds two "
                    f"results, {spec.variant} {rounded(own)} and {name} {rounded(other)} "
                    f"{spec.unit}."
                )
    return None


def _baseline(variant: str) -> str:
    return f"variant.{variant}.baseline"


def _value(case: Case, variant: str) -> float:
    return broken.as_believed(result_of(case.recording, variant, case.spec.unit))


PITFALL = Pitfall(
    code="two-results-for-one",
    level=Level.INTERPRETATION,
    symptom="Two results stand for one thing, and the figure is not the one asked for.",
    misconception="Two watches around different parts of an exchange time two things; their mean "
    "is neither.",
    experiment="Say for each watch what happens between its readings, then keep one.",
    seen_in="report B: both processes print a result, and the difference is explained by guess",
    detect=detect,
    explains=Slip.CONTENTS,
    broken=(Live("both_sides_print", "thread-switch-pipe", believed="pipe-by-the-peer"),),
)
