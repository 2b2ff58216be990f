"""The view of what the OS counted for the tasks that a run created."""

from __future__ import annotations

from typing import TYPE_CHECKING

from labs.common import spelling
from labs.common.table import Table
from labs.common.units import rounded
from labs.views.gather import refused, with_warnings

if TYPE_CHECKING:
    from labs.notebook.run import Run

#: By the name of a count: what a recording states, and the head of the column.
COUNTS = {
    "page faults": ("children_faults", "page faults of a child process, for each task"),
    "switches": ("children_switches", "switches of a child process, for each task"),
    "number seen": ("seen", "tasks whose number the parent saw raised"),
}


@with_warnings
def created_tasks(run: Run, *counts: str) -> Table:
    """For each variant of `run`: how many tasks it created, and the `counts` asked for.

    `counts` are some of "page faults", "switches" and "number seen". The OS adds the page faults
    and the switches of a child process to its parent's account when the parent has waited for it. A
    thread is no child process. The number is counted only in the exercise of lab 05. Raises Refused
    for another count, or for none.
    """
    if not counts:
        raise refused("name one count or more", f"There are {_known()}.")
    for each in counts:
        if each not in COUNTS:
            meant = spelling.suggestion(str(each), tuple(COUNTS))
            raise refused(f"there is no count {each!r}{meant}", f"There are {_known()}.")
    heads = [COUNTS[each][1] for each in counts]
    rows = []
    for result in run.results:
        made = run.recording.total(f"variant.{result.variant}.created")
        if made:
            cells = [_cell(run, result.variant, each, made) for each in counts]
            rows.append((result.variant, f"{made:,}", *cells))
    if not rows:
        raise refused("this run created no task", 'Pass a run of "task_creation", such as `kinds`.')
    return Table("What the OS counted", ("variant", "tasks created", *heads), tuple(rows))


def _known() -> str:
    return ", ".join(f'"{each}"' for each in COUNTS)


def _cell(run: Run, variant: str, count: str, made: int) -> str:
    """The count of a variant as text: for each task, or out of all tasks."""
    total = run.recording.total(f"variant.{variant}.{COUNTS[count][0]}")
    if total is None:
        stated = f"variant.{{}}.{COUNTS[count][0]}".format
        every = [result.variant for result in run.results]
        others = [name for name in every if run.recording.total(stated(name)) is not None]
        return f"counted for {' and '.join(others)} only" if others else "not counted"
    return f"{total:,} of {made:,}" if count == "number seen" else rounded(total / made)
