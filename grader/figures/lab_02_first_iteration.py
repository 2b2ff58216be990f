"""Lab 02: why the first time is slow, and what of it is page fault, cache and so on."""

from __future__ import annotations

import math

from grader.figures.spec import Estimates, FigureSpec, Quantity
from labs.analysis.confidence import side
from labs.recording.declared import Estimand

LAB = "02-first-iteration"

#: In the order of the relation below: the whole, what is left with the page there, one load.
_CALL, _LEFT, _LOAD = range(3)
#: The conclusions, by number.
LOAD, PAGE, NEITHER, UNDECIDED = range(1, 5)


def _cause(estimates: Estimates) -> int:
    """Neither if more than half is left after the student's C. If less is left, it may have brought
    the page and its line: the line is one load, so a load decides between the two."""
    left = side(estimates[_LEFT], estimates[_CALL], 0.5)
    if left >= 0:
        return NEITHER if left > 0 else UNDECIDED
    load = side(estimates[_LOAD], estimates[_CALL], 0.5)
    return {1: LOAD, -1: PAGE, 0: UNDECIDED}[load]


FIGURES = (
    FigureSpec(
        id="first-iteration-call",
        asked="the extra cost of the first call of a procedure compared with later ones",
        kernel="first_iteration",
        variants=("call",),
        estimand=Estimand.FIRST_TIME,
        unit="ns",
        # Each process gives one value only, and the interval runs between two of these.
        widest=0.5,
        central="first-sample-lost",
        praise="No warm-up came before the first calls, and no sample of the run is missing.",
        checks="no sample missing",
        look_next="Look at the second samples: is the whole extra cost paid in the first?",
    ),
    FigureSpec(
        id="first-iteration-page-fault",
        asked="the cost of a page fault, by the first touch of a page that is not there",
        kernel="first_iteration",
        variants=("page-fault",),
        unit="ns",
        central="cost-of-many-for-one",
        praise="This is the cost of one fault: the same touches without a fault are subtracted.",
        checks="baseline subtracted",
        look_next="This page was filled with zeros first. Which part of the cost could that be?",
    ),
    FigureSpec(
        id="first-iteration-data-cache",
        asked="the extra cost of a load from main memory compared with one from the cache",
        kernel="first_iteration",
        variants=("data-cache",),
        unit="ns",
        central="page-fault-counted-along",
        praise="The OS counted hardly any page fault in these loads: the pages were there, and "
        "only the cache lines were missing.",
        checks="faults counted",
        look_next="Do two loads that do not wait for each other take twice as long?",
    ),
    FigureSpec(
        id="first-call-own",
        asked="what is left of a first call's extra cost when your C has touched its page",
        kernel="own_first_call",
        variants=("own",),
        estimand=Estimand.FIRST_TIME,
        unit="ns",
        own=True,
        compare_with=("unprepared",),
        # What is left may be next to nothing, and any interval is wide beside that.
        widest=math.inf,
        may_be_nothing=True,
        central="page-still-missing",
        praise={
            "The run saw your C touch the page of the code, and the first call was left for "
            "the sample.": "page seen, other-page-touched, first-sample-lost",
            "After your C, less than half of a first call's extra cost is left.": (
                "less than half, page-still-missing"
            ),
        },
        look_next="Compare what is left with one load, and with a step of the clock: which causes "
        "of this lab can it still hold?",
    ),
    FigureSpec(
        id="first-iteration-cause",
        asked="what makes the first call slow",
        of=("first-iteration-call", "first-call-own", "first-iteration-data-cache"),
        quantity=Quantity.CHOICE,
        decide=_cause,
        may_be_nothing=True,
        look_at="`lab.compare(own, call, times=0.5)` and `lab.compare(miss, call, times=0.5)`",
        central="cause-not-isolated",
        praise={"Your own figures support this cause.": "conclusion-against-table"},
        look_next="Which experiment would separate the two largest parts of a page fault?",
    ),
)
