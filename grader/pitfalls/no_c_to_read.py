"""A student's own measurement without the C that was measured, or with other C in its place."""

from __future__ import annotations

from pathlib import PurePosixPath

from grader.cases.case import Case
from grader.cases.verdict import Level
from grader.facts.c.parse import parsed
from grader.pitfalls.pitfall import Pitfall


def detect(case: Case) -> str | None:
    if not case.spec.own or case.others:
        return None
    recording = PurePosixPath(case.figure.recording or "the recording")
    if case.source is None:
        stated = case.recording.conditions.get("source.sha256", "")
        return (
            f"{recording} was made from C whose hash begins with {stated[:8] or 'nothing'}; "
            f"there is no {recording.with_suffix('.c').name} with this hash next to it."
        )
    if parsed(case.source).readable:
        return None
    return (
        f"{recording.with_suffix('.c').name} has more nested or unfinished code than the grader "
        "reads."
    )


PITFALL = Pitfall(
    code="no-c-to-read",
    level=Level.VALIDITY,
    symptom="The C behind this figure cannot be read here.",
    misconception="Only the C itself shows what was timed. Its hash changes with every letter, "
    "even in a comment.",
    experiment="Hand in the .c file next to the .csv file, as it was measured. If the C was "
    "changed since, run it again with the same --save.",
    seen_in="reports B to D: figures without the program behind them",
    detect=detect,
    in_own_c=True,
)
