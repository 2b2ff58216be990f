"""A working set of which the student's own C uses only a part, or of which it shows nothing."""

from __future__ import annotations

from grader.cases.case import Case
from grader.cases.verdict import Level
from grader.facts.memory import working_sets
from grader.pitfalls.pitfall import Pitfall


def detect(case: Case) -> str | None:
    if case.spec.kernel not in working_sets.KERNELS:
        return None
    for name in case.spec.variants:
        found = working_sets.lines_used(case.recording, name)
        if found is not None and found.in_part:
            return _evidence(found)
    return None


def _evidence(found: working_sets.LinesUsed) -> str:
    if not found.used and not found.keeps:
        return "Your C hands nothing to keep() and writes nothing, so no line is seen to be used."
    text = (
        f"The run changed {found.tried:,} cache lines, one at a time: what keep() got changed "
        f"with {found.used:,} of them."
    )
    if found.used and found.last <= (1 - working_sets.SHARE_LEFT_OUT) * found.lines:
        text += f" None lies behind line {found.last:,} of {found.lines:,}."
    return text


PITFALL = Pitfall(
    code="working-set-in-part",
    level=Level.VALIDITY,
    symptom="The run did not see your C use every cache line of the set.",
    misconception="A loop that ends early or steps over cache lines uses less memory than it "
    "claims. The compiler leaves out reads whose results nobody needs.",
    experiment="Add up one byte of each cache line, from the first to the last, for keep().",
    seen_in="trials of lab 07: half of the set, every second line, or only the last value",
    detect=detect,
    yields_to=("working-set-not-touched",),
    in_own_c=True,
)
