"""What a run inherited from the program that started it, and what its clocks agree on.

Each process states its scheduling, the libraries that were put before the C library, and the clocks
that disagree with the OS kernel's (kernels_c/conditions.h, kernels_c/calibration.h).
"""

from __future__ import annotations

import statistics

from labs.recording.file import Recording

USUAL_POLICY = "SCHED_OTHER"
#: What puts libraries before the C library, by the end of the key that states them.
_PRELOADED_BY = {
    "ld_preload": "LD_PRELOAD",
    "ld_audit": "LD_AUDIT",
    "ld_so_preload": "/etc/ld.so.preload",
}
#: The name of the counter among the clocks; all others are of the C library.
COUNTER = "counter"


def is_stated(recording: Recording) -> bool:
    """Whether the recording states what it inherited; older kits recorded nothing of it."""
    return bool(recording.condition("scheduling.nice"))


def policies(recording: Recording) -> tuple[str, ...]:
    """The scheduling policies with which the processes were started; empty if not stated."""
    return _different(recording, "scheduling.policy")


def nice_values(recording: Recording) -> tuple[str, ...]:
    """The nice values with which the processes were started; empty if not stated."""
    return _different(recording, "scheduling.nice")


def preloaded(recording: Recording) -> dict[str, str]:
    """What puts libraries before the C library (LD_PRELOAD, LD_AUDIT, /etc/ld.so.preload), and the
    names of these libraries."""
    stated = {by: _different(recording, f"preloaded.{key}") for key, by in _PRELOADED_BY.items()}
    return {by: " ".join(names) for by, names in stated.items() if names}


def is_filtered(recording: Recording) -> bool | None:
    """Whether a filter of system calls (seccomp) was set; None if not stated."""
    stated = recording.condition("seccomp")
    return stated != ("off",) if stated else None


def clocks_off(recording: Recording) -> dict[str, float]:
    """Each clock that disagreed with the OS kernel's, and how many times as fast it was.

    This is the median over the processes that state it.
    """
    found: dict[str, list[float]] = {}
    for stated in recording.condition("clocks.off"):
        for each in stated.split(", "):
            clock, _, speed = each.partition(" ")
            try:
                found.setdefault(clock, []).append(float(speed))
            except ValueError:
                continue
    return {clock: statistics.median(speeds) for clock, speeds in found.items() if speeds}


def _different(recording: Recording, key: str) -> tuple[str, ...]:
    return tuple(sorted(set(recording.condition(key))))
