"""How often an event happens in one operation: the slope of the line through its counts.

Reading a count is a system call, and both readings around a sample are counted with it. This adds
the same to samples of every batch size, so it is in the intercept, as the overhead of a clock is.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping
from dataclasses import dataclass

from labs.recording.counts import Counted, counted
from labs.recording.file import Recording


@dataclass(frozen=True)
class PerOperation:
    """Events of one operation: the median of the processes, the lowest and the highest of them.

    The baseline of the variant is subtracted. `whole` is the mean count of a sample of `batch`
    operations as it was read, with the readings themselves.
    """

    event: str
    value: float
    low: float
    high: float
    processes: int
    batch: int
    whole: float


def per_operation(recording: Recording, variant: str) -> tuple[PerOperation, ...]:
    """The events of one operation of `variant`; those without a line are left out."""
    baseline = "".join(recording.condition(f"variant.{variant}.baseline")[:1])
    times = recording.number(f"variant.{variant}.baseline_times")
    parts = recording.number(f"variant.{variant}.parts")
    of_baseline = {each.event: each for each in counted(recording, baseline)} if baseline else {}
    found = []
    for event in counted(recording, variant):
        slopes = _slopes(event)
        if baseline:
            subtracted = _slopes(of_baseline[event.event]) if event.event in of_baseline else []
            # Process n of both is the same process, so what it had in addition is in both.
            pairs = zip(slopes, subtracted, strict=False)
            slopes = [
                slope - (times if times is not None else 1.0) * less
                for slope, less in pairs
                if slope is not None and less is not None
            ]
        each_part = (slope / (parts or 1.0) for slope in slopes if slope is not None)
        values = [value for value in each_part if math.isfinite(value)]
        if not values:
            continue
        batch = max(event.processes[0])
        whole = statistics.fmean(each[batch] for each in event.processes if batch in each)
        found.append(
            PerOperation(
                event.event,
                statistics.median(values),
                min(values),
                max(values),
                len(values),
                batch,
                whole,
            )
        )
    return tuple(found)


def _slopes(event: Counted) -> list[float | None]:
    return [_slope(cells) for cells in event.processes]


def _slope(cells: Mapping[int, float]) -> float | None:
    """The slope by least squares; None if there is only one batch size."""
    if len(cells) < 2:
        return None
    return statistics.linear_regression(list(cells), list(cells.values())).slope
