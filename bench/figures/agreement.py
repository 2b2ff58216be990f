"""Groups of five runs of the first lab's measurement: do they agree within their intervals?

Quiet, and while another CPU is kept busy, as the command and the panel run it. A pair of runs
agrees where its two intervals meet. Core cycles are judged; a time in ns follows the clock speed
that the core had in that run, and is shown beside. An interval so wide that everything agrees would
be worth nothing: its width is printed too. Runs whose processes start over a second are shown
beside: a virtual CPU that slept comes back to other neighbours, and they agree less.
"""

from __future__ import annotations

import contextlib
import itertools
import statistics

from bench import machine
from bench.report import must_hold, say, verdict
from bench.table import show
from labs.analysis.estimates import Estimate
from labs.recording.file import Recording
from labs.results.result import result_of
from labs.run.measure import Plan, measure_now

GROUP = 5
#: Of the groups, this share must agree: of ten pairs of 95 % intervals one misses now and then.
LEAST = 0.9


def run(quick: bool) -> bool:
    """Both states of the machine, and runs that are spread in time."""
    must_hold("five runs of timer_overhead fenced, 10,000 samples each: all intervals meet")
    groups = 2 if quick else 20
    allowed = machine.cpus()
    rows, shares = [], {}
    for busy, spread_s in ((False, 0.0), (True, 0.0), (False, 1.0)):
        if busy and len(allowed) < 2:
            say("   one CPU only: the other cannot be kept busy")
            continue
        plan = Plan("timer_overhead", ("fenced",), spread_s=spread_s)
        with machine.busy(1, allowed[0]) if busy else contextlib.nullcontext():
            taken = [[measure_now(plan) for _ in range(GROUP)] for _ in range(groups)]
        for unit in ("ns", "cycles"):
            row, share = _judged(taken, unit)
            state = f"CPU {allowed[0]} busy" if busy else "as it is"
            rows.append((state, f"{spread_s:g}", unit, *row))
            shares[busy, spread_s, unit] = share
    show(
        ("condition", "spread s", "unit", "groups agree", "pairs apart", "no figure",
         "median", "least", "most", "half width"),
        rows,
    )  # fmt: skip
    asked = {key: share for key, share in shares.items() if key[1] == 0}
    agreeing = ", ".join(
        f"{share:.0%} {'busy' if busy else 'quiet'} in {unit}"
        for (busy, _, unit), share in asked.items()
    )
    judged = min(share for (_, _, unit), share in asked.items() if unit == "cycles")
    return verdict(judged >= LEAST, f"groups that agree, as by the command: {agreeing}")


def _judged(taken: list[list[Recording]], unit: str) -> tuple[tuple[str, ...], float]:
    """The row of the table, and the share of groups that agree."""
    groups = [[result_of(each, "fenced", unit).estimate for each in group] for group in taken]
    found = [[estimate for estimate in group if estimate is not None] for group in groups]
    apart = [
        sum(_apart(one, other) for one, other in itertools.combinations(group, 2))
        for group in found
    ]
    every = [estimate for group in found for estimate in group]
    if not every:
        return ("0", "", "all", "", "", "", ""), 0.0
    values = [estimate.value for estimate in every]
    whole = [not n and len(group) == GROUP for n, group in zip(apart, found, strict=True)]
    row = (
        f"{sum(whole)} of {len(groups)}",
        f"{sum(apart)} of {len(groups) * GROUP * (GROUP - 1) // 2}",
        f"{sum(estimate is None for group in groups for estimate in group)}",
        f"{statistics.median(values):.2f}",
        f"{min(values):.2f}",
        f"{max(values):.2f}",
        f"{statistics.median(estimate.half_width for estimate in every):.3f}",
    )
    return row, sum(whole) / len(whole)


def _apart(one: Estimate, other: Estimate) -> bool:
    return max(one.low, other.low) > min(one.high, other.high)
