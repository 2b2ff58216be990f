"""A run that asked for one CPU and ran on another."""

from __future__ import annotations

from grader.cases.case import Case
from grader.cases.verdict import Level
from grader.pitfalls.pitfall import Live, Pitfall
from labs.common.units import times
from labs.recording import places


def detect(case: Case) -> str | None:
    asked = [cpu for cpu in case.recording.condition("cpu.asked") if cpu != "none"]
    if asked and (own := _cpus_of_its_own(case)):
        # Other variants of the run may move by design.
        away = ", ".join(map(str, sorted(own - {int(cpu) for cpu in asked if cpu.isdecimal()})))
        return f"Your run asked for CPU {asked[0]} and was seen on CPU {away}." if away else None
    seen = {*case.recording.condition("cpu.before"), *case.recording.condition("cpu.after")}
    elsewhere = sorted(seen - set(asked) - {"-1"})
    if not asked:
        return None
    if elsewhere:
        return f"Your run asked for CPU {asked[0]} and was seen on CPU {', '.join(elsewhere)}."
    moved = case.recording.total("task.main.migrations") or 0
    if moved > 0:
        return f"Your run asked for CPU {asked[0]} and was moved between CPUs {times(moved)}."
    return None


def _cpus_of_its_own(case: Case) -> frozenset[int]:
    """The CPUs of the task in the samples of the figure's own variants, if they are recorded."""
    places_of_variants = (places.of_variant(case.recording, name) for name in case.spec.variants)
    return frozenset().union(*(each.mine for processes in places_of_variants for each in processes))


PITFALL = Pitfall(
    code="affinity-not-obtained",
    level=Level.VALIDITY,
    symptom="The run was not on the CPU that it asked for.",
    misconception="A program that asks for a CPU may not get it: read the call's result and the "
    "CPU's number.",
    experiment="Read the CPU number before and after the run.",
    seen_in="report A: the return value of sched_setaffinity is never checked",
    detect=detect,
    broken=(Live("pinning_not_looked_at", "timer-overhead-fenced"),),
)
