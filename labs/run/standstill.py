"""Why a C kernel of a student's own shows no progress: whether it computes or waits.

The usual mistakes differ in this. An endless loop uses a CPU all the time, and so does a loop whose
counter a system call has overwritten. A call that waits uses none: for another task, or for a byte.
"""

from __future__ import annotations

import asyncio
import contextlib
import os

import psutil

#: For so long we watch the processor time of a process group, in seconds.
WATCHED_S = 0.3
#: A program that uses less than the first share of a CPU waits. If it uses more than the second, it
#: computes: other programs may have the rest of the CPU.
WAITS, COMPUTES = 0.02, 0.25

_LOOP = "a loop that never ends, or assembly that changes a register without naming it"
_WAIT = (
    "a call that waits for what never comes: a byte that nobody writes, or a task that waits too "
    "or has ended"
)


async def likely_cause(group: int) -> str:
    """The likely mistake in the C of the process group `group`, which shows no progress."""
    loop = asyncio.get_running_loop()
    before, begin = _cpu_seconds(group), loop.time()
    await asyncio.sleep(WATCHED_S)
    share = (_cpu_seconds(group) - before) / (loop.time() - begin)
    if share < WAITS:
        return f"It used no processor time, so it waits: look for {_WAIT}"
    if share > COMPUTES:
        extra = " (syscall changes rcx and r11)" if os.uname().machine == "x86_64" else ""
        return f"It computed all the time: look for {_LOOP}{extra}"
    return f"Look for {_LOOP}; or for {_WAIT}"


def _cpu_seconds(group: int) -> float:
    """The processor time that the living processes of the group have used until now."""
    used = 0.0
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, ProcessLookupError, PermissionError):
            if os.getpgid(process.pid) == group:
                times = process.cpu_times()
                used += times.user + times.system
    return used
