"""The view of the switches of each ring: as claimed, and as the OS counted them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from labs.common.table import Table
from labs.recording import proof
from labs.views.gather import Runs, refused, runs_of, with_warnings_of_counts

if TYPE_CHECKING:
    from labs.notebook.run import Run


@with_warnings_of_counts
def ring_switches(run: Runs) -> Table:
    """For each variant that claims switches: claimed, counted, the share, and the CPUs used.

    Raises Refused if no variant claims a switch, or if this OS counts none.
    """
    rows = tuple(row for each in runs_of([run]) for row in _rows(each))
    if not rows:
        raise refused("there are no switches to count: none is claimed, or this OS counts none")
    header = ("variant", "switches claimed", "counted by the OS", "counted of claimed", "on CPU")
    return Table("Switches, over all samples of each variant", header, rows)


def _rows(run: Run) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    for result in run.results:
        seen = proof.of_variant(run.recording, result.variant)
        if seen is None:
            continue
        cpus = sorted(set(run.recording.condition(f"variant.{result.variant}.cpus")))
        share = f"{100 * seen.counted / seen.claimed:.1f} %"
        rows.append(
            (result.variant, f"{seen.claimed:,}", f"{seen.counted:,}", share, ", ".join(cpus))
        )
    return rows
