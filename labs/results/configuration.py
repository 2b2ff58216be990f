"""The conditions of some runs as a reader needs them: machine, OS kernel, compiler, clock, pinning.

All of it is what the recordings state. Recordings of one machine may differ, in the clock speed for
example; then a fact lists what was found.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from labs.analysis import core_clock
from labs.common.units import rounded
from labs.recording import inherited, places
from labs.recording.file import Recording

#: At most so many different texts of one fact are listed.
_MOST_LISTED = 6


def of_recordings(recordings: Sequence[Recording]) -> tuple[tuple[str, str], ...]:
    """Each fact with its text, from all recordings; facts that none of them states are left out."""
    facts = [(name, _listed(fact, recordings)) for name, fact in _FACTS]
    every = [*facts, ("core clock", _core_clock(recordings)), ("measured", _when(recordings))]
    return tuple((name, text) for name, text in every if text)


def _listed(fact: Callable[[Recording], str], recordings: Sequence[Recording]) -> str:
    texts = list(dict.fromkeys(text for each in recordings if (text := fact(each))))
    more = len(texts) - _MOST_LISTED
    return "; ".join([*texts[:_MOST_LISTED], *([f"{more} more"] if more > 0 else [])])


def _stated(*keys: str) -> Callable[[Recording], str]:
    """The first of these conditions that the recording states."""

    def fact(recording: Recording) -> str:
        return next((recording.conditions[key] for key in keys if key in recording.conditions), "")

    return fact


def _virtual(recording: Recording) -> str:
    words = {"True": "yes", "False": "no"}
    virtual = words.get(recording.conditions.get("machine.virtual", ""), "")
    container = recording.conditions.get("machine.container", "")
    return ", in a container (".join(filter(None, (virtual, container))) + ")" * bool(
        virtual and container
    )


def _cpus(recording: Recording) -> str:
    online = recording.conditions.get("cpus.online", "")
    allowed = sorted(set(recording.condition("cpu.allowed")))
    return "; ".join(
        filter(None, (f"{online} online" * bool(online), _may_use(allowed) if allowed else ""))
    )


def _may_use(allowed: Sequence[str]) -> str:
    return f"the runs may use {' or '.join(allowed)}"


def _clock(recording: Recording) -> str:
    """The counter with its frequency and step; other clocks are those of their variants."""
    name, step = recording.conditions.get("counter", ""), recording.number("counter.step")
    frequency = recording.number("counter.frequency_hz")
    if not name:
        return ""
    parts = [name]
    if frequency:
        parts.append(f"{rounded(frequency / 1e6, 4)} MHz")
    if step:
        length = f" ({rounded(step / frequency * 1e9)} ns)" if frequency else ""
        parts.append(f"step {step:g} {'tick' if step == 1 else 'ticks'}{length}")
    return ", ".join(parts)


def _pinning(recording: Recording) -> str:
    unbound = places.why_unbound(recording)
    if unbound:
        return f"none ({unbound})"
    asked = sorted(set(recording.condition("cpu.asked")) - {"none"})
    if asked:
        return f"to CPU {' or '.join(asked)}"
    placed = any(
        each.bound_together
        for name in recording.variants
        for each in places.of_variant(recording, name)
    )
    return "tasks that switch: to one CPU" if placed else ""


def _scheduling(recording: Recording) -> str:
    policies, nice = inherited.policies(recording), inherited.nice_values(recording)
    values = f"nice value {' or '.join(nice)}" if nice else ""
    return ", ".join(filter(None, (" or ".join(policies), values)))


def _preloaded(recording: Recording) -> str:
    return ", ".join(f"{names} ({by})" for by, names in inherited.preloaded(recording).items())


#: Facts in the order of the table.
_FACTS: tuple[tuple[str, Callable[[Recording], str]], ...] = (
    ("CPU", _stated("machine.cpu")),
    ("virtual machine", _virtual),
    ("CPUs", _cpus),
    ("OS kernel", _stated("os")),
    ("C library", _stated("libc")),
    ("filter of system calls", _stated("seccomp")),
    ("CPU quota", _stated("cpu.quota")),
    ("scheduling", _scheduling),
    ("preloaded libraries", _preloaded),
    ("compiler", _stated("compiler", "compiler.version")),
    ("optimisation", _stated("flags")),
    ("clock", _clock),
    ("clock of the OS", _stated("machine.clock_source")),
    ("pinning", _pinning),
    ("Ticklab", _stated("ticklab")),
)


def _core_clock(recordings: Sequence[Recording]) -> str:
    """The lowest and the highest speed of all runs; '' if no run knows it."""
    speeds = [known for each in recordings if (known := core_clock.speeds_ghz(each))]
    if not speeds:
        return ""
    low, high = min(low for low, _ in speeds), max(high for _, high in speeds)
    ends = dict.fromkeys((f"{low:.2f}", f"{high:.2f}"))
    return f"{' to '.join(ends)} GHz, measured in each run"


def _when(recordings: Sequence[Recording]) -> str:
    times = sorted(filter(None, (each.conditions.get("created", "") for each in recordings)))
    ends = dict.fromkeys(text[:16].replace("T", " ") for text in (times[:1] + times[-1:]))
    return f"{' to '.join(ends)} (UTC)" if ends else ""
