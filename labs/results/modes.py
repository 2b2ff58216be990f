"""One operation with two costs: the sentence on processes of a run that fall into two groups."""

from __future__ import annotations

from labs.analysis import processes
from labs.analysis.arrays import Floats
from labs.analysis.estimate import Estimate
from labs.analysis.stack_effect import StackEffect
from labs.results.digits import rounded_apart
from labs.results.result import Result


def modes_of(result: Result, name: str = "") -> str:
    """As `two_modes`, for a result; '' also if it has no figure."""
    if result.estimate is None or result.line is None:
        return ""
    return two_modes(name or result.variant, result.estimate, result.line.by_stack)


def two_modes(name: str, estimate: Estimate, effect: StackEffect | None = None) -> str:
    """A sentence if the processes of a run fall into two groups that differ; else ''.

    Each process has one place in memory for its whole life, so one operation can have two costs.
    `effect` says how its place on the stack decides.
    """
    each = estimate.by_process
    if each is None or estimate.processes < 3:
        return ""
    factor = effect.factor_of(each.process, each.value) if effect is not None else None
    if effect is not None and factor is not None:
        value = _as_text(factor)
        return (
            f"{name} has two modes: it costs {value} times as much if its stack begins at byte "
            f"{effect.slow_bytes()} of a cache line as at byte {effect.fast_bytes()}."
        )
    group, sure = processes.two_groups(each.value, each.error)
    if sure < processes.SURE:
        return ""
    one, other = each.value[group], each.value[~group]
    slow, fast = (one, other) if one.mean() > other.mean() else (other, one)
    if min(len(slow), len(fast)) == 1:  # one process is no mode: something else met it
        value = _times(slow, fast) if len(slow) == 1 else _times(fast, slow)
        return (
            f"{name}: in one of {len(group)} processes it costs {value} times as much as in the "
            "others."
        )
    value = _times(slow, fast)
    return (
        f"{name} has two modes: in {len(slow)} of {len(group)} processes it costs {value} times as "
        "much as in the others."
    )


def _times(some: Floats, others: Floats) -> str:
    """How many times as much some processes take as the others, as text."""
    return _as_text(float(some.mean() / others.mean()))


def _as_text(factor: float) -> str:
    return rounded_apart(factor, 1.0, 1.0, 1.0)[0]
