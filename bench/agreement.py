"""Do five runs agree within their intervals? Groups of five runs of the fenced timer.

A pair agrees where its two intervals meet. In core cycles nothing but a fault makes runs differ; in
nanoseconds they also meet other clock speeds of the core, the more so the closer together the
processes of a run lie (spread).
"""

from __future__ import annotations

import contextlib
import itertools
import statistics
import subprocess
import sys
from collections.abc import Iterator

from bench.table import show
from labs import surroundings
from labs.estimate import Estimate
from labs.measure import Plan, measure_now
from labs.recording import Recording
from labs.result import result_of

UNITS = ("cycles", "ns")


@contextlib.contextmanager
def _other_cpu_busy(busy: bool, cpus: list[int]) -> Iterator[None]:
    if not busy:
        yield
        return
    pin = f"os.sched_setaffinity(0, {{{cpus[0]}}})" if cpus else "pass"
    code = f"import os\n{pin}\nwhile True: pass"
    with subprocess.Popen([sys.executable, "-c", code]) as load:
        try:
            yield
        finally:
            load.kill()


def run(quick: bool) -> None:
    """Print, for quiet and busy, each spread and unit, how many groups and pairs disagree."""
    cpus = sorted(surroundings.allowed_cpus() or ())
    groups = 5 if quick else 40
    rows = []
    for busy, spread in ((False, 0.0), (True, 0.0), (False, 1.0)):
        if spread > 0:
            groups = 2 if quick else 10
        plan = Plan("timer_overhead", ("fenced",), cpu=cpus[-1] if cpus else None, spread_s=spread)
        with _other_cpu_busy(busy, cpus):
            taken = [[measure_now(plan) for _ in range(5)] for _ in range(groups)]
        rows += [_row(taken, unit, busy, spread) for unit in UNITS]
    show(
        ("condition", "spread s", "unit", "groups apart", "pairs apart", "no figure",
         "median", "least", "most", "half width"),
        rows,
    )  # fmt: skip


def _row(taken: list[list[Recording]], unit: str, busy: bool, spread: float) -> tuple[str, ...]:
    groups = [[result_of(recording, "fenced", unit).estimate for recording in g] for g in taken]
    found = [[estimate for estimate in group if estimate is not None] for group in groups]
    apart = [
        sum(_apart(one, other) for one, other in itertools.combinations(group, 2))
        for group in found
    ]
    every = [estimate for group in found for estimate in group]
    values = [estimate.value for estimate in every]
    return (
        "other CPU busy" if busy else "as it is",
        f"{spread:g}",
        unit,
        f"{sum(count > 0 for count in apart)} of {len(groups)}",
        f"{sum(apart)} of {10 * len(groups)}",
        f"{sum(estimate is None for group in groups for estimate in group)}",
        f"{statistics.median(values):.2f}",
        f"{min(values):.2f}",
        f"{max(values):.2f}",
        f"{statistics.median(estimate.half_width for estimate in every):.3f}",
    )


def _apart(one: Estimate, other: Estimate) -> bool:
    return max(one.low, other.low) > min(one.high, other.high)
