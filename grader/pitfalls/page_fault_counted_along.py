"""Page faults inside samples that are said to be about something else."""

from __future__ import annotations

from grader.cases.case import Case
from grader.cases.verdict import Level
from grader.pitfalls.pitfall import Live, Pitfall
from labs.recording.declared import is_first_time

KERNEL = "first_iteration"

#: The variants of it that are about page faults.
ABOUT_FAULTS = ("page-fault",)

#: From so many faults an operation on they are no accident.
SHARE = 0.5


def detect(case: Case) -> str | None:
    recording = case.recording
    if case.spec.kernel != KERNEL or case.spec.variant in ABOUT_FAULTS:
        return None
    if is_first_time(recording, case.spec.variant):
        return None
    counted = recording.total("task.main.minor_faults")
    if counted is None:
        return None
    operations = {
        name: int(recording.batch[recording.variant_index == number].sum())
        for number, name in enumerate(recording.variants)
    }
    mine = operations[case.spec.variant]
    unexplained = counted - sum(operations.get(name, 0) for name in ABOUT_FAULTS)
    if mine == 0 or unexplained < SHARE * mine:
        return None
    return (
        f"Your run makes {mine:,} operations of {case.spec.variant}, and the OS counted "
        f"{unexplained:,} page faults in this run: the pages were not there either."
    )


PITFALL = Pitfall(
    code="page-fault-counted-along",
    level=Level.VALIDITY,
    symptom="The figure mixes two causes: each operation takes a page fault as well.",
    misconception="Memory that was never touched, or was taken away, lacks its page and not only "
    "its line in a cache.",
    experiment="Touch every page first, then drive only the lines out of the caches.",
    seen_in="report D: first times explained by main memory; page faults are not considered",
    detect=detect,
    broken=(Live("miss_with_its_page", "first-iteration-data-cache"),),
)
