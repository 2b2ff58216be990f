"""What the line of a run says against its figure: symptom, likely cause, what to try."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from labs.analysis import core_clock
from labs.analysis.estimate import WIDEST, Estimate
from labs.analysis.line import Line
from labs.analysis.undisturbed import MOST_BY_PLACE
from labs.common import limits
from labs.common.advice import Advice, Option, advice
from labs.common.units import rounded
from labs.recording import declared
from labs.recording.file import Recording
from labs.recording.load import was_shared

#: From these shares on there is a warning.
WIDE_INTERVAL = 0.05
MUCH_SHARED = 0.5
GROUPS_APART = 0.02

OTHER_THREAD = "the core's other hardware thread is busy with another virtual machine or program"
UNTIL_WHOLE = advice(
    Option("within", 5),
    Option("at-most", 60),
    ", which goes on until enough processes have had the core to themselves",
)

#: Of the longest intervals about 3 in 10 are hit, where so many interruptions come in one.
FEW_HIT = 0.357


@dataclass(frozen=True)
class RunWarning:
    """Something in a run that makes its figure worth less."""

    code: str
    symptom: str
    likely_cause: str
    advice: Advice | str
    #: Whether its reader writes options in Python.
    python: bool = False

    @property
    def try_this(self) -> str:
        """What to try, with options as its reader writes them."""
        return (
            self.advice if isinstance(self.advice, str) else self.advice.worded(python=self.python)
        )

    def __str__(self) -> str:
        return f"{self.symptom}; {self.likely_cause}. Try: {self.try_this}."


def of_line(
    recording: Recording, line: Line, figure: Estimate | None = None
) -> tuple[RunWarning, ...]:
    """Warnings that need the line: fit, width of the figure's interval, impossible values."""
    if figure is None:
        figure = line.overhead if declared.is_overhead(recording, line.variant) else line.cost
    found = []
    if not line.straight:
        worst, share = line.worst()
        cause: tuple[str, Advice | str] = (
            "the clock is read before the work between the readings is done, or the work does not "
            "grow with k",
            "a look at the disassembly of the measured region",
        )
        if declared.is_unfenced(recording, line.variant):
            cause = (cause[0], "a fenced variant")
        elif was_shared(recording):
            cause = (
                "where others have the CPU meanwhile, long intervals are met more often than short "
                "ones, and so many were that they cannot be told apart",
                advice(
                    "the run again when the machine is quieter, or with smaller batch sizes (",
                    Option("batch", ...),
                    ")",
                ),
            )
        found.append(
            RunWarning(
                "not-on-a-line",
                f"at k = {line.batch[worst]:.0f} the mean lies "
                f"{rounded(100 * abs(share), 2)} % off the "
                "line T(k) = overhead + k * cost, so that there is no figure",
                *cause,
            )
        )
        return tuple(found)
    if line.cost.high < 0 or figure.high < 0:
        found.append(
            RunWarning(
                "negative",
                "the line gives less than nothing",
                "something was subtracted that was not there, or the machine changed its speed "
                "during the run",
                "the run again, with more processes",
            )
        )
    found += [*_of_interruptions(line), *_of_shared_core(line), *_of_processes(line)]
    cycle = core_clock.shortest_cycle(recording, line.clock)
    if cycle and line.cost.high < 0.9 * cycle and not declared.is_unfenced(recording, line.variant):
        found.append(
            RunWarning(
                "below-one-cycle",
                f"one operation takes {rounded(line.cost.value / cycle, 2)} core cycles",
                "operations overlap, or the compiler removed some of them",
                "a look at the disassembly of the measured region",
            )
        )
    return (*found, *_of_width(recording, line, figure))


def _of_width(recording: Recording, line: Line, figure: Estimate) -> list[RunWarning]:
    """That the interval is wide, or so wide that the value is not to be believed."""
    width = figure.half_width / abs(figure.value) if figure.value else 1.0
    if width <= WIDE_INTERVAL:
        return []
    cause = (
        "the processes of this run differ, or its samples are too few for this clock's step of "
        f"{line.clock.step} tick{'s' if line.clock.step != 1 else ''}"
    )
    if line.shared:
        cause = (
            f"something else used the same core all the time ({OTHER_THREAD}), and the interval "
            "reaches down to what a whole core may take"
        )
    elif declared.of_variant(recording, line.variant).memory and was_shared(recording):
        cause = "it is an operation on memory, and other programs used memory meanwhile"
    symptom = f"the interval spans {rounded(100 * width, 2)} % of the value to either side"
    if figure.is_believable():
        return [RunWarning("wide-interval", symptom, cause, _longer(figure, width))]
    longer = UNTIL_WHOLE if line.shared else _longer(figure, width)
    return [
        RunWarning(
            "not-believable",
            f"{symptom}: beyond {100 * WIDEST:.0f} % a figure is not to be believed",
            cause,
            advice("measure again, or longer: ", longer),
        )
    ]


def _longer(figure: Estimate, width: float) -> Advice:
    """The option by which the interval would become narrow, where chance alone makes it wide.

    Its width falls with the root of the number of samples, where the processes differ by no more
    than what each does not know by itself; else with the root of the number of processes.
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


def _of_interruptions(line: Line) -> list[RunWarning]:
    share = line.share_aside("interrupted")
    if not share:
        return []
    # At random (Poisson), so many come in a tick; batch sizes of which fewer than a third are hit:
    rate = -math.log1p(-min(share, 0.99)) / float(line.location.mean())
    factor = FEW_HIT / (rate * float(line.location[-1]))
    smaller = sorted({max(int(k * factor), 1) for k in line.batch.tolist()})
    sizes = (": ", Option("batch", tuple(smaller))) if factor < 1 < len(smaller) else ()
    return [
        RunWarning(
            "interrupted",
            f"{rounded(100 * share, 2)} % of the intervals were interrupted; those samples were "
            "set aside",
            "other programs, or a hypervisor that takes the CPU for a moment again and again",
            advice("smaller batch sizes, which are hit less often", *sizes),
        )
    ]


def _of_shared_core(line: Line) -> list[RunWarning]:
    """That something else used the same core for so long that little is left."""
    share = line.share_aside("shared")
    if share < MUCH_SHARED:
        return []
    return [
        RunWarning(
            "shared-core",
            f"something else used the same core for {rounded(100 * share, 2)} % of the time; those "
            "samples were set aside",
            OTHER_THREAD,
            advice("another CPU (", Option("cpu", ...), "), or ", UNTIL_WHOLE),
        )
    ]


def _of_processes(line: Line) -> list[RunWarning]:
    """That processes fall into two groups, and why, where that can be told."""
    differ, by = line.differ, line.cost.by_process
    if differ is None or by is None or abs(differ.factor - 1) < GROUPS_APART:
        return []
    aside = int((line.set_aside["process"] > 0).sum())
    count, every = len(differ.others), len(by.process)
    symptom = (
        f"processes differ: {count} of {every} took {rounded(differ.factor)} times as long as the "
        f"others{'; their samples were set aside' if aside else ''}"
    )
    cause = "this run cannot tell why: their place in memory, or something else on the same core"
    if differ.factor >= MOST_BY_PLACE and (differ.siblings == "stay" or differ.whole):
        cause = (
            "another state of the machine, such as tasks on two CPUs that others had on one: a "
            "place in memory does not make so much, and something else on the core was not seen"
        )
    elif differ.siblings == "stay":
        cause = (
            "the place of code and stack in memory: another variant in the same processes did not "
            "change, and something else on the core would have slowed it too"
        )
    elif differ.whole:
        cause = (
            "not something else on the same core, which each of them had to itself; perhaps the "
            "place of code and stack in memory"
        )
    elif differ.siblings == "move":
        cause = (
            "something else on the same core: all variants of this run were slower in the same "
            "processes"
        )
    return [
        RunWarning(
            "processes-differ",
            symptom,
            cause,
            advice(
                "a look at the processes one by one (plot_processes in a notebook), and more of "
                "them (",
                Option("processes", 40),
                ")",
            ),
        )
    ]
