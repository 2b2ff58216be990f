"""A call that a function of the C library makes, where one made by hand is asked for."""

from __future__ import annotations

from grader.cases.case import Case
from grader.cases.verdict import Level
from grader.facts.c import calls, parts
from grader.facts.sources import own_source
from grader.pitfalls.pitfall import Live, Pitfall

KERNEL, MACRO = "own_call", "MEASURE_OWN_CALL"


def detect(case: Case) -> str | None:
    source = own_source(case) if case.spec.own and case.spec.kernel == KERNEL else None
    if source is None:
        return None
    measured = parts.measured_by(source, MACRO)
    functions = calls.functions_of_library(measured)
    system = " ".join(case.recording.condition("os")).split()
    if not functions or calls.enters_by_hand(measured, system[-1] if system else ""):
        return None
    return (
        f"The timed part of your C calls {functions[0]}() of the C library; it holds no trap "
        "instruction for this machine and no trap()."
    )


PITFALL = Pitfall(
    code="call-not-by-hand",
    level=Level.VALIDITY,
    symptom="The C library makes the call here; the exercise asks you to make it.",
    misconception="Your number may be right, because many such functions enter the OS kernel. "
    "But some, such as gettimeofday, answer by themselves, and their names do not show it.",
    experiment="Write the trap instruction, or trap() with the call's number, and compare both "
    "costs.",
    seen_in="report A: getpid() of the C library",
    detect=detect,
    yields_to=("vdso-not-system-call", "library-call-not-system-call", "failing-call-timed"),
    in_own_c=True,
    broken=(Live("left_to_library", "system-call-read0"),),
)
