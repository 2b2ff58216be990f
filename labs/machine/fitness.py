"""Whether a machine is fit to measure: one point for each fact or small trial.

The idea comes from `isolate-check-environment`, a tool of isolate: name everything that is known to
spoil timings, and say what to do about it.
"""

from __future__ import annotations

from labs.machine import fitness_by_facts as by_facts
from labs.machine import fitness_by_trials as by_trials
from labs.machine.description import Machine
from labs.machine.probes import Trials
from labs.machine.report_point import Point


def examine(machine: Machine, trials: Trials) -> list[Point]:
    """All points, in the order in which a user should solve them.

    They depend on `machine` and `trials` only.
    """
    return [
        by_trials.check_compiler(trials),
        *by_trials.check_counter(trials),
        by_facts.check_cpus(machine),
        by_trials.check_pinning(machine, trials),
        by_facts.check_quota(machine),
        by_facts.check_memory(machine),
        by_facts.check_tasks(machine),
        by_facts.check_hypervisor(machine),
        by_facts.check_governor(machine),
        by_facts.check_turbo(machine),
        by_facts.check_smt(machine),
        by_facts.check_seccomp(machine),
        by_facts.check_load(machine),
        by_facts.check_steal(machine, trials),
        by_trials.check_interruptions(trials),
        by_facts.check_clock_source(machine),
        by_trials.check_disk("disk here", trials.here, "Change to a folder of your own: cd ~"),
        by_trials.check_disk(
            "disk, cache",
            trials.cache,
            "Set TICKLAB_CACHE to a folder that you may write.",
            fatal=True,
        ),
    ]


def can_measure(points: list[Point]) -> bool:
    """Whether measuring is possible: no point has failed."""
    return not any(point.status == "FAIL" for point in points)


def verdict(points: list[Point]) -> str:
    """One sentence that sums up all points."""
    failed = [point.name for point in points if point.status == "FAIL"]
    cautions = [point.name for point in points if point.status == "CAUTION"]
    if failed:
        return f"Not fit to measure: {', '.join(failed)}."
    if not cautions:
        return "Fit to measure."
    if len(cautions) == 1:
        return f"Fit to measure; 1 caution: {cautions[0]}."
    return f"Fit to measure; {len(cautions)} cautions: {', '.join(cautions)}."
