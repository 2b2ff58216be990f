"""Warnings about where a run took place: CPUs that it did not get, and moves between CPUs."""

from __future__ import annotations

from labs.common.advice import Advice, Option, Words, advice
from labs.common.units import times
from labs.recording import declared, places, proof
from labs.recording.file import Recording
from labs.results.warnings.more_processes import more_processes
from labs.results.warnings.warning import RunWarning

#: Who can tell which CPUs there are, for the middle of a sentence.
_DOCTOR = Words("labs doctor", "!labs doctor in a cell")


def of_placement(recording: Recording, variant: str) -> list[RunWarning]:
    """A warning if `variant` was not on the CPU where it was pinned, or if it moved.

    If the recording states the CPUs of the variant's own samples, they decide: another variant of
    the run may be on another CPU or free to move. So moves of all variants together say nothing of
    a variant whose tasks are pinned to a CPU each.
    """
    asked = [cpu for cpu in recording.condition("cpu.asked") if cpu != "none"]
    if own := places.of_variant(recording, variant):
        # A C kernel may put a pair of tasks on each CPU in turn: this is no move by chance.
        mine = [each.mine for each in own if len(each.mine) == 1 or not each.bound_together]
        most = max(mine, key=len, default=frozenset[int]())
        # The processes share few sets; each set may hold all CPUs of a large machine.
        seen = frozenset[int]().union(*set(mine))
        away = frozenset(cpu for cpu in seen if str(cpu) not in asked)
        astray = (
            f"the task was pinned to CPU {asked[0]}, but {variant} was seen on CPU "
            f"{places.as_text(away)}"
            if asked and away
            else ""
        )
        moved = f"{variant} was seen on CPU {places.as_text(most)}" if len(most) > 1 else ""
    else:
        elsewhere = set(recording.condition("cpu.after")) - set(asked)
        astray = (
            f"the task was pinned to CPU {asked[0]}, but it ended on another CPU"
            if asked and elsewhere
            else ""
        )
        moved = _moves_of_all(recording, variant)
    if astray:
        return [
            RunWarning(
                "affinity-not-obtained",
                astray,
                "another program moved it",
                advice(
                    "choose another CPU ({cpu}); {doctor} names them",
                    cpu=Option("cpu", ...),
                    doctor=_DOCTOR,
                ),
            )
        ]
    if not moved:
        return []
    cannot = _cannot_bind(recording)
    return [
        RunWarning(
            "migrations",
            moved,
            cannot or "the task was not pinned",
            _where_nothing_is_pinned(recording)
            if cannot
            else advice(
                "use {cpu}; {doctor} names the CPUs", cpu=Option("cpu", ...), doctor=_DOCTOR
            ),
            quiet=_is_rare_move(recording, variant),
            brief=moved,
        )
    ]


def _moves_of_all(recording: Recording, variant: str) -> str:
    """How often the tasks of all variants moved, as a clause; '' if not this one."""
    moves = recording.total("task.main.migrations") or 0
    if moves <= 0:
        return ""
    if len(recording.variants) <= 1:
        return f"the task moved between CPUs {times(moves)} during the run"
    if _pins_to_two_cpus(recording, variant):
        return ""
    return f"the task moved between CPUs {times(moves)} during the run (all variants together)"


def _where_nothing_is_pinned(recording: Recording) -> Advice:
    """What to try against moves on a machine that cannot pin."""
    more = more_processes(20, len(recording.processes))
    if more is None:
        return advice("measure where a program may choose its CPU")
    return advice(
        "use more processes, because each may start on another CPU ({processes})", processes=more
    )


def _pins_to_two_cpus(recording: Recording, variant: str) -> bool:
    """Whether the C kernel pins the tasks of `variant` to a CPU each, and the machine can pin."""
    on_two = declared.placement(recording, variant) is declared.Placement.TWO_CPUS
    return on_two and not _cannot_bind(recording)


def _is_rare_move(recording: Recording, variant: str) -> bool:
    """Whether moves between CPUs hit single samples of one task only.

    The samples that a move hits are set aside. Where two tasks take part, a move changes the
    operation itself: a switch on one CPU becomes the wake-up of another CPU.
    """
    alone = declared.other_tasks(recording, variant) == 0
    moves = recording.total("task.main.migrations") or 0
    return (
        alone
        and not proof.claim_of(recording, variant)
        and not places.of_variant(recording, variant)
        and moves <= len(recording.processes)
    )


def _cannot_bind(recording: Recording) -> str:
    """Why the machine cannot pin, as a clause; '' if it can, or if it has only one CPU."""
    why = places.why_unbound(recording)
    return f"this machine cannot bind a task to a CPU ({why})" if why else ""


def of_unbound(recording: Recording, variant: str) -> list[RunWarning]:
    """A warning about the switches of `variant` on a machine that cannot pin."""
    if not proof.claim_of(recording, variant) or not _cannot_bind(recording):
        return []
    return [
        RunWarning(
            "not-bound",
            "the OS chose the CPUs of the tasks: each handoff was either a switch on one CPU or "
            "the wake-up of another CPU",
            _cannot_bind(recording),
            "measure on a machine that can pin, or state in your report that this one cannot",
        )
    ]
