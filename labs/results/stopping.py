"""The rules by which a run stops that may add processes to those planned.

An adaptive run goes on until its interval is as narrow as the plan asks. Nobody knows before the
run how many processes this needs. So a run takes some processes, checks the interval, and continues
if it is too wide (Kalibera & Jones, "Rigorous benchmarking in reasonable time", ISMM 2013).

Any other run goes on only if the core was shared during so much of it that little is left: three
processes have an interval twice as wide as ten, and often no figure to believe. The rule counts
processes and samples and looks at no value, so it cannot prefer a value.
"""

from __future__ import annotations

from collections.abc import Sequence

from labs.recording.file import Recording
from labs.results.result import Result, result_of
from labs.run.adaptive import Enough
from labs.run.plan import Plan

#: The shares of the planned processes and samples that must be left when those that shared the core
#: are set aside.
PROCESSES_LEFT, SAMPLES_LEFT = 0.75, 0.5
#: Who asks for fewer processes than this wants to see just these.
FEWEST = 5
LEFT = "enough processes had the core to themselves"


def rule_of(plans: Sequence[Plan], unit: str = "ns") -> Enough | None:
    """A function that decides whether a run of `plans` may stop; None if none may add processes.

    For a plan with `within`, every variant that it asks for must have a figure in `unit` with a
    narrow interval: half of its width, as a share of the value, must be at most `within`. For
    another plan that may take longer, enough processes must be left of every variant.
    """
    if all(plan.longer_s == 0 for plan in plans):
        return None

    def enough(recordings: tuple[Recording, ...]) -> str | None:
        if all(_is_enough(*each, unit) for each in zip(plans, recordings, strict=True)):
            return f"interval within {widths}" if (widths := _widths(plans)) else LEFT
        return None

    return enough


def _widths(plans: Sequence[Plan]) -> str:
    asked = dict.fromkeys(plan.within for plan in plans if plan.within is not None)
    return " and ".join(f"{within * 100:g} %" for within in asked)


def _is_enough(plan: Plan, recording: Recording, unit: str) -> bool:
    if plan.longer_s == 0:
        return True
    results = (result_of(recording, name, unit) for name in plan.variants or (None,))
    if plan.within is None:
        return all(_enough_left(plan, each) for each in results)
    return all(_narrow(plan.within, each) for each in results)


def _narrow(within: float, result: Result) -> bool:
    estimate = result.estimate
    return estimate is not None and estimate.half_width <= within * abs(estimate.value)


def _enough_left(plan: Plan, result: Result) -> bool:
    """Whether enough of the run is left, or misses something else than a core of its own."""
    planned = len(plan.shares())
    if planned < FEWEST or result.estimate is None or "shared" not in result.set_aside:
        return True
    enough = result.estimate.processes >= PROCESSES_LEFT * planned
    return enough and result.n >= SAMPLES_LEFT * plan.samples
