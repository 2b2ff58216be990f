"""What the run saw a student's C do: its plumbing follows the C in a child after the last sample.

A recording states none of it if the system does not let a process watch its child, or if the kit
was older. Then only the C and the samples say something.
"""

from __future__ import annotations

from grader.cases.case import Case


def seen(case: Case, what: str) -> float | None:
    """The count `what` of the figure's own C; None if the run could not watch it."""
    if not case.spec.own or case.others:
        return None
    return case.recording.number(f"variant.{case.spec.variant}.watched_{what}")
