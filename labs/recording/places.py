"""Where the tasks of a variant were while it was measured, as its recording tells."""

from __future__ import annotations

from dataclasses import dataclass

from labs.common.pseudo_files import cpu_list
from labs.recording.file import Recording


@dataclass(frozen=True)
class Places:
    """CPUs: where the measuring task was seen, where its peers were, and which these may use.

    The last two are empty where the variant has no peers, or nobody told of them.
    """

    mine: frozenset[int]
    peers: frozenset[int]
    may_use: frozenset[int]

    @property
    def bound_together(self) -> bool:
        """Whether peers had no choice but a CPU that the measuring task was on as well."""
        return len(self.may_use) == 1 and bool(self.may_use & self.mine)


def of_variant(recording: Recording, variant: str) -> tuple[Places, ...]:
    """In each process that says so, where the tasks were in the intervals of `variant`.

    Those of a variant that claims to switch are noted for it alone (kernels_c/tasks.h).
    """
    keys = [f"variant.{variant}.{key}" for key in ("cpus", "peers_cpus", "peers_may_use")]
    said = ({**process, **recording.conditions} for process in recording.processes)
    every = (Places(*(cpus_of(each.get(key, "")) for key in keys)) for each in said)
    return tuple(each for each in every if each.mine)


def why_unbound(recording: Recording) -> str | None:
    """Why two tasks of this run may have had a CPU each, whatever was asked for: its machine can
    bind none to a CPU. None where it can, or has only one.

    Each of its processes says so (kernels_c/conditions.h), in the form `none: REASON`, or `left
    out: REASON` where the C kernel was built so.
    """
    said = recording.conditions.get("cpu.pinning")
    if said is None or recording.number("cpus.online") == 1:
        return None
    allowed = recording.condition("cpu.allowed")
    if allowed and all(len(cpus_of(each)) == 1 for each in allowed):
        return None
    return said.partition(": ")[2] or said


def cpus_of(words: str) -> frozenset[int]:
    """The CPUs of a list such as `0-2,5`; empty where it is none."""
    return frozenset(cpu_list(words) or ())


def in_words(cpus: frozenset[int]) -> str:
    """CPU numbers for a reader."""
    return " and ".join(map(str, sorted(cpus)))
