"""Watches what the processes of a sandbox use together, and ends all of them at its end.

The OS limits each process; bubblewrap limits the size of the private folders. The sum over the
processes, and the number of files, have no limit of the OS that every system offers. So we look at
them 20 times a second.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import threading
from pathlib import Path

import psutil

from grader.sandbox.enclosed import PRIVATE
from grader.sandbox.limits import Limits

#: How often to look, in seconds.
EVERY_S = 0.05
_END_S = 10.0


class Inhabitants:
    """The processes of one sandbox; `first` is the id of the one that the others descend from."""

    def __init__(self, first: int) -> None:
        self.first = first
        self._one_at_a_time = threading.Lock()
        self._handle: int | None = None
        with contextlib.suppress(ProcessLookupError):  # it has ended already
            self._handle = os.pidfd_open(first)

    def excess(self, limits: Limits) -> str | None:
        """Which limit they exceed together, as a sentence; None if none."""
        if self._most_files() > limits.files:
            return f"It made more than {limits.files:,} files and was ended."
        known = [self.first, *self._below()]
        # Processes share pages, above all after fork(). The exact count takes longer, and divides
        # such a page among them.
        if all(sum(map(count, known)) > limits.memory for count in (_resident, _exact)):
            most = f"{limits.memory / 1e6:,.0f} MB"
            return f"Its processes used more than {most} of memory together and were ended."
        return None

    def end(self) -> None:
        """End all of them, and wait until none is left. Raises TimeoutError if one stays."""
        with self._one_at_a_time:
            handle, self._handle = self._handle, None
            if handle is None:
                return
            try:
                with contextlib.suppress(ProcessLookupError):
                    # It is the first process of its namespace: with it, the OS ends all others
                    # there, and it has ended only when they have.
                    signal.pidfd_send_signal(handle, signal.SIGKILL)
                if not select.select([handle], [], [], _END_S)[0]:
                    raise TimeoutError(f"process {self.first} of the sandbox does not end")
            finally:
                os.close(handle)

    def _most_files(self) -> int:
        """How many files the fullest of the private folders holds."""
        root, most = Path(f"/proc/{self.first}/root"), 0
        # It may end just now.
        with contextlib.suppress(OSError):
            if root.samefile("/"):  # bubblewrap has not built it yet
                return 0
            for place in PRIVATE:
                held = os.statvfs(f"{root}{place}")
                most = max(most, held.f_files - held.f_ffree)
        return most

    def _below(self) -> list[int]:
        """Those that descend from the first one."""
        found, unread = [], [self.first]
        while unread:
            below = _children(unread.pop())
            found += below
            unread += below
        return found


def _children(process: int) -> list[int]:
    """The children of a process; none if it has ended."""
    found: list[int] = []
    if not Path("/proc/thread-self/children").exists():  # a kernel without CONFIG_PROC_CHILDREN
        with contextlib.suppress(psutil.Error):
            # This reads every process of the machine.
            found = [each.pid for each in psutil.Process(process).children()]
        return found
    with contextlib.suppress(OSError):
        for task in Path(f"/proc/{process}/task").iterdir():
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                text = (task / "children").read_text(encoding="utf-8")
                found += map(int, text.split())
    return found


def _resident(process: int) -> int:
    """The resident bytes of a process; 0 if it has ended."""
    try:
        pages = Path(f"/proc/{process}/statm").read_text(encoding="utf-8").split()[1]
    except (OSError, IndexError):
        return 0
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def _exact(process: int) -> int:
    """The same, but a page that n processes share counts 1/n."""
    try:
        text = Path(f"/proc/{process}/smaps_rollup").read_text(encoding="utf-8")
    except OSError:
        return _resident(process)
    sizes = [line.split()[1] for line in text.splitlines() if line.startswith("Pss:")]
    return 1024 * int(sizes[0]) if sizes else _resident(process)
