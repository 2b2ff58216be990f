"""Warnings that the line of a run gives about its figure: symptom, likely cause, what to try."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from labs import limits
from labs.analysis import core_clock
from labs.analysis.estimates import Estimate
from labs.analysis.line import Line
from labs.analysis.thresholds import AS_WIDE_AS_VALUE, WIDEST
from labs.messages import Advice, Option, Words, advice
from labs.recording import declared, proof
from labs.recording.cut_short import TIME_LIMIT, cut_short
from labs.recording.file import Recording
from labs.recording.run_conditions import was_shared
from labs.results.modes import modes
from labs.units import rounded


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


#: A run gives a warning from these shares on.
WIDE_INTERVAL = 0.05
COARSE_STEP = 0.05  # of the shortest samples: averaging removes what a finer step adds

#: Of a figure that is next to nothing, which more samples do not change.
NO_WHOLE_CYCLE = RunWarning(
    "not-believable",
    "the interval holds 0 and is within one core cycle of it: the run shows no cost of a cycle",
    "perhaps the compiler left the operation out, or the core does it next to other work",
    "look for the operation in the machine code",
)


def of_line(
    recording: Recording, line: Line, figure: Estimate | None = None
) -> tuple[RunWarning, ...]:
    """Warnings that need the line: about its fit, the width of the interval, impossible values."""
    if figure is None:
        figure = line.overhead if declared.is_overhead(recording, line.variant) else line.cost
    if not line.straight:
        return (no_line_warning(recording, line),)
    found = []
    if line.cost.high < 0 or figure.high < 0:
        found.append(_negative(recording, line))
    found += of_far(recording, line, figure)
    found += of_drift(recording, line)
    found += of_shared_core(line, figure, WIDE_INTERVAL)
    found += _of_modes(recording, line.variant, figure)
    cycle = core_clock.shortest_cycle(recording, line.clock)
    if cycle and line.cost.high < 0.9 * cycle and not declared.is_unfenced(recording, line.variant):
        found.append(
            RunWarning(
                "below-one-cycle",
                f"each operation adds {max(line.cost.value / cycle, 0):.2f} core cycles to "
                "a sample",
                "operations overlap, or the compiler removed some of them",
                "look at the disassembly of the measured region",
            )
        )
    return (*found, *_of_width(recording, line, figure))


def _negative(recording: Recording, line: Line) -> RunWarning:
    """The warning that the fitted value is negative, with the cause that its kind allows.

    From an overhead nothing is subtracted. It is negative if work is missing from the samples.
    """
    cause: tuple[str, Advice | str] = (
        "the subtracted part was not contained in the measurement, or the machine changed "
        "its speed during the run",
        "look in the C at what is subtracted; if that is right, measure again",
    )
    if declared.is_overhead(recording, line.variant) and line.cost.high >= 0:
        cause = (
            "the clock is read before the work is done, or the machine changed its speed during "
            "the run",
            "use a fenced variant"
            if declared.is_unfenced(recording, line.variant)
            else "look at the disassembly of the measured region; if its readings wait for the "
            "work, measure again",
        )
    return RunWarning("negative", "the fitted value is negative", *cause)


def _of_modes(recording: Recording, variant: str, figure: Estimate) -> list[RunWarning]:
    """A remark that the processes fall into two groups; the interval counts all of them."""
    found = modes(recording, figure.by_process)
    if found is None:
        return []
    early = declared.seen_not_to_wait(recording, variant)
    cause = "their place in memory, or another state of the machine: this run does not show which"
    if early:
        cause = READ_EARLY
    elif found.stack is not None:
        cause = "the place of the stack, which the kit chooses for each process"
    elif declared.chooses_no_cpu(recording, variant):
        cause = "the OS chose the CPUs of the tasks, and perhaps others in some processes"
    plot = Words("plot_processes in a notebook", ".plot_processes() of the run")
    look = advice("look at each process ({plot})", plot=plot)
    symptom = found.symptom()
    return [
        RunWarning(
            "processes-differ",
            symptom,
            cause,
            LET_IT_WAIT if early else look,
            quiet=not early,
            brief=symptom,
        )
    ]


def _of_width(recording: Recording, line: Line, figure: Estimate) -> list[RunWarning]:
    """A warning if the interval is wide, or so wide that nobody should believe the value."""
    width = figure.half_width / abs(figure.value) if figure.value else 1.0
    if width <= WIDE_INTERVAL:
        return []
    if not declared.is_overhead(recording, line.variant) and _is_next_to_nothing(line, figure):
        return [NO_WHOLE_CYCLE]
    too_short = False
    cause = "the processes of this run differ, or it has too few samples"
    if line.clock.step > COARSE_STEP * float(line.location.min()):
        cause = (
            "the processes of this run differ, or it has too few samples for this clock's step of "
            f"{line.clock.step} tick{'s' if line.clock.step != 1 else ''}"
        )
    if line.shared:
        cause = OTHER_THREAD_ALL_THE_TIME
    elif met_others_in_memory(recording, line.variant):
        cause = OTHERS_USED_MEMORY
    elif too_short := _is_mostly_overhead(recording, line):
        cause = "even in the longest samples the operations take less time than the overhead"
    share = rounded(100 * width, 2)
    if figure.is_believable():
        longer = _longer(recording, line, figure, width)
        return [
            RunWarning(
                "wide-interval",
                f"half of the interval's width is {share} % of the value",
                cause,
                longer,
                quiet=True,
                brief=advice(
                    "half of the interval's width is {share} % of the value ({longer} should "
                    "narrow it)",
                    share=share,
                    longer=longer,
                ),
            )
        ]
    longer = UNTIL_WHOLE if line.shared else _longer(recording, line, figure, width)
    return [
        RunWarning(
            "not-believable",
            _unbelievable(figure, share, none_this_wide=width >= AS_WIDE_AS_VALUE),
            cause,
            advice("measure again with larger batch sizes ({batch})", batch=Option("batch", ...))
            if too_short
            else advice("measure again, or longer: {longer}", longer=longer),
        )
    ]


def _unbelievable(figure: Estimate, share: str, *, none_this_wide: bool) -> str:
    """How wide the interval is; half of its width is `share` % of the value."""
    widest = f"{100 * WIDEST:.0f}"
    if figure.low <= 0 <= figure.high:
        if none_this_wide:
            return (
                "the interval holds 0: the run does not distinguish the value from nothing, "
                "so hand in none this wide"
            )
        return "the interval holds 0: the run does not distinguish the value from nothing"
    if none_this_wide:
        return (
            f"half of the interval's width is {share} % of the value: do not believe a figure "
            f"beyond {widest} %, and hand in none this wide"
        )
    return (
        f"half of the interval's width is {share} % of the value: do not believe a figure beyond "
        f"{widest} %"
    )


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


def _longer(recording: Recording, line: Line, figure: Estimate, width: float) -> Advice:
    """The option that would make the interval narrow, if only chance makes it wide.

    If the processes differ by no more than their own errors, the width falls with the root of the
    number of samples. Otherwise it falls with the root of the number of processes. Both count with
    what was set aside, because as much of a longer run will be.
    """
    times, by = (width / WIDE_INTERVAL) ** 2, figure.by_process
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
        "{options}", options=(Option("within", 100 * WIDE_INTERVAL), Option("at-most", 60))
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
    cut = cut_short(recording)
    if cut is not None and cut.by == TIME_LIMIT:
        return False
    limit = recording.number("time_limit_s")
    taken = sum(
        float(recording.ticks[recording.rows_of(name)].sum()) / recording.clock(name).ticks_in("s")
        for name in recording.variants
    )
    return limit is None or taken * times <= limit


# Warnings about a drift, and about samples that were set aside: far ones, and on a shared core.

#: A run gives a warning from these shares of its samples on.
MUCH_SHARED = 0.5
MUCH_INTERRUPTED = 1 / 3
#: From this share on, samples that are set aside are reported.
MUCH_FAR = 0.1
#: Far samples are a slow beginning if most of them lie in this share of each process.
EARLY = 0.6
#: A change within a process is reported from these limits on, in intervals and as a share.
SURELY, LEAST_DRIFT = 1.5, 0.02
#: So many processes that had the core to themselves are enough, if their interval is narrow.
PROCESSES_ENOUGH = 7

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

#: With this many interruptions per sample of the longest kind, about 3 in 10 of them are hit.
FEW_HIT = 0.357


def met_others_in_memory(recording: Recording, variant: str) -> bool:
    """Whether `variant` uses memory, and other programs used much of the machine."""
    return declared.of_variant(recording, variant).memory and was_shared(recording)


def of_far(recording: Recording, line: Line, figure: Estimate) -> list[RunWarning]:
    """A warning if many samples were far from the others, with when they were taken.

    It is quiet if the others give a figure to believe and there is nothing to do.
    """
    share = line.share_set_aside("far")
    if share < MUCH_FAR:
        return []
    first, last = line.far_between
    value = rounded(100 * share, 2)
    symptom = f"{value} % of the samples were far from the others, all over the run"
    if last < EARLY:
        part = rounded(100 * last, 2)
        symptom = (
            f"{value} % of the samples were far from the others, most of them in the first {part} "
            "% of each process"
        )
    elif first > 1 - EARLY:
        part = rounded(100 * (1 - first), 2)
        symptom = (
            f"{value} % of the samples were far from the others, most of them in the last {part} "
            "% of each process"
        )
    cause = "other programs, or a hypervisor that often takes the CPU for a moment"
    if last < EARLY:
        cause = "a slow beginning: the first operations cost more than the later ones"
    # Interruptions come at random (Poisson); `rate` is per tick. The suggested batch sizes are so
    # short that fewer than a third of their samples are hit.
    rate = -math.log1p(-min(share, 0.99)) / float(line.location.mean())
    factor = FEW_HIT / (rate * float(line.location[-1]))
    smaller = sorted({max(int(k * factor), 1) for k in line.batch.tolist()})
    try_this = advice("smaller batch sizes, which are hit less often")
    if last < EARLY:
        try_this = longer_warmup(recording, last)
    elif factor < 1 < len(smaller):
        try_this = advice(
            "smaller batch sizes, which are hit less often: {batch}",
            batch=Option("batch", tuple(smaller)),
        )
    quiet = share < MUCH_INTERRUPTED and figure.is_believable() and last >= EARLY
    return [RunWarning("interrupted", symptom, cause, try_this, quiet=quiet, brief=symptom)]


def longer_warmup(recording: Recording, share: float) -> Advice:
    """The option for a warm-up that takes in this share of each process."""
    samples, warmup = recording.number("samples") or 0.0, recording.number("warmup") or 0.0
    longer = math.ceil((warmup + share * samples) / 100) * 100
    return advice(
        "a longer warm-up ({warmup}), or state the beginning as a figure of its own",
        warmup=Option("warmup", min(longer, limits.MOST_WARMUP)),
    )


def of_drift(recording: Recording, line: Line) -> list[RunWarning]:
    """A warning if the figure changes from the first half of each process to the second.

    Of runs without a change, chance exceeds these limits in 1 of 100.
    """
    drift, about_overhead = line.drift, declared.is_overhead(recording, line.variant)
    figure = line.overhead if about_overhead else line.cost
    if drift is None or abs(drift.value) < max(
        SURELY * drift.half_width, LEAST_DRIFT * abs(figure.value)
    ):
        return []
    share = rounded(100 * abs(drift.value / figure.value), 2)
    if drift.value < 0:
        return [
            RunWarning(
                "drift",
                f"the first half of each process costs {share} % more than the second half",
                "a slow beginning",
                longer_warmup(recording, 0.5),
            )
        ]
    return [
        RunWarning(
            "drift",
            f"the second half of each process costs {share} % more than the first half",
            "the machine changed while a process ran, or the operation leaves something behind",
            "look at the samples in the order in which they were taken",
        )
    ]


def of_shared_core(line: Line, figure: Estimate, wide: float) -> list[RunWarning]:
    """A warning if another program used the same core for most of the time.

    It is quiet if the rest of the run is enough: many processes, and an interval whose half is
    below the share `wide` of the value.
    """
    share = line.share_set_aside("shared")
    if share < MUCH_SHARED:
        return []
    narrow = figure.half_width <= wide * abs(figure.value)
    return [
        RunWarning(
            "shared-core",
            f"something else used the same core for {rounded(100 * share, 2)} % of the time, "
            "and those samples were set aside",
            OTHER_THREAD,
            advice("another CPU ({cpu}), or {longer}", cpu=Option("cpu", ...), longer=UNTIL_WHOLE),
            quiet=narrow and figure.processes >= PROCESSES_ENOUGH,
            brief=f"something else used the same core for {rounded(100 * share, 2)} % of the time",
        )
    ]


# The warning that the samples lie on no line.

#: A shorter delay is no interruption.
SHORTEST_NS = 1000.0
READ_EARLY = (
    "the second reading does not wait for the work before it, and how early it comes changes from "
    "sample to sample"
)
LET_IT_WAIT = "let the second reading wait, then measure again"

#: After about this time Linux gives the CPU to another task that waits for it (3 ms on machines of
#: 8 and more CPUs, less on smaller ones).
TIME_SLICE_MS = 3.0


def no_line_warning(recording: Recording, line: Line) -> RunWarning:
    """The warning that the samples lie on no line."""
    worst, share = line.worst_point()
    cause: tuple[str, Advice | str] = (
        "the clock is read before the work is done, the work does not grow with k, or the samples "
        "are so short that the end of their loop counts",
        advice(
            "larger batch sizes ({batch}); if they do not help, look at the disassembly of the "
            "measured region",
            batch=Option("batch", ...),
        ),
    )
    if declared.is_unfenced(recording, line.variant):
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
    elif was_shared(recording) and _may_hide_an_interruption(line):
        cause = (
            "other programs used the CPU during the run; they interrupt long samples more "
            "often than short ones, here so often that disturbed samples are not recognised",
            advice(
                "measure again when the machine is quieter, or with smaller batch sizes ({batch})",
                batch=Option("batch", ...),
            ),
        )
    return RunWarning(
        "not-on-a-line",
        f"at k = {line.batch[worst]:.0f} the mean lies {rounded(100 * abs(share), 2)} % off the "
        "line T(k) = overhead + k * cost, so there is no figure",
        *cause,
    )


def _are_too_short(recording: Recording, line: Line) -> bool:
    """Whether samples take less time than the operations in them, as far as their length is known.

    Example: 64 additions that wait for each other, and a sample of 40 core cycles.
    """
    cycle = core_clock.shortest_cycle(recording, line.clock)
    work = line.batch * (declared.operation_cycles(recording, line.variant) * cycle)
    return bool((line.location < work).any())


def _may_hide_an_interruption(line: Line) -> bool:
    """Whether the longest samples last at least as long as the shortest interruption.

    An interruption makes a sample of 50 ns many times as long, so it is always recognised there.
    """
    return float(line.location.max()) >= SHORTEST_NS * line.clock.ticks_in("ns")


def _beyond_a_time_slice(recording: Recording, line: Line) -> float | None:
    """How many ms the longest samples last, if that is more than a time slice; else None.

    It is None too if the tasks hand over as claimed, because then none keeps the CPU so long.
    """
    lasts = float(line.location.max()) / line.clock.ticks_in("ms")
    seen = proof.of_variant(recording, line.variant)
    keeps = seen is not None and 0 < seen.counted < seen.claimed / 2
    return lasts if keeps and lasts > TIME_SLICE_MS else None
