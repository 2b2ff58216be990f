"""Warnings that the line of a run gives about its figure: symptom, likely cause, what to try."""

from __future__ import annotations

import math

import numpy as np

from labs.analysis import core_clock
from labs.analysis.estimate import Estimate
from labs.analysis.line import Line
from labs.analysis.thresholds import AS_WIDE_AS_VALUE, WIDEST
from labs.common import limits
from labs.common.advice import Advice, Option, Words, advice
from labs.common.units import rounded
from labs.recording import declared
from labs.recording.file import Recording
from labs.results.modes import modes
from labs.results.warnings import no_line
from labs.results.warnings.lost_samples import (
    OTHER_THREAD_ALL_THE_TIME,
    OTHERS_USED_MEMORY,
    UNTIL_WHOLE,
    met_others_in_memory,
    of_drift,
    of_far,
    of_shared_core,
)
from labs.results.warnings.more_processes import ends_in_time
from labs.results.warnings.warning import RunWarning

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
        return (no_line.warning(recording, line),)
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
        cause = no_line.READ_EARLY
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
            no_line.LET_IT_WAIT if early else look,
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
