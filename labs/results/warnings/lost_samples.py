"""Warnings about samples that were set aside because something else used the CPU or the core."""

from __future__ import annotations

import math

from labs.analysis.estimate import Estimate
from labs.analysis.line import Line
from labs.common import limits
from labs.common.advice import Advice, Option, advice
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
