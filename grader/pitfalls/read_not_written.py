"""A page that was only read: the OS gave it no memory of its own yet."""

from __future__ import annotations

from grader.cases.case import Case
from grader.cases.verdict import Level
from grader.facts.memory import page_faults
from grader.pitfalls.pitfall import Live, Pitfall

#: Variants that claim a page of their own for each operation.
OWN_PAGES = ("anonymous", "bring")


def detect(case: Case) -> str | None:
    for found in page_faults.of_case(case):
        # A student's C may also have touched other pages, or given these back: the run must know.
        unknown = case.spec.own and found.there is None
        if found.variant in OWN_PAGES and found.only_read and not unknown:
            return (
                f"The samples of your variant {found.variant} made {found.faults:,} page faults, "
                f"and later writes to the same pages made {found.later:,} more."
            )
    return None


PITFALL = Pitfall(
    code="read-not-written",
    level=Level.VALIDITY,
    symptom="The pages were only read, so they have no memory of their own yet.",
    misconception="A page that nobody has written to holds zeros. A read maps one page of zeros "
    "that all processes share; the first write makes another page fault.",
    experiment="Write one byte of each page, then write again: the second write must make no page "
    "fault.",
    seen_in="the exercise of lab 10, tried with a read",
    detect=detect,
    in_own_c=True,
    broken=(Live("reads_new_pages", "page-fault-anonymous"),),
)
