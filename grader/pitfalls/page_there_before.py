"""Pages that the program has used before: their first touch was long ago."""

from __future__ import annotations

from grader.cases.case import Case
from grader.cases.verdict import Level
from grader.facts.memory import page_faults
from grader.pitfalls.pitfall import Live, Pitfall

#: Variants whose operation makes a page fault.
FAULTING = ("anonymous", "copy-on-write", "file")


def detect(case: Case) -> str | None:
    if case.spec.kernel != "page_fault":
        return None
    for found in page_faults.of_case(case):
        if found.variant in FAULTING and found.each < page_faults.FEW:
            return (
                f"The samples of your variant {found.variant} touch {found.touched:,} pages, and "
                f"the OS counted {found.faults:,} page faults in them."
            )
    return None


PITFALL = Pitfall(
    code="page-there-before",
    level=Level.VALIDITY,
    symptom="Hardly any touch made a page fault, so the figure is the cost of a plain write.",
    misconception="malloc does not always give new pages. Memory that was freed before stays in "
    "the process, and its pages are there.",
    experiment="Make a new mapping with mmap before each sample, and count the page faults with "
    "getrusage.",
    seen_in="common where a buffer from malloc is used and freed for each sample",
    detect=detect,
    broken=(Live("recycled_memory", "page-fault-anonymous"),),
)
