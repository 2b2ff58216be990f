"""Lab 04: what a procedure call costs, what an argument adds, and what -O2 leaves of it."""

from __future__ import annotations

from grader.cases.spec import CHOICE, Choice, FigureSpec, Quantity
from grader.cases.verdict import Level
from grader.figures.choices import at_most_times, dearer, not_distinguishable

LAB = "04-procedure-call"

#: A conclusion has a recording of its own: it is worth a point for that, and one for itself.
CONCLUSION = {Level.VALIDITY: 1.0, Level.INTERPRETATION: 1.0}

FIGURES = (
    FigureSpec(
        id="call-args0",
        lab=LAB,
        asked="the cost of a call without arguments",
        kernel="procedure_call",
        variants=("args0",),
        quantity=Quantity.COST,
        unit="cycles",
        flags="-O2",
        praise="The slope over many calls, less the loop, both from one run: far below what one "
        "reading of the clock could tell.",
        look_next="The variant indirect calls it through a pointer. What does that add?",
    ),
    FigureSpec(
        id="call-inlined",
        lab=LAB,
        asked="what is left of the cost when the compiler inlines the procedure",
        kernel="procedure_call",
        variants=("inlined", "args0"),
        quantity=Quantity.CHOICE,
        unit=CHOICE,
        points=CONCLUSION,
        flags="-O2",
        choices=(
            Choice("less than a tenth of the call is left", at_most_times(0.1, 0, 1)),
            Choice(
                "a tenth of the call or more is left, and less than all of it",
                lambda both: not at_most_times(0.1, 0, 1, slack=-0.1)(both) and dearer(1, 0)(both),
            ),
            Choice("the call costs the same, or more", lambda both: not dearer(1, 0)(both)),
        ),
        praise="That nothing is left is a result: the interval says how little it could be.",
        look_next="Measure inlined at -O0: is it free there as well? Why?",
    ),
    FigureSpec(
        id="call-args6",
        lab=LAB,
        asked="the cost of a call with six integer arguments",
        kernel="procedure_call",
        variants=("args6",),
        quantity=Quantity.COST,
        unit="cycles",
        flags="-O0",
        praise="The optimisation level is part of the figure, and you kept to it.",
        look_next="How many stores does the callee make at -O0? How many at -O2?",
    ),
    FigureSpec(
        id="call-five-and-six",
        lab=LAB,
        asked="whether a sixth argument costs more than the fifth",
        kernel="procedure_call",
        variants=("args6", "args5"),
        quantity=Quantity.CHOICE,
        unit=CHOICE,
        points=CONCLUSION,
        flags="-O0",
        choices=(
            Choice("six arguments cost more than five", dearer(0, 1)),
            Choice("six arguments cost less than five", dearer(1, 0)),
            Choice("this run does not tell the two apart", not_distinguishable(0, 1)),
        ),
        praise="A conclusion that goes as far as the data, and no further.",
        look_next="Which two neighbours does your run tell apart? Does a second run agree?",
    ),
    FigureSpec(
        id="call-per-argument",
        lab=LAB,
        asked="what each argument from the seventh to the twelfth adds",
        kernel="procedure_call",
        variants=("args12", "args6"),
        quantity=Quantity.DIFFERENCE,
        unit="cycles",
        divisor=6.0,
        flags="-O0",
        praise="A difference within one run, where whatever disturbs it meets both alike.",
        look_next="Below one cycle an argument: several stores go on at once. In which of your "
        "figures would that be impossible?",
    ),
    FigureSpec(
        id="call-own",
        lab=LAB,
        asked="the cost of one call, by your own C kernel",
        kernel="own_procedure",
        variants=("own",),
        quantity=Quantity.COST,
        unit="cycles",
        flags="-O2",
        own=True,
        praise="The run saw one call for each operation at -O2, and no loop in it.",
        look_next="Hand over a pointer, and add one to what it points to: does the way through "
        "memory cost more here?",
    ),
)
