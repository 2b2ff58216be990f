"""Whether a tracer such as strace follows the programs that are started from here.

A tracer stops a program at each system call and lets it go on again, which takes a hundred times as
long as a cheap call.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

from labs.common.pseudo_files import text_of

#: Tracing is only asked for if Python itself is traced, because it takes another process.
_STATUS = "self/status"
TIME_LIMIT_S = 20.0


def name_of_tracer(proc: Path = Path("/proc")) -> str | None:
    """The name of the program that traces the processes started from here; None if none does.

    A debugger may trace Python and leave its children alone, so we ask a child.
    """
    tracer = _tracer_in(text_of(proc / _STATUS) or "")
    if not tracer or not _tracer_in(_status_of_a_child(proc)):
        return None
    return text_of(proc / str(tracer) / "comm") or f"process {tracer}"


def _status_of_a_child(proc: Path) -> str:
    try:
        found = subprocess.run(
            ["cat", str(proc / _STATUS)], capture_output=True, timeout=TIME_LIMIT_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return found.stdout.decode("utf-8", "replace")


def _tracer_in(status: str) -> int:
    """The process id of the tracer; 0 if there is none or if it is not stated."""
    for line in status.splitlines():
        key, _, value = line.partition(":")
        if key == "TracerPid" and value.strip().isdecimal():
            return int(value)
    return 0
