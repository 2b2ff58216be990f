"""What lies between the readings beside the operation, and operations that are not what they seem.

What lies beside shows by what it costs and by what the run saw.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from grader.evidence import c_tree, memory_use, observed, traps
from grader.evidence.c_calls import wait_with_an_end
from grader.evidence.sources import own_source
from grader.figures.case import Case
from grader.figures.spec import Quantity
from grader.pitfalls.pitfall import Live, pitfall
from labs.recording import counts
from labs.results import run_warnings
from labs.units import rounded

#: To create a task and wait for it, the C library may make this many calls more: it blocks signals.
MOST_BESIDE = 4
#: To send a signal takes four system calls in some libraries, and any other wake takes fewer.
MOST_TO_WAKE = 5
#: One page fault brings a page. From so many on, or from so many times its cost on, there is more.
FAULTS_WITH_WORK, MOST_TIMES = 1.2, 1.5
#: A use of its set that makes so many page faults uses other memory too.
FAULTS_OF_OTHER_MEMORY = 16
#: With fewer flags of clone, a task took 1.07 to 1.09 times as long as the kit's beside a busy CPU,
#: and once more than 1.1; with a clean stack of its own it takes 4 times.
MOST_TIMES_OF_TASK = 1.25
#: What costs less than this share of the operation is within what the grader accepts.
SHARE_OF_COST = 0.05
#: Some ways to make a call by its number, or to call a procedure, take more instructions than the
#: kit's: so many core cycles at most. With and without optimisation, through memory or a pointer, a
#: call took up to 5 more; a fence took 15, a reading of the counter 28 and a pause 87.
MOST_CYCLES_TO_CALL, MOST_CYCLES_OF_CALL = 20.0, 8.0


@pitfall(
    symptom="More is timed than the one operation asked for.",
    misconception="Whatever lies between the readings counts: a fence, a pause, a loop, memory, "
    "another task or a profiler's code.",
    experiment="Take the rest out, and measure again.",
    seen_in="trials of labs 03 to 10: a fence in the call, a stack for each task, -pg",
    yields_to="number-not-by-the-task, not-a-thread, vfork-for-thread, "
    "pinning-inside-the-interval, not-woken, wait-with-an-end, page-not-brought, read-not-written, "
    "not-one-call, library-call-not-system-call, library-call-beside-trap, working-set-in-part",
)
def more_than_the_operation(case: Case) -> str | None:
    """More is timed than one call, task, handoff or page, by what it costs or by counts."""
    if case.others or case.spec.quantity in (Quantity.STEP, Quantity.SWITCHES):
        return None
    option = observed.instrumentation(case.recording)
    if option is not None:
        return (
            f"The program was compiled with {option}: the compiler adds code of its own to it, "
            "and this code is timed too."
        )
    look = _BESIDE.get(case.spec.kernel) if case.spec.own else None
    return look(case) if look is not None else None


def _beside_call(case: Case) -> str | None:
    """What a system call by hand takes without its trap. The whole call takes longer in one place
    of a program than in another, by a third and more."""
    if not observed.seen(case, "system_calls"):
        return None
    return _without_calls(case, "call", MOST_CYCLES_TO_CALL)


def _without_calls(case: Case, what: str, most_cycles: float) -> str | None:
    ticks = observed.in_most(case.recording, f"variant.{case.spec.variant}.beside_its_calls")
    clock, estimate = case.result.clock, case.result.estimate
    if ticks is None or estimate is None or not clock.core_cycle_ticks:
        return None
    whole = estimate.value * clock.ticks_in(estimate.unit)
    cycles = ticks / clock.core_cycle_ticks
    if cycles <= most_cycles or ticks <= SHARE_OF_COST * whole:
        return None
    return (
        f"The run left out the system calls of your {what}, and it still takes {rounded(cycles)} "
        f"core cycles: {ticks / whole:.0%} of your figure."
    )


def _beside_procedure(case: Case) -> str | None:
    found, cycle = observed.beside_kit(case.recording, "own"), case.result.clock.core_cycle_ticks
    if found is None or not cycle or found.more <= MOST_CYCLES_OF_CALL * cycle:
        return None
    return (
        f"With its loop, a call of your procedure takes {rounded(found.own / cycle)} core cycles; "
        f"one of the kit that adds one takes {rounded(found.kit / cycle)}, timed in turns."
    )


def _beside_creation(case: Case) -> str | None:
    tasks = observed.seen(case, "operations")
    said = []
    if tasks:
        each = {
            key: (observed.seen(case, key) or 0) / tasks
            for key in ("system_calls", "creations", "waits", "sleeps", "mappings")
        }
        others = 2 * each["system_calls"] - sum(each.values())
        said += [f"creates {rounded(each['creations'], 2)} tasks"] * (each["creations"] > 1)
        said += [f"sleeps {_times(each['sleeps'])}"] * (each["sleeps"] >= 1)
        said += [f"maps or unmaps memory {_times(each['mappings'])}"] * (each["mappings"] >= 1)
        said += [f"makes {rounded(others, 2)} other system calls"] * (others > MOST_BESIDE)
    if said:
        return f"For one operation, the run saw that your C {' and '.join(said)}."
    found = observed.beside_kit(case.recording, "own")
    if found is None or found.times <= MOST_TIMES_OF_TASK:
        return None
    per_us = case.result.clock.ticks_in("us")
    return (
        f"Your task takes {rounded(found.own / per_us)} µs to its end. A task of the kit in the "
        f"same memory takes {rounded(found.kit / per_us)} µs, timed in turns with it."
    )


def _times(number: float) -> str:
    """The number as text: `once`, `2.5 times`."""
    return "once" if rounded(number, 2) == "1" else f"{rounded(number, 2)} times"


def _beside_switch(case: Case) -> str | None:
    wakes, calls = observed.seen(case, "operations"), observed.seen(case, "system_calls")
    if wakes and calls is not None and calls > MOST_TO_WAKE * wakes:
        return f"One wake of your C makes {rounded(calls / wakes, 3)} system calls."
    return _without_calls(case, "wake", 0.0)


def _beside_pages(case: Case) -> str | None:
    ready = counts.page_faults_of(case.recording, "bring")
    without = counts.page_faults_of(case.recording, "unprepared")
    if ready is not None and ready.each >= FAULTS_WITH_WORK:
        return (
            f"To bring {ready.touched:,} pages, your get_ready() made {ready.faults:,} page faults."
        )
    # A page with a sleep takes long enough to be interrupted: on a busy machine it has no estimate.
    called = wait_with_an_end(c_tree.measured_by(own_source(case) or "", "MEASURE_OWN_PAGE_FAULT"))
    if called is not None:
        return f"Between its readings your C calls {called}(), which brings no page."
    found, clock = observed.beside_kit(case.recording, "bring"), case.result.clock
    figure = case.result.estimate
    if found is not None and figure is not None:
        whole = figure.value * clock.ticks_in(figure.unit)
        if found.more > SHARE_OF_COST * whole:
            return (
                f"With all pages there, your get_ready() still takes "
                f"{rounded(found.own / clock.ticks_in('ns'))} ns for each page: "
                f"{found.own / whole:.0%} of your figure."
            )
    if without is None or without.each < counts.MOST_FAULTS:
        return None
    mine, plain = (case.results[name].estimate for name in ("bring", "unprepared"))
    if mine is None or plain is None or mine.low <= MOST_TIMES * plain.high:
        return None
    return (
        f"Your get_ready() takes {rounded(mine.value)} {mine.unit} for each page. A plain write "
        f"with its page fault takes {rounded(plain.value)} {plain.unit} in the same run."
    )


def _beside_set(case: Case) -> str | None:
    faults = observed.in_most(case.recording, f"variant.{case.spec.variant}.first_use_faults")
    if faults is None or faults < FAULTS_OF_OTHER_MEMORY:
        return None
    return (
        f"All pages of the set were there, and your first use of it still made {faults:.0f} page "
        "faults: your C uses other memory too."
    )


#: By the C kernel around a student's function: what looks for more than the operation.
_BESIDE: Mapping[str, Callable[[Case], str | None]] = {
    traps.KERNEL: _beside_call,
    "own_procedure": _beside_procedure,
    "own_creation": _beside_creation,
    "own_switch": _beside_switch,
    "own_page_fault": _beside_pages,
    **dict.fromkeys(memory_use.SET_KERNELS, _beside_set),
}


# Operations that are not what they seem, as a process that times nothing has seen.
#
# `kernels_c/trials/trials.c` makes the trials, and the run warns of what they show. So a pitfall
# here is what the run has said.


def _warned_of(case: Case, code: str) -> str | None:
    """The symptom of the warning `code` of the first variant that has it, as a sentence."""
    for name in case.spec.variants:
        result = case.results.get(name)
        for warning in result.warnings if result is not None else ():
            if warning.code == code:
                return f"{name}: {warning.symptom}."
    return None


@pitfall(
    code=run_warnings.INPUT_EATEN,
    symptom="The operation changes its input, and later operations find what it left.",
    misconception="An operation in place uses its input up: what is sorted once is sorted for all "
    "later samples.",
    experiment="Copy the input before each operation, and subtract the copy as a baseline.",
    seen_in="benchmarks of sorting in three public projects: 3,445 ns in place of 5,771",
    yields_to="library-call-not-system-call, vdso-not-system-call, work-optimised-away, "
    "not-one-call, operations-not-counted",
    broken=(Live("sorts_what_is_sorted", "own-question-cost"),),
)
def input_eaten(case: Case) -> str | None:
    """Operations of which only the first ones have something to do."""
    return _warned_of(case, run_warnings.INPUT_EATEN)


@pitfall(
    code=run_warnings.INPUT_LEARNT,
    symptom="The branch predictor has learnt the input, which never changes.",
    misconception="The processor remembers thousands of branches: an input that comes again costs "
    "less than a new one.",
    experiment="Draw a new input for each operation, and in the baseline too.",
    seen_in="benchmarks of hash tables and of a language: 103 ns in place of 243",
    broken=(Live("same_numbers_each_time", "own-question-cost"),),
)
def input_learnt(case: Case) -> str | None:
    """Operations that are fast because the predictor knows their way."""
    return _warned_of(case, run_warnings.INPUT_LEARNT)


@pitfall(
    code=run_warnings.HALF_OF_COUNTER,
    symptom="Your C keeps only a part of the counter.",
    misconception="The counter has 64 bits. Its lower half begins anew every second or two, and a "
    "sample across this moment is wrong by 2^32.",
    experiment="Print both readings in hexadecimal. Which digits never change?",
    seen_in="a question on Stack Overflow: =A in 64-bit code, and differences in an int",
    broken=(Live("half_of_the_counter", "timer-overhead-fenced"),),
)
def half_of_the_counter(case: Case) -> str | None:
    """Samples that are differences of 32 bits."""
    return _warned_of(case, run_warnings.HALF_OF_COUNTER)


@pitfall(
    code=run_warnings.NOTHING_SENT,
    symptom="The messages are empty, so nobody waits for them.",
    misconception="A write of 0 bytes into a pipe wakes no reader, and a read of 0 bytes does not "
    "wait. Both return at once, and no task switches.",
    experiment="Print what write() and read() return.",
    seen_in="a homework on switches: messages of 0 bytes",
    yields_to="other-call-than-asked",
    broken=(Live("messages_of_0_bytes", "process-switch-pipe-pinned"),),
)
def nothing_sent(case: Case) -> str | None:
    """An exchange of messages that hold no byte."""
    return _warned_of(case, run_warnings.NOTHING_SENT)


@pitfall(
    code=run_warnings.SAMPLES_DROPPED,
    symptom="Your C drops samples by their value, and takes others.",
    misconception="A limit chosen by the expected value makes the samples agree with it. A slow "
    "sample may be the operation itself.",
    experiment="Print the dropped samples too. Which part of them has another cause?",
    seen_in="benchmarks that repeat a sample until it is near the shortest one",
    broken=(Live("long_samples_dropped", "system-call-getppid"),),
)
def samples_dropped(case: Case) -> str | None:
    """Samples that are taken again until they are short."""
    return _warned_of(case, run_warnings.SAMPLES_DROPPED)


@pitfall(
    symptom="To map and unmap memory is part of your page fault.",
    misconception="mmap() and munmap() are system calls of their own. A page fault is what the "
    "first use of a mapped page costs.",
    experiment="Map all pages before the first reading, and unmap them after the last one.",
    seen_in="benchmarks that map and unmap in the timed loop",
    broken=(Live("mapped_inside", "page-fault-anonymous"),),
)
def mapping_counted_along(case: Case) -> str | None:
    """A page fault that is timed with system calls beside it."""
    for name in case.spec.variants if case.spec.kernel == "page_fault" else ():
        calls = counts.trials_of(case.recording, name).calls
        if calls:
            return f"Between its readings, {name} makes {calls} system calls for one page."
    return None


@pitfall(
    symptom="Your children write while they end.",
    misconception="exit() flushes the buffers that the child has copied from its parent, and calls "
    "what the parent has registered. _exit() only ends the child.",
    experiment="End the child by _exit(), and measure again.",
    seen_in="programs whose children print the parent's line again",
    broken=(Live("child_flushes", "creation-fork-wait"),),
)
def child_flushes(case: Case) -> str | None:
    """New tasks that write what their parent has buffered."""
    for name in case.spec.variants if case.spec.kernel == "task_creation" else ():
        seen = counts.trials_of(case.recording, name)
        if seen.writes and seen.bytes_written:
            each = rounded(seen.bytes_written / seen.writes)
            return f"{name}: tasks wrote {seen.writes:,} times, {each} bytes on average."
    return None
