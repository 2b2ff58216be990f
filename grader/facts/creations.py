"""Tasks that were created in a case: what the OS counted for them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from grader.cases.case import Case

KERNELS = frozenset({"task_creation", "own_creation"})

#: Variants whose tasks live in the memory of the one that made them; "own" is asked to.
SAME_MEMORY = ("pthread", "pthread-wait", "clone-vm", "clone-vm-wait", "own")

#: Variants whose tasks are processes with page tables of their own.
COPIED_MEMORY = "fork"


@dataclass(frozen=True)
class Account:
    """What the OS counted for the tasks that one variant created, over the whole recording.

    `children` are child processes that were waited for: threads are none. `switches` is None where
    this OS counts no switches.
    """

    variant: str
    created: int
    faults: int
    children_faults: int
    children_switches: int | None


def accounts(case: Case) -> Iterator[Account]:
    """The account of each variant that the figure is about, where the recording holds one."""
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
