"""The net cost of an operation: its slope minus that of a baseline measured in the same run.

A round trip contains two switches and, on each side, a write and a read. A system call timed in a
loop contains the loop. The C kernel states for each variant what its baseline is, how many times
the variant contains it, and how many parts an operation has:

    net = (slope - times * slope of the baseline) / parts

The values before the subtraction are kept too, so that a reader can check it. lmbench's lat_ctx
subtracts in the same way; perf bench sched pipe does not subtract.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from labs.analysis import compare
from labs.analysis.estimate import CannotEstimate, Estimate
from labs.analysis.line import Line, fit_line
from labs.recording.file import Recording

#: Limits for the number of parts, and for how many times a variant contains its baseline.
SMALLEST_FACTOR, LARGEST_FACTOR = 1e-3, 1e6


@dataclass(frozen=True)
class Net:
    """A net cost and how it was computed, in ticks.

    `whole` is the slope of the variant as timed (a round trip), `unsubtracted` is one part of it,
    and `net` is that part minus the baseline. `baseline` is the baseline's slope; None if the
    variant has none. `times` says how many times `whole` contains the baseline, and `parts` into
    how many parts it is divided.
    """

    net: Estimate
    unsubtracted: Estimate
    whole: Estimate
    baseline: Estimate | None
    baseline_variant: str | None
    times: float
    parts: float


def net_cost(recording: Recording, line: Line, *, one_speed: bool = False) -> Net:
    """The net cost of the variant of `line`. `one_speed` must be as in the fit of the line.

    Raises CannotEstimate if the baseline that the recording names is missing or has too few
    samples.
    """
    name, whole = line.variant, line.cost
    parts = _factor_or_one(recording.number(f"variant.{name}.parts"))
    one = whole.times(1 / parts)
    stated = recording.condition(f"variant.{name}.baseline")
    if not stated:
        return Net(one, one, whole, None, None, 0.0, parts)
    times = _factor_or_one(recording.number(f"variant.{name}.baseline_times"))
    if stated[0] not in recording.variants:
        raise CannotEstimate(
            name, "its baseline {baseline} is not in the recording", baseline=stated[0]
        )
    # A baseline that is not quite straight is accepted: it is small in comparison, and its misfit
    # widens its interval.
    baseline = fit_line(recording, stated[0], one_speed=one_speed).cost
    factor = f"{times:g} times " if times != 1 else ""
    of = f", divided by {parts:g}" if parts != 1 else ""
    method = f"{whole.method}, minus {factor}the slope of {stated[0]}{of}"
    net = replace(compare.difference_of(whole, baseline, times), method=method)
    return Net(net.times(1 / parts), one, whole, baseline, stated[0], times, parts)


def parts_of(recording: Recording, variant: str) -> float:
    """How many parts an operation of `variant` has; 1 if the C kernel states nothing usable."""
    return _factor_or_one(recording.number(f"variant.{variant}.parts"))


def _factor_or_one(stated: float | None) -> float:
    return stated if stated is not None and SMALLEST_FACTOR <= stated <= LARGEST_FACTOR else 1.0
