"""On which CPUs the tasks of a variant were during the measurement, as the recording states."""

from __future__ import annotations

from dataclasses import dataclass

from labs.common.pseudo_files import cpu_list
from labs.recording.file import Recording


@dataclass(frozen=True)
class Places:
    """CPUs of the measuring task (`mine`), CPUs of its peers, and CPUs that the peers may use.

    The last two are empty if the variant has no peers, or if the recording does not state them.
    """

    mine: frozenset[int]
    peers: frozenset[int]
    may_use: frozenset[int]

    @property
    def bound_together(self) -> bool:
        """Whether the peers could use only one CPU, which the measuring task used as well."""
        return len(self.may_use) == 1 and bool(self.may_use & self.mine)


def of_variant(recording: Recording, variant: str) -> tuple[Places, ...]:
    """For each process that states it, where the tasks were during the samples of `variant`.

    A C kernel notes these places for each variant that claims switches (kernels_c/tasks.h).
    """
    keys = [f"variant.{variant}.{key}" for key in ("cpus", "peers_cpus", "peers_may_use")]
    stated = ({**process, **recording.conditions} for process in recording.processes)
    known: dict[str, frozenset[int]] = {}  # processes state the same lists

    def cpus(text: str) -> frozenset[int]:
        if text not in known:
            known[text] = cpus_of(text)
        return known[text]

    every = (Places(*(cpus(each.get(key, "")) for key in keys)) for each in stated)
    return tuple(each for each in every if each.mine)


def why_unbound(recording: Recording) -> str | None:
    """Why the machine of this run could bind no task to a CPU; None if it could, or has one CPU.

    Without binding, two tasks may each have had a CPU, whatever the plan asked for. Each process
    states the cause (kernels_c/conditions.h) as `none: REASON`, or as `left out: REASON` if the C
    kernel was built without binding.
    """
    stated = recording.conditions.get("cpu.pinning")
    if stated is None or recording.number("cpus.online") == 1:
        return None
    allowed = recording.condition("cpu.allowed")
    if allowed and all(len(cpus_of(each)) == 1 for each in allowed):
        return None
    return stated.partition(": ")[2] or stated


def cpus_of(words: str) -> frozenset[int]:
    """The CPUs of a list such as `0-2,5`; empty if `words` is no such list."""
    return frozenset(cpu_list(words) or ())


def as_text(cpus: frozenset[int]) -> str:
    """CPU numbers as text: `0 and 1`."""
    return " and ".join(map(str, sorted(cpus)))
