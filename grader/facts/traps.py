"""System calls in a case: which variants claim any, and what the cheapest possible one costs here.

A call number that does not exist goes into the OS kernel and back and does nothing there: the floor
of every trap. Where a recording holds it, it was measured interleaved with the rest.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from grader.cases.case import Case
from labs.common.units import rounded
from labs.results.result import Result

#: C kernels each of whose operations is one system call, net of an empty loop.
KERNELS = frozenset({"system_call", "own_call"})

FLOOR = "invalid"

#: Their variants that are there to show that no system call is made.
WITHOUT = ("loop", "gettimeofday-vdso", "monotonic-vdso")


def claiming(case: Case) -> Iterator[tuple[str, Result, float]]:
    """The variants that the figure is about and that claim system calls, with how many each."""
    for name in case.spec.variants:
        claimed = case.recording.number(f"variant.{name}.system_calls")
        if claimed and claimed >= 1 and case.results[name].net is not None:
            yield name, case.results[name], claimed


def floor(case: Case) -> float | None:
    """The floor of every trap in this recording, in ns; None where it was not measured along."""
    return cost(case, FLOOR) if FLOOR in case.results else None


def floor_about(case: Case) -> float | None:
    """The floor, in ns, also where its points lie on no line: then by the batch size whose middle
    interval gives least for one call.

    Roughly, and no figure to hand in, but enough to tell what is far below every trap: on a busy
    machine the floor bends first, and an answer of the vDSO must not pass for want of it.
    """
    exact = floor(case)
    if exact is not None or FLOOR not in case.results:
        return exact
    samples = case.recording.samples(FLOOR)
    sizes = sorted(set(samples.batch.tolist()) - {0})
    each = [float(np.median(samples.ticks[samples.batch == k])) / k for k in sizes]
    return min(each) / samples.clock.ticks_in("ns") if each else None


def cost(case: Case, variant: str) -> float | None:
    """The net cost of one operation of `variant`, in ns; None where there is no figure."""
    estimate = case.results[variant].estimate
    return None if estimate is None else estimate.value


def beside_floor(case: Case, variant: str) -> str:
    """What the variant costs, and beside it the floor where there is one, in words."""
    own, least = cost(case, variant), floor_about(case)
    told = f"{variant} costs {rounded(own)} ns" if own is not None else f"{variant} gives no figure"
    if least is not None and variant != FLOOR:
        about = "" if floor(case) is not None else "about "
        told += f", a call that does not exist {about}{rounded(least)} ns"
    return told
