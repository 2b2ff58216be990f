"""What control groups and the limits of the process grant: CPU time, memory, processes.

A process belongs to a control group. The limits of the groups around that one hold for it as well,
so the smallest one counts. cgroups(7) and getrlimit(2) describe the files. None means that no limit
is seen: inside a container, the OS may not show the groups around it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from labs.common.pseudo_files import number_in, text_of, words_of

#: A limit that nobody set: version 1 of control groups shows a number near 2^63 for it.
_NO_LIMIT = 2**60

Reader = Callable[[Path], float | None]


def cpu_quota(proc: Path, sys: Path) -> float | None:
    """The CPU time that control groups grant this process, in CPUs."""
    return min(_limits(proc, sys, "cpu", _quota_v1, _quota_v2), default=None)


def throttled_s(proc: Path, sys: Path) -> float:
    """For how long control groups have stopped their tasks by a quota, in seconds since they
    exist; for the whole run, subtract two readings."""
    return sum(
        _limits(proc, sys, "cpu", *(_stated("throttled_time", 1e9), _stated("throttled_usec", 1e6)))
    )


def memory_limit(proc: Path, sys: Path) -> int | None:
    """The memory that this process and those beside it may use, in bytes."""
    limits = _limits(proc, sys, "memory", _number("memory.limit_in_bytes"), _number("memory.max"))
    own = _own_limit(proc, "Max address space")
    return int(min([*limits, *([own] if own is not None else [])], default=0)) or None


def task_limit(proc: Path, sys: Path) -> int | None:
    """How many processes and threads there may be at the same time."""
    limits = _limits(proc, sys, "pids", _number("pids.max"), _number("pids.max"))
    own = _own_limit(proc, "Max processes")
    return int(min([*limits, *([own] if own is not None else [])], default=0)) or None


def _limits(proc: Path, sys: Path, controller: str, v1: Reader, v2: Reader) -> list[float]:
    """The limits of this process's group and of each group that contains it."""
    limits: list[float] = []
    for line in (text_of(proc / "self/cgroup") or "").splitlines():
        _, _, rest = line.partition(":")
        controllers, _, group = rest.partition(":")
        if controllers == "":
            limits += _upwards(sys / "fs/cgroup", group, v2)
        elif controller in controllers.split(","):
            for mount in sorted({controllers, controller}):
                limits += _upwards(sys / "fs/cgroup" / mount, group, v1)
    return limits


def _upwards(mount: Path, group: str, limit_of: Reader) -> list[float]:
    """The limits of the group and of each group that contains it; a group may have none."""
    parts = [part for part in group.split("/") if part not in ("", ".", "..")]
    folders = [mount.joinpath(*parts[:depth]) for depth in range(len(parts) + 1)]
    return [limit for folder in folders if (limit := limit_of(folder)) is not None]


def _number(file: str) -> Reader:
    def limit_of(folder: Path) -> float | None:
        limit = number_in(text_of(folder / file) or "")  # "max" means no limit
        return limit if limit is not None and 0 < limit < _NO_LIMIT else None

    return limit_of


def _stated(name: str, per_second: float) -> Reader:
    """A number of the file `cpu.stat`, in seconds."""

    def seconds_of(folder: Path) -> float | None:
        words = words_of(folder / "cpu.stat")
        stated = number_in(words[words.index(name) + 1]) if name in words[:-1] else None
        return None if stated is None else stated / per_second

    return seconds_of


def _own_limit(proc: Path, name: str) -> float | None:
    """A limit that the process has by itself; the first of its two numbers is in force."""
    limits = text_of(proc / "self/limits") or ""
    found = re.search(rf"^{name} +(\d+) ", limits, re.MULTILINE)
    return float(found[1]) if found and 0 < int(found[1]) < _NO_LIMIT else None


def _quota_v2(folder: Path) -> float | None:
    words = words_of(folder / "cpu.max")
    return _ratio(words[0], words[1]) if len(words) == 2 else None


def _quota_v1(folder: Path) -> float | None:
    return _ratio(
        text_of(folder / "cpu.cfs_quota_us") or "", text_of(folder / "cpu.cfs_period_us") or ""
    )


def _ratio(quota: str, period: str) -> float | None:
    granted, of = number_in(quota), number_in(period)  # "max" and -1 mean no limit
    return granted / of if granted is not None and of and granted > 0 and of > 0 else None
