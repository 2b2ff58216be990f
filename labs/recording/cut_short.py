"""A run that its time limit ended: how many of its processes had finished.

What whole processes have measured is evidence. The process that was running is left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from labs.recording.file import Recording

_LIMIT, _PLANNED = "cut_short.after_s", "cut_short.planned_processes"


@dataclass(frozen=True)
class CutShort:
    """The time limit in seconds, and the number of processes: those planned, and the whole ones."""

    after_s: float
    planned: int
    whole: int

    @property
    def needed_s(self) -> float:
        """About how many seconds all the planned processes need."""
        return self.after_s * self.planned / max(self.whole, 1)


def conditions(after_s: float, planned: int) -> Mapping[str, str]:
    """What the recording of such a run states."""
    return {_LIMIT: f"{after_s:g}", _PLANNED: str(planned)}


def cut_short(recording: Recording) -> CutShort | None:
    """How the run was cut short; None if it was not."""
    limit, planned = recording.number(_LIMIT), recording.number(_PLANNED)
    if limit is None or planned is None or not 0 < planned <= 1e6:
        return None
    return CutShort(limit, int(planned), len(recording.processes))
