"""The naive value of a run: what an author would report who notices no mistake in it."""

from __future__ import annotations

from labs.analysis.estimate import Estimate
from labs.recording.file import Recording
from labs.results.result import Result, result_of


def naive_value(result: Result) -> float:
    """The value that the author of a broken measurement would report, in the unit of the result.

    This is the kit's own estimate, if there is one. Otherwise it is the mean time of all samples,
    cold ones included, divided by the operations of a sample.
    """
    if result.estimate is not None:
        return result.estimate.value
    return mean_of_all(result.recording, result.variant, result.unit)


def naive_estimate(result: Result) -> Estimate:
    """The naive value as an estimate; a mere mean has no interval, and is taken as exact."""
    if result.estimate is not None:
        return result.estimate
    value = mean_of_all(result.recording, result.variant, result.unit)
    return Estimate(value, value, value, result.unit, "mean of all samples", result.n, 1)


def mean_of_all(recording: Recording, variant: str, unit: str) -> float:
    """The mean of every sample of `variant`, warm-up included, for one operation, in `unit`."""
    mine = recording.rows_of(variant)
    operations = recording.batch[mine].clip(min=1).sum()
    clock = result_of(recording, variant, unit).clock
    return float(recording.ticks[mine].sum() / operations) / clock.ticks_in(unit)
