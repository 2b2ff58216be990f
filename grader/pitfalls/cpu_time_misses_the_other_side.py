"""A clock of CPU time that stands still while the other task runs."""

from __future__ import annotations

from grader.cases.case import Case
from grader.cases.verdict import Level
from grader.facts import cpu_clocks
from grader.pitfalls.pitfall import Live, Pitfall
from labs.analysis.line import Line
from labs.common.units import rounded


def detect(case: Case) -> str | None:
    if case.others:
        return None
    for name in case.spec.variants:
        clock = cpu_clocks.missing_the_peer(case, name)
        if clock is None or cpu_clocks.without_growth(case, name) is not None:
            continue
        line = case.results[name].line
        took = f": it shows {rounded(_ns(line))} ns for a round trip" if line is not None else ""
        return f"Your variant {name} reads {clock}, which counts one side only{took}."
    return None


def _ns(line: Line) -> float:
    return line.cost.value / line.clock.ticks_in("ns")


PITFALL = Pitfall(
    code="cpu-time-misses-the-other-side",
    level=Level.VALIDITY,
    symptom="The clock stands still while the other task runs.",
    misconception="A CPU-time clock counts only what this task computes. It leaves out the work "
    "of the other task and much of the switching.",
    experiment="Time the same exchange by CLOCK_MONOTONIC and compare the two results.",
    seen_in="report D: CLOCK_PROCESS_CPUTIME_ID around a pipe exchange, 1,283 ns",
    detect=detect,
    broken=(Live("cpu_time_of_one_side", "process-switch-pipe-pinned"),),
)
