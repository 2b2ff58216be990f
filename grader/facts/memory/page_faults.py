"""What the page faults of a recording show of a figure; `labs.recording.page_faults` has them."""

from __future__ import annotations

from collections.abc import Iterator

from grader.cases.case import Case
from labs.recording.page_faults import FEW, MOST, Counted, counted

__all__ = [
    "FEW",
    "KERNELS",
    "MAPPED_AROUND",
    "MOST",
    "OF_FILE",
    "PAGE_BYTES",
    "Counted",
    "counted",
    "no_fault_left",
    "of_case",
    "one_fault_a_page",
]

KERNELS = frozenset({"page_fault", "own_page_fault"})

#: The sizes of a page on the machines that Linux runs on, in bytes.
PAGE_BYTES = (4096, 16384, 65536)

#: The variant that reads a file, and how many of its pages Linux maps with one page fault.
OF_FILE, MAPPED_AROUND = "file", 16


def of_case(case: Case) -> Iterator[Counted]:
    """The counts of each variant that the figure is about, if the recording has them."""
    if case.spec.kernel not in KERNELS:
        return
    for name in case.spec.variants:
        found = counted(case.recording, name)
        if found is not None:
            yield found


def one_fault_a_page(case: Case) -> bool:
    """Whether the OS counted one page fault for each page that the samples touched."""
    found = list(of_case(case))
    return bool(found) and all(each.each >= MOST for each in found)


def no_fault_left(case: Case) -> bool:
    """Whether the OS counted no page fault in the writes after a student's preparation."""
    found = counted(case.recording, "own")
    return found is not None and not found.has_faults
