"""What a recording states about a tracer that followed the run."""

from __future__ import annotations

from labs.recording.file import Recording

#: The condition with the name of the tracer; it is left out if there is none.
KEY = "tracer"


def tracer_of(recording: Recording) -> str:
    """The name of the tracer that followed the run; '' if the recording states none."""
    return next(iter(recording.condition(KEY)), "")


def unclaimed_switches(recording: Recording) -> int | None:
    """Voluntary switches of all tasks that the C kernel does not claim; None if not recorded."""
    counted = [recording.total(f"task.{task}.voluntary_switches") for task in ("main", "peers")]
    if counted[0] is None:
        return None
    claimed = recording.total("claimed.switches") or 0
    return max(0, sum(count or 0 for count in counted) - claimed)
