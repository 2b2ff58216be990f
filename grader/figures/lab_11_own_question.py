"""Lab 11: a question of the student's own. No value is known; structure and evidence are judged."""

from __future__ import annotations

from grader.figures.spec import FigureSpec, Quantity, by_side
from grader.figures.verdict import Level

LAB = "11-own-question"
KERNEL = "own_question"
COST, OTHER, TESTED = "own-question-cost", "own-question-other", "own-question-tested"

#: The conclusions on the claim, and on what could fool its author, by number.
MORE, LESS, UNDECIDED = range(1, 4)

FIGURES = (
    FigureSpec(
        id=COST,
        asked="the cost of your own operation",
        kernel=KERNEL,
        variants=("operation",),
        unit="ns",
        points=dict.fromkeys(Level, 2.0),
        own=True,
        central="operations-not-counted",
        praise="Your count saw each operation, and none where nothing was done or in the "
        "baseline, which is subtracted.",
        checks="baseline-does-it-too, counts-itself, baseline subtracted",
        look_next="Which part of your operation does your count not see?",
    ),
    FigureSpec(
        id=OTHER,
        asked="the cost of what you compare your operation with",
        kernel=KERNEL,
        variants=("other",),
        unit="ns",
        points=dict.fromkeys(Level, 0.5),
        own=True,
        central="work-optimised-away",
        praise={
            "The program executes what you compare with, and the same baseline is subtracted.": (
                "no call refused, baseline subtracted"
            ),
            "The same baseline is subtracted. The OS kernel refuses what you compare with, and "
            "your C looks at the result: you compare with a refusal.": "baseline subtracted",
        },
        look_next="In what else than the one thing you ask about does it differ from your "
        "operation?",
    ),
    FigureSpec(
        id="own-question-claim",
        asked="what your two costs say of your claim",
        of=(COST, OTHER),
        quantity=Quantity.CHOICE,
        decide=by_side(0, 1, more=MORE, less=LESS, undecided=UNDECIDED),
        look_at='`lab.compare(own, own["other"])`',
        praise="Your two costs support this conclusion.",
        look_next="Which results of this run refute the claim that you wrote, and which do not?",
    ),
    FigureSpec(
        id=TESTED,
        asked="the cost of one of the two, with one thing changed",
        kernel=KERNEL,
        variants=("operation",),
        unit="ns",
        own=True,
        changed_from=(COST, OTHER),
        central="operations-not-counted",
        praise="The second run counted its operations too, in several processes.",
        checks="one-process",
        look_next="What else changed between the two runs, though you did not ask for it?",
    ),
    FigureSpec(
        id="own-question-threat",
        asked="whether what you changed moves the cost",
        of=(TESTED, COST),
        quantity=Quantity.CHOICE,
        decide=by_side(0, 1, more=MORE, less=LESS, undecided=UNDECIDED),
        look_at="`lab.compare` of the same operation in `tested` and in `own`",
        praise="Your two runs support this conclusion.",
        look_next="Which threat is left that you have not tried, and which run would show it?",
    ),
)
