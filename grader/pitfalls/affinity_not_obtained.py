"""Pinned in the options, elsewhere in fact."""

from __future__ import annotations

from grader.case import Case
from grader.pitfalls.pitfall import Pitfall
from grader.verdict import Level


def detect(case: Case) -> str | None:
    asked = [cpu for cpu in case.recording.condition("cpu.asked") if cpu != "none"]
    seen = {*case.recording.condition("cpu.before"), *case.recording.condition("cpu.after")}
    elsewhere = sorted(seen - set(asked) - {"-1"})
    if not asked or not elsewhere:
        return None
    return f"Your run asked for CPU {asked[0]} and was seen on CPU {', '.join(elsewhere)}."


PITFALL = Pitfall(
    code="affinity-not-obtained",
    level=Level.VALIDITY,
    symptom="The run was not where it says it was.",
    misconception="Asking for a CPU is not having it: the call's result and the CPU must be read.",
    experiment="Read the CPU number before and after the run.",
    seen_in="report A: a return value of sched_setaffinity never looked at",
    detect=detect,
)
