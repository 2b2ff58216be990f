"""A set in huge pages that the figure says nothing of: its loads hardly wait for the page table."""

from __future__ import annotations

from grader.cases.case import Case
from grader.cases.verdict import Level
from grader.facts.memory import ladders
from grader.pitfalls.pitfall import Live, Pitfall


def detect(case: Case) -> str | None:
    for name in filter(ladders.in_small_pages, case.spec.variants):
        walk = ladders.walk_of(case.recording, name)
        if walk is None or not walk.in_huge_pages:
            continue
        claimed, huge = f"{walk.set_kb >> 10:,}", f"{(walk.huge_kb or 0) >> 10:,}"
        return (
            f"Over all processes, the sets of {name} take {claimed} MB. The OS gave {huge} MB of "
            "them in huge pages."
        )
    return None


PITFALL = Pitfall(
    code="huge-pages-unnoticed",
    level=Level.VALIDITY,
    symptom="Your set is in huge pages, and the figure is about small ones.",
    misconception="The OS chooses the size of the pages. If each page holds 2 MB, a load hardly "
    "ever waits for the page table, and the steps of the ladder move.",
    experiment="Refuse huge pages with madvise and MADV_NOHUGEPAGE before the first write, and let "
    "the OS count them.",
    seen_in="common in large arrays where the system gives huge pages to any of them",
    detect=detect,
    broken=(Live("huge_pages_unnoticed", "ladder-memory", needs="huge pages"),),
)
