"""The samples are not those that were written."""

from __future__ import annotations

from grader.cases.case import Case
from grader.cases.verdict import Level
from grader.pitfalls.pitfall import Pitfall


def detect(case: Case) -> str | None:
    if case.recording.intact is not False:
        return None
    stated = case.recording.conditions["samples.sha256"][:12]
    return (
        f"{case.figure.recording} states the hash {stated} for its samples, but their hash is "
        f"{case.recording.samples_sha256[:12]}."
    )


PITFALL = Pitfall(
    code="recording-altered",
    level=Level.PROVENANCE,
    symptom="The recording was changed after it was saved.",
    misconception="A recording is evidence only as it was written: leave samples out in the "
    "analysis, not in the file.",
    experiment="Save the recording again and hand that in.",
    seen_in="report A: table entries that its own runs do not give",
    detect=detect,
)
