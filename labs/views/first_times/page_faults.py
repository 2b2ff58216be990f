"""The view of page faults: how many the OS counted for each operation of a run."""

from __future__ import annotations

from labs.common.table import Table
from labs.notebook.broken_pair import Pair
from labs.notebook.run import Run
from labs.views.gather import Runs, runs_of, with_warnings_of_counts

_COUNT = "task.main.minor_faults"

#: A count for each operation that is no farther from the expected one agrees with it.
_NEAR = 0.1


@with_warnings_of_counts
def page_faults(runs: Runs | Pair, expected: float) -> Table:
    """The page faults that the OS counted, next to the operations and to what is `expected`.

    Takes runs, or a broken run and its repaired twin. The operations are all that ran, with those
    of baselines. A C kernel that counts for each variant by itself has a row for the variant alone.
    Raises Refused if there is no run.
    """
    named: list[tuple[str, Run]]
    if isinstance(runs, Pair):
        named = [("broken", runs.broken), ("repaired", runs.repaired)]
    else:
        named = [(run.variant, run) for run in runs_of([runs])]
    rows = []
    for name, run in named:
        operations = int(run.recording.batch.sum())
        counted = run.recording.total(_COUNT)
        if touched := run.recording.total(f"variant.{run.variant}.touched"):
            operations, counted = touched, run.recording.total(f"variant.{run.variant}.faults")
        if counted is None:
            rows.append((name, f"{operations:,}", "not counted by this OS", ""))
            continue
        each = f"{counted / operations:.2f}" if operations else ""
        rows.append((name, f"{operations:,}", f"{counted:,}", each))
    said = ""
    if rows[0][3]:
        found = float(rows[0][3])
        agrees = abs(found - expected) <= _NEAR
        said = ", as the OS counted" if agrees else f", and the OS counted {found:.2f}"
    return Table(
        f"Page faults that the OS counted; for the {rows[0][0]} run you expected {expected:g} for "
        f"each operation{said}",
        ("run", "operations", "page faults", "for each operation"),
        tuple(rows),
    )
