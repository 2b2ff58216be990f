"""Which variants of a recording have the value that was handed in."""

from __future__ import annotations

from collections.abc import Iterator

from grader.cases.case import Case
from grader.cases.digits import is_number, is_rounded
from labs.recording.file import BadRecording, Recording
from labs.results.result import result_of

#: Of a recording with more variants than this no other is looked at.
MOST_VARIANTS = 20


def variants_of_same_value(case: Case, recording: Recording) -> Iterator[str]:
    """The variants of `recording` whose value was handed in as the figure of `case`.

    Where several are near it, those that are rounded to it.
    """
    near = dict(_near(case, recording))
    exactly = [name for name, value in near.items() if is_rounded(case, value)]
    yield from exactly or near


def _near(case: Case, recording: Recording) -> Iterator[tuple[str, float]]:
    for name in recording.variants[:MOST_VARIANTS]:
        try:
            estimate = result_of(recording, name, case.spec.unit).estimate
        except (KeyError, ValueError, BadRecording):
            continue
        if estimate is not None and is_number(case, estimate.value):
            yield name, estimate.value
