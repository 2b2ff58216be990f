"""For how long a C kernel of a student's own has shown no progress, and the likely reason.

Only time in which the C could have gone on counts: time that it computed or slept. While it waits
for a CPU that other programs use, or while something has stopped it, the machine keeps it waiting.

The usual mistakes differ in what they use. An endless loop uses a CPU all the time, and so does a
loop whose counter a system call has overwritten. A call that waits uses none: for another task, or
for a byte.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import psutil

from labs.recording.cut_short import COMPUTES, WAITS

_LOOP = "a loop that never ends, or assembly that changes a register without naming it"
_WAIT = (
    "a call that waits for what never comes: a byte that nobody writes, or a task that waits too "
    "or has ended"
)

#: The states of a task (proc(5)) that uses a CPU or waits for one, and of one that is stopped. One
#: that sleeps beyond the reach of signals (D) may be the parent of a `vfork`: it waits by itself.
_READY = frozenset((b"R", b"T", b"t"))


class Reading(NamedTuple):
    """What the processes of a group are doing: the processor time in seconds that they have used
    until now, and whether a task of theirs uses or needs a CPU, or is stopped."""

    cpu_s: float
    ready: bool


class Standstill:
    """For how long the process group `group` has shown no progress.

    `own_s` are the seconds in which it could have gone on, and `cpu_s` the seconds of processor
    time that it used in them.
    """

    def __init__(self, group: int, read: Callable[[int], Reading] | None = None) -> None:
        self._group, self._read = group, read or reading
        self.progressed()

    def progressed(self) -> None:
        """Begin anew: it has shown progress."""
        self.own_s = self.cpu_s = 0.0
        self._quiet = False
        self._before: tuple[float, Reading] | None = None

    def look(self, now: float) -> None:
        """Count the time since the last look; `now` is in seconds of the run.

        Who shows progress between any two looks is not looked at: that would disturb the samples.
        """
        if not self._quiet:
            self._quiet = True
            return
        seen = self._read(self._group)
        if self._before is not None:
            at, before = self._before
            used = min(max(seen.cpu_s - before.cpu_s, 0.0), now - at)
            self.own_s += used if seen.ready else now - at
            self.cpu_s += used
        self._before = now, seen

    @property
    def cpu_share(self) -> float:
        """The share of a CPU that it used in its own time."""
        return self.cpu_s / self.own_s if self.own_s > 0 else 0.0


def likely_cause(cpu_share: float) -> str:
    """The likely mistake in C that took no sample, and used this share of a CPU meanwhile."""
    if cpu_share < WAITS:
        return f"It used no processor time, so it waits: look for {_WAIT}"
    if cpu_share > COMPUTES:
        extra = " (syscall changes rcx and r11)" if os.uname().machine == "x86_64" else ""
        return f"It computed all the time: look for {_LOOP}{extra}"
    return f"Look for {_LOOP}; or for {_WAIT}"


def reading(group: int) -> Reading:
    """What the living processes of the group are doing. Where the OS does not tell the states of
    tasks (macOS), none is ready."""
    used, ready = 0.0, False
    for process in psutil.pids():
        with contextlib.suppress(psutil.Error, OSError):
            if os.getpgid(process) == group:
                # Of children that have ended, their parent has the time.
                times = psutil.Process(process).cpu_times()
                used += times.user + times.system + times.children_user + times.children_system
                ready = ready or _is_ready(process)
    return Reading(used, ready)


def _is_ready(process: int) -> bool:
    """Whether a task of the process uses or needs a CPU, or is stopped."""
    for stat in Path(f"/proc/{process}/task").glob("*/stat"):
        with contextlib.suppress(OSError, IndexError):
            # The name before the state may hold any byte, also blanks and brackets.
            if stat.read_bytes().rpartition(b")")[2].split()[0] in _READY:
                return True
    return False
