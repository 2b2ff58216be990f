"""All warnings of a run, before anybody grades it: symptom, likely cause, what to try.

They come from its line, and from its conditions: the samples and processes that it has, the CPUs
where it ran, what it inherited, and how it ended.

A new one is a `RunWarning` that `of_line` or `of_recording` calls for. Its limit is in
`warning_thresholds.py`. What needs no action is quiet. `tests/analysis/test_run_warnings.py` has
the case that earns it, with all of its words, and a near miss (`support/simulate.py`). One that
decides alone is also in `DECIDE` of `test_remarks.py` there.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import PurePath

import numpy as np

from labs import limits, paths
from labs.analysis import cpu_core
from labs.analysis.confidence import Estimate
from labs.analysis.line import Line
from labs.analysis.thresholds import AS_WIDE_AS_VALUE, WIDEST
from labs.messages import Advice, Option, Words, advice
from labs.recording import counts, declared, run_conditions
from labs.recording.file import Recording, distinct, memoized
from labs.results import warning_thresholds as thresholds
from labs.results.modes import modes
from labs.units import plural, rounded, times

# Warnings that the line of a run gives about its figure: symptom, likely cause, what to try.


@dataclass(frozen=True)
class RunWarning:
    """Something in a run that makes its figure less reliable.

    A `quiet` one changes nothing that its reader should do: it belongs to the line of conditions,
    where `brief` stands for it, or nothing if the line shows the same fact already. `python` says
    whether the reader writes options in Python.
    """

    code: str
    symptom: str
    likely_cause: str
    advice: Advice | str
    python: bool = False
    quiet: bool = False
    brief: Advice | str = ""

    @property
    def try_this(self) -> str:
        """What to try, with options as its reader writes them."""
        return self._worded(self.advice)

    @property
    def in_brief(self) -> str:
        """A quiet warning as a clause of the conditions, with options as its reader writes them."""
        return self._worded(self.brief)

    def _worded(self, words: Advice | str) -> str:
        return words if isinstance(words, str) else words.worded(python=self.python)

    def __str__(self) -> str:
        return f"{self.symptom}; {self.likely_cause}. Try: {self.try_this}."


#: What concerns the figure of a variant. A baseline that is shown with the variants that use it is
#: no figure of its own: the intervals of these variants count its uncertainty.
OF_A_FIGURE = {
    "below-one-cycle",
    "drift",
    "interrupted",
    "not-believable",
    "processes-differ",
    "wide-interval",
}
#: What concerns times and their estimates. What the OS counted holds all the same.
OF_TIMES = OF_A_FIGURE | {
    "busy-machine",
    "clock-speed",
    "cut-short",
    "few-samples",
    "negative",
    "not-on-a-line",
    "one-process",
    "shared-core",
    "steal",
}

COARSE_STEP = 0.05  # of the shortest samples: averaging removes what a finer step adds

PERHAPS_LEFT_OUT = (
    "perhaps the compiler left the operation out, or the core does it next to other work"
)
LOOK_FOR_IT = "look for the operation in the machine code"
#: What keeps the compiler from leaving out a student's operation.
KEEP_IT_THERE = (
    f"{LOOK_FOR_IT}; if it is not there, hide its input from the compiler by "
    '__asm__ volatile("" : "+r"(input)), and let its result be needed by '
    '__asm__ volatile("" : : "r"(result)); if a call is not there, forbid the compiler to inline it'
)
#: The same, where a core that does the operation next to other work may hide it as well.
LET_IT_DEPEND = f"{KEEP_IT_THERE}; if it is there, let each input depend on the last result"
#: Of a figure that is next to nothing, which more samples do not change.
NO_WHOLE_CYCLE = RunWarning(
    "not-believable",
    "the interval holds 0 and is within one core cycle of it: the run shows no cost of a cycle",
    PERHAPS_LEFT_OUT,
    LOOK_FOR_IT,
)


def of_line(
    recording: Recording, line: Line, figure: Estimate | None = None
) -> tuple[RunWarning, ...]:
    """Warnings that need the line: about its fit, the width of the interval, impossible values."""
    if figure is None:
        figure = line.overhead if declared.is_overhead(recording, line.variant) else line.cost
    if not line.straight:
        return (no_line_warning(recording, line),)
    cycle = cpu_core.shortest_cycle(recording, line.clock)
    return (
        *_negative(recording, line, figure, cycle),
        *of_far(recording, line, figure),
        *of_drift(recording, line),
        *of_shared_core(line, figure, thresholds.WIDE_INTERVAL),
        *_of_modes(recording, line.variant, figure),
        *of_learnt_input(recording, line.variant, figure.value / cycle if cycle else math.inf),
        *_below_one_cycle(recording, line, cycle),
        *_of_nothing_left(recording, line, figure, cycle),
        *_of_width(recording, line, figure),
    )


def _below_one_cycle(recording: Recording, line: Line, cycle: float) -> Iterator[RunWarning]:
    """A warning if an operation takes less than a core cycle, which has so many ticks; 0: unknown.

    Without fences this is no news: operations overlap with the readings.
    """
    below = bool(cycle) and line.cost.high < thresholds.WHOLE_CYCLE * cycle
    if below and not declared.of_variant(recording, line.variant).unfenced:
        yield RunWarning(
            "below-one-cycle",
            f"each operation adds {max(line.cost.value / cycle, 0):.2f} core cycles to a sample",
            "operations overlap, or the compiler removed some of them",
            "look at the disassembly of the measured region",
        )


def _of_nothing_left(
    recording: Recording, line: Line, figure: Estimate, cycle: float
) -> Iterator[RunWarning]:
    """A warning if a student's operation adds next to nothing to its baseline, and surely so."""
    own = not declared.is_overhead(recording, line.variant) and not is_the_kits(recording)
    nothing = 0 < figure.high < thresholds.CYCLES_OF_NOTHING * cycle
    whole = line.cost.high >= thresholds.WHOLE_CYCLE * cycle
    if own and nothing and whole and figure.is_believable():  # else its interval says so
        yield RunWarning(
            "below-one-cycle",
            f"next to its baseline, each operation adds {figure.value / cycle:.2f} core cycles",
            PERHAPS_LEFT_OUT,
            LET_IT_DEPEND,
        )


def _negative(
    recording: Recording, line: Line, figure: Estimate, cycle: float
) -> Iterator[RunWarning]:
    """A warning if the fitted value is negative, with the cause that its kind allows.

    From an overhead nothing is subtracted. It is negative if work is missing from the samples.
    """
    if line.cost.high >= 0 and figure.high >= 0:
        return
    cause: tuple[str, Advice | str] = (
        "the subtracted part was not contained in the measurement, or the machine changed "
        "its speed during the run",
        "look in the C at what is subtracted; if that is right, measure again",
    )
    own = not declared.is_overhead(recording, line.variant) and not is_the_kits(recording)
    if own and line.cost.high >= 0 and -figure.high < thresholds.CYCLES_OF_NOTHING * cycle:
        cause = PERHAPS_LEFT_OUT, LET_IT_DEPEND
    if declared.is_overhead(recording, line.variant) and line.cost.high >= 0:
        cause = (
            "the clock is read before the work is done, or the machine changed its speed during "
            "the run",
            "use a fenced variant"
            if declared.of_variant(recording, line.variant).unfenced
            else "look at the disassembly of the measured region; if its readings wait for the "
            "work, measure again",
        )
        if not declared.of_variant(recording, line.variant).unfenced and not is_the_kits(recording):
            cause = (
                "the C subtracts a number that is too large, or the clock is read before the work "
                "is done",
                "look in the C at what is subtracted; if that is right, let the readings wait",
            )
    yield RunWarning("negative", "the fitted value is negative", *cause)


def _of_modes(recording: Recording, variant: str, figure: Estimate) -> Iterator[RunWarning]:
    """A remark that the processes fall into two groups; the interval counts all of them."""
    found = modes(recording, figure.by_process)
    if found is None:
        return
    early = declared.seen_not_to_wait(recording, variant)
    cause = "their place in memory, or another state of the machine: this run does not show which"
    if early:
        cause = READ_EARLY
    elif found.stack is not None:
        cause = "the place of the stack, which the kit chooses for each process"
    elif declared.chooses_no_cpu(recording, variant):
        cause = "the OS chose the CPUs of the tasks, and perhaps others in some processes"
    plot = Words("plot_processes in a notebook", ".plot_processes() of the run")
    look = LET_IT_WAIT if early else advice("look at each process ({plot})", plot=plot)
    shown = found.symptom()
    yield RunWarning("processes-differ", shown, cause, look, quiet=not early, brief=shown)


def _of_width(recording: Recording, line: Line, figure: Estimate) -> Iterator[RunWarning]:
    """A warning if the interval is wide, or so wide that nobody should believe the value."""
    width = figure.half_width / abs(figure.value) if figure.value else 1.0
    if width <= thresholds.WIDE_INTERVAL:
        return
    if not declared.is_overhead(recording, line.variant) and _is_next_to_nothing(line, figure):
        own = not is_the_kits(recording)
        yield replace(NO_WHOLE_CYCLE, advice=LET_IT_DEPEND) if own else NO_WHOLE_CYCLE
        return
    too_short = False
    cause = "the processes of this run differ, or it has too few samples"
    if line.clock.step > COARSE_STEP * float(line.location.min()):
        ticks = f"{line.clock.step} tick{'s' if line.clock.step != 1 else ''}"
        cause += f" for this clock's step of {ticks}"
    if line.shared:
        cause = OTHER_THREAD_ALL_THE_TIME
    elif modes(recording, figure.by_process) is not None:
        cause = "the processes of this run fall into two groups"
    elif met_others_in_memory(recording, line.variant):
        cause = OTHERS_USED_MEMORY
    elif too_short := _is_mostly_overhead(recording, line):
        cause = "even in the longest samples the operations take less time than the overhead"
    share = rounded(100 * width, 2)
    wide = f"half of the interval's width is {share} % of the value"
    if counts.made_no_page_fault(recording, line.variant):
        # What is left without the event is no figure to hand in: any value near 0 says as much.
        yield RunWarning("wide-interval", wide, cause, "", quiet=True, brief=wide)
    elif figure.is_believable():
        longer = _longer(recording, line, figure, width)
        brief = advice("{wide} ({longer} should narrow it)", wide=wide, longer=longer)
        yield RunWarning("wide-interval", wide, cause, longer, quiet=True, brief=brief)
    else:
        longer = UNTIL_WHOLE if line.shared else _longer(recording, line, figure, width)
        again: Advice | str = advice("measure again, or longer: {longer}", longer=longer)
        if _may_be_left_out(recording, line, figure):
            cause, look = PERHAPS_LEFT_OUT, "{look}; if it is there, measure longer: {longer}"
            again = advice(look, look=KEEP_IT_THERE, longer=longer)
        elif too_short:
            batch = Option("batch", ...)
            again = advice("measure again with larger batch sizes ({batch})", batch=batch)
        symptom = _unbelievable(figure, share, none_this_wide=width >= AS_WIDE_AS_VALUE)
        yield RunWarning("not-believable", symptom, cause, again)


def _unbelievable(figure: Estimate, share: str, *, none_this_wide: bool) -> str:
    """How wide the interval is; half of its width is `share` % of the value."""
    so = ", so do not hand it in" if none_this_wide else ""
    if figure.low <= 0 <= figure.high:
        return f"the interval holds 0: the run does not distinguish the value from nothing{so}"
    limit = f"{100 * WIDEST:.0f}"
    too = "just too" if share == limit else "too"
    return f"±{share} % is {too} wide to use: the limit is ±{limit} %{so}"


def _is_mostly_overhead(recording: Recording, line: Line) -> bool:
    """Whether larger batch sizes narrow the interval of a cost far more than further samples."""
    work = line.cost.value * float(line.batch[-1])
    return work < line.overhead.value and not declared.is_overhead(recording, line.variant)


def _is_next_to_nothing(line: Line, figure: Estimate) -> bool:
    """Whether the interval holds 0, and neither of its ends is a core cycle away from 0."""
    if line.clock.core_cycle_ticks is None or not figure.low <= 0 <= figure.high:
        return False
    cycles = figure.into("cycles", line.clock)
    return max(-cycles.low, cycles.high) < 1


def _may_be_left_out(recording: Recording, line: Line, figure: Estimate) -> bool:
    """Whether a student's operation takes so few core cycles that it may not be there."""
    if line.clock.core_cycle_ticks is None or is_the_kits(recording):
        return False
    cycles = figure.into("cycles", line.clock)
    small = max(-cycles.low, cycles.high) < thresholds.MAY_BE_LEFT_OUT_CYCLES
    return small and not declared.is_overhead(recording, line.variant)


def _longer(recording: Recording, line: Line, figure: Estimate, width: float) -> Advice:
    """The option that would make the interval narrow, if only chance makes it wide.

    If the processes differ by no more than their own errors, the width falls with the root of the
    number of samples. Otherwise it falls with the root of the number of processes. Both count with
    what was set aside, because as much of a longer run will be.
    """
    times, by = (width / thresholds.WIDE_INTERVAL) ** 2, figure.by_process
    aside = sum(counts for counts in line.set_aside.values())
    taken = max(figure.processes, np.size(aside))
    if by is not None and by.value.var() < 2 * np.median(by.error) ** 2:
        share = 1 + float(np.sum(aside)) / max(line.cost.n, 1)
        samples = math.ceil(figure.n * share * times / 1000) * 1000
        if samples <= limits.MOST_SAMPLES and ends_in_time(recording, times):
            return advice("{samples}", samples=Option("samples", samples))
    else:
        processes = math.ceil(taken * times / 10) * 10
        if processes <= limits.MOST_PROCESSES:
            return advice("{processes}", processes=Option("processes", processes))
    return advice(
        "{options}",
        options=(Option("within", 100 * thresholds.WIDE_INTERVAL), Option("at-most", 60)),
    )


# How much longer a run may be that a warning advises.


def more_processes(at_least: int, had: int) -> Option | None:
    """The option for twice as many processes as the run `had`, or for `at_least`.

    None if the run had as many processes as a run may have.
    """
    number = min(max(at_least, 2 * had), limits.MOST_PROCESSES)
    return Option("processes", number) if number > had else None


def ends_in_time(recording: Recording, times: float) -> bool:
    """Whether a run with `times` the samples of this one ends before the time limit of this one.

    The samples themselves take most of the time of a run that is long. A run that its time limit
    cut short needs all of it already.
    """
    cut = run_conditions.cut_short(recording)
    if cut is not None and cut.by == run_conditions.TIME_LIMIT:
        return False
    limit = recording.number("time_limit_s")
    taken = sum(
        float(recording.ticks[recording.rows_of(name)].sum()) / recording.clock(name).ticks_in("s")
        for name in recording.variants
    )
    return limit is None or taken * times <= limit


# Warnings about a drift, and about samples that were set aside: far ones, and on a shared core.


OTHER_THREAD = (
    "the physical core was shared with a program or a virtual machine that this machine may not see"
)
OTHER_THREAD_ALL_THE_TIME = (
    "something else used the core all the time, and a whole core would give this value or less"
)
UNTIL_WHOLE = advice(
    "{options}, which goes on until enough processes have had the core to themselves",
    options=(Option("within", 5), Option("at-most", 60)),
)

#: The cause where a busy machine explains the spread of an operation that uses memory.
OTHERS_USED_MEMORY = "the operation uses memory, and other programs used memory during the run"


def met_others_in_memory(recording: Recording, variant: str) -> bool:
    """Whether `variant` uses memory, and other programs used much of the machine."""
    return declared.of_variant(recording, variant).memory and run_conditions.was_shared(recording)


def of_far(recording: Recording, line: Line, figure: Estimate) -> Iterator[RunWarning]:
    """A warning if many samples were far from the others, with when they were taken.

    It is quiet if the others give a figure to believe and there is nothing to do.
    """
    share = line.share_set_aside("far")
    if share < thresholds.MANY_ASIDE:
        return
    first, last = line.far_between
    early = last < thresholds.EARLY
    where = "all over the run"
    cause = "other programs, or a hypervisor that often takes the CPU for a moment"
    if early:
        where = f"most of them in the first {rounded(100 * last, 2)} % of each process"
        cause = "a slow beginning: the first operations cost more than the later ones"
    elif first > 1 - thresholds.EARLY:
        where = f"most of them in the last {rounded(100 * (1 - first), 2)} % of each process"
    symptom = f"{rounded(100 * share, 2)} % of the samples were far from the others, {where}"
    # Interruptions come at random (Poisson); `rate` is per tick. The suggested batch sizes are so
    # short that fewer than a third of their samples are hit.
    rate = -math.log1p(-min(share, 0.99)) / float(line.location.mean())
    factor = thresholds.FEW_HIT / (rate * float(line.location[-1]))
    smaller = sorted({max(int(k * factor), 1) for k in line.batch.tolist()})
    try_this = advice("smaller batch sizes, which are hit less often")
    if early:
        try_this = longer_warmup(recording, last)
    elif factor < 1 < len(smaller):
        try_this = advice(
            "smaller batch sizes, which are hit less often: {batch}",
            batch=Option("batch", tuple(smaller)),
        )
    quiet = share < thresholds.MUCH_INTERRUPTED and figure.is_believable() and not early
    yield RunWarning("interrupted", symptom, cause, try_this, quiet=quiet, brief=symptom)


def longer_warmup(recording: Recording, share: float) -> Advice:
    """The option for a warm-up that takes in this share of each process."""
    samples, warmup = recording.number("samples") or 0.0, recording.number("warmup") or 0.0
    longer = math.ceil((warmup + share * samples) / 100) * 100
    return advice(
        "a longer warm-up ({warmup}), or state the beginning as a figure of its own",
        warmup=Option("warmup", min(longer, limits.MOST_WARMUP)),
    )


def of_drift(recording: Recording, line: Line) -> Iterator[RunWarning]:
    """A warning if the figure changes from the first half of each process to the second.

    Of runs without a change, chance exceeds these limits in 1 of 100.
    """
    drift, about_overhead = line.drift, declared.is_overhead(recording, line.variant)
    figure = line.overhead if about_overhead else line.cost
    if drift is None or abs(drift.value) < max(
        thresholds.SURELY * drift.half_width, thresholds.LEAST_DRIFT * abs(figure.value)
    ):
        return
    halves, more = ("second", "first"), rounded(100 * abs(drift.value / figure.value), 2)
    cause: tuple[str, Advice | str] = (
        "the machine changed while a process ran, or the operation leaves something behind",
        "look at the samples in the order in which they were taken",
    )
    if drift.value < 0:
        halves, cause = ("first", "second"), ("a slow beginning", longer_warmup(recording, 0.5))
    symptom = f"the {halves[0]} half of each process costs {more} % more than the {halves[1]} half"
    yield RunWarning("drift", symptom, *cause)


def of_shared_core(line: Line, figure: Estimate, wide: float) -> Iterator[RunWarning]:
    """A warning if another program used the same core for most of the time.

    It is quiet if the rest of the run is enough: many processes, and an interval whose half is
    below the share `wide` of the value.
    """
    share = line.share_set_aside("shared")
    if share < thresholds.MUCH_SHARED:
        return
    narrow = figure.half_width <= wide * abs(figure.value)
    used = f"something else used the same core for {rounded(100 * share, 2)} % of the time"
    yield RunWarning(
        "shared-core",
        f"{used}, and those samples were set aside",
        OTHER_THREAD,
        advice("another CPU ({cpu}), or {longer}", cpu=Option("cpu", ...), longer=UNTIL_WHOLE),
        quiet=narrow and figure.processes >= thresholds.PROCESSES_ENOUGH,
        brief=used,
    )


# The warning that the samples lie on no line.

READ_EARLY = (
    "the second reading does not wait for the work before it, and how much work it misses is not "
    "always the same"
)
LET_IT_WAIT = "let the second reading wait, then measure again"


def no_line_warning(recording: Recording, line: Line) -> RunWarning:
    """The warning that the samples lie on no line."""
    worst, share = line.worst_point()
    short = "the samples are so short that the end of their loop counts"
    cause: tuple[str, Advice | str] = (
        f"the clock is read before the work is done, the work does not grow with k, or {short}",
        advice(
            "larger batch sizes ({batch}); if they do not help, look at the disassembly of the "
            "measured region",
            batch=Option("batch", ...),
        ),
    )
    free = counts.made_no_page_fault(recording, line.variant)
    if free:
        cause = ("without a page fault a touch takes a few ns, too little for a line", "")
    elif declared.of_variant(recording, line.variant).unfenced:
        cause = (cause[0], "use a fenced variant")
    elif declared.seen_not_to_wait(recording, line.variant):
        cause = (READ_EARLY, LET_IT_WAIT)
    elif _are_too_short(recording, line):
        # Other programs make samples longer, never shorter than their work.
        cause = (
            "the clock is read before the work between the readings is done",
            "look at the disassembly of the measured region",
        )
    elif (lasts := _beyond_a_time_slice(recording, line)) is not None:
        cause = (
            f"the longest samples last {rounded(lasts)} ms, which is more than a time slice: the "
            "OS gave the CPU to the other task in the middle of a sample",
            advice("much smaller batch sizes ({batch})", batch=Option("batch", ...)),
        )
    elif met_others_in_memory(recording, line.variant):
        cause = (
            f"{OTHERS_USED_MEMORY}, so what a cache holds changes from sample to sample",
            _again_with_smaller(line),
        )
    elif run_conditions.was_shared(recording) and _may_hide_an_interruption(line):
        cause = (
            "other programs used the CPU during the run; they interrupt long samples more "
            "often than short ones, here so often that disturbed samples are not recognised",
            _again_with_smaller(line),
        )
    elif is_the_kits(recording) and _may_hide_an_interruption(line):
        cause = (
            "the C is the kit's, so something that this machine does not show disturbed samples",
            _again_with_smaller(line),
        )
    elif is_the_kits(recording):
        cause = (short, advice("larger batch sizes ({batch})", batch=Option("batch", ...)))
    off = f"{rounded(100 * abs(share), 2)} % off the line"
    return RunWarning(
        "not-on-a-line",
        "its touches made no page fault, and a few ns each are too little for a line"
        if free
        else f"at k = {line.batch[worst]:.0f} the mean lies {off}, so there is no figure",
        *cause,
        quiet=free,
        brief=cause[0] if free else "",
    )


def is_the_kits(recording: Recording) -> bool:
    """Whether the C is as it came with the kit: nobody has written a mistake into it."""
    source = paths.kernels_c() / f"{PurePath(recording.kernel).name}.c"
    stated = recording.conditions.get("source.sha256")
    return source.is_file() and hashlib.sha256(source.read_bytes()).hexdigest() == stated


def _again_with_smaller(line: Line) -> Advice | str:
    """To measure again; and where each size can be half of what it is, with such sizes."""
    sizes = tuple(int(size) // 2 for size in line.batch)
    if min(sizes) < 2:
        return "measure again, also more than once"
    return advice(
        "measure again, or with smaller batch sizes ({batch})", batch=Option("batch", sizes)
    )


def _are_too_short(recording: Recording, line: Line) -> bool:
    """Whether samples take less time than the operations in them, as far as their length is known.

    Example: 64 additions that wait for each other, and a sample of 40 core cycles.
    """
    cycle = cpu_core.shortest_cycle(recording, line.clock)
    work = line.batch * (declared.of_variant(recording, line.variant).operation_cycles * cycle)
    return bool((line.location < work).any())


def _may_hide_an_interruption(line: Line) -> bool:
    """Whether the longest samples last at least as long as the shortest interruption.

    An interruption makes a sample of 50 ns many times as long, so it is always recognised there.
    """
    return float(line.location.max()) >= thresholds.SHORTEST_NS * line.clock.ticks_in("ns")


def _beyond_a_time_slice(recording: Recording, line: Line) -> float | None:
    """How many ms the longest samples last, if that is more than a time slice; else None.

    It is None too if the tasks hand over as claimed, because then none keeps the CPU so long.
    """
    lasts = float(line.location.max()) / line.clock.ticks_in("ms")
    seen = counts.switches_of(recording, line.variant)
    keeps = seen is not None and 0 < seen.counted < seen.claimed / 2
    return lasts if keeps and lasts > thresholds.TIME_SLICE_MS else None


#: About a baseline in which the operation of a student's own question happens.
BASELINE_TOO = "baseline-does-it-too"
#: About a thread that waits for its turn, and takes it though nobody has woken it.
NOT_WOKEN = "not-woken"
_BASELINE_TOO = "the baseline does what you ask about, and it is subtracted"
_ONLY_AROUND = "leave only what surrounds the operation in the baseline"


@memoized
def of_run(
    recording: Recording, line: Line, figure: Estimate | None = None
) -> tuple[RunWarning, ...]:
    """All warnings of this run, the most serious first.

    `figure` is the estimate made from `line`; None means its intercept or slope itself.
    """
    conditions = of_recording(recording, line.variant)
    found = of_line(recording, line, figure)
    if any(each.code == BASELINE_TOO for each in conditions):
        # What is subtracted from itself leaves nothing, however long the run is.
        found = tuple(
            replace(each, likely_cause=_BASELINE_TOO, advice=_ONLY_AROUND)
            if each.code in ("not-believable", "wide-interval", "negative")
            else each
            for each in found
        )
    if any(each.code == NOT_WOKEN for each in conditions):
        found = tuple(each for each in found if each.code != "negative")  # that is why
    return (*found, *conditions)


# Warnings from what a process that times nothing saw of the operations.

INPUT_EATEN, INPUT_LEARNT, SHORT_WALK = "input-eaten", "input-learnt", "walk-too-short"
HALF_OF_COUNTER, NOTHING_SENT = "half-of-the-counter", "nothing-sent"
SAMPLES_DROPPED = "samples-dropped"


def of_learnt_input(recording: Recording, variant: str, cycles: float) -> Iterator[RunWarning]:
    """A warning if an operation of so many core cycles is fast because it is always the same."""
    seen = counts.trials_of(recording, variant)
    if not seen.is_learnt(cycles):
        return
    yield RunWarning(
        INPUT_LEARNT,
        f"each operation takes the same way through {seen.steps:,} instructions, and is too "
        f"fast to predict {seen.missed:,} branches of it wrongly",
        "its input is always the same, and the branch predictor has learnt it",
        "take another input for each operation, from an array of thousands",
    )


def of_trials(recording: Recording, variant: str) -> Iterator[RunWarning]:
    """Warnings about operations that are not what they seem, whatever they cost."""
    seen = counts.trials_of(recording, variant)
    if seen.counter_whole == 0:
        yield RunWarning(
            HALF_OF_COUNTER,
            "when the second reading was made 2^44 ticks larger, the sample was not",
            "the C keeps 32 bits of the counter: EAX alone, an int, or =A, which is one "
            "register in 64 bits",
            "put both halves into one uint64_t, and subtract these",
        )
    if seen.dropped:
        yield RunWarning(
            SAMPLES_DROPPED,
            "when a sample was made very long, the C dropped it and took another",
            "it keeps samples by their value, so the samples are those that it expects",
            "print each sample; Ticklab sets interrupted ones aside, and says how many",
        )
    if seen.put_back:
        yield RunWarning(
            INPUT_EATEN,
            f"an operation on the prepared input takes another way than later ones{seen.ways}",
            "the first operation changes its input, and later ones work on what it left",
            "copy the input anew for each operation, and subtract the copy as a baseline",
        )
    if seen.walk_is_short:
        yield RunWarning(
            SHORT_WALK,
            f"the samples use {seen.lines:,} cache lines again and again, and "
            f"{seen.lines_filled:,} hold something",
            "the walk comes back too soon, each sample begins at the same place, or other code "
            "uses the rest",
            "go on where the last sample ended, in an order that is one cycle",
        )
    if seen.sends_nothing:
        yield RunWarning(
            NOTHING_SENT,
            f"{seen.writes:,} writes moved 0 bytes",
            "a message of 0 bytes wakes nobody, and its reader does not wait",
            "send one byte or more, and look at what write() and read() return",
        )


def _of_counts(recording: Recording, variant: str) -> Iterator[RunWarning]:
    """A warning if a student's own count found operations in baselines, or where none was made."""
    keys = ("counted_idle", "counted_of_baseline", "tried")
    idle, of_baseline, tried = recording.totals(variant, *keys)
    if idle:
        yield RunWarning(
            "counts-nothing",
            f"where nothing was done, your function counted {idle:,} operations",
            "it returns something else than what happened since its last call",
            "let it return only what is new",
        )
    elif of_baseline and tried is not None:
        yield RunWarning(
            BASELINE_TOO,
            f"in {tried:,} baselines, your function counted {of_baseline:,} operations",
            _BASELINE_TOO,
            _ONLY_AROUND,
        )


def _of_switches(recording: Recording, variant: str) -> Iterator[RunWarning]:
    """A warning if the switches that `variant` claims are more or fewer than the OS counted."""
    seen = counts.switches_of(recording, variant)
    if seen is None or seen.accounted_for:
        return
    claimed, counted = seen.claimed, seen.counted
    if run_conditions.why_unbound(recording) and counted > claimed / 2:
        return  # tasks with a CPU each may sleep at a lock more or less often
    claiming = [name for name in recording.variants if counts.claim_of(recording, name)]
    of_whom = ""
    if len(claiming) > 1 and counts.has_own_count(recording, variant):
        of_whom = f" for {variant}"
    where = run_conditions.places_of(recording, variant)
    cause = "the other task did not have to run: the exchange makes no handoff"
    try_this = "make each task wait for the other"
    if counted >= claimed:
        cause = (
            "each exchange takes more switches than it seems: a task wakes up before it has "
            "its turn, or waits for what another one still holds, and switches again"
        )
        try_this = "wake the next task last, and wait for your turn without a time-out"
        if (taken := counts.preemptions_of(recording, variant, seen)) is not None:
            cause = (
                f"{taken:,} times the OS took the CPU from a task in the middle of its turn: other "
                "programs wanted it, and the turns are long"
            )
            try_this = "do less work in each turn, or measure when fewer programs run"
    elif not where or not all(each.bound_together for each in where):
        cause += ", or the task had its own CPU"
        try_this = "put both tasks on one CPU, and make each wait for the other"
    yield RunWarning(
        "switches-unaccounted",
        f"{claimed:,} switches are claimed{of_whom}, and the OS counted {counted:,}",
        cause,
        try_this,
    )


def _of_turns(recording: Recording, variant: str) -> Iterator[RunWarning]:
    """A warning if a thread that waits for its turn usually went on without it, or unwoken."""
    keys = ("turns_tried", "turns_unwoken", "turns_astray")
    tried, unwoken, astray = (count or 0 for count in recording.totals(variant, *keys))
    if 2 * unwoken > tried:
        yield RunWarning(
            NOT_WOKEN,
            f"in {unwoken} of {tried} processes, the thread that waits went on without being woken",
            "it looks for its turn by itself, so the exchange is no handoff, and the figure is "
            "no switch",
            "sleep in a call that only the wake of the other thread ends",
        )
    elif 2 * astray > tried:
        yield RunWarning(
            "looked-once",
            "why while, and not if? Here a thread that was woken without its turn went on",
            "an if looks at the turn once, and the OS may wake a thread at any time",
            "look at the turn again after each wake-up, by while",
        )


def _of_clock_speed(recording: Recording, variant: str) -> Iterator[RunWarning]:
    """A warning if the clock of the core changed during the run.

    Memory does not follow this clock, so core cycles are no way out for an operation on it.
    """
    speeds = cpu_core.speeds_ghz(recording)
    if not speeds or speeds[1] <= (1 + thresholds.SPEED_CHANGE) * speeds[0]:
        return
    low, high = map(rounded, speeds)
    about = "a time in ns depends on the clock speed"
    try_this: Advice | str = advice(
        "use the unit core cycles ({unit}), which does not depend on it",
        unit=Option("unit", "cycles"),
    )
    memory = declared.of_variant(recording, variant).memory
    if memory:
        about = "this operation also waits for memory, which has a clock of its own"
        try_this = "state both speeds in your report, or measure again when the speed is steady"
    yield RunWarning(
        "clock-speed",
        f"the core's clock changed during the run, from {low} to {high} GHz",
        f"turbo or power saving; {about}",
        try_this,
        # Of memory, there is nothing to do about the figure.
        quiet=memory or speeds[1] <= (1 + thresholds.MUCH_SPEED_CHANGE) * speeds[0],
    )


def _of_tracer(recording: Recording) -> Iterator[RunWarning]:
    """A warning if a tracer followed the run."""
    if tracer := run_conditions.tracer_of(recording):
        yield RunWarning(
            "traced",
            f"{tracer} followed the run",
            "a tracer stops the program at each system call, and these stops are in the samples",
            "measure without it; count the calls in a run of its own",
        )


def _of_one_process(recording: Recording) -> Iterator[RunWarning]:
    """A warning if all samples come from one process; if it has one sample, about that."""
    ten = Option("processes", 10)
    if len(recording.processes) == 1 and _steady(recording) == len(recording.variants):
        yield RunWarning(
            "one-process",
            "there is only one sample, so there is only one process",
            "each process takes one sample of a variant or more",
            advice("{samples} and {ten}", samples=Option("samples", 10_000), ten=ten),
        )
    elif len(recording.processes) == 1:
        yield RunWarning(
            "one-process",
            "all samples come from one process",
            "the layout in memory differs between processes, and one process cannot show this",
            advice("{ten}", ten=ten),
        )


@memoized
def of_recording(recording: Recording, variant: str) -> tuple[RunWarning, ...]:
    """Warnings from the conditions alone: placement, disturbance, number of samples.

    Switches and CPUs are those of `variant`, if the C kernel counted them for it alone.
    """
    return (
        *_of_tracer(recording),
        *of_cut_short(recording),
        *_of_policy(recording, variant),
        *_of_preloaded(recording),
        *_of_clocks(recording),
        *(tuple(of_unbound(recording, variant)) or of_placement(recording, variant)),
        *_of_clock_speed(recording, variant),
        *_of_switches(recording, variant),
        *_of_counts(recording, variant),
        *_of_turns(recording, variant),
        *of_trials(recording, variant),
        *_of_one_process(recording),
        *_of_few_samples(recording),
        *_of_load(recording),
    )


def _steady(recording: Recording) -> int:
    """How many samples there are without the warm-up."""
    return int((recording.sample >= 0).sum())


def _of_few_samples(recording: Recording) -> Iterator[RunWarning]:
    """A warning if a batch size of a variant has few samples."""
    steady = _steady(recording)
    sizes, variants = max(len(distinct(recording.batch)), 1), max(len(recording.variants), 1)
    if steady / (sizes * variants) >= thresholds.FEWEST_PER_BATCH:
        return
    samples, of_sizes = plural(steady, "sample"), plural(sizes, "batch size")
    over = f"{variants} variants with {of_sizes} each" if variants > 1 else of_sizes
    yield RunWarning(
        "few-samples",
        f"only {samples} over {over}",
        "an interval from so few samples is itself uncertain",
        advice("{samples}", samples=Option("samples", thresholds.FEWEST_PER_BATCH * sizes * 10)),
    )


def _of_load(recording: Recording) -> Iterator[RunWarning]:
    """Remarks if a hypervisor took much of the CPU time, and if nearly all CPUs were busy."""
    if steal := run_conditions.stolen(recording):
        yield RunWarning(
            "steal",
            f"the hypervisor took {rounded(100 * steal, 2)} % of the CPU time during the run",
            "other virtual machines share this computer",
            "measure again later, or use more processes, which spread the run over time",
            quiet=True,
        )
    if busy := run_conditions.busy_cpus(recording):
        yield RunWarning(
            "busy-machine",
            f"{rounded(busy, 2)} of {recording.number('cpus.online'):.0f} CPUs were busy "
            "during the run",
            "other programs were running",
            "close them and measure again",
            quiet=True,
        )


# Warnings about a run that ended too soon: before all of its processes, or before its interval was
# as narrow as asked.

#: The longest `--at-most` in seconds and the widest `--within` in percent that a plan takes.
MOST_AT_MOST_S, MOST_PERCENT = 600, 50


def of_cut_short(recording: Recording) -> Iterator[RunWarning]:
    """A warning if the run ended before all of its processes, and why."""
    found = run_conditions.cut_short(recording)
    if found is None:
        return
    whole = f"{found.whole} of {found.planned} processes"
    if found.by == run_conditions.PATIENCE:
        yield _of_patience(found)
    elif found.by == run_conditions.TIME_LIMIT:
        longer = math.ceil(1.2 * found.needed_s)
        option = Option("time-limit", longer)
        yield RunWarning(
            "cut-short",
            f"the time limit of {found.after_s:g} s ended this run after {whole}",
            "all of them together need more time, or one of them waited without end",
            advice("{time_limit}, or fewer samples or variants at a time", time_limit=option)
            if longer <= limits.MOST_TIME_LIMIT_S
            else "fewer samples, or fewer variants at a time",
        )
    elif found.whole < found.planned:
        yield RunWarning(
            "cut-short",
            f"the run was cancelled after {whole}, and only these are in it",
            "Cancel, the stop button or Control-C ended it",
            "measure again and let the run end, if the interval is too wide",
        )


def _of_patience(found: run_conditions.CutShort) -> RunWarning:
    """The warning about C that took no sample in one of the processes."""
    symptom = (
        f"a process took no sample for {found.after_s:g} s, and Ticklab ended this run after "
        f"{found.whole} of {found.planned} processes"
        if found.whole < found.planned
        else f"an added process took no sample for {found.after_s:g} s, and Ticklab ended it"
    )
    cause, look = "computed without end, or waited for what never came", "an endless loop or wait"
    share = found.cpu_share
    if share is not None and share < run_conditions.WAITS:
        cause = "used no processor time, so it waited for what never came"
        look = "a byte that nobody writes, or for a task that waits too or has ended"
    elif share is not None and share > run_conditions.COMPUTES:
        cause = "computed all the time"
        look = "a loop that never ends, or for assembly that changes a register without naming it"
    return RunWarning(
        "cut-short",
        symptom,
        f"that process {cause}",
        advice(
            "look in the C for {look}; if one sample may take so long, {patience}",
            look=look,
            patience=Option("patience", math.ceil(2 * found.after_s)),
        ),
    )


def of_width(recording: Recording, figure: Estimate) -> Iterator[RunWarning]:
    """A warning if the run stopped before the interval of `figure` was as narrow as asked."""
    found = run_conditions.not_narrow(recording)
    if found is None or not figure.value:
        return
    share = figure.half_width / abs(figure.value)
    if share <= found.within:
        return
    reachable = found.reachable if found.reachable is not None else share
    at_best = rounded(100 * reachable, 2)
    causes = {
        run_conditions.TIME_IS_UP: (
            f"the {found.at_most_s:g} s in which it could add processes were over"
        ),
        run_conditions.FULL: "a recording can hold no more processes and samples",
        run_conditions.CANCELLED: "the run was cancelled",
    }
    yield RunWarning(
        "not-within",
        f"half of the interval's width is {rounded(100 * share, 2)} % of the value, and "
        f"{100 * found.within:g} % was asked for",
        causes.get(
            found.why,
            f"more processes would narrow it to about {at_best} % at best, so the run stopped",
        ),
        "let the run end"
        if found.why == run_conditions.CANCELLED
        else _narrower(recording, share / found.within, found.at_most_s, reachable),
    )


def _narrower(
    recording: Recording, times: float, at_most_s: float, reachable: float
) -> Advice | str:
    """What to try for an interval that is narrower by a factor of `times`.

    The width falls with the root of the number of processes, and so of the time.
    """
    if len(recording.processes) * min(times, 1e6) ** 2 <= limits.MOST_PROCESSES:
        seconds = math.ceil(at_most_s * times**2 / 10) * 10
        if at_most_s < seconds <= MOST_AT_MOST_S:
            return advice("{at_most}", at_most=Option("at-most", seconds))
    percent = math.ceil(100 * min(reachable, 1.0))
    if percent <= MOST_PERCENT:
        return advice("{within}, or more samples in each process", within=Option("within", percent))
    return "more samples in each process, or a machine with less load"


# Warnings about what a run inherited, if it changes the figure and the reader can change it.


def _of_policy(recording: Recording, variant: str) -> Iterator[RunWarning]:
    """A warning if the OS scheduled the run by another policy than usual.

    It is quiet if `variant` has one task that never waits: its cost does not depend on the policy.
    """
    hands_over = counts.claim_of(recording, variant) or declared.other_tasks(recording, variant)
    for policy in run_conditions.unusual_policies(recording)[:1]:
        yield RunWarning(
            "scheduled",
            f"this run was scheduled as {policy}",
            "it inherits this policy from the program that started it, and the policy changes what "
            "a switch costs",
            "start the terminal or JupyterLab without chrt, and measure again",
            quiet=not hands_over,
        )


def _of_preloaded(recording: Recording) -> Iterator[RunWarning]:
    """A warning if a variable of the environment puts libraries before the C library."""
    by = {k: v for k, v in run_conditions.preloaded(recording).items() if k.startswith("LD_")}
    if by:
        variable, libraries = " and ".join(by), " ".join(by.values())
        yield RunWarning(
            "preloaded",
            f"a library was loaded before the C library (by {variable}: {libraries})",
            "its functions may take the place of those that the run times",
            f"unset {variable}, and measure again",
        )


def _of_clocks(recording: Recording) -> Iterator[RunWarning]:
    """A warning about the first clock that disagrees with the OS kernel's.

    The counter's frequency is measured against the OS kernel's clock, so a figure in ns is wrong
    only if that clock is wrong, or if the figure is of the other clock.
    """
    for clock, speed in list(run_conditions.clocks_off(recording).items())[:1]:
        times = f"{rounded(speed)} times as fast as"
        if clock == run_conditions.COUNTER_CLOCK:
            yield RunWarning(
                "clock-off",
                f"by the OS kernel's clock, the counter is {times} the processor states",
                "the clock of this machine is wrong, or the machine was moved to another processor",
                "measure on another machine, or state core cycles",
            )
        else:
            yield RunWarning(
                "clock-off",
                f"the clock {clock} of the C library is {times} the OS kernel's",
                "a program such as faketime replaces the clocks that programs read; a figure of "
                "such a clock is wrong",
                "measure without that program",
            )


# Warnings about where a run took place: CPUs that it did not get, and moves between CPUs.

#: Who can tell which CPUs there are, for the middle of a sentence.
_DOCTOR = Words("labs doctor", "!labs doctor in a cell")


def of_placement(recording: Recording, variant: str) -> Iterator[RunWarning]:
    """A warning if `variant` was not on the CPU where it was pinned, or if it moved.

    If the recording states the CPUs of the variant's own samples, they decide: another variant of
    the run may be on another CPU or free to move. So moves of all variants together say nothing of
    a variant whose tasks are pinned to a CPU each.
    """
    asked = [cpu for cpu in recording.condition("cpu.asked") if cpu != "none"]
    if own := run_conditions.places_of(recording, variant):
        # A C kernel may put a pair of tasks on each CPU in turn: this is no move by chance.
        mine = [each.mine for each in own if len(each.mine) == 1 or not each.bound_together]
        most = max(mine, key=len, default=frozenset[int]())
        # The processes share few sets; each set may hold all CPUs of a large machine.
        seen = frozenset[int]().union(*set(mine))
        away = frozenset(cpu for cpu in seen if str(cpu) not in asked)
        astray = f"{variant} was seen on CPU {run_conditions.as_text(away)}" if away else ""
        moved = f"{variant} was seen on CPU {run_conditions.as_text(most)}" if len(most) > 1 else ""
    else:
        elsewhere = set(recording.condition("cpu.after")) - set(asked)
        astray = "it ended on another CPU" if elsewhere else ""
        moved = _moves_of_all(recording, variant)
    cpu, cannot = Option("cpu", ...), _cannot_bind(recording)
    if asked and astray:
        yield RunWarning(
            "affinity-not-obtained",
            f"the task was pinned to CPU {asked[0]}, but {astray}",
            "another program moved it",
            advice("choose another CPU ({cpu}); {doctor} names them", cpu=cpu, doctor=_DOCTOR),
        )
    elif moved:
        yield RunWarning(
            "migrations",
            moved,
            cannot or "the task was not pinned",
            _where_nothing_is_pinned(recording)
            if cannot
            else advice("use {cpu}; {doctor} names the CPUs", cpu=cpu, doctor=_DOCTOR),
            quiet=_is_rare_move(recording, variant),
            brief=moved,
        )


def _moves_of_all(recording: Recording, variant: str) -> str:
    """How often the tasks of all variants moved, as a clause; '' if not this one."""
    moves = recording.total("task.main.migrations") or 0
    several = len(recording.variants) > 1
    if moves <= 0 or (several and _pins_to_two_cpus(recording, variant)):
        return ""
    of_all = " (all variants together)" if several else ""
    return f"the task moved between CPUs {times(moves)} during the run{of_all}"


def _where_nothing_is_pinned(recording: Recording) -> Advice:
    """What to try against moves on a machine that cannot pin."""
    more = more_processes(20, len(recording.processes))
    if more is None:
        return advice("measure where a program may choose its CPU")
    return advice(
        "use more processes, because each may start on another CPU ({processes})", processes=more
    )


def _pins_to_two_cpus(recording: Recording, variant: str) -> bool:
    """Whether the C kernel pins the tasks of `variant` to a CPU each, and the machine can pin."""
    on_two = declared.of_variant(recording, variant).placement is declared.Placement.TWO_CPUS
    return on_two and not _cannot_bind(recording)


def _is_rare_move(recording: Recording, variant: str) -> bool:
    """Whether moves between CPUs hit single samples of one task only.

    The samples that a move hits are set aside. Where two tasks take part, a move changes the
    operation itself: a switch on one CPU becomes the wake-up of another CPU.
    """
    alone = declared.other_tasks(recording, variant) == 0
    moves = recording.total("task.main.migrations") or 0
    return (
        alone
        and not counts.claim_of(recording, variant)
        and not run_conditions.places_of(recording, variant)
        and moves <= len(recording.processes)
    )


def _cannot_bind(recording: Recording) -> str:
    """Why the machine cannot pin, as a clause; '' if it can, or if it has only one CPU."""
    why = run_conditions.why_unbound(recording)
    return f"this machine cannot bind a task to a CPU ({why})" if why else ""


def of_unbound(recording: Recording, variant: str) -> Iterator[RunWarning]:
    """A warning about the switches of `variant` on a machine that cannot pin."""
    if not counts.claim_of(recording, variant) or not _cannot_bind(recording):
        return
    yield RunWarning(
        "not-bound",
        "the OS chose the CPUs: each handoff was a switch on one CPU or the wake-up of another",
        _cannot_bind(recording),
        "measure on a machine that can pin, or state in your report that this one cannot",
    )
