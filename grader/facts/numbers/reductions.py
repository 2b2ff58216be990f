"""What ordinary reductions make of a recording: a line through all of its samples.

Such a value follows from its recording, however far it lies from the kit's own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from grader.cases.case import Case
from grader.cases.digits import FEWEST_DIGITS, digits_of, is_rounded
from grader.cases.spec import Quantity
from labs.analysis.arrays import Floats

#: Reduces the samples of a batch size before the line is fitted. None fits it through all of them.
Location = Callable[[Floats], np.floating[Any]] | None


def reduction_of(case: Case) -> str:
    """The line, fitted by least squares, that gives the submitted value; '' if none does.

    The value must have as many digits as others are told by.
    """
    if digits_of(case.figure.value) < FEWEST_DIGITS:
        return ""
    for location, told in (
        (None, "That is a line through all samples."),
        (np.mean, "That is a line through the mean at each k."),
        (np.median, "That is a line through the median at each k."),
    ):
        if any(is_rounded(case, number) for number in _numbers(case, location)):
            return told
    return ""


def _numbers(case: Case, location: Location) -> Iterator[float]:
    """The values of the figure by such a line, in its unit: without the empty samples, and with."""
    spec, net = case.spec, case.result.net
    if case.others or spec.quantity not in (Quantity.COST, Quantity.OVERHEAD):
        return
    per_unit = case.result.clock.ticks_in(spec.unit)
    for least in (1, 0):
        line = _line(case, spec.variant, location, least)
        if line is None:
            continue
        slope, intercept = line
        if spec.quantity is Quantity.OVERHEAD:
            yield intercept / per_unit
        elif net is None or net.baseline_variant is None:
            yield slope / (net.parts if net is not None else 1.0) / per_unit
        elif baseline := _line(case, net.baseline_variant, location, least):
            yield (slope - net.times * baseline[0]) / net.parts / per_unit


def _line(case: Case, name: str, location: Location, least: int) -> tuple[float, float] | None:
    """Slope and intercept in ticks, from the batch sizes of at least `least`; None without two."""
    recording = case.recording
    rows = recording.rows_of(name) & (recording.sample >= 0) & (recording.batch >= least)
    k, ticks = recording.batch[rows].astype(float), recording.ticks[rows].astype(float)
    sizes = np.unique(k)
    if len(sizes) < 2:
        return None
    if location is not None:
        k, ticks = sizes, np.array([location(ticks[k == size]) for size in sizes])
    slope, intercept = np.polyfit(k, ticks, 1)
    return float(slope), float(intercept)
