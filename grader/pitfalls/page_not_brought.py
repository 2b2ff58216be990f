"""A preparation after which pages are still missing."""

from __future__ import annotations

from grader.cases.case import Case
from grader.cases.verdict import Level
from grader.facts.memory import page_faults
from grader.pitfalls.pitfall import Pitfall

READY, AFTERWARDS = "bring", "own"


def detect(case: Case) -> str | None:
    if case.spec.kernel != "own_page_fault":
        return None
    after = page_faults.counted(case.recording, AFTERWARDS)
    ready = page_faults.counted(case.recording, READY)
    if after is None or ready is None or not after.has_faults:
        return None
    if ready.there is not None and ready.only_read:
        return None  # the pages were brought, but only for reads: read-not-written
    return (
        f"After your get_ready() the first writes to {after.touched:,} pages still made "
        f"{after.faults:,} page faults."
    )


PITFALL = Pitfall(
    code="page-not-brought",
    level=Level.VALIDITY,
    symptom="Pages are still missing after your preparation.",
    misconception="Each page comes with a write to it. A loop over bytes leaves pages out, a read "
    "brings no memory, and advice such as MADV_WILLNEED brings no page.",
    experiment="Write one byte in each of the pages, from the first to the last one.",
    seen_in="the exercise of lab 10, tried with a loop over bytes",
    detect=detect,
    in_own_c=True,
)
