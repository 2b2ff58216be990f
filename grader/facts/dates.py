"""When a figure was given and when its recording was made."""

from __future__ import annotations

import datetime

from labs.course.figures import Figure
from labs.recording.file import Recording


def measured_after(figure: Figure, recording: Recording) -> bool:
    """Whether the recording is younger than the figure; False where one of them has no date."""
    try:
        given = datetime.datetime.fromisoformat(figure.when or "")
        return given < datetime.datetime.fromisoformat(recording.conditions.get("created", ""))
    except (ValueError, TypeError):  # no date, or one without a time zone
        return False
