"""The tasks that were created in a case, and what the OS counted for them.

A run of a student's own C also tries one task before all samples (kernels_c/created_task.h), and
states who raised the number then. Recordings of older kits state nothing of this.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from grader.cases.case import Case
from labs.recording.file import Recording

KERNELS = frozenset({"task_creation", "own_creation"})

#: Variants whose tasks share the memory of their creator; the exercise asks "own" to do so.
SAME_MEMORY = ("pthread", "pthread-wait", "clone-vm", "clone-vm-wait", "own")

#: Those of them whose tasks are threads, which are never child processes.
THREADS = ("pthread", "pthread-wait")

#: Variants whose tasks are processes with their own page tables.
COPIED_MEMORY = "fork"


@dataclass(frozen=True)
class Account:
    """What the OS counted for the tasks that one variant created, over the whole recording.

    `children_faults` and `children_switches` are those of child processes that were waited for, not
    of threads. `children_switches` is None if this OS counts no switches.
    """

    variant: str
    created: int
    faults: int
    children_faults: int
    children_switches: int | None


@dataclass(frozen=True)
class Trial:
    """What the trials of a student's own task have shown, as sums over the `tried` processes.

    `by_task`, `by_parent` and `by_nobody` say who raised the number first. `shares` is how often
    the task raised it in its parent's memory, and `asleep` how often the parent slept until its
    task had ended. `seen` is how often the parent saw it raised in all samples, for `created` ones.
    """

    tried: int
    by_task: int
    by_parent: int
    by_nobody: int
    shares: int
    asleep: int
    seen: int
    created: int

    @property
    def once_each(self) -> bool:
        """Whether the number was raised as often as a task was created."""
        return abs(self.seen - self.created) <= 0.02 * self.created


def trial_of(recording: Recording, variant: str) -> Trial | None:
    """What the trials of `variant` have shown; None if the run made none."""
    keys = (
        *("tried", "raised_by_task", "raised_by_parent", "raised_by_nobody", "shares_memory"),
        *("parent_slept", "seen", "created"),
    )
    counts = [recording.total(f"variant.{variant}.{key}") for key in keys]
    known = [count for count in counts if count is not None]
    return Trial(*known) if len(known) == len(keys) and known[0] > 0 else None


def accounts(case: Case) -> Iterator[Account]:
    """The account of each variant that the figure is about, if the recording has one."""
    if case.spec.kernel not in KERNELS:
        return
    for name in case.spec.variants:
        total = {
            key: case.recording.total(f"variant.{name}.{key}")
            for key in ("created", "faults", "children_faults", "children_switches")
        }
        created, faults, of_children = (
            total["created"],
            total["faults"],
            total["children_faults"],
        )
        if not created or faults is None or of_children is None:
            continue
        yield Account(name, created, faults, of_children, total["children_switches"])
