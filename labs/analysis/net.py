"""What an operation costs by itself: its slope, less that of a baseline measured in the same run.

A switch timed by a round trip holds two switches and, on each side, a write and a read; a system
call timed in a loop holds the loop. The C kernel says of each variant what its baseline is, how
often it is contained, and into how many parts an operation falls:

    net = (slope - times * slope of the baseline) / parts

The value that nothing was subtracted from is kept beside it: who doubts a subtraction must be able
to see what it was made from. lmbench's lat_ctx subtracts the same way, perf bench sched pipe not at
all.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from labs.analysis import compare, processes
from labs.analysis.estimate import CannotEstimate, Estimate
from labs.analysis.line import Line, fit_line
from labs.analysis.processes import ByProcess
from labs.recording.file import Recording

#: Numbers of parts, and of baselines contained, that make sense.
LEAST, MOST = 1e-3, 1e6


@dataclass(frozen=True)
class Net:
    """All in ticks. `whole` is the slope of the variant as timed (a round trip), `unsubtracted` one
    part of it, `net` that part less the baseline; `baseline` is the baseline's slope, None where
    the variant has none."""

    net: Estimate
    unsubtracted: Estimate
    whole: Estimate
    baseline: Estimate | None
    baseline_variant: str | None
    times: float
    parts: float


def net_cost(recording: Recording, line: Line, *, one_speed: bool = False) -> Net:
    """The net cost of the variant that `line` is of; `one_speed` as the line was fitted.

    Raises CannotEstimate where the baseline that the recording names is missing or has too few
    samples.
    """
    name, whole = line.variant, line.cost
    parts = _usable(recording.number(f"variant.{name}.parts"))
    one = whole.times(1 / parts)
    stated = recording.condition(f"variant.{name}.baseline")
    if not stated:
        return Net(one, one, whole, None, None, 0.0, parts)
    times = _usable(recording.number(f"variant.{name}.baseline_times"))
    if stated[0] not in recording.variants:
        raise CannotEstimate(f"{name}: its baseline {stated[0]} is not in the recording")
    # A baseline that bends a little is no reason to refuse: it is small beside what it is
    # subtracted from, and its misfit widens its interval.
    baseline = fit_line(recording, stated[0], one_speed=one_speed).cost
    (value, low, high), left = less_baseline(whole, baseline, times)
    less = f"{times:g} times " if times != 1 else ""
    of = f", divided by {parts:g}" if parts != 1 else ""
    method = f"{whole.method}, less {less}the slope of {stated[0]}{of}"
    net = replace(whole, value=value, low=low, high=high, method=method, by_process=left)
    return Net(net.times(1 / parts), one, whole, baseline, stated[0], times, parts)


def less_baseline(
    whole: Estimate, baseline: Estimate, times: float = 1.0
) -> tuple[tuple[float, float, float], ByProcess | None]:
    """`whole` less `times` its `baseline`, with the 95 % interval; and what it was made from, where
    both come from the same processes. A core that was shared slowed both alike, or nearly so."""
    left = None
    if whole.by_process and baseline.by_process:
        left = processes.difference(whole.by_process, baseline.by_process, times)
    return (left.estimate() if left else compare.difference(whole, baseline, times)), left


def parts_of(recording: Recording, variant: str) -> float:
    """Into how many parts an operation falls; 1 where its C kernel says nothing usable."""
    return _usable(recording.number(f"variant.{variant}.parts"))


def _usable(stated: float | None) -> float:
    return stated if stated is not None and LEAST <= stated <= MOST else 1.0
