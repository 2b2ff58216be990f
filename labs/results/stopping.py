"""The rules by which a run stops that may add processes to those planned.

An adaptive run goes on until its interval is as narrow as the plan asks. Nobody knows before the
run how many processes this needs. So a run takes some processes, checks the interval, and continues
if it is too wide (Kalibera & Jones, "Rigorous benchmarking in reasonable time", ISMM 2013). The
width falls with the root of the number of processes: the run also stops if its time will not do.

Any other run goes on only if the core was shared during so much of it that little is left: three
processes have an interval twice as wide as ten, and often no figure to believe. The rule counts
processes and samples and looks at no value, so it cannot prefer a value.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

from labs.analysis.confidence import student_t
from labs.recording.file import Recording
from labs.recording.run_conditions import out_of_reach
from labs.results.result import Result, result_of
from labs.results.warning_thresholds import FEWEST_ASKED, PROCESSES_LEFT, SAMPLES_LEFT
from labs.run.measure import Enough
from labs.run.plan import Plan

#: Whether the recordings of the plans answer the question of a run.
Tells = Callable[[tuple[Recording, ...]], bool]

LEFT = "enough processes had the core to themselves"

#: A run gives up if it would be wider than asked by this factor at best, at so many looks in a row.
#: The width is itself uncertain: by a factor of 2 and more with fewer than FEWEST_ASKED processes.
HOPELESS, LOOKS = 2.0, 5


class _Look(NamedTuple):
    """Whether a run may stop, and its widest interval at best: half of its width, as a share of the
    value and as a share of what was asked for. 0 where nothing is known."""

    enough: bool
    share: float = 0.0
    of_asked: float = 0.0


def rule_of(
    plans: Sequence[Plan],
    unit: str = "ns",
    tells: Tells | None = None,
) -> Enough | None:
    """A function that decides whether a run of `plans` may stop; None if none may add processes.

    For a plan with `within`, every variant that it asks for must have a figure in `unit` with a
    narrow interval: half of its width, as a share of the value, must be at most `within`. It also
    stops when that clearly cannot be reached. For another plan that may take longer, enough
    processes must be left of every variant. If all is as asked, `tells` says whether it answers the
    question; where it does not, the run goes on to its end.
    """
    if all(plan.longer_s == 0 for plan in plans):
        return None
    hopeless_looks = 0

    def enough(recordings: tuple[Recording, ...], most: int) -> str | None:
        nonlocal hopeless_looks
        looks = [_look(*each, unit, most) for each in zip(plans, recordings, strict=True)]
        if all(look.enough for look in looks):
            if tells is not None and not tells(recordings):
                return None
            return f"interval within {widths}" if (widths := _widths(plans)) else LEFT
        worst = max(looks, key=lambda look: look.of_asked)
        hopeless_looks = hopeless_looks + 1 if worst.of_asked > HOPELESS else 0
        return out_of_reach(worst.share) if hopeless_looks >= LOOKS else None

    return enough


def _widths(plans: Sequence[Plan]) -> str:
    asked = dict.fromkeys(plan.within for plan in plans if plan.within is not None)
    return " and ".join(f"{within * 100:g} %" for within in asked)


def _look(plan: Plan, recording: Recording, unit: str, most: int) -> _Look:
    if plan.longer_s == 0:
        return _Look(True)
    results = [result_of(recording, name, unit) for name in plan.variants or (None,)]
    if plan.within is None:
        return _Look(all(_enough_left(plan, each) for each in results))
    share = max(_at_best(each, most) for each in results)
    return _Look(all(_narrow(plan.within, each) for each in results), share, share / plan.within)


def _narrow(within: float, result: Result) -> bool:
    estimate = result.estimate
    return estimate is not None and estimate.half_width <= within * abs(estimate.value)


def _at_best(result: Result, most: int) -> float:
    """About half the width that the interval can have at best with `most` processes, as a share of
    the value; 0 if nothing is known.

    An interval that reaches further to one side does so because the core was shared, or because
    samples were interrupted. That may end, so only the shorter side counts.
    """
    estimate, every = result.estimate, len(result.recording.processes)
    if estimate is None or every < FEWEST_ASKED or estimate.processes < 2:
        return 0.0
    side = max(min(estimate.high - estimate.value, estimate.value - estimate.low), 0.0)
    times = max(most / every, 1.0)
    then = int(times * estimate.processes)
    side *= student_t(then - 1) / (student_t(estimate.processes - 1) * math.sqrt(times))
    return side / abs(estimate.value) if estimate.value else math.inf


def _enough_left(plan: Plan, result: Result) -> bool:
    """Whether enough of the run is left, or misses something else than a core of its own."""
    planned = len(plan.shares())
    if planned < FEWEST_ASKED or result.estimate is None or "shared" not in result.set_aside:
        return True
    enough = result.estimate.processes >= PROCESSES_LEFT * planned
    return enough and result.n >= SAMPLES_LEFT * plan.samples
