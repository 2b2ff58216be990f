"""The view of what the OS counted for the tasks that a run created."""

from __future__ import annotations

from typing import TYPE_CHECKING

from labs.common import spelling
from labs.common.table import Table
from labs.common.units import rounded
from labs.views.gather import refused, with_warnings_of_counts

if TYPE_CHECKING:
    from labs.notebook.run import Run

#: By the name of a count: what a recording states, and the head of the column.
COUNTS = {
    "page faults": ("children_faults", "page faults of a child process, for each task"),
    "switches": ("children_switches", "switches of a child process, for each task"),
    "number seen": ("seen", "tasks whose number the parent saw raised"),
    "parent slept": ("parent_slept", "trials in which the parent slept until the task had ended"),
}


@with_warnings_of_counts
def created_tasks(run: Run, *counts: str) -> Table:
    """For each variant of `run`: how many tasks it created, and the `counts` asked for.

    `counts` are some of "page faults", "switches", "number seen" and "parent slept". The OS adds
    the page faults and the switches of a child process to its parent's account when the parent has
    waited for it. A thread is no child process. The last two are counted only in the exercise of
    lab 05. The sleep is counted in one trial of each process: the table leaves it out for a
    recording of an older kit, which does not state it. Raises Refused for another count, or none.
    """
    if not counts:
        raise refused("name one count or more", f"The counts are {_known()}.")
    for each in counts:
        if each not in COUNTS:
            meant = spelling.meant(str(each), tuple(COUNTS))
            close = f": did you mean {meant}?" if meant else ""
            raise refused(f"there is no count {each!r}{close}", f"The counts are {_known()}.")
    heads = [COUNTS[each][1] for each in counts]
    rows = []
    for result in run.results:
        made = run.recording.total(f"variant.{result.variant}.created")
        if made:
            cells = [_cell(run, result.variant, each, made) for each in counts]
            rows.append((result.variant, f"{made:,}", *cells))
    if not rows:
        raise refused("this run created no task", 'Pass a run of "task_creation", such as `kinds`.')
    header = ("variant", "tasks created", *heads)
    return Table("What the OS counted", header, tuple(rows)).without_empty()


def _known() -> str:
    return ", ".join(f'"{each}"' for each in COUNTS)


def _cell(run: Run, variant: str, count: str, made: int) -> str:
    """The count of a variant as text: for each task, or out of all tasks or trials."""
    stated = f"variant.{{}}.{COUNTS[count][0]}".format
    total = run.recording.total(stated(variant))
    if total is None:
        every = [result.variant for result in run.results]
        others = [name for name in every if run.recording.total(stated(name)) is not None]
        if others:
            return f"counted for {' and '.join(others)} only"
        of_exercise = any(run.recording.total(f"variant.{name}.seen") is not None for name in every)
        return "" if count == "parent slept" and of_exercise else "not counted"
    if count == "parent slept":
        return f"{total:,} of {run.recording.total(f'variant.{variant}.tried') or 0:,}"
    return f"{total:,} of {made:,}" if count == "number seen" else rounded(total / made)
