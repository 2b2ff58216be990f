"""Lab 04: what a procedure call costs, what an argument adds, and what -O2 leaves of it."""

from __future__ import annotations

from grader.figures.spec import Estimates, FigureSpec, Quantity, by_side
from grader.figures.verdict import Level
from labs.analysis.confidence import side

LAB = "04-procedure-call"

#: A conclusion has a recording of its own: it is worth a point for that, and one for itself.
CONCLUSION = {Level.VALIDITY: 1.0, Level.INTERPRETATION: 1.0}

#: The conclusions on what inlining leaves, by number.
NEXT_TO_NOTHING, A_PART, MORE, UNDECIDED = range(1, 5)


def _what_is_left(estimates: Estimates) -> int:
    """What the inlined procedure costs, by a tenth of the call and by the whole call."""
    inlined, call = estimates
    tenth, whole = side(inlined, call, 0.1), side(inlined, call)
    if tenth < 0:
        return NEXT_TO_NOTHING
    if tenth == 0 or whole == 0:
        return UNDECIDED
    return A_PART if whole < 0 else MORE


FIGURES = (
    FigureSpec(
        id="call-args0",
        asked="the cost of a call without arguments",
        kernel="procedure_call",
        variants=("args0",),
        unit="cycles",
        flags="-O2",
        central="timer-not-subtracted",
        praise="Neither the clock nor the loop is in this figure, so it can be far smaller than "
        "one reading of the clock.",
        checks="baseline subtracted",
        look_next="The variant indirect calls the procedure through a pointer. What does that add?",
    ),
    FigureSpec(
        id="call-inlined",
        asked="what is left of the cost when the compiler inlines the procedure",
        kernel="procedure_call",
        variants=("inlined", "args0"),
        quantity=Quantity.CHOICE,
        points=CONCLUSION,
        flags="-O2",
        decide=_what_is_left,
        may_be_nothing=True,
        compared_in="cycles",
        look_at='`lab.compare(o2["inlined"], o2["args0"], times=0.1)` and '
        '`lab.compare(o2["inlined"], o2["args0"])`',
        praise="Your conclusion agrees with the intervals of both variants.",
        look_next="Measure inlined at -O0: is it free there as well? Why?",
    ),
    FigureSpec(
        id="call-args6",
        asked="the cost of a call with six integer arguments",
        kernel="procedure_call",
        variants=("args6",),
        unit="cycles",
        flags="-O0",
        central="optimisation-levels-mixed",
        praise="Your run was compiled at the optimisation level that this figure asks for.",
        checks="level stated",
        look_next="How many stores does the callee make at -O0? How many at -O2?",
    ),
    FigureSpec(
        id="call-five-and-six",
        asked="the cost of a call with six arguments compared with one with five",
        kernel="procedure_call",
        variants=("args6", "args5"),
        quantity=Quantity.CHOICE,
        points=CONCLUSION,
        flags="-O0",
        decide=by_side(0, 1, more=1, less=2, undecided=3),
        compared_in="cycles",
        which_is_larger=True,
        look_at='`lab.compare(o0["args6"], o0["args5"])`',
        central="trend-inside-the-noise",
        praise={
            "Your conclusion goes as far as the data, and no further.": "conclusion-against-table"
        },
        look_next="Which two neighbouring rows can your run distinguish? Does a second run agree?",
    ),
    FigureSpec(
        id="call-per-argument",
        asked="what each argument from the seventh to the twelfth adds",
        kernel="procedure_call",
        variants=("args12", "args6"),
        quantity=Quantity.DIFFERENCE,
        unit="cycles",
        divisor=6.0,
        may_be_nothing=True,
        flags="-O0",
        central="optimisation-levels-mixed",
        praise="The samples of both variants were interleaved in one run, compiled at the level "
        "that the lab asks for.",
        checks="interleaved, level stated",
        look_next="If an argument costs less than one cycle, several stores go on at once. In "
        "which of your figures would this be impossible?",
    ),
    FigureSpec(
        id="call-own",
        asked="the cost of one call, by your own C kernel",
        kernel="own_procedure",
        variants=("own",),
        unit="cycles",
        flags="-O2",
        own=True,
        central="work-optimised-away",
        praise={
            "The run saw one call for each operation at -O2, and no loop in it.": (
                "call seen, not-one-call, optimisation-levels-mixed, level stated"
            ),
            "The loop is subtracted, and a cost is left.": (
                "baseline subtracted, cost left, work-optimised-away"
            ),
        },
        look_next="Pass a pointer, and add one to the variable that it points to: do these "
        "accesses to memory cost more here?",
    ),
)
