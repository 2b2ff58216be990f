"""The compiler left out what was to be measured: the cost is that of the empty loop, or none."""

from __future__ import annotations

from grader.cases.case import Case
from grader.cases.spec import RELATIONS, Quantity
from grader.cases.verdict import Level
from grader.facts.observed import is_below_the_clock
from grader.pitfalls.below_one_cycle import NOTHING_EXECUTED
from grader.pitfalls.pitfall import Live, Pitfall
from labs.analysis.line import Line
from labs.analysis.net_cost import Net
from labs.common.units import rounded

#: Whatever is executed costs more of a core cycle than this; what is not costs nothing.
MOST_CYCLES = 0.25

#: A call is a jump there and one back, which no core does in less than a cycle. What a compiler
#: leaves of an inlined one may cost as much as that.
LEAST_OF_CALLS = 0.9
PROCEDURES = frozenset({"procedure_call", "own_procedure"})

#: A baseline of at most so many core cycles is a mere loop.
LOOP_CYCLES = 20.0


def detect(case: Case) -> str | None:
    asked = {Quantity.COST, Quantity.WHOLE, *RELATIONS}
    if case.spec.quantity not in asked or case.spec.of_overhead:
        return None
    for name in case.spec.variants:
        result = case.results[name]
        if result.line is None or name in NOTHING_EXECUTED.get(case.spec.kernel, ()):
            continue
        if is_below_the_clock(case.recording.samples(name)):
            continue
        least = LEAST_OF_CALLS if case.spec.kernel in PROCEDURES else MOST_CYCLES
        evidence = _evidence(result.line, result.net, least)
        if evidence is not None:
            return f"Your variant {name} {evidence}"
    return None


def _evidence(line: Line, net: Net | None, least: float) -> str | None:
    """What shows that an operation is not executed, which costs at least `least` core cycles."""
    cycle = line.clock.core_cycle_ticks
    if not cycle:
        return None
    if line.cost.high < least * cycle:
        sizes = f"{line.batch[0]:.0f} to {line.batch[-1]:.0f}"
        grow = "do not grow" if line.cost.high < MOST_CYCLES * cycle else "grow too little"
        return (
            f"adds {rounded(line.cost.value / cycle, 2)} core cycles an operation: from k = "
            f"{sizes} your samples {grow}."
        )
    if net is None or net.baseline is None or net.baseline.value > LOOP_CYCLES * cycle:
        return None
    if net.net.high >= MOST_CYCLES * cycle:
        return None
    return (
        f"takes {rounded(net.whole.value / cycle)} core cycles, and the {net.baseline_variant} "
        f"alone {rounded(net.baseline.value / cycle)}: nothing is left for what is called."
    )


PITFALL = Pitfall(
    code="work-optimised-away",
    level=Level.VALIDITY,
    symptom="The program does not execute the work that you want to measure.",
    misconception="The compiler keeps the results of a program, not its steps: it inlines or "
    "leaves out a call without effect.",
    experiment="Look for the call in the disassembly of the measured region; then forbid inlining, "
    "and use the result.",
    seen_in="loops around an empty function at -O2, which time the loop",
    detect=detect,
    yields_to=(
        "clock-read-too-early",
        "clocks-of-two-processes",
        "baseline-does-it-too",
        "page-not-brought",
    ),
    broken=(Live("call_left_out", "call-args0"),),
)
