"""When a figure was submitted and when its recording was made."""

from __future__ import annotations

import datetime

from labs.course.figures import Figure
from labs.recording.file import Recording


def measured_after(figure: Figure, recording: Recording) -> bool:
    """Whether the recording is newer than the figure; False if one of them has no date."""
    try:
        submitted = datetime.datetime.fromisoformat(figure.when or "")
        return submitted < datetime.datetime.fromisoformat(recording.conditions.get("created", ""))
    except (ValueError, TypeError):  # no date, or one without a time zone
        return False
