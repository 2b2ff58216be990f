"""A series of running means handed in as samples: each value holds all samples before it."""

from __future__ import annotations

import statistics
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from grader.cases.case import Case
from grader.cases.verdict import Level
from grader.pitfalls.pitfall import Live, Pitfall
from labs.common.units import rounded
from labs.recording.distinct import distinct
from labs.recording.file import Integers, Recording
from labs.recording.memo import memoized

#: Shorter series, or ones that hardly fall, could look like this by chance.
FEWEST = 16
LEAST_FALL = 1.25
LEAST_EXCESS = 20  # ticks

#: How closely the first values must follow from the first one, as a share of their excess.
CLOSELY = 0.25
EARLY = 8

Floats = NDArray[np.float64]


def detect(case: Case) -> str | None:
    for name in case.spec.variants:
        first = _most_fall(case.recording, name)
        if first is not None:
            shown = ", ".join(rounded(value) for value in first[:4].tolist())
            last = rounded(float(first[-1]))
            return (
                f"Your values of {name} fall by 1/n: {shown} ... {last} ticks. Each is the mean "
                "of all values up to it."
            )
    return None


@memoized
def _most_fall(recording: Recording, variant: str) -> Floats | None:
    """The first series that is a running mean, if at least half of them are."""
    series, falling = series_of(recording, variant)
    if 2 * len(falling) < series:
        return None
    found = [each for each in falling if is_running_mean(each)]
    return found[0] if found and 2 * len(found) >= series else None


def series_of(recording: Recording, variant: str) -> tuple[int, list[Floats]]:
    """How many series there are, and those that fall enough.

    A series has the values of one process and batch size in the order taken, warm-up first.
    """
    mine = recording.rows_of(variant)
    process, batch = recording.process[mine], recording.batch[mine]
    place, ticks = recording.sample[mine], recording.ticks[mine].astype(np.float64)
    # One sort, because a recording may have thousands of groups.
    order = _order(process, batch, place)
    process, batch, ticks = process[order], batch[order], ticks[order]
    begins = np.flatnonzero((np.diff(process) != 0) | (np.diff(batch) != 0)) + 1
    begin, end = np.append(0, begins), np.append(begins, len(ticks))
    long = end - begin >= FEWEST
    begin, end = begin[long], end[long]
    falls = ticks[begin] >= LEAST_FALL * ticks[end - 1]
    bounds = zip(begin[falls].tolist(), end[falls].tolist(), strict=True)
    return len(begin), [ticks[first:last] for first, last in bounds]


def _order(process: Integers, batch: Integers, place: Integers) -> NDArray[np.intp]:
    """The order of the samples by process, then batch size, then place."""
    later, sizes = np.diff(process), distinct(batch)
    in_order = bool(((later > 0) | ((later == 0) & (np.diff(place) >= 0))).all())
    cell = process * len(sizes) + np.searchsorted(sizes, batch)
    if not in_order or cell.max(initial=0) >= 2**16:
        return np.lexsort((place, batch, process))
    # Rows are mostly in the order taken; then a sort of short numbers takes a tenth of the time.
    return np.argsort(cell.astype(np.uint16), kind="stable")


def is_running_mean(values: Floats) -> bool:
    """Of values that fall: whether what was averaged can be worked out, and begins with a cold one.

    If the n-th value is a mean of n samples, n times it less n - 1 times the one before is the
    n-th sample, which is not negative; of honest samples this varies by n times their spread.
    """
    # The first values decide of nearly every series. Of few numbers, Python takes less than numpy.
    early: list[float] = values[: 2 * EARLY].tolist()
    sums = [n * value for n, value in enumerate(early, 1)]
    sample = [after - before for before, after in pairwise(sums)]
    warm = statistics.median(sample)
    excess = early[0] - warm
    if excess < LEAST_EXCESS:
        return False
    for n, value in enumerate(early[:EARLY], 1):
        if abs(value - (warm + excess / n)) > CLOSELY * excess / n + 1:
            return False
    if any(each < -n for n, each in enumerate(sample, 2)):
        return False
    every = np.arange(1, len(values) + 1)
    # Whole ticks: each value is off by less than one.
    return not bool((np.diff(every * values, prepend=0.0) < -every).any())


PITFALL = Pitfall(
    code="running-mean",
    level=Level.VALIDITY,
    symptom="This series holds running means, not samples.",
    misconception="A mean over all samples so far changes less and less, whatever the samples "
    "are. It seems to settle, but the cold first sample stays in it.",
    experiment="Record each sample by itself; compute a mean when all are there.",
    seen_in="report E: 7712, 6854, 6483 ... 4459 ns, still falling at the last value",
    detect=detect,
    broken=(Live("running_mean", "first-iteration-call"),),
)
