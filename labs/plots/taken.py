"""The samples of a variant in the order taken, and the words that a plot of them has.

Nothing here draws, or loads a library that draws.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from labs.analysis.confidence import Bools, Floats
from labs.plots.scale import BLUE, VERMILLION, spread_out, symbol
from labs.recording import declared
from labs.recording.file import Integers, Recording, distinct
from labs.units import NAMES, canonical, plural, rounded

if TYPE_CHECKING:
    from labs.plots.style import Mark

#: A sample is called long if it exceeds the median of its batch size by this factor.
LONG = 10

#: Of a batch size: k, and as text the lower quartile, the median and the upper quartile.
_Half = tuple[int, str, str, str]


@dataclass(frozen=True, eq=False)
class Taken:
    """The samples of one variant in the order taken; each array has the shape (n,).

    `warm` samples belong to the warm-up; a `cold` sample is the first of its process.
    """

    ticks: Integers
    batch: Integers
    process: Integers
    warm: Bools
    cold: Bools

    @property
    def later(self) -> Bools:
        """The samples that are neither warm-up nor cold."""
        return ~(self.warm | self.cold)


def taken_of(recording: Recording, variant: str) -> Taken:
    mine = np.flatnonzero(recording.rows_of(variant))
    process, sample = recording.process[mine], recording.sample[mine]
    warm = sample < 0
    cold = is_cold(recording, variant, process, sample) & ~warm
    return Taken(recording.ticks[mine], recording.batch[mine], process, warm, cold)


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


def operations_marked(recording: Recording, variant: str) -> int:
    """How many operations the samples have with which a plot compares the cost of one.

    These samples are the shortest. An overhead or a first time occurs once in each sample.
    """
    if declared.is_overhead(recording, variant) or declared.is_first_time(recording, variant):
        return 1
    return max(1, min(recording.samples(variant).batch.tolist(), default=1))


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
    below = f"samples in the order taken\n({processes:,} processes, separated by lines)"
    if processes == 1:
        below = "samples in the order taken\n(1 process)"
    return below, f"length of a sample\n({NAMES[unit]}, log axis)"


def batch_names(medians: dict[int, float], line: float) -> list[tuple[float, str]]:
    """The names of batch sizes: the height of each on the axis, and its words.

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
        names.append((sum(height for height, _ in group) / len(group), words))
    return names


def medians_of(batch: Integers, shown: Floats) -> dict[int, float]:
    """The median of `shown` at each batch size; both arrays have the shape (n,)."""
    return {int(k): float(np.median(shown[batch == k])) for k in distinct(batch).tolist()}


def _of_cold(lengths: NDArray[np.float64], sign: str) -> str:
    """What the cold samples are, which have these lengths."""
    if len(lengths) == 1:
        return f"1 sample is cold, the first of its process: {rounded(lengths[0])} {sign}."
    return (
        f"{len(lengths):,} samples are cold, each the first of its process: "
        f"{rounded(lengths.min())} to {rounded(lengths.max())} {sign}."
    )


def describe_samples(
    recording: Recording, variant: str, unit: str = "ns", prediction: Mark | None = None
) -> tuple[str, str]:
    """Kind and meaning of the plot of every sample of `variant`, with values in `unit`."""
    length, sign = NAMES[canonical(unit)], symbol(unit)
    steady, warm = recording.samples(variant), recording.samples(variant, warmup=True)
    per_unit = steady.clock.ticks_in(unit)
    lengths = steady.ticks / per_unit
    cold = is_cold(recording, variant, steady.process, steady.sample)
    count = plural(len(steady), "sample")
    samples = f"{count} and {len(warm):,} of warm-up" if len(warm) else count
    kind = (
        f"Scatter plot of {recording.kernel} {variant}: the length of {samples}, in {length} on a "
        f"logarithmic axis, in the order taken in {plural(len(recording.processes), 'process')}."
    )
    if not len(steady):
        return kind, "There is no sample after the warm-up."
    span = f"Samples from {rounded(lengths.min())} to {rounded(lengths.max())} {sign}."
    halves: list[_Half] = []
    long = 0
    sizes = np.unique(steady.batch).tolist()
    for k in sizes:
        mine = lengths[(steady.batch == k) & ~cold]
        if not len(mine):
            continue
        low, middle, high = np.percentile(mine, [25, 50, 75])
        long += int((mine > LONG * max(middle, steady.clock.step / per_unit)).sum())
        if k in (sizes[0], sizes[-1]):
            halves.append((k, rounded(low), rounded(middle), rounded(high)))
    meaning = [_of_cold(lengths[cold], sign)] if cold.any() else []
    if halves:
        meaning.append(_middle_half(halves, sign, "later samples" if cold.any() else "samples"))
    if long:
        share = rounded(100 * long / len(steady), 2)
        longer = f"{'is' if long == 1 else 'are'} longer than {LONG} times the median"
        meaning.append(f"{plural(long, 'sample')} ({share} %) {longer} (often interrupts).")
    if len(warm):
        longest = rounded(warm.ticks.max() / per_unit)
        meaning.append(f"The longest warm-up sample took {longest} {sign}.")
    if prediction is not None:
        predicted = prediction.into(unit, steady.clock)
        middle = float(np.median(lengths[cold if cold.any() else steady.batch == sizes[0]]))
        k = operations_marked(recording, variant)
        at_k = f"the median at k = {sizes[0]:,}"
        which = "the median of the cold samples" if cold.any() else at_k
        meaning.append(_beside_median(prediction.at_start, predicted, k, (middle, which), sign))
    return f"{kind} {span}", " ".join(meaning)


def _middle_half(halves: Sequence[_Half], sign: str, which: str) -> str:
    """Where the middle half of `which` samples lies, at the smallest k and at the largest one."""
    alike = any(low == high for _, low, _, high in halves)
    places = [
        f"{middle if alike else f'{low} to {high}'} {sign} at k = {k:,}"
        for k, low, middle, high in halves
    ]
    said = f"The median of the {which} is" if alike else f"Half of the {which} lie from"
    whole = (" and " if alike else " and from ").join(places)
    return f"{said} {whole}{' operations' * (len(halves) > 1)}."


def _beside_median(
    name: str, predicted: float, k: int, median: tuple[float, str], sign: str
) -> str:
    """Where a number that was known before lies, beside the median of the samples and its name.

    That of a cost is multiplied by the `k` operations of the samples.
    """
    (middle, which), one, whole = median, rounded(predicted), rounded(k * predicted)
    # Two numbers that read the same are the same.
    alike, side = whole == rounded(middle), "above" if k * predicted > middle else "below"
    if k == 1:
        side = "at" if alike else side
        return f"{name}, {one} {sign}, lies {side} {which}, {rounded(middle)} {sign}."
    side = "as the median is" if alike else f"{side} the median, {rounded(middle)} {sign}"
    return f"{name}, {one} {sign} for each operation, is {whole} {sign} at k = {k:,}, {side}."
