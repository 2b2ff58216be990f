"""Whether a tracer stopped the C kernel while it measured."""

from __future__ import annotations

from dataclasses import dataclass

from labs.recording.file import Recording
from labs.recording.traced import tracer_of, unclaimed_switches

#: A tracer stops a program when a system call begins and when it ends: two voluntary switches. A
#: call that waits makes one, such as waiting for a child.
FEWEST_PER_CALL = 1.5


@dataclass(frozen=True)
class Stops:
    """Voluntary switches that nobody claims, and the system calls that were claimed.

    `tracer` is the name of the tracer if the recording states it, else empty.
    """

    switches: int
    calls: int
    tracer: str


def stops(recording: Recording, *, own: bool = False) -> Stops | None:
    """The stops by a tracer that the recording shows; None if it shows none.

    If no tracer is stated, only counts can show it, and they decide only for our own C kernels that
    claim no switch: `own` C may wait as often as it likes. A tracer that stopped nothing did no
    harm.
    """
    switches = unclaimed_switches(recording)
    calls = recording.total("claimed.system_calls") or 0
    stated = tracer_of(recording)
    if switches is None:
        return None
    if stated:
        operations = int(recording.batch.sum())
        return Stops(switches, calls, stated) if switches >= max(operations, 1) else None
    if own or not calls or recording.total("claimed.switches"):
        return None
    return Stops(switches, calls, "") if switches >= FEWEST_PER_CALL * calls else None
