"""What the first time costs more: of each process its first sample, less its later ones."""

from __future__ import annotations

import math

import numpy as np

from labs.analysis.estimate import CannotEstimate, Estimate
from labs.common.advice import Option
from labs.recording.file import Recording
from labs.recording.memo import memoized

FEWEST_PROCESSES = 5


@memoized
def first_time(recording: Recording, variant: str) -> Estimate:
    """First sample less the median of the later ones, in ticks: the median over processes.

    Only the first operation of a fresh process is cold, so every process gives one value. The
    interval runs between two of them, so many places from the ends as 2.5 % of the binomial
    distribution allow (Hahn & Meeker, "Statistical Intervals", ch. 5).

    Raises CannotEstimate where there are fewer than five processes with two samples or more.
    """
    samples = recording.samples(variant)
    more = []
    for process in np.unique(samples.process):
        mine = samples.process == process
        ticks = samples.ticks[mine][np.argsort(samples.sample[mine])]
        if len(ticks) > 1:
            more.append(float(ticks[0]) - float(np.median(ticks[1:])))
    if len(more) < FEWEST_PROCESSES:
        raise CannotEstimate(
            f"{variant}: only the first sample of a process is cold; {len(more)} processes are "
            "too few, raise ",
            Option("processes"),
            f" to {FEWEST_PROCESSES} or more",
        )
    values, count = sorted(more), len(more)
    place = 0
    while sum(math.comb(count, i) for i in range(place + 2)) <= 0.025 * 2**count:
        place += 1
    return Estimate(
        float(np.median(values)),
        values[place],
        values[-1 - place],
        "ticks",
        "first sample of a process less the median of its later ones, median over processes",
        len(samples),
        count,
    )
