"""The view of page faults: how many the OS counted for each operation of a run."""

from __future__ import annotations

from dataclasses import dataclass

from labs.common.table import Table
from labs.notebook.broken_pair import Pair
from labs.notebook.run import Run
from labs.recording.page_faults import counted
from labs.views.gather import Runs, runs_of, with_warnings_of_counts

_COUNT = "task.main.minor_faults"

#: A count for each operation that is no farther from the expected one agrees with it.
_NEAR = 0.1


@dataclass(frozen=True)
class _Row:
    """The page faults of one run or variant: how many for how many operations, None if unknown.

    `agrees` says whether they are as many as expected.
    """

    name: str
    operations: int
    faults: int | None
    agrees: bool = False

    @property
    def each(self) -> str:
        """Page faults for each operation, as text; '' if there is no such number."""
        if self.faults is None or not self.operations:
            return ""
        found = self.faults / self.operations
        return "below 0.01" if 0 < found < 0.005 else f"{found:.2f}"

    def cells(self) -> tuple[str, str, str, str]:
        """The row as text."""
        faults = "not counted by this OS" if self.faults is None else f"{self.faults:,}"
        return self.name, f"{self.operations:,}", faults, self.each


@with_warnings_of_counts
def page_faults(runs: Runs | Pair, expected: float) -> Table:
    """The page faults that the OS counted, next to the operations and to what is `expected`.

    Takes runs, or a broken run and its repaired twin. The operations are all that ran, with those
    of baselines. A C kernel that counts for each variant by itself has a row for each variant.
    The sentence is about the first row. Raises Refused if there is no run.
    """
    if isinstance(runs, Pair):
        rows = [
            _of_variant("broken", runs.broken, runs.broken.variant, expected),
            _of_variant("repaired", runs.repaired, runs.repaired.variant, expected),
        ]
    else:
        rows = [row for run in runs_of([runs]) for row in _rows_of(run, expected)]
    return Table(
        _caption(rows[0], f"{expected:g}"),
        ("run", "operations", "page faults", "for each operation"),
        tuple(row.cells() for row in rows),
    )


def _caption(row: _Row, wanted: str) -> str:
    """What is said of the first row, of which the student expected `wanted` page faults."""
    name, found = row.name, row.each
    if not found:
        return (
            f"Page faults that the OS counted; for the {name} run you expected {wanted} for each "
            "operation"
        )
    if row.agrees:
        return (
            f"Page faults that the OS counted; for the {name} run you expected {wanted} for each "
            "operation, as the OS counted"
        )
    return (
        f"Page faults that the OS counted; for the {name} run you expected {wanted} for each "
        f"operation, and the OS counted {found}"
    )


def _rows_of(run: Run, expected: float) -> list[_Row]:
    """A row for the first variant of the run, and for each other one that is counted by itself."""
    others = [result.variant for result in run.results[1:]]
    own = [name for name in others if counted(run.recording, name) is not None]
    return [_of_variant(name, run, name, expected) for name in (run.variant, *own)]


def _of_variant(name: str, run: Run, variant: str, expected: float) -> _Row:
    """The row `name`: the counts of the variant if it has any, else those of the whole run."""
    seen = counted(run.recording, variant)
    if seen is not None:
        return _Row(name, seen.touched, seen.faults, seen.is_each(expected))
    operations, faults = int(run.recording.batch.sum()), run.recording.total(_COUNT)
    near = bool(faults is not None and operations and abs(faults / operations - expected) <= _NEAR)
    return _Row(name, operations, faults, near)
