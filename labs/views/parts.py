"""The view of a figure's parts: the round of the loop as timed, the empty loop, the difference."""

from __future__ import annotations

from typing import TYPE_CHECKING

from labs.common.table import Table
from labs.common.units import NAMES, rounded
from labs.views.gather import Runs, runs_of, with_warnings

if TYPE_CHECKING:
    from labs.notebook.run import Run

_HEADER = (
    "variant",
    "'whole': one round",
    "'baseline': one empty round",
    "'net': difference, process by process",
)


@with_warnings
def parts(*runs: Runs | None) -> Table:
    """What one round of the loop costs, what an empty round costs, and the difference.

    The numbers are those of `run.parts`, in the unit of each run. Raises Refused if a run has no
    figure, or if nothing is subtracted for it.
    """
    chosen = runs_of(runs)
    units = " and ".join(dict.fromkeys(NAMES[run.unit] for run in chosen))
    return Table(f"The parts of a figure, in {units}", _HEADER, tuple(map(_row, chosen)))


def _row(run: Run) -> tuple[str, ...]:
    name = f"{run.recording.kernel} {run.variant}"
    return (name, *(rounded(run.parts[part]) for part in ("whole", "baseline", "net")))
