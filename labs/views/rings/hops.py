"""The view of a ring's hops: what is timed, and what the same hop costs one task alone."""

from __future__ import annotations

from labs.common.table import Table
from labs.common.units import NAMES, rounded
from labs.results.result import Result
from labs.views.gather import Runs, refused, results_of_kernel, runs_of, with_warnings

_EXAMPLE = 'Measure one: lab.measure("switch_footprint", "processes-8-256k", unit="us").'


@with_warnings
def hops(run: Runs) -> Table:
    """For each ring: the token's way round, one hop, and the same hop of one task alone.

    Nothing is subtracted. The numbers are in the unit of the run, and `run[variant].parts` has the
    first and the last of them as `whole` and `baseline`. Raises Refused if the run has no ring.
    """
    every_run = runs_of([run])
    results = results_of_kernel(every_run, "switch_footprint", "views.hops", _EXAMPLE)
    rows = tuple(row for result in results if (row := _row(result)))
    if not rows:
        raise refused("this run has no ring of tasks with a figure", _EXAMPLE)
    unit = NAMES[every_run[0].unit]
    header = ("ring", "tasks", "once round", "one hop", "one task alone: a hop to itself")
    return Table(f"switch_footprint as timed, in {unit}; nothing is subtracted", header, rows)


def _row(result: Result) -> tuple[str, ...]:
    """The row of a ring; empty for one task alone, and for a ring without a figure."""
    net = result.net
    if net is None or net.baseline is None or result.variant.startswith("alone"):
        return ()
    per_unit = result.clock.ticks_in(result.unit)
    timed = (net.whole.value, net.unsubtracted.value, net.baseline.value)
    return (result.variant, f"{net.parts:g}", *(rounded(each / per_unit, 4) for each in timed))
