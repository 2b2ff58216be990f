"""How much of the machine other programs used during a run, as its conditions state."""

from __future__ import annotations

from labs.recording.file import Recording

#: If a hypervisor took a smaller share of the CPU time than this, we ignore it.
STEAL_SHARE = 0.02


def busy_cpus(recording: Recording) -> float:
    """How many CPUs were busy, if nearly all of them were; else 0."""
    busy, online = recording.number("cpus.busy"), recording.number("cpus.online")
    return busy if busy and online and busy > max(1.5, 0.9 * online) else 0.0


def stolen(recording: Recording) -> float:
    """The share of the CPU time that a hypervisor took, if it took much; else 0."""
    steal = recording.number("steal.share") or 0.0
    return steal if steal > STEAL_SHARE else 0.0


def was_shared(recording: Recording) -> bool:
    """Whether other programs used much of the machine."""
    return bool(busy_cpus(recording) or stolen(recording))
