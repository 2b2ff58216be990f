"""Judge whether a machine is fit to measure, point by point, from facts and small trials alone.

The idea is that of isolate's `isolate-check-environment`: name each thing known to spoil timings,
and say what to do about it.
"""

from __future__ import annotations

from labs.machine import fitness_by_facts as by_facts
from labs.machine import fitness_by_trials as by_trials
from labs.machine.description import Machine
from labs.machine.point import Point
from labs.machine.probes import Trials


def examine(machine: Machine, trials: Trials) -> list[Point]:
    """Every point, in the order in which to mend them. Pure: same facts, same points."""
    return [
        by_trials.of_compiler(trials),
        *by_trials.of_counter(trials),
        by_facts.of_cpus(machine),
        by_trials.of_pinning(machine, trials),
        by_facts.of_quota(machine),
        by_facts.of_hypervisor(machine),
        by_facts.of_governor(machine),
        by_facts.of_turbo(machine),
        by_facts.of_smt(machine),
        by_facts.of_seccomp(machine),
        by_facts.of_load(machine),
        by_facts.of_steal(machine, trials),
        by_trials.of_taken(trials),
        by_facts.of_clock_source(machine),
        by_trials.of_disk("disk here", trials.here, "Change to a folder of your own: cd ~"),
        by_trials.of_disk(
            "disk, cache", trials.cache, "Set TICKLAB_CACHE to a folder of yours.", fatal=True
        ),
    ]


def fit(points: list[Point]) -> bool:
    """Whether measuring is possible."""
    return not any(point.status == "FAIL" for point in points)


def verdict(points: list[Point]) -> str:
    """One sentence for all points."""
    failed = [point.name for point in points if point.status == "FAIL"]
    cautions = [point.name for point in points if point.status == "CAUTION"]
    if failed:
        return f"Not fit to measure: {', '.join(failed)}."
    if not cautions:
        return "Fit to measure."
    count = f"{len(cautions)} caution{'s' if len(cautions) > 1 else ''}"
    return f"Fit to measure; {count}: {', '.join(cautions)}."
