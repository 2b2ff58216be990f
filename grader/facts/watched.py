"""What the run saw a student's C do: its plumbing follows the C in a child after the last sample.

A recording states none of it if the system does not let a process watch its child, or if the kit
was older. Then only the C and the samples say something.
"""

from __future__ import annotations

from grader.cases.case import Case

#: By C kernel, one of the counts that its recording states, and the praise without these counts:
#: it may name only what the samples show.
_COUNTS = {
    "own_pair": ("readings", ""),
    "own_first_call": (
        "page",
        "What is left of the first call is far less than what another one takes.",
    ),
    "own_call": ("operations", "The loop is subtracted, and the floor is from the same run."),
    "own_procedure": ("operations", "The loop is subtracted, and a cost is left."),
}


def seen(case: Case, what: str) -> float | None:
    """The count `what` of the figure's own C; None if the run could not watch it."""
    if not case.spec.own or case.others:
        return None
    return case.recording.number(f"variant.{case.spec.variant}.watched_{what}")


def praise(case: Case) -> str:
    """The praise of a figure; for own C that nobody could watch, only of what the samples show."""
    count, without = _COUNTS.get(case.spec.kernel, ("", "")) if case.spec.own else ("", "")
    if without and seen(case, count) is None:
        return without
    return case.spec.praise
