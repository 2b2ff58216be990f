"""What the first time costs more: of each process its first sample, less its later ones.

Only the first operation of a fresh process is cold; so every process gives one value, and the
figure is their median. The interval is a bootstrap over processes.
"""

from __future__ import annotations

import numpy as np

from labs.bootstrap import REPLICATES, SEED
from labs.estimate import CannotEstimate, Estimate
from labs.kept import kept
from labs.recording import Recording

FEWEST_PROCESSES = 5


@kept
def first_time(recording: Recording, variant: str) -> Estimate:
    """First sample less the median of the later ones, in ticks: the median over processes.

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
            f"too few, raise --processes to {FEWEST_PROCESSES} or more"
        )
    values = np.array(more)
    drawn = np.random.default_rng(SEED).integers(0, len(values), (REPLICATES, len(values)))
    low, high = np.percentile(np.median(values[drawn], axis=1), [2.5, 97.5])
    return Estimate(
        float(np.median(values)),
        float(low),
        float(high),
        "ticks",
        "first sample of a process less the median of its later ones, median over processes",
        len(samples),
        len(values),
    )
