"""Operations that are not what they seem, as a process that times nothing has seen.

`kernels_c/trials/trials.c` makes the trials, and the run warns of what they show. So a pitfall here
is what the run has said.
"""

from __future__ import annotations

from grader.cases.case import Case
from grader.cases.verdict import Level
from grader.pitfalls.pitfall import Live, pitfall
from labs.recording import operation_trials
from labs.results import run_warnings
from labs.units import rounded


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
    level=Level.VALIDITY,
    symptom="The operation changes its input, and later operations find what it left.",
    misconception="An operation in place uses its input up: what is sorted once is sorted for all "
    "later samples.",
    experiment="Copy the input before each operation, and subtract the copy as a baseline.",
    seen_in="benchmarks of sorting in three public projects: 3,445 ns in place of 5,771",
    yields_to=(
        "library-call-not-system-call",
        "vdso-not-system-call",
        "work-optimised-away",
        "not-one-call",
        "operations-not-counted",
    ),
    broken=(Live("sorts_what_is_sorted", "own-question-cost"),),
)
def input_eaten(case: Case) -> str | None:
    """Operations of which only the first ones have something to do."""
    return _warned_of(case, run_warnings.INPUT_EATEN)


@pitfall(
    code=run_warnings.INPUT_LEARNT,
    level=Level.VALIDITY,
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
    level=Level.VALIDITY,
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
    level=Level.VALIDITY,
    symptom="The messages are empty, so nobody waits for them.",
    misconception="A write of 0 bytes into a pipe wakes no reader, and a read of 0 bytes does not "
    "wait. Both return at once, and no task switches.",
    experiment="Print what write() and read() return.",
    seen_in="a homework on switches, in which both sides exchange 0 bytes",
    yields_to=("other-call-than-asked",),
    broken=(Live("messages_of_0_bytes", "process-switch-pipe-pinned"),),
)
def nothing_sent(case: Case) -> str | None:
    """An exchange of messages that hold no byte."""
    return _warned_of(case, run_warnings.NOTHING_SENT)


@pitfall(
    code=run_warnings.SAMPLES_DROPPED,
    level=Level.VALIDITY,
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
    level=Level.VALIDITY,
    symptom="To map and unmap memory is part of your page fault.",
    misconception="mmap() and munmap() are system calls of their own. A page fault is what the "
    "first use of a mapped page costs.",
    experiment="Map all pages before the first reading, and unmap them after the last one.",
    seen_in="benchmarks that map, touch and unmap one page in the timed loop",
    broken=(Live("mapped_inside", "page-fault-anonymous"),),
)
def mapping_counted_along(case: Case) -> str | None:
    """A page fault that is timed with system calls beside it."""
    for name in case.spec.variants if case.spec.kernel == "page_fault" else ():
        calls = operation_trials.of_variant(case.recording, name).calls
        if calls:
            return f"Between its readings, {name} makes {calls} system calls for one page."
    return None


@pitfall(
    level=Level.VALIDITY,
    symptom="Your children write while they end.",
    misconception="exit() flushes the buffers that the child has copied from its parent, and calls "
    "what the parent has registered. _exit() only ends the child.",
    experiment="End the child by _exit(), and measure again.",
    seen_in="programs of which each child prints its parent's line again",
    broken=(Live("child_flushes", "creation-fork-wait"),),
)
def child_flushes(case: Case) -> str | None:
    """New tasks that write what their parent has buffered."""
    for name in case.spec.variants if case.spec.kernel == "task_creation" else ():
        seen = operation_trials.of_variant(case.recording, name)
        if seen.writes and seen.bytes_written:
            each = rounded(seen.bytes_written / seen.writes)
            return f"{name}: tasks wrote {seen.writes:,} times, {each} bytes on average."
    return None
