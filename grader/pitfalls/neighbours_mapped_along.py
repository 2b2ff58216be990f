"""Neighbouring pages of a file: one page fault maps several of them."""

from __future__ import annotations

from grader.cases.case import Case
from grader.cases.verdict import Level
from grader.facts.memory import page_faults
from grader.pitfalls.pitfall import Live, Pitfall
from labs.common.units import rounded

VARIANT = "file"


def detect(case: Case) -> str | None:
    for found in page_faults.of_case(case):
        if found.variant == VARIANT and page_faults.FEW <= found.each < page_faults.MOST:
            return (
                f"Your samples touch {found.touched:,} pages of a file, and the OS counted "
                f"{found.faults:,} page faults: one for every {rounded(1 / found.each, 2)} pages."
            )
    return None


PITFALL = Pitfall(
    code="neighbours-mapped-along",
    level=Level.VALIDITY,
    symptom="The figure is the cost of a page, and one page fault brought several pages.",
    misconception="With one page fault, the OS also maps the neighbours of a file's page that are "
    "in memory: on Linux usually up to 64 KB.",
    experiment="Touch pages that lie farther apart, until the OS counts one page fault for each.",
    seen_in="common where a file is read through a mapping from its beginning to its end",
    detect=detect,
    broken=(Live("neighbours_mapped", "page-fault-file"),),
)
