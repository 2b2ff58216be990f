"""A first call that somebody got ready for, and whose page was missing all the same."""

from __future__ import annotations

from grader.cases.case import Case
from grader.cases.verdict import Level
from grader.pitfalls.first_sample_lost import may_be_page_fault
from grader.pitfalls.pitfall import Pitfall
from labs.common.units import rounded

KERNEL, OWN, UNPREPARED = "own_first_call", "own", "unprepared"

#: Whoever has brought the page is left with less than this share; by an emulator, which has to
#: translate the code as well, at least with less than another first call takes.
SHARE = 0.5


def detect(case: Case) -> str | None:
    if case.spec.kernel != KERNEL or UNPREPARED not in case.results:
        return None
    own, other = case.results[OWN].estimate, case.results[UNPREPARED].estimate
    if own is None or other is None or own.value <= SHARE * other.value or own.high < other.low:
        return None
    if not may_be_page_fault(other, case.results[UNPREPARED].clock):
        return None  # this system brings pages by itself, or does not take them away
    return (
        f"Your first call takes {rounded(own.value)} {own.unit} longer than later ones; without "
        f"any preparation it takes {rounded(other.value)} {other.unit} longer. The two are the "
        "same within their intervals."
    )


PITFALL = Pitfall(
    code="page-still-missing",
    level=Level.VALIDITY,
    symptom="The cause that you wanted to remove is still there.",
    misconception="A page comes with the first read or write of one of its bytes. Knowing its "
    "address touches nothing, and a prefetch gives up if the page is missing.",
    experiment="Read one byte of the code, through a volatile pointer, before the call.",
    seen_in="the exercise of lab 02, tried with a prefetch",
    detect=detect,
)
