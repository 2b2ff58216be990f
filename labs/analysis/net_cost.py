"""What is computed from more than one line: the net cost of an operation, or that of a first time.

The net cost is the slope minus that of a baseline measured in the same run. A round trip contains
two switches and, on each side, a write and a read. A system call timed in a loop contains the loop.
The C kernel states for each variant what its baseline is, how many times the variant contains it,
and how many parts an operation has:

    net = (slope - times * slope of the baseline) / parts

The values before the subtraction are kept too, so that a reader can check it. lmbench's lat_ctx
subtracts in the same way; perf bench sched pipe does not subtract.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from labs.analysis import confidence
from labs.analysis.confidence import CannotEstimate, Estimate
from labs.analysis.line import Line, fit_line
from labs.analysis.thresholds import FEWEST_FIRST_TIMES
from labs.messages import Option
from labs.recording.file import Recording, memoized
from labs.units import plural

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


@memoized
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
    net = replace(confidence.difference_of(whole, baseline, times), method=method)
    return Net(net.times(1 / parts), one, whole, baseline, stated[0], times, parts)


def parts_of(recording: Recording, variant: str) -> float:
    """How many parts an operation of `variant` has; 1 if the C kernel states nothing usable."""
    return _factor_or_one(recording.number(f"variant.{variant}.parts"))


def _factor_or_one(stated: float | None) -> float:
    return stated if stated is not None and SMALLEST_FACTOR <= stated <= LARGEST_FACTOR else 1.0


@memoized
def first_time(recording: Recording, variant: str) -> Estimate:
    """First sample minus the median of the later ones, in ticks: the median over processes.

    Only the first operation of a fresh process is cold, so each process gives one value. The 95 %
    interval reaches from one of the sorted values to another (`confidence.beyond_median`).

    Raises CannotEstimate if fewer than five processes have two samples or more, and KeyError if the
    recording has no such variant.
    """
    samples = recording.samples(variant)
    extra_costs = []
    for process in np.unique(samples.process):
        mine = samples.process == process
        ticks = samples.ticks[mine][np.argsort(samples.sample[mine])]
        if len(ticks) > 1:
            extra_costs.append(float(ticks[0]) - float(np.median(ticks[1:])))
    if (few := len(extra_costs)) < FEWEST_FIRST_TIMES:
        raise CannotEstimate(
            variant,
            "only the first sample of a process is cold; {few} too few, raise {option} to "
            "{fewest} or more",
            few=f"{plural(few, 'process')} {'is' if few == 1 else 'are'}",
            option=Option("processes"),
            fewest=str(FEWEST_FIRST_TIMES),
        )
    values, count = sorted(extra_costs), len(extra_costs)
    place = confidence.beyond_median(count, 0.95)
    middle, low, high = float(np.median(values)), values[place], values[-1 - place]
    method = "first sample of a process less the median of its later ones, median over processes"
    return Estimate(middle, low, high, "ticks", method, len(samples), count)
