"""Figures of switches from a machine that can bind no task to a CPU (macOS; a filter of calls).

Two tasks may have a CPU each there, and a hand-over between them is then the wake-up of a CPU.
Which of the two was measured nobody can say, so a figure is graded as what such a machine can show:
a hand-over wherever the OS put the tasks. The verdict says that it is no more.

Only a recording says that its machine is one of these, and no other recording of the same machine
may speak against it. Nobody gains by it: the runs are the same, and so is the work.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import TypeVar

from grader.cases.case import Case
from labs.recording import places, proof
from labs.recording.file import Recording

KEY = "cpu.pinning"

#: What was measured where nothing can be pinned.
IN_ITS_PLACE = (
    "what was measured are hand-overs wherever the OS put the tasks, and not surely switches on "
    "one CPU; such a machine can show no more"
)

#: In place of what is said of the cost of a switch.
PRAISE = "You measured what this machine can show, and it says what it is."
LOOK_NEXT = (
    "Make the same run where tasks can be bound to a CPU, such as a Linux virtual machine: what is "
    "left of your figure?"
)

Other = TypeVar("Other")


def is_honest(recording: Recording) -> bool:
    """Whether the machine of a recording can bind no task: a C kernel that was built to do without
    pinning shows nothing of the machine."""
    return recording.conditions.get(KEY, "").startswith("none:") and bool(
        places.why_unbound(recording)
    )


def caveat(case: Case) -> str:
    """What a figure from such a machine is, in one sentence; '' where it is what was asked for."""
    for each in case.others or (case,):
        switching = any(proof.claim_of(each.recording, name) for name in each.spec.variants)
        if switching and is_honest(each.recording):
            why = places.why_unbound(each.recording)
            return f"No task can be bound to a CPU there ({why}): {IN_ITS_PLACE}."
    return ""


def without_contradicted(
    recordings: Mapping[str, Recording | Other],
) -> dict[str, Recording | Other]:
    """The same recordings; where one of a machine shows that it can pin, the others of this machine
    no longer say that it cannot."""
    usable = [each for each in recordings.values() if isinstance(each, Recording)]
    can_pin = {_machine(each) for each in usable if KEY not in each.conditions}
    return {
        name: _without_claim(each)
        if isinstance(each, Recording) and KEY in each.conditions and _machine(each) in can_pin
        else each
        for name, each in recordings.items()
    }


def _machine(recording: Recording) -> tuple[str, ...]:
    return (*recording.condition("os")[:1], *recording.condition("machine.cpu")[:1])


def _without_claim(recording: Recording) -> Recording:
    left = {key: value for key, value in recording.conditions.items() if key != KEY}
    changed = replace(recording, conditions=MappingProxyType(left))
    changed.__dict__["rows"] = recording.rows  # as they stand in the file: the hash is of these
    return changed
