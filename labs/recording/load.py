"""How much of the machine others had during a run, as its conditions state."""

from __future__ import annotations

from labs.recording.file import Recording

#: Where a hypervisor took less of the CPU time than this share, it took nothing.
STEAL_SHARE = 0.02


def busy_cpus(recording: Recording) -> float:
    """How many CPUs were busy, where that was nearly all of them; else 0."""
    busy, online = recording.number("cpus.busy"), recording.number("cpus.online")
    return busy if busy and online and busy > max(1.5, 0.9 * online) else 0.0


def stolen(recording: Recording) -> float:
    """The share of the CPU time that a hypervisor took, where it took much; else 0."""
    steal = recording.number("steal.share") or 0.0
    return steal if steal > STEAL_SHARE else 0.0


def was_shared(recording: Recording) -> bool:
    """Whether others had much of the machine."""
    return bool(busy_cpus(recording) or stolen(recording))
