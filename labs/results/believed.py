"""The figure that somebody would take from a run, whatever is wrong with it."""

from __future__ import annotations

from labs.recording.file import Recording
from labs.results.result import Result, result_of


def as_believed(result: Result) -> float:
    """The figure that somebody would take from a broken run, in the unit of the result.

    That is the kit's own estimate, where there is one; else the mean of all samples, cold ones and
    all, divided by the operations of an interval.
    """
    if result.estimate is not None:
        return result.estimate.value
    return mean_of_all(result.recording, result.variant, result.unit)


def mean_of_all(recording: Recording, variant: str, unit: str) -> float:
    """The mean of every sample of `variant`, warm-up included, for one operation, in `unit`."""
    mine = recording.rows_of(variant)
    operations = recording.batch[mine].clip(min=1).sum()
    clock = result_of(recording, variant, unit).clock
    return float(recording.ticks[mine].sum() / operations) / clock.ticks_in(unit)
