"""A first call got ready by touching a page next to that of the code."""

from __future__ import annotations

from grader.cases.case import Case
from grader.cases.verdict import Level
from grader.facts import watched
from grader.facts.c import parts
from grader.pitfalls.first_sample_lost import GETS_READY, PROCEDURES
from grader.pitfalls.pitfall import Pitfall


def detect(case: Case) -> str | None:
    if case.spec.kernel != GETS_READY or watched.seen(case, "page") != 0:
        return None
    if not parts.whole(case.source).words.isdisjoint(PROCEDURES):
        return None  # it may touch the code by its name; the run gave it another address
    what = "only other pages" if watched.seen(case, "other_pages") else "no page"
    return (
        f"Your get_ready() was given an address. It touched {what}, and not the page at this "
        "address."
    )


PITFALL = Pitfall(
    code="other-page-touched",
    level=Level.VALIDITY,
    symptom="The page of the code was not touched.",
    misconception="The OS may also map the pages around a touched page, such as 64 KB of a file. "
    "Another file system or machine maps only the touched page.",
    experiment="Read one byte of the code itself, at the address that you get.",
    seen_in="code that reads 'the next page, to be sure'",
    detect=detect,
    yields_to=("first-sample-lost", "page-still-missing"),
    in_own_c=True,
)
