"""Tasks that were created in a case: what the OS counted for them, and the C that made them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from grader.c_source import without_comments
from grader.case import Case
from grader.sources import released_sources
from labs.toolchain import measured_region

KERNELS = frozenset({"task_creation", "own_creation"})

#: Variants whose tasks live in the memory of the one that made them; "own" is asked to.
SAME_MEMORY = ("pthread", "pthread-wait", "clone-vm", "clone-vm-wait", "own")

#: Variants whose tasks are processes with page tables of their own.
COPIED_MEMORY = "fork"

_FUNCTION = re.compile(r"\b(\w+)\s*\([^;{}()]*\)\s*\{")


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


def own_source(case: Case) -> str | None:
    """The C that was measured, where it is known and none of the released: those make no mistake
    in their C, which tests hold them to."""
    if case.recording.conditions.get("source.sha256") in released_sources():
        return None
    return case.source


def has_region(source: str) -> bool:
    """Whether the C marks what is timed; else the kit's own header times what it defines."""
    return "measured region begins" in source


def timed(source: str) -> str:
    """What is timed, without comments: the measured region, and the functions that it reaches.

    Of a source without marks, which is one function that a header of the kit times, the whole.
    """
    code = without_comments(source)
    try:
        reached = without_comments(measured_region(source))
    except ValueError:
        return code
    bodies = {match[1]: _body(code, match.end()) for match in _FUNCTION.finditer(code)}
    seen: set[str] = set()
    while True:
        new = {name for name in bodies if re.search(rf"\b{name}\b", reached)} - seen
        if not new:
            return reached
        seen |= new
        reached += "".join("\n" + bodies[name] for name in sorted(new))


def _body(source: str, begin: int) -> str:
    """The text from `begin` to the brace that closes the one before it."""
    depth = 1
    for place in range(begin, len(source)):
        depth += {"{": 1, "}": -1}.get(source[place], 0)
        if depth == 0:
            return source[begin:place]
    return source[begin:]
