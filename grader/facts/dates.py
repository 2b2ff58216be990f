"""When a figure was submitted and when its recording was made."""

from __future__ import annotations

import datetime

from labs.course.figures import Figure
from labs.recording.file import Recording


def measured_after(figure: Figure, recording: Recording) -> bool:
    """Whether the recording is newer than the figure; False if one of them has no date."""
    return _is_before(figure.when, recording.conditions.get("created"))


def made_before(recording: Recording, other: Recording) -> bool:
    """Whether `recording` is older than `other`; False if one of them has no date."""
    return _is_before(recording.conditions.get("created"), other.conditions.get("created"))


def _is_before(first: str | None, second: str | None) -> bool:
    try:
        return datetime.datetime.fromisoformat(first or "") < datetime.datetime.fromisoformat(
            second or ""
        )
    except (ValueError, TypeError):  # no date, or one without a time zone
        return False
