"""Find the processes of a run that a neighbour on the same physical core slowed down.

Another virtual machine on the sibling of a hyper-threaded core, or whoever shares its caches, makes
every operation dearer for as long as it runs: on one machine a system call took 304 core cycles in
most processes of a run and 340 to 360 in the others, a procedure call 4.0 and 5.7. What was
measured with the neighbour away is the figure; that it was there is told beside it.

Only groups of processes that stand well apart are parted, and only the dearer one is set aside:
what merely differs from process to process (layout, pages) stays, and widens the interval.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from labs.recording import Samples
from labs.stretches import Stretches, none

Floats = NDArray[np.float64]

#: Groups are apart by this share of the cheaper one's slope at least; layout alone does less.
LEAST_GAP = 0.04

#: And by this many standard errors of a process's own slope: chance does less.
ERRORS_APART = 6.0

#: The cheaper group is the undisturbed one if it holds this share of the processes, and two.
LEAST_SHARE = 0.2
FEWEST = 2

#: Samples that a process needs at its smallest and largest batch size to be judged.
FEWEST_SAMPLES = 8


def find(samples: Samples) -> Stretches:
    """The samples of undisturbed processes; all of them where no two groups stand apart.

    `slower_by` is what an operation took more in the others, in ticks. `samples` must be at one
    speed of the core (core_clock.at_one_speed), lest turbo be taken for a neighbour.
    """
    processes = np.unique(samples.process)
    judged = [_slope(samples, int(process)) for process in processes]
    if len(judged) < 2 * FEWEST or any(each is None for each in judged):
        return none(samples)
    slope = np.array([each[0] for each in judged if each is not None])
    error = float(np.median([each[1] for each in judged if each is not None]))
    order = np.argsort(slope)
    gaps = np.diff(slope[order])
    allowed = [place for place in range(len(gaps)) if _is_group(place + 1, len(slope))]
    if not allowed or slope[order[0]] <= 0:
        return none(samples)
    cut = max(allowed, key=lambda place: float(gaps[place]))
    cheaper, dearer = slope[order[: cut + 1]], slope[order[cut + 1 :]]
    level = float(np.median(cheaper))
    if gaps[cut] < max(LEAST_GAP * level, ERRORS_APART * error):
        return none(samples)
    kept = np.isin(samples.process, processes[order[: cut + 1]])
    return Stretches(kept, float(1 - kept.mean()), float(np.median(dearer)) - level)


def _is_group(count: int, processes: int) -> bool:
    return count >= max(FEWEST, LEAST_SHARE * processes)


def _slope(samples: Samples, process: int) -> tuple[float, float] | None:
    """Slope of one process from its smallest to its largest batch size, with its standard error;
    None where it has too few samples."""
    mine = samples.process == process
    sizes = np.unique(samples.batch[mine & (samples.batch > 0)])
    if len(sizes) < 2:
        return None
    middle, error = [], []
    for size in (sizes[0], sizes[-1]):
        ticks = samples.ticks[mine & (samples.batch == size)].astype(np.float64)
        if len(ticks) < FEWEST_SAMPLES:
            return None
        low, median, high = np.percentile(ticks, [25, 50, 75])
        # The quartiles of a normal distribution are 1.35 standard deviations apart; a median's
        # standard error is 1.25 times that of a mean. A counter's step is spread of its own.
        deviation = max((high - low) / 1.35, samples.clock.coarseness / 3)
        middle.append(float(median))
        error.append(1.25 * float(deviation) / len(ticks) ** 0.5)
    operations = float(sizes[-1] - sizes[0])
    return (middle[1] - middle[0]) / operations, float(np.hypot(*error)) / operations
