"""Warnings that the line of a run gives about its figure: symptom, likely cause, what to try."""

from __future__ import annotations

import math

import numpy as np

from labs.analysis import core_clock
from labs.analysis.estimate import AS_WIDE_AS_VALUE, WIDEST, Estimate
from labs.analysis.line import Line
from labs.analysis.undisturbed_processes import MOST_BY_PLACE
from labs.common import limits
from labs.common.advice import Advice, Option, Words, advice
from labs.common.units import rounded
from labs.recording import declared
from labs.recording.file import Recording
from labs.recording.load import was_shared
from labs.results.warning import RunWarning

#: A run gives a warning from these shares on.
WIDE_INTERVAL = 0.05
MUCH_SHARED = 0.5
MUCH_INTERRUPTED = 1 / 3
GROUPS_APART = 0.02
#: Processes that differ are a quiet remark if they are at most this share of all processes, and if
#: they differ by less than this factor.
FEW_OF_MANY, NEARLY_ALIKE = 0.2, 1.25

OTHER_THREAD = "the core's other hardware thread is busy with another virtual machine or program"
UNTIL_WHOLE = advice(
    Option("within", 5),
    Option("at-most", 60),
    ", which goes on until enough processes have had the core to themselves",
)

#: Of a figure that is next to nothing, which more samples do not change.
NO_WHOLE_CYCLE = RunWarning(
    "not-believable",
    "the interval holds 0 and is within one core cycle of it: the run shows no cost of a cycle",
    "perhaps the compiler left the operation out, or the core does it next to other work",
    "look for the operation in the machine code",
)

#: With this many interruptions per sample of the longest kind, about 3 in 10 of them are hit.
FEW_HIT = 0.357


def of_line(
    recording: Recording, line: Line, figure: Estimate | None = None
) -> tuple[RunWarning, ...]:
    """Warnings that need the line: about its fit, the width of the interval, impossible values."""
    if figure is None:
        figure = line.overhead if declared.is_overhead(recording, line.variant) else line.cost
    if not line.straight:
        return (_of_no_line(recording, line),)
    found = []
    if line.cost.high < 0 or figure.high < 0:
        found.append(
            RunWarning(
                "negative",
                "the fitted value is negative",
                "the subtracted part was not contained in the measurement, or the machine changed "
                "its speed during the run",
                "look in the C at what is subtracted; if that is right, measure again",
            )
        )
    found += [*_of_interruptions(line, figure), *_of_shared_core(line), *_of_processes(line)]
    cycle = core_clock.shortest_cycle(recording, line.clock)
    if cycle and line.cost.high < 0.9 * cycle and not declared.is_unfenced(recording, line.variant):
        found.append(
            RunWarning(
                "below-one-cycle",
                f"one operation takes {rounded(line.cost.value / cycle, 2)} core cycles",
                "operations overlap, or the compiler removed some of them",
                "look at the disassembly of the measured region",
            )
        )
    return (*found, *_of_width(recording, line, figure))


def _of_no_line(recording: Recording, line: Line) -> RunWarning:
    """The warning that the samples lie on no line."""
    worst, share = line.worst_point()
    look = "look at the disassembly of the measured region"
    cause: tuple[str, Advice | str] = (
        "the clock is read before the work is done, the work does not grow with k, or the samples "
        "are so short that the end of their loop counts",
        advice("larger batch sizes (", Option("batch", ...), f"); if they do not help, {look}"),
    )
    if declared.is_unfenced(recording, line.variant):
        cause = (cause[0], "use a fenced variant")
    elif _are_too_short(recording, line):
        # Other programs make samples longer, never shorter than their work.
        cause = ("the clock is read before the work between the readings is done", look)
    elif was_shared(recording):
        cause = (
            "other programs used the CPU during the run; they interrupt long samples more "
            "often than short ones, here so often that disturbed samples are not recognised",
            advice(
                "measure again when the machine is quieter, or with smaller batch sizes (",
                Option("batch", ...),
                ")",
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


def _of_width(recording: Recording, line: Line, figure: Estimate) -> list[RunWarning]:
    """A warning if the interval is wide, or so wide that nobody should believe the value."""
    width = figure.half_width / abs(figure.value) if figure.value else 1.0
    if width <= WIDE_INTERVAL:
        return []
    if not declared.is_overhead(recording, line.variant) and _is_next_to_nothing(line, figure):
        return [NO_WHOLE_CYCLE]
    too_short = False
    cause = (
        "the processes of this run differ, or it has too few samples for this clock's step of "
        f"{line.clock.step} tick{'s' if line.clock.step != 1 else ''}"
    )
    if line.shared:
        cause = (
            f"another program used the same core all the time ({OTHER_THREAD}), and the interval "
            "reaches down to the possible cost on a whole core"
        )
    elif declared.of_variant(recording, line.variant).memory and was_shared(recording):
        cause = "the operation uses memory, and other programs used memory during the run"
    elif too_short := _is_mostly_overhead(recording, line):
        cause = "even in the longest samples the operations take less time than the overhead"
    symptom = f"the interval reaches {rounded(100 * width, 2)} % of the value to either side"
    unbelievable, join = f"{symptom}: do not believe a figure beyond {100 * WIDEST:.0f} %", ", and"
    if figure.low <= 0 <= figure.high:
        unbelievable = "the interval holds 0: the run does not distinguish the value from nothing"
        join = ";"
    if figure.is_believable():
        longer = _longer(figure, width)
        brief = advice(
            f"the interval reaches {rounded(100 * width, 2)} % to either side (",
            longer,
            " should narrow it)",
        )
        return [RunWarning("wide-interval", symptom, cause, longer, quiet=True, brief=brief)]
    longer = UNTIL_WHOLE if line.shared else _longer(figure, width)
    return [
        RunWarning(
            "not-believable",
            unbelievable + (f"{join} hand in none this wide" if width >= AS_WIDE_AS_VALUE else ""),
            cause,
            advice("measure again with larger batch sizes (", Option("batch", ...), ")")
            if too_short
            else advice("measure again, or longer: ", longer),
        )
    ]


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


def _longer(figure: Estimate, width: float) -> Advice:
    """The option that would make the interval narrow, if only chance makes it wide.

    If the processes differ by no more than their own errors, the width falls with the root of the
    number of samples. Otherwise it falls with the root of the number of processes.
    """
    times, by = (width / WIDE_INTERVAL) ** 2, figure.by_process
    if by is not None and by.value.var() < 2 * np.median(by.error) ** 2:
        samples = math.ceil(figure.n * times / 1000) * 1000
        if samples <= limits.MOST_SAMPLES:
            return advice(Option("samples", samples))
    else:
        processes = math.ceil(figure.processes * times / 10) * 10
        if processes <= limits.MOST_PROCESSES:
            return advice(Option("processes", processes))
    return advice(Option("within", 100 * WIDE_INTERVAL), Option("at-most", 60))


def _of_interruptions(line: Line, figure: Estimate) -> list[RunWarning]:
    """A warning about interrupted samples, quiet if the others give a figure to believe."""
    share = line.share_set_aside("interrupted")
    if not share:
        return []
    # Interruptions come at random (Poisson); `rate` is per tick. The suggested batch sizes are so
    # short that fewer than a third of their samples are hit.
    rate = -math.log1p(-min(share, 0.99)) / float(line.location.mean())
    factor = FEW_HIT / (rate * float(line.location[-1]))
    smaller = sorted({max(int(k * factor), 1) for k in line.batch.tolist()})
    sizes = (": ", Option("batch", tuple(smaller))) if factor < 1 < len(smaller) else ()
    return [
        RunWarning(
            "interrupted",
            f"{rounded(100 * share, 2)} % of the samples were interrupted and were set aside",
            "other programs, or a hypervisor that often takes the CPU for a moment",
            advice("smaller batch sizes, which are hit less often", *sizes),
            quiet=share < MUCH_INTERRUPTED and figure.is_believable(),
            brief=f"{rounded(100 * share, 2)} % of the samples were interrupted and set aside",
        )
    ]


def _of_shared_core(line: Line) -> list[RunWarning]:
    """A warning if another program used the same core for most of the time."""
    share = line.share_set_aside("shared")
    if share < MUCH_SHARED:
        return []
    return [
        RunWarning(
            "shared-core",
            f"another program used the same core for {rounded(100 * share, 2)} % of the time; "
            "those samples were set aside",
            OTHER_THREAD,
            advice("another CPU (", Option("cpu", ...), "), or ", UNTIL_WHOLE),
        )
    ]


def _of_processes(line: Line) -> list[RunWarning]:
    """A warning if the processes fall into two groups, with the cause if the run shows it."""
    groups, by = line.two_groups, line.cost.by_process
    if groups is None or by is None or abs(groups.factor - 1) < GROUPS_APART:
        return []
    aside = int((line.set_aside["process"] > 0).sum())
    count, every = len(groups.others), len(by.process)
    symptom = (
        f"processes differ: {count} of {every} took {rounded(groups.factor)} times as long as the "
        f"others{'; their samples were set aside' if aside else ''}"
    )
    cause = (
        "this run does not show the cause: it may be their place in memory, or another program on "
        "the same core"
    )
    if groups.factor >= MOST_BY_PLACE and (groups.siblings == "stay" or groups.whole):
        cause = (
            "another state of the machine, for example two tasks on two CPUs in some processes and "
            "on one CPU in others; a place in memory has a smaller effect, and no other program "
            "was seen on the core"
        )
    elif groups.siblings == "stay":
        cause = (
            "the place of code and stack in memory: another variant in the same processes did not "
            "change, and another program on the core would have slowed it too"
        )
    elif groups.whole:
        cause = (
            "perhaps the place of code and stack in memory; each process had its core to itself, "
            "so no other program on the core is the cause"
        )
    elif groups.siblings == "move":
        cause = (
            "another program on the same core: all variants of this run were slower in the same "
            "processes"
        )
    # The others agree, and the interval counts what was kept: there is nothing to do.
    few = count <= FEW_OF_MANY * every and 1 / NEARLY_ALIKE < groups.factor < NEARLY_ALIKE
    return [
        RunWarning(
            "processes-differ",
            symptom,
            cause,
            advice(
                Words(
                    "look at each process (plot_processes in a notebook)",
                    "look at each process (.plot_processes() of the run)",
                ),
                ", and run more processes (",
                Option("processes", 40),
                ")",
            ),
            quiet=few,
            brief=f"{count} of {every} processes took {rounded(groups.factor)} times as long as "
            f"the others{' and were set aside' if aside else ''}",
        )
    ]
