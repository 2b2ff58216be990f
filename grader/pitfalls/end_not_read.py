"""A sample whose length does not come from two readings of the counter."""

from __future__ import annotations

from grader.cases.case import Case
from grader.cases.verdict import Level
from grader.facts import watched
from grader.facts.c import calls, parts
from grader.facts.sources import own_source
from grader.pitfalls.pitfall import Pitfall

#: What is returned, as a share of the time between the first and the last reading. A second pair,
#: or an overhead that is subtracted, makes it less than 1.
LEAST_SHARE, MOST_SHARE = 0.25, 1.05
#: With a clock of the C library, less than this is no difference of two readings of the counter.
LEAST_OF_OWN_CLOCK = 0.9


def detect(case: Case) -> str | None:
    readings = watched.seen(case, "readings")
    if case.spec.kernel != "own_pair" or readings is None:
        return None
    if readings < 2:
        times = "once" if readings == 1 else "not at all"
        return f"While a sample of your C ran, the counter was read {times}."
    share = watched.seen(case, "share")
    if share is None:
        return None
    clocks = calls.clocks_of_library(parts.timed(own_source(case) or ""))
    if clocks and share < LEAST_OF_OWN_CLOCK:
        return (
            f"Your C calls {clocks[0]}(), which reads another clock. The run takes what your C "
            f"returns as ticks of the counter: that is {share:.0%} of the ticks that passed."
        )
    if LEAST_SHARE <= share <= MOST_SHARE:
        return None
    return (
        f"Your C returns {share:.1%} of the time between its first and its last reading of the "
        "counter."
    )


PITFALL = Pitfall(
    code="end-not-read",
    level=Level.VALIDITY,
    symptom="The length of a sample is not the difference of two readings of the counter.",
    misconception="A number computed from k lies on a perfect line, and says nothing about the "
    "machine.",
    experiment="Read the counter before and after the additions, and return the difference.",
    seen_in="samples with less noise than the counter's step allows",
    detect=detect,
    yields_to=("stale-constant",),
    in_own_c=True,
)
