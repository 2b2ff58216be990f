"""The groups of a survey: which C kernels belong together, in the order of the page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from labs.common.table import in_columns

#: The heading of each group, and its C kernels.
GROUPS = (
    ("Timers", ("timer_overhead",)),
    ("First calls", ("first_iteration",)),
    ("Calls", ("procedure_call",)),
    ("System calls", ("system_call",)),
    ("Task creation", ("task_creation",)),
    ("Switches", ("process_switch", "thread_switch")),
    ("Switches and memory", ("switch_footprint",)),
    ("Memory", ("memory_ladder",)),
    ("Page faults", ("page_fault",)),
)

#: No line for a terminal is longer.
COLUMNS = 80


def group_of(kernel: str) -> str:
    """The heading of the group of a C kernel; one that no group lists has a group of its own."""
    return next((heading for heading, kernels in GROUPS if kernel in kernels), kernel)


def in_order(headings: Iterable[str]) -> list[str]:
    """The headings, each once, in the order of the page."""
    known = [heading for heading, _ in GROUPS]
    found = list(dict.fromkeys(headings))
    return sorted(found, key=lambda each: known.index(each) if each in known else len(known))


def name_of(kernel: str, variant: str, level: str) -> str:
    """The name of an operation in its group: the variant, and what distinguishes it from others."""
    name = f"{variant} -O0" if level == "-O0" else variant
    kind = kernel.removesuffix("_switch")
    return f"{kind} {name}" if kernel in ("process_switch", "thread_switch") else name


def optimisation(flags: str) -> str:
    """The optimisation level among the flags of a compiler; the last one counts."""
    levels = [word for word in flags.split() if word.startswith("-O")]
    return levels[-1] if levels else ""


def columns(header: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> list[str]:
    """A table for a terminal: the first column at the left, numbers at the right.

    If it is too wide for COLUMNS, the last columns are left out: the first ones matter most.
    """
    for kept in range(len(header), 1, -1):
        cells = [header[:kept], *(row[:kept] for row in rows)]
        lines = in_columns(cells, to_the_right=range(1, kept))
        if max(map(len, lines)) <= COLUMNS:
            break
    return lines
