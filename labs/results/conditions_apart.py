"""The conditions that differ between two separate runs, as sentences next to their comparison.

A condition that one of the recordings does not state is not compared: older kits recorded less.
"""

from __future__ import annotations

from collections.abc import Callable

from labs.analysis.kept import core_of
from labs.common.units import plural
from labs.recording import inherited
from labs.recording.file import Recording


def conditions_apart(first: Recording, second: Recording) -> tuple[str, ...]:
    """A sentence for each condition that differs; none for two variants of one run."""
    found = []
    for condition, sentence in _CONDITIONS:
        one, other = condition(first), condition(second)
        if one and other and one != other:
            found.append(sentence(one, other))
    return tuple(found)


def _policy(recording: Recording) -> str:
    return " or ".join(inherited.policies(recording))


def _nice(recording: Recording) -> str:
    return " or ".join(inherited.nice_values(recording))


def _preloaded(recording: Recording) -> str:
    named = " ".join(inherited.preloaded(recording).values())
    return (named or "no library") if inherited.is_stated(recording) else ""


def _quota(recording: Recording) -> str:
    quota = recording.number("cpu.quota")
    if quota is not None:
        return f"a CPU quota of {plural(quota, 'CPU')}"
    return "no CPU quota" if inherited.is_stated(recording) else ""


def _filter(recording: Recording) -> str:
    filtered = inherited.is_filtered(recording)
    if filtered is None:
        return ""
    return (
        "with a filter of system calls (seccomp)"
        if filtered
        else "without a filter of system calls"
    )


def _virtual(recording: Recording) -> str:
    words = {"True": "a virtual machine", "False": "a machine that is not virtual"}
    return words.get(recording.conditions.get("machine.virtual", ""), "")


def _core(recording: Recording) -> str:
    core = core_of(recording)
    if core is None:
        return ""
    return "shared the core all the time" if core.always_shared else "had whole cores"


def _governor(recording: Recording) -> str:
    return recording.conditions.get("machine.governor", "")


_CONDITIONS: tuple[tuple[Callable[[Recording], str], Callable[[str, str], str]], ...] = (
    (
        _policy,
        lambda one, other: f"The first run was scheduled as {one}, and the second as {other}.",
    ),
    (
        _nice,
        lambda one, other: f"The first run had the nice value {one}, and the second {other}.",
    ),
    (
        _preloaded,
        lambda one, other: (
            f"Before the C library, the first run loaded {one}, and the second {other}."
        ),
    ),
    (
        _core,
        lambda one, other: (
            f"The first run {one}, and the second {other}: a whole core would give the value of "
            "a shared core or less."
        ),
    ),
    (_quota, lambda one, other: f"The first run had {one}, and the second {other}."),
    (_filter, lambda one, other: f"The first run was made {one}, and the second {other}."),
    (_virtual, lambda one, other: f"The first run was made on {one}, and the second on {other}."),
    (
        _governor,
        lambda one, other: (
            f"The governor of the clock speed was {one} in the first run, and {other} in the "
            "second."
        ),
    ),
)
