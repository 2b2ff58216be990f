"""The counter is taken to step by one."""

from __future__ import annotations

from grader.cases.case import Case
from grader.cases.spec import Quantity
from grader.cases.verdict import Level
from grader.pitfalls.pitfall import MistakeKind, Pitfall


def detect(case: Case) -> str | None:
    if case.spec.quantity is not Quantity.STEP or case.right or case.figure.value != 1:
        return None
    samples = case.recording.samples(case.spec.variant)
    step = samples.clock.step
    on_it = int((samples.ticks % step == 0).sum())
    how_many = "All" if on_it == len(samples) else f"{on_it:,}"
    return (
        f"You gave {case.as_submitted()}. {how_many} of your {len(samples):,} samples are "
        f"multiples of {step} ticks: the counter steps by {step}."
    )


PITFALL = Pitfall(
    code="step-assumed-one",
    level=Level.INTERPRETATION,
    symptom="The figure assumes that the counter advances by one tick at a time.",
    misconception="A counter that counts in ticks may advance by several ticks at once.",
    experiment="Take the greatest common divisor of many differences between readings.",
    seen_in="report A: single calls of 1 to 4 cycles on counters that step by 8 to 26",
    detect=detect,
    explains=MistakeKind.CONTENTS,
)
