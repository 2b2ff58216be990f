"""A run that ended too soon: before all of its processes, or before its interval was narrow enough.

What whole processes have measured is evidence. The process that was running is left out: it may
have been the slowest one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from labs.recording.file import Recording

#: Why a run was cut short: its time limit, C of a student's own that took no sample for as long as
#: patience lasts, or the student.
TIME_LIMIT, PATIENCE, CANCELLED = "time limit", "patience", "cancelled"

_BY, _SECONDS, _PLANNED = "cut_short.by", "cut_short.after_s", "cut_short.planned_processes"
_CPU_SHARE = "cut_short.cpu_share"

#: Why a run with `--within` added no more processes; see `out_of_reach` for another reason.
TIME_IS_UP, FULL, TOOK_NO_SAMPLE = "time is up", "the recording is full", "took no sample"
_OUT_OF_REACH_AT = re.compile(r"out of reach: about (\d{1,9}(?:\.\d{1,9})?) % at best")

#: C that took no sample waits if it used less than the first share of a CPU. If it used more than
#: the second, it computes.
WAITS, COMPUTES = 0.02, 0.25


@dataclass(frozen=True)
class CutShort:
    """How a run was cut short.

    `after_s` are the seconds of the time limit or of patience, or those that the run had taken when
    it was cancelled. `planned` is the number of processes that were planned, and `whole` of those
    that finished, which may be more. `cpu_share` is the share of a CPU that C used which took no
    sample for as long as patience lasts; None if that is unknown.
    """

    by: str
    after_s: float
    planned: int
    whole: int
    cpu_share: float | None = None

    @property
    def needed_s(self) -> float:
        """About how many seconds all the planned processes need, if this took `after_s`."""
        return self.after_s * self.planned / max(self.whole, 1)


def conditions(
    after_s: float, planned: int, by: str = TIME_LIMIT, cpu_share: float | None = None
) -> Mapping[str, str]:
    """What the recording of such a run states."""
    stated = {_BY: by, _SECONDS: f"{after_s:g}", _PLANNED: str(planned)}
    return stated if cpu_share is None else {**stated, _CPU_SHARE: f"{cpu_share:.2f}"}


def cut_short(recording: Recording) -> CutShort | None:
    """How the run was cut short; None if it was not."""
    seconds, planned = recording.number(_SECONDS), recording.number(_PLANNED)
    by = recording.conditions.get(_BY, "")
    if seconds is None or planned is None or not (0 <= seconds <= 1e6 and 0 < planned <= 1e6):
        return None
    if by not in (TIME_LIMIT, PATIENCE, CANCELLED):
        return None
    whole, share = len(recording.processes), recording.number(_CPU_SHARE)
    return CutShort(by, seconds, int(planned), whole, share)


@dataclass(frozen=True)
class NotNarrow:
    """A run that stopped before half the width of its interval was the share `within` of the value.

    `why` is a reason of this module. `at_most_s` are the seconds for which it could add processes.
    `reachable` is the share that it could have reached, if it stopped because that is too large.
    """

    within: float
    why: str
    at_most_s: float
    reachable: float | None = None


def out_of_reach(share: float) -> str:
    """The reason to stop if at best half the width can become this share of the value."""
    percent = float(f"{100 * min(share, 99):.2g}")
    return f"out of reach: about {percent:g} % at best"


def not_narrow(recording: Recording) -> NotNarrow | None:
    """Why the run stopped before its interval was as narrow as asked; None if it did not.

    Also None if an added process took no sample: then the run was cut short.
    """
    why = recording.conditions.get("adaptive.stopped", "")
    within, at_most_s = map(recording.number, ("adaptive.within", "adaptive.at_most_s"))
    if within is None or at_most_s is None or not (1e-6 <= within <= 1 and 0 <= at_most_s <= 1e6):
        return None
    if why in (TIME_IS_UP, FULL, CANCELLED):
        return NotNarrow(within, why, at_most_s)
    found = _OUT_OF_REACH_AT.fullmatch(why)
    return NotNarrow(within, why, at_most_s, float(found[1]) / 100) if found else None
