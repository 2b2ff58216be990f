"""System calls in a case: which variants claim any, and the cost of the cheapest possible one.

A call with a number that does not exist enters the OS kernel, does nothing there and returns. Its
cost is the floor: no trap costs much less, though a call that fails at once may cost a little less.
If a recording has it, it was measured interleaved with the other variants.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from grader.cases.case import Case
from labs.common.units import rounded
from labs.results.result import Result

#: C kernels whose operation is one system call, after the subtraction of an empty loop.
KERNELS = frozenset({"system_call", "own_call"})

FLOOR = "invalid"

#: Variants of these kernels that make no system call on purpose.
WITHOUT = ("loop", "gettimeofday-vdso", "monotonic-vdso")


def claiming(case: Case) -> Iterator[tuple[str, Result, float]]:
    """The variants of the figure that claim system calls: name, result, calls per operation."""
    for name in case.spec.variants:
        claimed = case.recording.number(f"variant.{name}.system_calls")
        if claimed and claimed >= 1 and case.results[name].net is not None:
            yield name, case.results[name], claimed


def floor(case: Case) -> float | None:
    """The floor in this recording, in ns; None if it was not measured."""
    return cost(case, FLOOR) if FLOOR in case.results else None


def floor_about(case: Case) -> float | None:
    """The floor in ns, roughly if its points lie on no line.

    In that case, take the batch size whose median sample gives the least time per call. This value
    is no figure, but it is good enough to recognise a time far below every trap. On a busy machine
    the floor is the first to leave its line, and a call through the vDSO must not pass because of
    this.
    """
    exact = floor(case)
    if exact is not None or FLOOR not in case.results:
        return exact
    samples = case.recording.samples(FLOOR)
    sizes = sorted(set(samples.batch.tolist()) - {0})
    each = [float(np.median(samples.ticks[samples.batch == k])) / k for k in sizes]
    return min(each) / samples.clock.ticks_in("ns") if each else None


def cost(case: Case, variant: str) -> float | None:
    """The net cost of one operation of `variant`, in ns; None if there is no figure."""
    estimate = case.results[variant].estimate
    return None if estimate is None else estimate.value


def with_floor(case: Case, variant: str) -> str:
    """The cost of the variant, and the floor of its run if there is one, as a clause."""
    own, least = cost(case, variant), floor_about(case)
    if own is None:
        return f"{variant} gives no figure"
    if least is None or variant == FLOOR:
        return f"{variant} costs {rounded(own)} ns"
    about = "" if floor(case) is not None else "about "
    return (
        f"{variant} costs {rounded(own)} ns, and in the same run a call that does not exist costs "
        f"{about}{rounded(least)} ns"
    )
