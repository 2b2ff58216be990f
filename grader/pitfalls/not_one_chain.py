"""Additions that need not wait for each other, or more of them than were asked for."""

from __future__ import annotations

from grader.cases.case import Case
from grader.cases.verdict import Level
from grader.facts import watched
from grader.pitfalls.pitfall import Pitfall
from labs.common.units import rounded

#: The run watches a sample with so many additions.
ASKED = 512

#: An unusual C may have further additions around the chain.
SHARE = 0.1

#: With more readings than these, part of the additions may be outside the sample.
PAIR = 2


def detect(case: Case) -> str | None:
    additions, chains = watched.seen(case, "additions"), watched.seen(case, "chains")
    if case.spec.kernel != "own_pair" or not additions or chains is None:
        return None
    if chains > 1:
        return (
            f"In a sample with {ASKED} additions, your C makes {rounded(additions, 6)}, in "
            f"{chains:.0f} registers: each register has its own chain, and no chain waits for "
            "another."
        )
    readings = watched.seen(case, "readings")
    if readings == PAIR and abs(additions - ASKED) > SHARE * ASKED:
        return f"Where {ASKED} additions are asked for, your C makes {rounded(additions, 6)}."
    return None


PITFALL = Pitfall(
    code="not-one-chain",
    level=Level.VALIDITY,
    symptom="The additions are not one chain of the length that the lab asks for.",
    misconception="Only an addition that needs the result of the one before takes a core cycle. A "
    "processor works on two chains at once.",
    experiment="Use one variable, and do ADDITIONS(link, k) once between the readings.",
    seen_in="loops that are unrolled with several sums, as a compiler does for speed",
    detect=detect,
    in_own_c=True,
)
