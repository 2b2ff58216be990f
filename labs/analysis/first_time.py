"""The extra cost of a first time: the first sample of each process minus its later ones."""

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
    """First sample minus the median of the later ones, in ticks: the median over processes.

    Only the first operation of a fresh process is cold, so each process gives one value. The 95 %
    interval reaches from one of the sorted values to another. The binomial distribution, with 2.5 %
    on each side, says how many values lie outside (Hahn & Meeker, "Statistical Intervals", ch. 5).

    Raises CannotEstimate if fewer than five processes have two samples or more, and KeyError if the
    recording has no such variant.
    """
    samples = recording.samples(variant)
    extra_costs = []
    for process in np.unique(samples.process):
        mine = samples.process == process
        ticks = samples.ticks[mine][np.argsort(samples.sample[mine])]
        if len(ticks) > 1:
            extra_costs.append(float(ticks[0]) - float(np.median(ticks[1:])))
    if len(extra_costs) < FEWEST_PROCESSES:
        raise CannotEstimate(
            variant,
            "only the first sample of a process is cold; 1 process is too few, raise {option} to "
            "{fewest} or more"
            if len(extra_costs) == 1
            else "only the first sample of a process is cold; {processes} processes are too few, "
            "raise {option} to {fewest} or more",
            processes=str(len(extra_costs)),
            option=Option("processes"),
            fewest=str(FEWEST_PROCESSES),
        )
    values, count = sorted(extra_costs), len(extra_costs)
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
