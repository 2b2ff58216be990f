"""Figures of switches from a machine that can bind no task to a CPU (macOS; a filter of calls).

On such a machine, two tasks may each have a CPU, and a handoff between them wakes up a CPU. Nobody
can say whether a run measured this or a switch. So the grader judges the figure as what such a
machine can show: a handoff between tasks, wherever the OS put them. The verdict says so.

The grader believes this only if the recording states it, and if no other recording of the same
machine contradicts it. Students gain nothing by it, because the runs and the work are the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import TypeVar

from grader.cases.case import Case
from grader.cases.praise import Praise
from labs.recording import places, proof
from labs.recording.file import Recording

KEY = "cpu.pinning"

#: What a machine without pinning measures.
IN_ITS_PLACE = (
    "the OS chose the CPUs of the tasks, so the run measured handoffs, which need not be switches "
    "on one CPU; such a machine can show no more"
)

#: These texts replace the praise and the advice about the cost of a switch.
PRAISE = Praise(
    "You measured what this machine can show, and your recording states its limits.",
    by=("two-cpus-not-one",),
)
LOOK_NEXT = (
    "Repeat the run on a machine that can bind tasks to a CPU, such as a Linux virtual machine: "
    "how much of your figure is left?"
)

Other = TypeVar("Other")


def is_honest(recording: Recording) -> bool:
    """Whether the machine of a recording can bind no task to a CPU.

    A C kernel that was built without pinning shows nothing about the machine.
    """
    return recording.conditions.get(KEY, "").startswith("none:") and bool(
        places.why_unbound(recording)
    )


def caveat(case: Case) -> str:
    """A sentence on what a figure from such a machine measures; '' for other machines."""
    for each in case.others or (case,):
        switching = any(proof.claim_of(each.recording, name) for name in each.spec.variants)
        if switching and is_honest(each.recording):
            why = places.why_unbound(each.recording)
            return f"That machine cannot bind a task to a CPU ({why}): {IN_ITS_PLACE}."
    return ""


def without_contradicted(
    recordings: Mapping[str, Recording | Other],
) -> dict[str, Recording | Other]:
    """The same recordings without contradicted claims that a machine cannot pin.

    If one recording of a machine shows that it can pin, we remove the claim from its others.
    """
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
    changed.__dict__["rows"] = recording.rows  # byte for byte as in the file, as the hash needs
    return changed
