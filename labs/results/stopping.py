"""The rule by which an adaptive run stops: its interval must be as narrow as the plan asks.

Nobody knows before the run how many processes this needs. So a run takes some processes, checks the
interval, and continues if it is too wide (Kalibera & Jones, "Rigorous benchmarking in reasonable
time", ISMM 2013).
"""

from __future__ import annotations

from collections.abc import Sequence

from labs.recording.file import Recording
from labs.results.result import result_of
from labs.run.adaptive import Enough
from labs.run.plan import Plan


def rule_of(plans: Sequence[Plan], unit: str = "ns") -> Enough | None:
    """A function that decides whether a run of `plans` may stop; None if none of them is adaptive.

    Every variant that the plans ask for must have a figure in `unit` with a narrow interval: half
    of its width, as a share of the value, must be at most the `within` of its plan.
    """
    if all(plan.within is None for plan in plans):
        return None

    def enough(recordings: tuple[Recording, ...]) -> str | None:
        if all(_narrow(*each, unit) for each in zip(plans, recordings, strict=True)):
            return f"interval within {_widths(plans)}"
        return None

    return enough


def _widths(plans: Sequence[Plan]) -> str:
    asked = dict.fromkeys(plan.within for plan in plans if plan.within is not None)
    return " and ".join(f"{within * 100:g} %" for within in asked)


def _narrow(plan: Plan, recording: Recording, unit: str) -> bool:
    if plan.within is None:
        return True
    for name in plan.variants or (None,):
        estimate = result_of(recording, name, unit).estimate
        if estimate is None or estimate.half_width > plan.within * abs(estimate.value):
            return False
    return True
