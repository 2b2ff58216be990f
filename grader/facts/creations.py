"""The tasks that were created in a case, and what the OS counted for them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from grader.cases.case import Case

KERNELS = frozenset({"task_creation", "own_creation"})

#: Variants whose tasks share the memory of their creator; the exercise asks "own" to do so.
SAME_MEMORY = ("pthread", "pthread-wait", "clone-vm", "clone-vm-wait", "own")

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
