"""The view of the switches that runs claim, next to those that the OS counted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from labs.common.table import Table
from labs.common.units import rounded
from labs.plots.style import symbol
from labs.recording import proof
from labs.views.gather import Runs, runs_of, with_warnings

if TYPE_CHECKING:
    from labs.notebook.run import Run

_HEADER = (
    "run",
    "figure",
    "switches claimed",
    "counted by the OS",
    "counted for one operation",
    "went on without being woken",
)


@with_warnings
def switches(*runs: Runs | None) -> Table:
    """For each run: the figure of its first variant, and its switches as claimed and as counted.

    The count for one operation has three digits. For the exercise of lab 06, the last column says
    in how many processes the thread went on without being woken. Raises Refused if there is no run.
    """
    rows = tuple(_row(run) for run in runs_of(runs))
    return Table("Switches claimed and counted", _HEADER, rows).without_empty()


def _row(run: Run) -> tuple[str, ...]:
    estimate = run.result().estimate
    figure = "none" if estimate is None else f"{rounded(estimate.value)} {symbol(run.unit)}"
    name = f"{run.recording.kernel} {run.variant}"
    found = proof.of_variant(run.recording, run.variant)
    if found is None:
        return name, figure, "none, or not counted here", "", "", ""
    claimed = f"{found.claimed:,}, {found.claim:g} for each operation"
    counted, each = f"{found.counted:,}", rounded(found.each)
    return name, figure, claimed, counted, each, _unwoken(run)


def _unwoken(run: Run) -> str:
    tried, unwoken = (
        run.recording.total(f"variant.{run.variant}.turns_{what}") for what in ("tried", "unwoken")
    )
    return f"in {unwoken} of {tried} processes" if tried else ""
