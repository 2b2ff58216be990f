"""Procedure calls and loops, and what the compiler leaves of them."""

from __future__ import annotations

from grader.evidence import c_tree, observed, traps
from grader.evidence.c_calls import has_loop
from grader.evidence.observed import is_below_the_clock, usual_ticks
from grader.evidence.sources import own_source
from grader.figures.case import Case, is_number
from grader.figures.spec import RELATIONS, Quantity
from grader.pitfalls.pitfall import Live, MistakeKind, pitfall
from labs.analysis import cpu_core
from labs.analysis.line import Line
from labs.analysis.net_cost import Net
from labs.c_kernels.toolchain import optimisation_level
from labs.recording.declared import is_first_time
from labs.results.result import result_of
from labs.results.warning_thresholds import CYCLES_OF_NOTHING, WHOLE_CYCLE
from labs.units import rounded, with_unit

#: By C kernel the variants that are there to show that nothing is executed.
NOTHING_EXECUTED = {"procedure_call": ("inlined",)}


@pitfall(
    symptom="The figure is shorter than this operation can be.",
    misconception="Operations in turn take at least one core cycle each. Too much was subtracted: "
    "the overhead is known only to one step of the clock.",
    experiment="Subtract nothing: take the slope over several numbers of operations.",
    seen_in="a benchmark suite: 0.6 cycles for an addition",
    yields_to="clock-read-too-early, work-optimised-away, not-one-chain, end-not-read, "
    "baseline-does-it-too",
    broken=(Live("quantized_overhead", "call-args0"),),
)
def below_one_cycle(case: Case) -> str | None:
    """Less than one core cycle for something that is executed, one after the other."""
    asked = {Quantity.COST, Quantity.WHOLE, *RELATIONS}
    if case.spec.quantity not in asked or case.spec.of_overhead:
        return None
    for name in case.spec.variants:
        if name in NOTHING_EXECUTED.get(case.spec.kernel, ()):
            continue
        found = _sample_too_short(case, name)
        if found is not None:
            return found
    cycles = _cycles_given(case)
    samples = case.recording.samples(case.spec.variant)
    if case.accepted_values or (is_below_the_clock(samples) and len(samples.batch_sizes) > 1):
        return None  # samples of several sizes, all below the clock: it is the clock that is coarse
    if cycles is not None and cycles < WHOLE_CYCLE:
        return (
            f"You gave {case.as_submitted()}, which is {rounded(cycles)} core cycles for one "
            "operation."
        )
    return None


def _sample_too_short(case: Case, name: str) -> str | None:
    """A sample that is shorter than what it holds."""
    samples = case.recording.samples(name)
    cycle = cpu_core.shortest_cycle(case.recording, samples.clock)
    if not len(samples) or not cycle or is_first_time(case.recording, name):
        return None
    if is_below_the_clock(samples):
        return None
    size = int(samples.batch.max())
    mean = usual_ticks(samples, size)
    if size == 0 or mean >= WHOLE_CYCLE * size * cycle:
        return None
    return (
        f"Your samples hold {size} {name}, one after the other, and take {rounded(mean / cycle)} "
        "core cycles on average."
    )


def _cycles_given(case: Case) -> float | None:
    cycle = case.result.clock.core_cycle_ticks
    if case.spec.quantity is not Quantity.COST or case.submitted is None or not cycle:
        return None
    return case.result.clock.convert(case.submitted, case.spec.unit, "cycles")


#: A call is a jump there and one back, which no core does in less than a cycle. What a compiler
#: leaves of an inlined one may cost as much as that.
KERNELS_OF_CALLS = frozenset({"procedure_call", "own_procedure"})
#: A baseline of at most so many core cycles is a mere loop.
LOOP_CYCLES = 20.0


@pitfall(
    symptom="What you want to measure adds no time.",
    misconception="The compiler leaves out what has no effect; the core hides what nothing waits "
    "for.",
    experiment="If the disassembly lacks it, use its result; else let each input depend on the "
    "last result.",
    seen_in="loops around an empty function at -O2",
    yields_to="clock-read-too-early, clocks-of-two-processes, baseline-does-it-too, "
    "page-not-brought",
    broken=(Live("call_left_out", "call-args0"),),
)
def work_optimised_away(case: Case) -> str | None:
    """The compiler left out what was to be measured: the cost is that of an empty loop, or none."""
    asked = {Quantity.COST, Quantity.WHOLE, *RELATIONS}
    if case.spec.quantity not in asked or case.spec.of_overhead:
        return None
    for name in case.spec.variants:
        result = case.results[name]
        if result.line is None or name in NOTHING_EXECUTED.get(case.spec.kernel, ()):
            continue
        if is_below_the_clock(case.recording.samples(name)):
            continue
        least = WHOLE_CYCLE if case.spec.kernel in KERNELS_OF_CALLS else CYCLES_OF_NOTHING
        evidence = _left_out(result.line, result.net, least)
        if evidence is not None:
            return f"Your variant {name} {evidence}"
    return None


def _left_out(line: Line, net: Net | None, least: float) -> str | None:
    """What shows that an operation is not executed, which costs at least `least` core cycles."""
    cycle = line.clock.core_cycle_ticks
    if not cycle:
        return None
    if line.cost.high < least * cycle:
        sizes = f"{line.batch[0]:.0f} to {line.batch[-1]:.0f}"
        grow = "do not grow" if line.cost.high < CYCLES_OF_NOTHING * cycle else "grow too little"
        return (
            f"adds {rounded(line.cost.value / cycle, 2)} core cycles an operation: from k = "
            f"{sizes} your samples {grow}."
        )
    if net is None or net.baseline is None or net.baseline.value > LOOP_CYCLES * cycle:
        return None
    if net.net.high >= CYCLES_OF_NOTHING * cycle:
        return None
    return (
        f"takes {rounded(net.whole.value / cycle)} core cycles, and the {net.baseline_variant} "
        f"alone {rounded(net.baseline.value / cycle)}: nothing is left for what is called."
    )


#: An addition, its return, and what a compiler without optimisation puts around them, are fewer
#: instructions than this.
MOST_INSIDE = 24
#: Where C kernels read clock_gettime, the second reading is itself up to this many calls, and what
#: they do is counted too.
CALLS_OF_CLOCK = 4


@pitfall(
    symptom="Your C does not time one call that adds one.",
    misconception="Work in the procedure, or access to memory without a call, costs cycles as a "
    "call does.",
    experiment="Look at the disassembly of own: is there one call, and what does it do?",
    seen_in="benchmarks whose procedures do other work",
    yields_to="work-optimised-away",
)
def not_one_call(case: Case) -> str | None:
    """A procedure that is not called, calls others, or does more than the one addition."""
    operations, calls = observed.seen(case, "operations"), observed.seen(case, "calls")
    if case.spec.kernel != "own_procedure" or not operations or calls is None:
        return None
    if observed.instrumentation(case.recording) is not None:
        return None  # the compiler has added calls: more-than-the-operation
    if traps := observed.seen(case, "traps"):
        each = rounded(traps / operations, 2)
        return f"For one operation, the run saw {each} system calls between the readings."
    if _reads_a_clock(case) and operations <= calls <= operations + CALLS_OF_CLOCK:
        return None
    if calls != operations:
        made = "no call" if calls == 0 else f"{rounded(calls / operations, 3)} calls"
        return f"For one operation, the run saw {made} between the readings."
    inside = (observed.seen(case, "inside") or 0) / operations
    loops, products = observed.seen(case, "loops"), observed.seen(case, "products")
    if not loops and not products and inside <= MOST_INSIDE:
        return None
    does = "goes through a loop and " if loops else ""
    does += (
        f"multiplies or divides {rounded(products / operations, 2)} times and " if products else ""
    )
    return f"Each call of your procedure {does}takes {rounded(inside, 3)} instructions."


def _reads_a_clock(case: Case) -> bool:
    """Whether the run read clock_gettime, a function, in place of a counter."""
    return any(name.startswith("clock_") for name in case.recording.condition("counter"))


@pitfall(
    symptom="The program was compiled at another optimisation level than asked for.",
    misconception="Two levels make two programs, and a cost belongs to one of them.",
    experiment="Measure with the flags that the lab asks for, and compare both runs. A recording's "
    "line `# flags` names its level.",
    seen_in="reports A, D and E: no level is stated",
)
def optimisation_levels_mixed(case: Case) -> str | None:
    """A figure of one optimisation level handed in for another."""
    stated = case.recording.conditions.get("flags")
    if not case.spec.flags or stated is None:
        return None
    asked, had = optimisation_level(case.spec.flags), optimisation_level(stated)
    if had is None or asked == had:
        return None
    return f"The lab asks for {asked}; {case.figure.recording} was compiled with {had}."


@pitfall(
    symptom="The loop's own cost is part of the figure.",
    misconception="A slope is the cost of one round: the call, and all that the loop does between "
    "two calls.",
    experiment="Time the same loop with an empty body, and subtract its slope.",
    seen_in="report B: 10 million calls bracketed once, divided by 10 million",
    explains=MistakeKind.CONTENTS,
    shows_in_recording=True,
    yields_to="library-call-not-system-call, vdso-not-system-call",
    broken=(Live("loop_counted_along", "system-call-getppid"),),
)
def loop_counted_along(case: Case) -> str | None:
    """The loop around an operation, handed in as a part of its cost."""
    net = case.result.net
    if case.spec.quantity is not Quantity.COST or net is None:
        return None
    if case.right:
        return _nothing_to_subtract(case, net)
    if net.baseline is None or net.parts != 1 or not _is_loop(case, net):
        return None
    per_unit = case.ticks_a_unit
    loop = net.times * net.baseline.value / per_unit
    # In core cycles a run shows a line of its own: at one speed.
    shown = result_of(case.recording, case.spec.variant, case.spec.unit).net or net
    if not any(is_number(case, each.unsubtracted.value / per_unit) for each in (net, shown)):
        return None
    return (
        f"You gave {case.as_submitted()}, the slope as timed. By your variant "
        f"{net.baseline_variant}, the loop costs {with_unit(rounded(loop), case.spec.unit)} of it."
    )


def _nothing_to_subtract(case: Case, net: Net) -> str | None:
    """The figure follows, and the C that was measured has no loop to subtract."""
    if case.spec.kernel not in traps.KERNELS or net.baseline is not None:
        return None
    source = own_source(case)
    if not has_loop(c_tree.whole(source)):
        return None
    return (
        f"Your C times {case.spec.variant} in a loop and names no baseline: "
        f"{case.as_submitted()} is call and loop together."
    )


def _is_loop(case: Case, net: Net) -> bool:
    """Whether the baseline is a loop around nothing: no system call in it, no switch."""
    claims = (
        case.recording.number(f"variant.{net.baseline_variant}.{what}")
        for what in ("system_calls", "switches")
    )
    return not any(claims)
