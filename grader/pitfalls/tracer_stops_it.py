"""A run under a tracer, which stops the program at each system call."""

from __future__ import annotations

from grader.cases.case import Case
from grader.cases.verdict import Level
from grader.facts import tracing
from grader.pitfalls.pitfall import Pitfall


def detect(case: Case) -> str | None:
    seen = tracing.stops(case.recording, own=case.spec.own)
    if seen is None:
        return None
    counted = f"the OS counted {seen.switches:,} voluntary switches that your C does not claim"
    if seen.calls:
        counted = (
            f"the OS counted {seen.switches:,} voluntary switches that your C does not claim, for "
            f"{seen.calls:,} system calls"
        )
    if seen.tracer:
        return f"Your recording was made under {seen.tracer[:40]}: {counted}."
    return f"In your run {counted}: about {seen.switches / seen.calls:.1f} at each call."


PITFALL = Pitfall(
    code="tracer-stops-it",
    level=Level.VALIDITY,
    symptom="A tracer stopped the program at each system call, and the figure holds these stops.",
    misconception="strace only watches. In fact it stops the program when a call begins and when "
    "it ends, and each stop takes two switches.",
    experiment="Count the calls with strace in one run, and measure in another run without it.",
    seen_in="strace -f labs measure system_call: 7,685 ns for a call of 85 ns",
    detect=detect,
)
