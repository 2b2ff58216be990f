"""Memory: first times, page faults, the walks of the memory ladder, working sets."""

from __future__ import annotations

import numpy as np

from grader.evidence import c_calls, c_tree, memory_use, observed
from grader.evidence.c_tree import Code
from grader.figures.case import Case
from grader.pitfalls.pitfall import Live, MistakeKind, pitfall
from labs.analysis import confidence
from labs.analysis.confidence import Estimate
from labs.recording import counts
from labs.recording.declared import is_first_time
from labs.results.result import Result
from labs.units import Clock, rounded

#: C kernel and variant whose first time takes a page fault, for certain: on Linux, where the page
#: is taken away before it.
PAGE_FAULT_FOR_CERTAIN = ("first_iteration", "call")
#: Into the OS kernel, a page mapped, and back: no processor does that in fewer core cycles.
LEAST_PAGE_FAULT_CYCLES = 150
#: A student gets ready for a first call of this C kernel, and must not make it.
OWN_FIRST_CALL = "own_first_call"
#: The names of the code.
PROCEDURES = ("procedure", "remote_procedure", "other_remote_procedure")


@pitfall(
    symptom="The cold sample is not among the samples that count.",
    misconception="A warm-up or a trial call is the first call, and each process has only one "
    "first call.",
    experiment="Leave all warm-up out and look at sample 0 of each fresh process.",
    seen_in="benchmark harnesses that warm up first",
    broken=(Live("called_before", "first-iteration-call"),),
)
def first_sample_lost(case: Case) -> str | None:
    """A first time reported from samples among which the first one is not."""
    if case.spec.kernel == OWN_FIRST_CALL and _calls_the_code(c_tree.whole(case.source)):
        return "Your C calls the code while it gets ready, and that call was the first one."
    for name in case.spec.variants:
        if is_first_time(case.recording, name):
            found = _in_warmup(case, name) or _never_cold(case, name)
            if found:
                return found
    return None


def _calls_the_code(code: Code) -> bool:
    return c_calls.called(code, PROCEDURES) is not None or c_calls.calls_an_address(code)


def may_be_page_fault(estimate: Estimate, clock: Clock) -> bool:
    """Whether what the first time costs more is enough for a page fault."""
    more = estimate.value * clock.ticks_in(estimate.unit)
    return more > max(clock.step, LEAST_PAGE_FAULT_CYCLES * (clock.core_cycle_ticks or 0.0))


def _in_warmup(case: Case, variant: str) -> str | None:
    recording = case.recording
    warmup = recording.rows_of(variant) & (recording.sample < 0)
    if not warmup.any():
        return None
    process = int(recording.process[warmup][0])
    one = warmup & (recording.process == process)
    place = int(recording.sample[one].min())
    cold = float(recording.ticks[one & (recording.sample == place)][0])
    later = recording.samples(variant)
    usual = float(np.median(later.ticks)) if len(later) else 0.0
    return (
        f"In process {process} the first {variant} took {rounded(cold)} ticks, as warm-up sample "
        f"{place}; samples that count typically take {rounded(usual)}."
    )


def _never_cold(case: Case, variant: str) -> str | None:
    estimate, clock = case.results[variant].estimate, case.results[variant].clock
    if (case.recording.kernel, variant) != PAGE_FAULT_FOR_CERTAIN or estimate is None:
        return None
    on_linux = all(name.startswith("Linux") for name in case.recording.condition("os"))
    if not on_linux or may_be_page_fault(estimate, clock):
        return None
    more = estimate.value * clock.ticks_in(estimate.unit)
    return (
        f"Your first samples take only {rounded(more)} ticks more than later ones: too few for a "
        "page fault."
    )


@pitfall(
    symptom="The page of the code was not touched.",
    misconception="Some systems also map the pages around a touched page, such as 64 KB of a file. "
    "Others do not.",
    experiment="Read one byte of the code itself, at the address that you get.",
    seen_in="code that reads 'the next page, to be sure'",
    yields_to="first-sample-lost, page-still-missing",
)
def other_page_touched(case: Case) -> str | None:
    """A first call got ready by touching a page next to that of the code."""
    if case.spec.kernel != OWN_FIRST_CALL or observed.seen(case, "page") != 0:
        return None
    if not c_tree.whole(case.source).words.isdisjoint(PROCEDURES):
        return None  # it may touch the code by its name; the run gave it another address
    what = "only other pages" if observed.seen(case, "other_pages") else "no page"
    return (
        f"Your get_ready() was given an address. It touched {what}, and not the page at this "
        "address."
    )


OWN, UNPREPARED = "own", "unprepared"
#: Whoever has brought the page is left with less than this share; by an emulator, which has to
#: translate the code as well, at least with less than another first call takes.
SHARE_LEFT = 0.5


@pitfall(
    symptom="The cause that you wanted to remove is still there.",
    misconception="Only a read or write brings a page: its address does not, and a prefetch gives "
    "up.",
    experiment="Read one byte of the code through a volatile pointer before the call.",
    seen_in="trials of lab 02: a prefetch",
)
def page_still_missing(case: Case) -> str | None:
    """A first call that somebody got ready for, and whose page was missing all the same."""
    if case.spec.kernel != OWN_FIRST_CALL or UNPREPARED not in case.results:
        return None
    own, other = case.results[OWN].estimate, case.results[UNPREPARED].estimate
    if (
        own is None
        or other is None
        or own.value <= SHARE_LEFT * other.value
        or own.high < other.low
    ):
        return None
    if not may_be_page_fault(other, case.results[UNPREPARED].clock):
        return None  # this system brings pages by itself, or does not take them away
    gain = "no gain" if own.value >= other.value else "less, but the intervals overlap"
    return (
        f"Your first call takes {rounded(own.value)} {own.unit} longer than later ones, and "
        f"without preparation {rounded(other.value)} {other.unit}: {gain}."
    )


FIRST_ITERATION = "first_iteration"
#: The variants of it that are about page faults.
ABOUT_FAULTS = ("page-fault",)
#: From so many faults an operation on they are no accident.
SHARE_OF_OPERATIONS = 0.5


@pitfall(
    symptom="The figure mixes two causes: each operation takes a page fault as well.",
    misconception="Memory that was never touched, or was taken away, lacks its page and not only "
    "its line in a cache.",
    experiment="Touch every page first, then drive only the lines out of the caches.",
    seen_in="report D: page faults are not considered",
    broken=(Live("miss_with_its_page", "first-iteration-data-cache"),),
)
def page_fault_counted_along(case: Case) -> str | None:
    """Page faults inside samples that are said to be about something else."""
    recording = case.recording
    if case.spec.kernel != FIRST_ITERATION or case.spec.variant in ABOUT_FAULTS:
        return None
    if is_first_time(recording, case.spec.variant):
        return None
    counted = recording.total("task.main.minor_faults")
    if counted is None:
        return None
    operations = {
        name: int(recording.batch[recording.variant_index == number].sum())
        for number, name in enumerate(recording.variants)
    }
    mine = operations[case.spec.variant]
    unexplained = counted - sum(operations.get(name, 0) for name in ABOUT_FAULTS)
    if mine == 0 or unexplained < SHARE_OF_OPERATIONS * mine:
        return None
    return (
        f"Your run makes {mine:,} operations of {case.spec.variant}, and the OS counted "
        f"{unexplained:,} page faults."
    )


CAUSE, MAIN_MEMORY = "first-iteration-cause", 1


@pitfall(
    symptom="You blame one cause for everything, but your figures show another.",
    misconception="A first call lacks its page, binding, cache line and branch prediction.",
    experiment="Touch the page before the first call, but call nothing. What is left?",
    seen_in="report D: main memory; report E: a cached pid",
    explains=MistakeKind.RELATION,
    tells_answer=True,
)
def cause_not_isolated(case: Case) -> str | None:
    """The whole cost of a first call blamed on main memory, against the student's own figures.

    Its words give away part of the answer, so that it is reported only after the lab is handed in.
    """
    if case.spec.id != CAUSE or case.right or case.submitted != MAIN_MEMORY:
        return None
    if case.expected is None or case.expected.value == len(case.spec.choices):
        return None  # the figures do not say another cause: they decide nothing
    whole, left, load = (_in_short(case.results[name]) for name in case.spec.operands)
    return (
        f"A load from main memory takes {load}, a first call {whole} more than others, and {left} "
        "more with its page touched."
    )


def _in_short(result: Result) -> str:
    return f"{rounded(result.estimate.value)} {result.unit}" if result.estimate else "no figure"


#: Variants whose operation makes a page fault.
MAKES_A_PAGE_FAULT = ("anonymous", "copy-on-write", "file")


@pitfall(
    symptom="Hardly any touch made a page fault: you timed a plain write.",
    misconception="malloc need not give new pages: freed memory stays in the process with its "
    "pages.",
    experiment="Map new memory with mmap before each sample, and count page faults with getrusage.",
    seen_in="buffers from malloc, used and freed for each sample",
    broken=(Live("recycled_memory", "page-fault-anonymous"),),
)
def page_there_before(case: Case) -> str | None:
    """Pages that the program has used before: their first touch was long ago."""
    if case.spec.kernel != "page_fault":
        return None
    for found in memory_use.page_faults_of(case):
        if found.variant in MAKES_A_PAGE_FAULT and found.each < counts.FEW_FAULTS:
            return (
                f"The samples of {found.variant} touch {found.touched:,} pages, and the OS counted "
                f"{found.faults:,} page faults in them."
            )
    return None


READY, AFTERWARDS = "bring", "own"


@pitfall(
    symptom="Pages are still missing after your preparation.",
    misconception="Each page comes with a write to it. A loop over bytes may leave pages out; a "
    "read, or advice such as MADV_WILLNEED, brings none.",
    experiment="Write one byte in each page, from the first to the last.",
    seen_in="trials of lab 10: a loop over bytes",
)
def page_not_brought(case: Case) -> str | None:
    """A preparation after which pages are still missing."""
    if case.spec.kernel != "own_page_fault":
        return None
    after = counts.page_faults_of(case.recording, AFTERWARDS)
    ready = counts.page_faults_of(case.recording, READY)
    if after is None or ready is None or not after.has_faults:
        return None
    if ready.there is not None and ready.only_read:
        return None  # the pages were brought, but only for reads: read-not-written
    return (
        f"After your get_ready() the first writes to {after.touched:,} pages still made "
        f"{after.faults:,} page faults."
    )


#: Variants that claim a page of their own for each operation.
OWN_PAGES = ("anonymous", "bring")


@pitfall(
    symptom="The pages were only read and have no memory of their own.",
    misconception="A read maps one page of zeros that all processes share; the first write makes "
    "another page fault.",
    experiment="Write to each page twice: the second write must make no page fault.",
    seen_in="trials of lab 10: a read",
    broken=(Live("reads_new_pages", "page-fault-anonymous"),),
)
def read_not_written(case: Case) -> str | None:
    """A page that was only read: the OS gave it no memory of its own yet."""
    for found in memory_use.page_faults_of(case):
        # A student's C may also have touched other pages, or given these back: the run must know.
        unknown = case.spec.own and found.there is None
        if found.variant in OWN_PAGES and found.only_read and not unknown:
            return (
                f"The samples of {found.variant} made {found.faults:,} page faults, and later "
                f"writes to these pages made {found.later:,} more."
            )
    return None


PAGES_OF_A_FILE = "file"


@pitfall(
    symptom="The figure is of a page, but one page fault brought several.",
    misconception="The OS also maps neighbouring pages of a file that are in memory, on Linux "
    "usually up to 64 KB.",
    experiment="Touch pages farther apart, until each makes a page fault.",
    seen_in="files read through a mapping from beginning to end",
    broken=(Live("neighbours_mapped", "page-fault-file"),),
)
def neighbours_mapped_along(case: Case) -> str | None:
    """Neighbouring pages of a file: one page fault maps several of them."""
    for found in memory_use.page_faults_of(case):
        if (
            found.variant == PAGES_OF_A_FILE
            and counts.FEW_FAULTS <= found.each < counts.MOST_FAULTS
        ):
            return (
                f"Your samples touch {found.touched:,} pages, and the OS counted "
                f"{found.faults:,} page faults: one for every {rounded(1 / found.each, 2)} pages."
            )
    return None


@pitfall(
    symptom="Nobody wrote to the memory that you loaded from.",
    misconception="Until the first write, all reads of a page find one page of zeros, which stays "
    "in the first cache.",
    experiment="Write one byte to each page before the first sample, and measure again.",
    seen_in="large arrays that are allocated and only read",
    broken=(Live("never_written", "ladder-memory"),),
)
def memory_never_written(case: Case) -> str | None:
    """Loads from memory that nobody has written to: they all come from one page of zeros."""
    for name, walk in memory_use.walks_of(case):
        if walk.written is False:
            claimed, resident = f"{walk.set_kb >> 10:,}", f"{(walk.resident_kb or 0) >> 10:,}"
            return (
                f"Over all processes, {name} claims {claimed} MB, of which the OS counted "
                f"{resident} MB as resident."
            )
    return None


@pitfall(
    symptom="Your set is in huge pages; the figure is about small ones.",
    misconception="In pages of 2 MB a load hardly waits for the page table, and the ladder's steps "
    "move.",
    experiment="Refuse huge pages with MADV_NOHUGEPAGE before the first write, and count them.",
    seen_in="large arrays where the system gives huge pages to any",
    broken=(Live("huge_pages_unnoticed", "ladder-memory", needs="huge pages"),),
)
def huge_pages_unnoticed(case: Case) -> str | None:
    """A set in huge pages that the figure says nothing of.

    Its loads hardly wait for the page table.
    """
    for name, walk in memory_use.walks_of(case):
        if walk.in_huge_pages and not name.startswith(memory_use.IN_HUGE_PAGES):
            huge, claimed = f"{(walk.huge_kb or 0) >> 10:,} MB", f"{walk.set_kb >> 10:,} MB"
            return (
                f"Over all processes, the OS put {huge} of the {claimed} of {name} in huge pages."
            )
    return None


@pitfall(
    symptom="Your loads do not use the loaded addresses.",
    misconception="A core that knows the addresses makes several loads at once: their mean is not "
    "the time of one load.",
    experiment="Let each load give the next address, and check where the walk ends.",
    seen_in="loops that compute where they read",
    broken=(Live("loads_overlap", "ladder-memory"),),
)
def loads_overlap(case: Case) -> str | None:
    """Loads that do not wait for each other: the time for each is throughput, and no latency."""
    for name, walk in memory_use.walks_of(case):
        if walk.chained is False:
            return (
                f"Of {walk.samples:,} samples of {name}, {walk.right:,} ended at the cache line to "
                "which the loaded addresses lead."
            )
    return None


@pitfall(
    symptom="The walk does not go round its whole set.",
    misconception="A shuffle often makes several cycles, and the walk goes round one. Lines drawn "
    "one by one return even sooner.",
    experiment="Follow your order from line 0, and count the lines until one comes back.",
    seen_in="reports of a course on operating systems: 5.7 ns in place of 249",
    broken=(Live("cycle_too_short", "ladder-memory"),),
)
def cycle_too_short(case: Case) -> str | None:
    """A walk that goes round a small part of its set, which a cache holds."""
    for name, walk in memory_use.walks_of(case):
        if walk.whole is False:
            nodes, walked = memory_use.per_process(case.recording, walk.nodes, walk.walked)
            goes = f"the walk goes round {walked} of them on average"
            return f"{name} has {nodes} cache lines, and {goes}."
    return None


@pitfall(
    symptom="A prefetcher may foresee your loads.",
    misconception="If hops repeat, the hardware may ask for a line before the load does.",
    experiment="Let the hops differ, and compare both orders.",
    seen_in="walks through an array; lat_mem_rd of lmbench without its option -t",
    yields_to="cycle-too-short",
    broken=(Live("order_foreseen", "ladder-memory"),),
)
def order_foreseen(case: Case) -> str | None:
    """A walk in an order that a prefetcher foresees: its loads find their lines in a cache."""
    for name, walk in memory_use.walks_of(case):
        if walk.foreseen and memory_use.unforeseen(name):
            same, walked = memory_use.per_process(case.recording, walk.same_hops, walk.walked)
            counted = f"{name}: on average, {same} of {walked} hops repeat one of the four before."
            return " ".join(filter(None, (counted, _gained(case, name, walk))))
    return None


def _gained(case: Case, name: str, walk: memory_use.Walk) -> str:
    """What the same run shows: whether a load costs less than in an order of other hops; or ''."""
    mine = _figure_of(case, name)
    for other in filter(memory_use.unforeseen, case.recording.variants):
        beside, figure = memory_use.walk_of(case.recording, other), _figure_of(case, other)
        if mine is None or figure is None or beside is None:
            continue
        if beside.foreseen is not False or beside.set_kb != walk.set_kb:
            continue
        costs, others = (f"{rounded(each.value)} {case.spec.unit}" for each in (mine, figure))
        if confidence.side(mine, figure) < 0:
            return f"A load costs {costs}, and {others} in {other}: your order makes loads cheaper."
        return (
            f"A load costs {costs}, and {others} in {other}: here your order gains nothing; "
            "another machine may foresee it."
        )
    return ""


def _figure_of(case: Case, name: str) -> Estimate | None:
    """The figure of a variant of the run, in the unit of the figure handed in."""
    result = case.results.get(name)
    if result is None or result.estimate is None:
        return None
    return result.estimate.into(case.spec.unit, result.clock)


@pitfall(
    symptom="The working set is not used.",
    misconception="Memory that no task reads takes no place in a cache, and the compiler leaves "
    "out a loop that nobody needs.",
    experiment="Double the set: one task alone must take twice as long.",
    seen_in="buffers allocated to measure their effect",
    broken=(Live("working_set_untouched", "footprint-processes-8-256k"),),
)
def working_set_not_touched(case: Case) -> str | None:
    """A working set that is there and not used: nothing is driven out of a cache."""
    if case.spec.kernel not in memory_use.SET_KERNELS:
        return None
    for name in case.spec.variants:
        least = memory_use.least_cycles(name)
        reading = memory_use.cost_of_reading(case, name) if least else None
        if reading is None or reading.high >= least:
            continue
        lines = memory_use.bytes_of(name) // memory_use.LINE_BYTES
        return (
            f"One process alone uses your {lines:,} cache lines in {rounded(reading.value, 2)} "
            f"core cycles a round; to read all takes at least {least:,.0f}."
        )
    return None


@pitfall(
    symptom="The run did not see your C use every cache line.",
    misconception="A loop may end early or step over cache lines, and the compiler leaves out "
    "reads that nobody needs.",
    experiment="Add up one byte of each line for keep().",
    seen_in="trials of lab 07: half of the set, every second line, or only the last value",
    yields_to="working-set-not-touched",
)
def working_set_in_part(case: Case) -> str | None:
    """A working set of which the student's own C uses only a part, or of which it shows nothing."""
    if case.spec.kernel not in memory_use.SET_KERNELS:
        return None
    for name in case.spec.variants:
        found = memory_use.lines_used(case.recording, name)
        if found is not None and found.in_part:
            return _lines_not_used(found)
    return None


def _lines_not_used(found: memory_use.LinesUsed) -> str:
    if not found.used and not found.keeps:
        return "Your C hands nothing to keep() and writes nothing, so no line is seen to be used."
    text = (
        f"The run changed {found.tried:,} cache lines: what keep() got changed with "
        f"{found.used:,} of them."
    )
    if found.used and found.last <= (1 - memory_use.SHARE_LEFT_OUT) * found.lines:
        text += f" None lies behind line {found.last:,} of {found.lines:,}."
    return text
