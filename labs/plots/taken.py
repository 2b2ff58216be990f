"""The samples of a variant in the order taken, and the words that a plot of them has.

This module draws nothing and loads no library that does.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from labs.analysis.arrays import Bools, Floats
from labs.common.units import NAMES, plural
from labs.plots.scale import BLUE, VERMILLION, spread_out
from labs.recording import declared
from labs.recording.distinct import distinct
from labs.recording.file import Integers, Recording


@dataclass(frozen=True, eq=False)
class Taken:
    """The samples of one variant in the order taken; each array has the shape (n,).

    `warm` samples belong to the warm-up; a `cold` sample is the first of its process.
    """

    ticks: Floats
    batch: Integers
    process: Integers
    warm: Bools
    cold: Bools

    @property
    def later(self) -> Bools:
        """The samples that are neither warm-up nor cold."""
        return ~(self.warm | self.cold)


def taken_of(recording: Recording, variant: str) -> Taken:
    mine = recording.variant_index == recording.variants.index(variant)
    process, sample = recording.process[mine], recording.sample[mine]
    warm = sample < 0
    return Taken(
        ticks=recording.ticks[mine],
        batch=recording.batch[mine],
        process=process,
        warm=warm,
        cold=is_cold(recording, variant, process, sample) & ~warm,
    )


def is_cold(
    recording: Recording, variant: str, process: Integers, sample: Integers
) -> NDArray[np.bool_]:
    """Which samples of `variant` are cold, shape (n,).

    If the variant measures a first time, these are the first samples of each process; else there
    are none. `process` and `sample` hold the numbers of the samples, shape (n,).
    """
    cold = np.zeros(len(process), dtype=np.bool_)
    if declared.is_first_time(recording, variant):
        order = np.lexsort((sample, process))
        cold[order[np.flatnonzero(np.diff(process[order], prepend=-1))]] = True
    return cold


def key_of(taken: Taken) -> list[tuple[str, str]]:
    """The entries of the key: the meaning and number of each marker, with its colour."""
    cold, warm = int(taken.cold.sum()), int(taken.warm.sum())
    key = [(f"● {plural(int((~taken.warm).sum()), 'sample')}", BLUE)]
    if cold:
        key.append((f"▲ {cold:,} of them cold: each the first of its process", VERMILLION))
    if warm:
        key.append((f"▲ {warm:,} of warm-up, not counted", VERMILLION))
    return key


def axis_names(taken: Taken, unit: str) -> tuple[str, str]:
    """What the horizontal and the vertical axis show, in two lines each."""
    processes = len(distinct(taken.process))
    separated = ", separated by lines" if processes > 1 else ""
    return (
        f"samples in the order taken\n({plural(processes, 'process')}{separated})",
        f"length of a sample\n({NAMES[unit]}, log axis)",
    )


def batch_names(medians: dict[int, float], line: float) -> list[tuple[float, str, int]]:
    """The names of batch sizes: the height of each on the axis, its words, its lowest batch size.

    `medians` are the heights of the points of each batch size, as shares of the axis, and `line` is
    that of a line of text. A name is at most a line off its points. If there is no room for this,
    neighbouring batch sizes share a name.
    """
    heights = sorted((height, k) for k, height in medians.items())
    moved = spread_out([height for height, _ in heights], line)
    groups: list[list[tuple[float, int]]]
    if all(abs(to - height) < 0.75 * line for to, (height, _) in zip(moved, heights, strict=True)):
        groups = [[(to, k)] for to, (_, k) in zip(moved, heights, strict=True)]
    else:
        groups = []
        for height, k in heights:
            if groups and height - groups[-1][-1][0] < line:
                groups[-1].append((height, k))
            else:
                groups.append([(height, k)])
    names = []
    for group in groups:
        numbers = sorted(k for _, k in group)
        words = f"k = {numbers[0]:,}" + (f" to {numbers[-1]:,}" if len(numbers) > 1 else "")
        names.append((sum(height for height, _ in group) / len(group), words, numbers[0]))
    return names


def medians_of(batch: Integers, shown: Floats) -> dict[int, float]:
    """The median of `shown` at each batch size; both arrays have the shape (n,)."""
    return {int(k): float(np.median(shown[batch == k])) for k in distinct(batch).tolist()}
