"""A sample that begins by the clock of one process and ends by that of another."""

from __future__ import annotations

from grader.cases.case import Case
from grader.cases.verdict import Level
from grader.facts import cpu_clocks
from grader.pitfalls.pitfall import Live, Pitfall
from labs.common.units import rounded


def detect(case: Case) -> str | None:
    if case.others:
        return None
    for name in case.spec.variants:
        clock = cpu_clocks.missing_the_peer(case, name)
        lacking = cpu_clocks.without_growth(case, name)
        if clock is None or lacking is None:
            continue
        few, short, many, long = lacking
        return (
            f"By {clock} your variant {name} takes {rounded(short)} ns for {few} exchange"
            f"{'s' if few != 1 else ''} and "
            f"{rounded(long)} ns for {many}: no single clock can show that."
        )
    return None


PITFALL = Pitfall(
    code="clocks-of-two-processes",
    level=Level.VALIDITY,
    symptom="The beginning and the end were read from two different clocks.",
    misconception="The other process may read the end only if both processes read the same "
    "clock; each process has its own CPU time.",
    experiment="Let both sides read CLOCK_MONOTONIC, and double the exchanges.",
    seen_in="report E: the end is taken in the other process and sent back by a pipe",
    detect=detect,
    broken=(Live("end_by_other_clock", "process-switch-pipe-pinned"),),
)
