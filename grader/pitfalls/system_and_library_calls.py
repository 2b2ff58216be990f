"""System calls, and calls of the C library that are taken for them."""

from __future__ import annotations

from grader.evidence import c_calls, c_tree, observed, traps
from grader.evidence.c_tree import TrapInstruction, trap_instructions
from grader.evidence.sources import own_source
from grader.figures.case import Case
from grader.pitfalls import conclusions
from grader.pitfalls.pitfall import Live, pitfall
from labs.units import rounded

#: Below the floor for certain: a real call takes more than the floor, and one that the vDSO answers
#: far less, since it never traps.
BELOW_THE_FLOOR = 0.8


@pitfall(
    symptom="The OS kernel was never entered.",
    misconception="gettimeofday and clock_gettime look like system calls. The vDSO, code that "
    "the OS kernel maps into every process, answers them without a trap.",
    experiment="Count the calls with strace -c; then use the trap instruction.",
    seen_in="report B: 16.55 ns a system call; strace counts none",
    broken=(Live("gettimeofday_for_trap", "system-call-vdso-ratio"),),
)
def vdso_not_system_call(case: Case) -> str | None:
    """A clock read through the vDSO, taken for a system call."""
    if case.spec.kernel not in traps.KERNELS:
        return None
    for name in case.spec.variants:
        claimed = case.recording.number(f"variant.{name}.system_calls")
        if claimed == 0 and name not in traps.WITHOUT:
            return f"Your variant {name} states that it makes no system call at all."
    source, least = own_source(case), traps.floor_about(case)
    clocks = c_calls.clocks_of_library(c_tree.whole(source))
    if not clocks or least is None:
        return None
    for name, _, _ in traps.claiming(case):
        own = traps.cost_about(case, name)
        if own is not None and own < BELOW_THE_FLOOR * least:
            return f"Your C calls {clocks[0]}(). Your variant {traps.with_floor(case, name)}."
    return None


#: No processor enters and leaves its OS kernel in so few core cycles: the two jumps alone, without
#: an instruction between them, take about twice as many.
LEAST_TRAP_CYCLES = 25
#: A call may look cheaper than one that does not exist, where an emulator makes an event of that.
#: Not by so much, and not where both are slow.
SHARE_OF_FLOOR, MOST_LIBRARY_CYCLES = 0.5, 200


@pitfall(
    symptom="The call is too cheap to have entered the OS kernel.",
    misconception="A function of the C library may answer from a cache, without a system call.",
    experiment="Count its calls under strace -c, or use the trap instruction.",
    seen_in="report A: getpid at 7 to 43 cycles",
    yields_to="vdso-not-system-call, work-optimised-away, below-one-cycle",
    broken=(Live("cached_getpid", "system-call-getppid"),),
)
def library_call_not_system_call(case: Case) -> str | None:
    """An answer of the C library, taken for a system call: cheaper than any trap can be."""
    for name, _, claimed in traps.claiming(case):
        own, cycles = traps.cost_about(case, name), _most_cycles(case, name)
        if cycles is None:
            continue
        least = traps.floor_about(case) if case.spec.kernel in traps.KERNELS else None
        below_floor = least is not None and own is not None and own < SHARE_OF_FLOOR * least
        below_floor = below_floor and cycles < MOST_LIBRARY_CYCLES
        if cycles < LEAST_TRAP_CYCLES * claimed or below_floor:
            return (
                f"Your variant {traps.with_floor(case, name)}. With its loop, it takes at most "
                f"{rounded(cycles)} core cycles; no trap takes fewer than {LEAST_TRAP_CYCLES}."
                if least is None
                else f"Your variant {traps.with_floor(case, name)}."
            )
    return None


def _most_cycles(case: Case, name: str) -> float | None:
    """One operation as timed, with nothing subtracted, in core cycles at most; None: not known."""
    result = case.results[name]
    if not result.clock.core_cycle_ticks:
        return None
    if result.net is not None:
        return result.net.whole.high / result.clock.core_cycle_ticks
    about = traps.cost_about(case, name)
    return None if about is None else result.clock.convert(about, "ns", "cycles")


@pitfall(
    symptom="The C library makes the call that the exercise asks you to make.",
    misconception="Your number may be right, because many functions enter the OS kernel. Some, "
    "such as gettimeofday, do not.",
    experiment="Write the trap instruction, or trap() with the call's number, and compare costs.",
    seen_in="report A: getpid() of the C library",
    yields_to="vdso-not-system-call, library-call-not-system-call, failing-call-timed",
    broken=(Live("left_to_library", "system-call-read0"),),
)
def call_not_by_hand(case: Case) -> str | None:
    """A call that a function of the C library makes, where one made by hand is asked for."""
    source = own_source(case) if case.spec.own and case.spec.kernel == traps.KERNEL else None
    if source is None:
        return None
    measured = c_tree.measured_by(source, traps.MACRO)
    functions = c_calls.functions_of_library(measured)
    if not functions or traps.made_by_hand(case, measured):
        return None
    return (
        f"Your timed C calls {functions[0]}(), and has no trap() and no trap instruction for this "
        "machine."
    )


@pitfall(
    symptom="A function of the C library runs beside your own call.",
    misconception="A repair replaces the mistake. If both run, the figure is the sum of both.",
    experiment="Delete the line with the library's call, and measure again: by how much does the "
    "figure fall?",
    seen_in="trials of lab 08: the trap in a new line, and report B's line above it",
)
def library_call_beside_trap(case: Case) -> str | None:
    """A call by the trap instruction, while the earlier call of the library still runs too."""
    code = traps.measured(case)
    if code is None or not traps.made_by_hand(case, code):
        return None
    beside = traps.of_library(case, code)
    if not beside:
        return None
    return f"Your timed C makes a call by hand and also calls {beside[0]}() of the C library."


#: A call that is refused at the door costs little more than one that does not exist.
TIMES_FLOOR = 1.25


@pitfall(
    symptom="The call seems to be refused at once.",
    misconception="A failed call takes time too. Only its result shows whether it worked.",
    experiment="Compare each result with the right one, and stop where it differs.",
    seen_in="reports A and C: no result is checked",
    yields_to="wrong-registers, call-without-its-argument, library-call-not-system-call, "
    "vdso-not-system-call",
    broken=(Live("failed_open", "system-call-read0"),),
)
def failing_call_timed(case: Case) -> str | None:
    """A system call that seems to fail at once, and whose result is not checked."""
    refused, operations = observed.seen(case, "failed"), observed.seen(case, "operations")
    if refused and operations and not _looks_at_results(case):
        return (
            f"The run watched {operations:.0f} operations of your C: the OS kernel refused "
            f"{refused:.0f} calls in them."
        )
    source = own_source(case) if case.spec.kernel in traps.KERNELS else None
    ignored = c_calls.results_ignored(c_tree.whole(source))
    least = traps.floor(case)
    if not ignored or least is None:
        return None
    for name, _, _ in traps.claiming(case):
        own = traps.cost(case, name)
        if name != traps.FLOOR and own is not None and own < TIMES_FLOOR * least:
            return (
                f"Your variant {traps.with_floor(case, name)}. Your C ignores the result of "
                f"{ignored[0]}."
            )
    return None


def _looks_at_results(case: Case) -> bool:
    """Whether the C of an own question uses all results: it may ask what a refusal costs."""
    source = own_source(case) if case.spec.kernel == conclusions.KERNEL else None
    if source is None:
        return False
    named = c_tree.arguments_of(source, conclusions.MACRO)
    variants = dict(zip((conclusions.OPERATION, conclusions.OTHER), named[1:], strict=False))
    function = variants.get(case.spec.variant)
    return function is not None and not c_calls.results_ignored(
        c_tree.reached_from(source, function)
    )


#: By trap instruction: the register of the first argument, and the machine it is an instruction of.
FIRST_ARGUMENT = {"syscall": ("rdi", "x86_64"), "svc": ("x0", "aarch64")}
REGISTERS_OF_THE_NUMBER = {"rax", "x8"}


@pitfall(
    symptom="The OS kernel does not get your arguments.",
    misconception="x86-64 Linux takes arguments in rdi, rsi and rdx; rbx and rcx belong to 32-bit "
    "int 0x80. The call fails.",
    experiment="Which arguments and result does strace print?",
    seen_in="report C: read by rbx, rcx and rdx",
    broken=(Live("wrong_registers", "system-call-read0"),),
)
def wrong_registers(case: Case) -> str | None:
    """Arguments of a system call in registers where the OS kernel does not look."""
    source = own_source(case) if case.spec.kernel in traps.KERNELS else None
    for trap in trap_instructions(c_tree.whole(source)):
        if trap.first_argument_missing and _was_run(case, trap):
            first, _ = FIRST_ARGUMENT[trap.instruction]
            loaded = ", ".join(sorted(trap.loaded - REGISTERS_OF_THE_NUMBER))
            return (
                f"Your C loads {loaded} for `{trap.instruction}`, not {first}. Your variant "
                f"{traps.with_floor(case, case.spec.variant)}."
            )
    return None


def _was_run(case: Case, trap: TrapInstruction) -> bool:
    """Whether the machine is one that has this instruction; a source may hold several."""
    stated = " ".join(case.recording.condition("os"))
    _, machine = FIRST_ARGUMENT[trap.instruction]
    others = (each for _, each in FIRST_ARGUMENT.values() if each != machine)
    return not any(other in stated for other in others)


@pitfall(
    symptom="The call takes an argument but gets none.",
    misconception="The OS kernel uses what a register holds, and may refuse the call: that takes "
    "another time.",
    experiment="Print its result and errno before you time many.",
    seen_in="report A: setuid() without its argument, 35 to 1,200 cycles",
    broken=(Live("setuid_without_argument", "system-call-setuid"),),
)
def call_without_its_argument(case: Case) -> str | None:
    """A system call that is not given the argument it takes."""
    source = own_source(case) if case.spec.kernel in traps.KERNELS else None
    code = c_tree.whole(source)
    empty = c_calls.calls_without_argument(code)
    if not empty:
        return None
    ignored = (each.replace(" ", "") for each in c_calls.results_ignored(code))
    unseen = " and ignores its result" if empty[0] in ignored else ""
    return (
        f"Your C calls {empty[0]} without an argument{unseen}. Your variant "
        f"{traps.with_floor(case, case.spec.variant)}."
    )


@pitfall(
    symptom="Your C does not time the one call that the lab asks for.",
    misconception="Each call does its own work in the OS kernel, and a variant's name does not "
    "show which call it makes.",
    experiment="Run your program under strace -c, which lists each call by name.",
    seen_in="trials of lab 08: the number of another call that also returns 0",
    yields_to="library-call-beside-trap, library-call-not-system-call, vdso-not-system-call, "
    "call-not-by-hand",
)
def another_call(case: Case) -> str | None:
    """Another system call than the one that is asked for, or one that is asked to do nothing."""
    code = traps.measured(case)
    other = traps.other_call(case, code) if code is not None else None
    if other is not None:
        return f"Your variant {case.spec.variant} is made with {other}."
    operations, made = observed.seen(case, "operations"), observed.seen(case, "system_calls")
    if case.spec.variant not in traps.ASKED or not operations or made in (None, operations):
        return None
    return (
        f"For one {case.spec.variant} of your C, the OS kernel got {rounded(made / operations, 3)} "
        "system calls."
    )


#: The call that lab 03 asks for: read of 0 bytes.
READ_OF_NOTHING = "read0"


@pitfall(
    symptom="Your C does not time one read of 0 bytes of `fd`.",
    misconception="A number near the expected one is no proof: another call, or two cheap ones, "
    "may cost as much.",
    experiment="Count the system calls of one run with strace -c.",
    seen_in="report A: getpid(), which the C library answered",
    yields_to="wrong-registers, call-without-its-argument, failing-call-timed, "
    "library-call-not-system-call, vdso-not-system-call",
)
def other_call_than_asked(case: Case) -> str | None:
    """Another system call than the one asked for, with another file, several of them, or none."""
    operations, calls = observed.seen(case, "operations"), observed.seen(case, "system_calls")
    asked = case.spec.kernel == traps.KERNEL and case.spec.variant == READ_OF_NOTHING
    if not asked or not operations or calls is None:
        return None
    reads = observed.seen(case, "empty_reads")
    if calls == operations == reads:
        return _other_file(case, operations)
    if calls == 0:
        return f"In {operations:.0f} operations of your C, the OS kernel got no system call."
    if calls != operations:
        each = rounded(calls / operations, 3)
        return f"For one operation of your C, the OS kernel got {each} system calls."
    of_any_size = observed.seen(case, "reads")
    empty = reads or 0.0
    if not of_any_size:
        return f"Of {calls:.0f} system calls that your C made, {empty:.0f} read 0 bytes."
    return (
        f"Of {calls:.0f} system calls that your C made, {of_any_size:.0f} read something, and "
        f"{empty:.0f} read 0 bytes."
    )


def _other_file(case: Case, operations: float) -> str | None:
    """The finding that reads of 0 bytes are of another file than `fd`; None if they are of it."""
    given = observed.seen(case, "given_reads")
    if given is None or given == operations:
        return None
    other = operations - given
    return (
        f"Of {operations:.0f} reads of 0 bytes that your C made, {other:.0f} "
        f"{'was' if other == 1 else 'were'} of another file than `fd`."
    )
