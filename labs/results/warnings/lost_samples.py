"""Warnings about samples that were set aside because something else used the CPU or the core."""

from __future__ import annotations

import math

from labs.analysis.estimate import Estimate
from labs.analysis.line import Line
from labs.common.advice import Option, advice
from labs.common.units import rounded
from labs.recording import declared
from labs.recording.file import Recording
from labs.recording.load import was_shared
from labs.results.warnings.warning import RunWarning

#: A run gives a warning from these shares of its samples on.
MUCH_SHARED = 0.5
MUCH_INTERRUPTED = 1 / 3
#: From this share on, samples that are set aside are reported.
MUCH_FAR = 0.1
#: So many processes that had the core to themselves are enough, if their interval is narrow.
PROCESSES_ENOUGH = 7

OTHER_THREAD = (
    "the physical core was shared with a program or a virtual machine that this machine may not see"
)
OTHER_THREAD_ALL_THE_TIME = (
    "something else used the core all the time, so the value is at most what a whole core gives"
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
    """A warning if many samples were far from the others, with when they came."""
    share = line.share_set_aside("far")
    if share < MUCH_FAR:
        return []
    # Interruptions come at random (Poisson); `rate` is per tick. The suggested batch sizes are so
    # short that fewer than a third of their samples are hit.
    rate = -math.log1p(-min(share, 0.99)) / float(line.location.mean())
    factor = FEW_HIT / (rate * float(line.location[-1]))
    smaller = sorted({max(int(k * factor), 1) for k in line.batch.tolist()})
    try_this = advice("smaller batch sizes, which are hit less often")
    if factor < 1 < len(smaller):
        try_this = advice(
            "smaller batch sizes, which are hit less often: {batch}",
            batch=Option("batch", tuple(smaller)),
        )
    return [
        RunWarning(
            "interrupted",
            f"{rounded(100 * share, 2)} % of the samples were far from the others and were set "
            "aside",
            "other programs, or a hypervisor that often takes the CPU for a moment",
            try_this,
            quiet=share < MUCH_INTERRUPTED and figure.is_believable(),
            brief=f"{rounded(100 * share, 2)} % of the samples were far from the others and set "
            "aside",
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
