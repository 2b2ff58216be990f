"""The groups of a survey: which C kernels belong together, in the order of the page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from labs.common.table import in_columns
from labs.common.wrapped import lines_of
from labs.languages.words import of_reader

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

#: No line of text is longer, and no table where the output is no terminal.
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


def columns(
    header: tuple[str, ...],
    rows: Sequence[tuple[str, ...]],
    width: int = COLUMNS,
    first_out: Sequence[int] = (),
) -> list[str]:
    """A table for a terminal, in the language of its reader: the first column at the left, numbers
    at the right.

    If it is too wide, its words are broken. If that is not enough, columns are left out: those of
    `first_out` in this order, or else the last ones, because the first ones matter most.
    """
    kept, shown = list(range(len(header))), of_reader().heading
    words_of_lines = [list(map(shown, line)) for line in (header, *rows)]
    for left_out in (None, *(first_out or reversed(kept[2:]))):
        kept = [column for column in kept if column != left_out]
        cells = [[line[column] for column in kept] for line in words_of_lines]
        lines = in_columns(cells, range(1, len(kept)), width)
        if max(map(len, lines)) <= width:
            break
    return lines


def wrapped(line: str, width: int, indent: int = 0) -> list[str]:
    """A sentence as lines for a terminal: none is longer than COLUMNS, or than its `width`."""
    return lines_of(" " * indent + line, min(width, COLUMNS), further=indent)
