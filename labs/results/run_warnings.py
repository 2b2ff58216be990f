"""What the kit says of a run by itself, before anybody grades: symptom, likely cause, what to try.

What the line says stands in labs.results.line_warnings; here is what the conditions of the run say.
"""

from __future__ import annotations

from labs.analysis import core_clock
from labs.analysis.estimate import Estimate
from labs.analysis.line import Line
from labs.common.advice import Option, advice
from labs.common.units import rounded, times
from labs.recording import places, proof
from labs.recording.file import Recording
from labs.recording.load import busy_cpus, stolen
from labs.results.line_warnings import RunWarning, of_line

__all__ = ["RunWarning", "of_recording", "of_run"]

#: A run is said to be disturbed from these shares on.
FEWEST_PER_BATCH = 30
SPEED_CHANGE = 0.02


def of_run(
    recording: Recording, line: Line, figure: Estimate | None = None
) -> tuple[RunWarning, ...]:
    """Every warning that this run deserves, the gravest first.

    `figure` is what was taken from `line`; None: its intercept or slope itself.
    """
    return (*of_line(recording, line, figure), *of_recording(recording, line.variant))


def _of_switches(recording: Recording, variant: str) -> list[RunWarning]:
    """Switches that `variant` claims and that did not happen, or happened and are not claimed."""
    seen = proof.of_variant(recording, variant)
    if seen is None or seen.accounted_for:
        return []
    claimed, counted = seen.claimed, seen.counted
    if places.why_unbound(recording) and counted > claimed / 2:
        return []  # with a CPU each, tasks meet at a lock, and sleep more often or less
    claiming = [name for name in recording.variants if proof.claim_of(recording, name)]
    of = f" for {variant}" if len(claiming) > 1 and proof.has_own_count(recording, variant) else ""
    few = counted < claimed
    return [
        RunWarning(
            "switches-unaccounted",
            f"{claimed:,} switches are claimed{of}, and the OS counted {counted:,}",
            "the other task did not have to run: a lock without hand-over, or a CPU of its own"
            if few
            else "each exchange takes more switches than it seems: a task is woken, blocks on a "
            "lock that is still held, and is switched again",
            "both tasks on one CPU, with a turn that is really handed over"
            if few
            else "signalling after the lock is given back",
        )
    ]


def _of_placement(recording: Recording, variant: str) -> list[RunWarning]:
    """That `variant` was not where it was pinned, or moved.

    Where the CPUs of its own intervals are told, they decide: another variant of the run may stand
    elsewhere or be free to move, and where the run went is then not where this one was.
    """
    asked = [cpu for cpu in recording.condition("cpu.asked") if cpu != "none"]
    if own := places.of_variant(recording, variant):
        # A pair that the C kernel puts on each CPU in turn, together, did not move by chance.
        mine = [each.mine for each in own if len(each.mine) == 1 or not each.bound_together]
        most = max(mine, key=len, default=frozenset[int]())
        away = frozenset(cpu for cpus in mine for cpu in cpus if str(cpu) not in asked)
        astray = f"{variant} was seen on CPU {places.in_words(away)}" if away else ""
        moved = f"{variant} was seen on CPU {places.in_words(most)}" if len(most) > 1 else ""
    else:
        elsewhere = set(recording.condition("cpu.after")) - set(asked)
        astray = "it ended on another" if elsewhere else ""
        moves = recording.total("task.main.migrations") or 0
        of_all = ", all its variants together" if len(recording.variants) > 1 else ""
        moved = f"moved between CPUs {times(moves)} during the run{of_all}" if moves > 0 else ""
    if asked and astray:
        return [
            RunWarning(
                "affinity-not-obtained",
                f"pinned to CPU {asked[0]}, and {astray}",
                "something outside moved it",
                "another CPU of this machine (`labs doctor` names them)",
            )
        ]
    if moved:
        cannot = _cannot_bind(recording)
        return [
            RunWarning(
                "migrations",
                moved,
                cannot or "it was not pinned",
                advice("more processes, each of which starts anew (", Option("processes", 20), ")")
                if cannot
                else advice(Option("cpu", ...), " with one of the CPUs that `labs doctor` names"),
            )
        ]
    return []


def _cannot_bind(recording: Recording) -> str:
    """That its machine cannot pin, and why; '' where it can, or need not."""
    why = places.why_unbound(recording)
    return f"no task can be bound to a CPU here ({why})" if why else ""


def _of_unbound(recording: Recording, variant: str) -> list[RunWarning]:
    """What is to be said of the switches of `variant` on a machine that cannot pin."""
    if not proof.claim_of(recording, variant) or not _cannot_bind(recording):
        return []
    return [
        RunWarning(
            "not-bound",
            "its tasks were wherever the OS put them: each hand-over was a switch on one CPU, or "
            "the wake-up of another CPU",
            _cannot_bind(recording),
            "the same on a machine that can pin; of this one, say so in the report",
        )
    ]


def _of_clock_speed(recording: Recording) -> list[RunWarning]:
    """A warning if the clock of the core changed during the run."""
    speeds = core_clock.speeds_ghz(recording)
    if not speeds or speeds[1] <= (1 + SPEED_CHANGE) * speeds[0]:
        return []
    low, high = map(rounded, speeds)
    return [
        RunWarning(
            "clock-speed",
            f"the core's clock changed during the run, from {low} to {high} GHz",
            "turbo or power saving; a time is that of these speeds, and another at others",
            advice(
                "the unit core cycles (",
                Option("unit", "cycles"),
                "), which does not depend on it",
            ),
        )
    ]


def of_recording(recording: Recording, variant: str) -> tuple[RunWarning, ...]:
    """Warnings that the conditions alone give: placement, disturbance, number of samples.

    Switches and CPUs are those of `variant`, where they were counted for it alone.
    """
    found = _of_unbound(recording, variant) or _of_placement(recording, variant)
    found += _of_clock_speed(recording)
    found += _of_switches(recording, variant)
    if len(recording.processes) == 1:
        found.append(
            RunWarning(
                "one-process",
                "all samples come from one process",
                "layout in memory differs between processes, and one process cannot show it",
                advice(Option("processes", 10)),
            )
        )
    cells = max(len(set(recording.batch.tolist())) * len(recording.variants), 1)
    steady = int((recording.sample >= 0).sum())
    if steady / cells < FEWEST_PER_BATCH:
        found.append(
            RunWarning(
                "few-samples",
                f"{steady} samples over {cells} batch sizes",
                "an interval from so few is itself uncertain",
                advice(Option("samples", FEWEST_PER_BATCH * cells * 10)),
            )
        )
    steal = stolen(recording)
    if steal:
        found.append(
            RunWarning(
                "steal",
                f"the hypervisor took {rounded(100 * steal, 2)} % of the CPU time during the run",
                "other virtual machines share this computer",
                "the run again later; more processes spread it over time",
            )
        )
    busy = busy_cpus(recording)
    if busy:
        found.append(
            RunWarning(
                "busy-machine",
                f"{rounded(busy, 2)} of {recording.number('cpus.online'):.0f} CPUs were busy "
                "during the run",
                "other programs were running",
                "closing them, and the run again",
            )
        )
    return tuple(found)
