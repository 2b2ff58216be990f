"""The praise of a student's own C: one sentence on what the run itself counted.

The praise of a figure holds for every recording of it. This sentence replaces it if the recording
states the counts that bear it out; recordings of older kits do not.
"""

from __future__ import annotations

from collections.abc import Callable

from grader.cases.case import Case
from grader.facts import creations, own_call, switch_counts, working_sets


def of(case: Case) -> str:
    """The sentence; '' if the recording states nothing that bears it out."""
    borne_out = _BY_KERNEL.get(case.spec.kernel) if case.spec.own else None
    return borne_out(case) if borne_out is not None else ""


def _footprint(case: Case) -> str:
    found = working_sets.lines_used(case.recording, case.spec.variant)
    if found is None or found.in_part:
        return ""
    every = "each" if found.used == found.tried else f"{found.used:,}"
    return (
        f"The run changed {found.tried:,} cache lines, one at a time, and saw your C use {every} "
        "of them: the compiler could not leave it out."
    )


def _creation(case: Case) -> str:
    trial = creations.trial_of(case.recording, case.spec.variant)
    if trial is None or not trial.once_each or trial.asleep:
        return ""
    if min(trial.by_task, trial.shares) < trial.tried:
        return ""
    return (
        "The OS confirms it: the task that you created raised the number, its parent saw that in "
        "the same memory, and the parent did not sleep meanwhile."
    )


def _switch(case: Case) -> str:
    seen = switch_counts.sleeps(case.recording, case.spec.variant)
    if not seen.tried or seen.unwoken or seen.hardly_asleep or seen.asleep is None:
        return ""
    return (
        "The OS counted the switches that you claim, and the thread that waits sleeps: given its "
        "turn without being woken, it did not go on."
    )


def _call(case: Case) -> str:
    code = own_call.measured(case)
    if code is None or case.spec.variant not in own_call.ASKED:
        return ""
    if not own_call.made_by_hand(case, code) or own_call.of_library(case, code):
        return ""
    return "Repaired: your C makes the call by hand, and no call of the C library runs beside it."


_BY_KERNEL: dict[str, Callable[[Case], str]] = {
    "own_call": _call,
    "own_creation": _creation,
    "own_footprint": _footprint,
    "own_switch": _switch,
}
