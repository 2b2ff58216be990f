"""Pitfalls that show before there is a case: nothing handed in, or nothing that can be read."""

from __future__ import annotations

from grader.cases.case import Case
from grader.cases.verdict import NO_FIGURE as CODE_OF_NO_FIGURE
from grader.cases.verdict import Level
from grader.pitfalls.pitfall import Pitfall


def _needs_no_case(case: Case) -> str | None:
    """These are found by grader.judging.check while it reads; a case that exists shows none."""
    return None


NO_FIGURE = Pitfall(
    code=CODE_OF_NO_FIGURE,
    level=Level.PROVENANCE,
    symptom="This figure was not handed in.",
    misconception="A figure counts only if it is in figures.json.",
    experiment="Run the cell that calls lab.figure(...), or add the entry to figures.json.",
    seen_in="report E: thread switching asked for, not delivered",
    detect=_needs_no_case,
)
FIGURE_UNREADABLE = Pitfall(
    code="figure-unreadable",
    level=Level.PROVENANCE,
    symptom="This figure cannot be read.",
    misconception="A figure is a number with a unit and the name of its recording.",
    experiment="Correct this entry of figures.json, or run the cell with lab.figure(...) again.",
    seen_in="figures.json written by hand",
    detect=_needs_no_case,
)
NO_RECORDING = Pitfall(
    code="no-recording",
    level=Level.PROVENANCE,
    symptom="There is no evidence for this figure.",
    misconception="A number alone can be neither believed nor checked.",
    experiment="Measure with save=..., and hand in the run with the figure: "
    "lab.figure(id, value, unit, run).",
    seen_in="reports B to D: means without samples",
    detect=_needs_no_case,
)
RECORDING_UNREADABLE = Pitfall(
    code="recording-unreadable",
    level=Level.PROVENANCE,
    symptom="The recording cannot be read.",
    misconception="A recording must be handed in as it was written.",
    experiment="Measure again and do not open the file in a program that rewrites it.",
    seen_in="recordings cut off in copying",
    detect=_needs_no_case,
)
OTHER_RECORDING = Pitfall(
    code="other-recording",
    level=Level.PROVENANCE,
    symptom="The recording measures something else.",
    misconception="A figure needs a recording of the operation that it is about.",
    experiment="Look at the first lines of the recording: which C kernel, which variants?",
    seen_in="report A: an overhead measured on one machine, used on all",
    detect=_needs_no_case,
)
NO_OTHER_FIGURE = Pitfall(
    code="no-figure-to-relate",
    level=Level.PROVENANCE,
    symptom="This figure depends on others, and one of them has no usable evidence.",
    misconception="A ratio or a conclusion is worth what the figures behind it are worth.",
    experiment="Hand in those figures with their recordings first; this figure then counts.",
    seen_in="report E: a conclusion about thread switching, which was not measured",
    detect=_needs_no_case,
)
NOT_REPRODUCED = Pitfall(
    code="mistake-not-reproduced",
    level=Level.VALIDITY,
    symptom="This recording does not show the mistake that the lab asks for.",
    misconception="To refute a figure, first measure it in the same way as the report did.",
    experiment="Run the broken C kernel as it stands, and hand in that run.",
    seen_in="reports A to E: what lab 08 puts on trial",
    detect=_needs_no_case,
)

ALL = (
    NO_FIGURE,
    FIGURE_UNREADABLE,
    NO_RECORDING,
    RECORDING_UNREADABLE,
    OTHER_RECORDING,
    NO_OTHER_FIGURE,
    NOT_REPRODUCED,
)
