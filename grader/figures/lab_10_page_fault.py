"""Lab 10: what a page fault costs."""

from __future__ import annotations

from grader.figures.spec import FigureSpec, Quantity, by_side
from grader.figures.verdict import Level

LAB = "10-page-fault"

#: The conclusions, by number.
MOVED, SAVED, UNDECIDED = range(1, 4)

FIGURES = (
    FigureSpec(
        id="page-fault-anonymous",
        asked="the cost of a page fault, by the first write to a page of a new mapping",
        kernel="page_fault",
        variants=("anonymous",),
        unit="ns",
        compare_with=("zero-page", "populate"),
        central="page-there-before",
        praise="The OS counted one page fault for each page, and the pages were written to. The "
        "same writes without a page fault are subtracted.",
        checks="read-not-written, one fault a page, baseline subtracted",
        look_next="The first read of such a page costs less. What does the OS kernel leave out?",
    ),
    FigureSpec(
        id="page-fault-copy",
        asked="the cost of a page fault that copies a page after fork",
        kernel="page_fault",
        variants=("copy-on-write",),
        unit="ns",
        compare_with=("anonymous",),
        central="cost-of-many-for-one",
        praise="This is the cost of one page fault, and the writes themselves are subtracted.",
        checks="baseline subtracted",
        look_next="Which of the two must fill a page with zeros, and which with a copy?",
    ),
    FigureSpec(
        id="page-fault-file",
        asked="the cost of a page fault on a file that is in memory",
        kernel="page_fault",
        variants=("file",),
        unit="ns",
        compare_with=("anonymous",),
        central="neighbours-mapped-along",
        praise="The OS counted one page fault for each touch: the pages lay far enough apart.",
        checks="one fault a page",
        look_next="This page fault maps the neighbours too. What does one of these pages cost?",
    ),
    FigureSpec(
        id="page-fault-bring",
        asked="the cost of bringing one page in advance, by your own C",
        kernel="own_page_fault",
        variants=("bring",),
        unit="ns",
        own=True,
        compare_with=("unprepared", "own"),
        central="page-not-brought",
        praise="After your C, the OS counted no page fault in the first writes.",
        checks="read-not-written, no fault left",
        look_next="Try MAP_POPULATE or mlock instead: which part of the cost do they save?",
    ),
    FigureSpec(
        id="page-fault-prefault",
        asked="what MAP_POPULATE does to the cost of page faults",
        kernel="page_fault",
        variants=("populate", "anonymous"),
        quantity=Quantity.CHOICE,
        points={Level.INTERPRETATION: 2.0},
        # A page by MAP_POPULATE against half of a page fault.
        decide=by_side(0, 1, times=0.5, more=MOVED, less=SAVED, undecided=UNDECIDED),
        look_at='`lab.compare(kinds["populate"], kinds["anonymous"], times=0.5)`',
        praise="Your two variants support this conclusion.",
        look_next="When is it better to pay for all pages at the start, and when is it not?",
    ),
)
