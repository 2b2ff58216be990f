"""Warnings that a run gives before anybody grades it: symptom, likely cause, what to try.

This module takes them from the conditions of the run; labs.results.line_warnings, from its line.
"""

from __future__ import annotations

from labs.analysis import core_clock
from labs.analysis.estimate import Estimate
from labs.analysis.line import Line
from labs.common.advice import Option, Words, advice
from labs.common.units import rounded, times
from labs.recording import declared, places, proof, traced
from labs.recording.distinct import distinct
from labs.recording.file import Recording
from labs.recording.load import busy_cpus, stolen
from labs.recording.memo import memoized
from labs.results.line_warnings import of_line
from labs.results.more_processes import more_processes
from labs.results.warning import RunWarning

__all__ = ["RunWarning", "of_recording", "of_run"]

#: Fewer samples per batch size give a warning, and so does a larger change of the core's clock.
FEWEST_PER_BATCH = 30
SPEED_CHANGE = 0.02
#: Up to this change of the core's clock a time is still worth handing in.
MUCH_SPEED_CHANGE = 0.10
#: Who can tell which CPUs there are, for the middle of a sentence.
_DOCTOR = Words("labs doctor", "!labs doctor in a cell")


def of_run(
    recording: Recording, line: Line, figure: Estimate | None = None
) -> tuple[RunWarning, ...]:
    """All warnings of this run, the most serious first.

    `figure` is the estimate made from `line`; None means its intercept or slope itself.
    """
    return (*of_line(recording, line, figure), *of_recording(recording, line.variant))


def _of_switches(recording: Recording, variant: str) -> list[RunWarning]:
    """A warning if the switches that `variant` claims are more or fewer than the OS counted."""
    seen = proof.of_variant(recording, variant)
    if seen is None or seen.accounted_for:
        return []
    claimed, counted = seen.claimed, seen.counted
    if places.why_unbound(recording) and counted > claimed / 2:
        return []  # tasks with a CPU each may sleep at a lock more or less often
    claiming = [name for name in recording.variants if proof.claim_of(recording, name)]
    of = f" for {variant}" if len(claiming) > 1 and proof.has_own_count(recording, variant) else ""
    few = counted < claimed
    where = places.of_variant(recording, variant)
    together = bool(where) and all(each.bound_together for each in where)
    return [
        RunWarning(
            "switches-unaccounted",
            f"{claimed:,} switches are claimed{of}, and the OS counted {counted:,}",
            "the other task did not have to run: the exchange makes no handoff"
            + ("" if together else ", or the task had its own CPU")
            if few
            else "each exchange takes more switches than it seems: a task wakes up before it has "
            "its turn, or blocks on a lock that the other task still holds, and switches again",
            (
                "make each task wait for the other"
                if together
                else "put both tasks on one CPU, and make each wait for the other"
            )
            if few
            else "signal after you release the lock, and wait without a time-out",
        )
    ]


def _of_placement(recording: Recording, variant: str) -> list[RunWarning]:
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
        astray = f"{variant} was seen on CPU {places.as_text(away)}" if away else ""
        moved = f"{variant} was seen on CPU {places.as_text(most)}" if len(most) > 1 else ""
    else:
        elsewhere = set(recording.condition("cpu.after")) - set(asked)
        astray = "it ended on another CPU" if elsewhere else ""
        moves = recording.total("task.main.migrations") or 0
        of_all = " (all variants together)" if len(recording.variants) > 1 else ""
        moved = (
            f"the task moved between CPUs {times(moves)} during the run{of_all}"
            if moves > 0 and not (of_all and _pins_to_two_cpus(recording, variant))
            else ""
        )
    if asked and astray:
        return [
            RunWarning(
                "affinity-not-obtained",
                f"the task was pinned to CPU {asked[0]}, but {astray}",
                "another program moved it",
                advice("choose another CPU (", Option("cpu", ...), "); ", _DOCTOR, " names them"),
            )
        ]
    if moved:
        cannot = _cannot_bind(recording)
        return [
            RunWarning(
                "migrations",
                moved,
                cannot or "the task was not pinned",
                advice(
                    *(
                        more_processes(
                            "use more processes, because each may start on another CPU",
                            20,
                            len(recording.processes),
                        )
                        or ("measure where a program may choose its CPU",)
                    )
                )
                if cannot
                else advice("use ", Option("cpu", ...), "; ", _DOCTOR, " names the CPUs"),
                quiet=_is_rare_move(recording, variant),
                brief=moved,
            )
        ]
    return []


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


def _of_unbound(recording: Recording, variant: str) -> list[RunWarning]:
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
            "turbo or power saving; a time in ns depends on the clock speed",
            advice(
                "use the unit core cycles (",
                Option("unit", "cycles"),
                "), which does not depend on it",
            ),
            quiet=speeds[1] <= (1 + MUCH_SPEED_CHANGE) * speeds[0],
        )
    ]


def _of_tracer(recording: Recording) -> list[RunWarning]:
    """A warning if a tracer followed the run."""
    tracer = traced.tracer_of(recording)
    if not tracer:
        return []
    return [
        RunWarning(
            "traced",
            f"{tracer} followed the run",
            "a tracer stops the program at each system call, and these stops are in the samples",
            "measure without it; count the calls in a run of its own",
        )
    ]


def _of_one_process(recording: Recording, steady: int) -> list[RunWarning]:
    """A warning if all `steady` samples come from one process; if it has one sample, about that."""
    if len(recording.processes) != 1:
        return []
    if steady == len(recording.variants):
        return [
            RunWarning(
                "one-process",
                "there is only one sample, so there is only one process",
                "each process takes one sample of a variant or more",
                advice(Option("samples", 10_000), " and ", Option("processes", 10)),
            )
        ]
    return [
        RunWarning(
            "one-process",
            "all samples come from one process",
            "the layout in memory differs between processes, and one process cannot show this",
            advice(Option("processes", 10)),
        )
    ]


@memoized
def of_recording(recording: Recording, variant: str) -> tuple[RunWarning, ...]:
    """Warnings from the conditions alone: placement, disturbance, number of samples.

    Switches and CPUs are those of `variant`, if the C kernel counted them for it alone.
    """
    found = _of_tracer(recording)
    found += _of_unbound(recording, variant) or _of_placement(recording, variant)
    found += _of_clock_speed(recording)
    found += _of_switches(recording, variant)
    sizes, variants = max(len(distinct(recording.batch)), 1), max(len(recording.variants), 1)
    steady = int((recording.sample >= 0).sum())
    found += _of_one_process(recording, steady)
    if steady / (sizes * variants) < FEWEST_PER_BATCH:
        found.append(
            RunWarning(
                "few-samples",
                f"{steady} sample{'s' * (steady != 1)} over "
                + f"{variants} variants with " * (variants != 1)
                + f"{sizes} batch size{'s' * (sizes != 1)}"
                + " each" * (variants != 1),
                "an interval from so few samples is itself uncertain",
                advice(Option("samples", FEWEST_PER_BATCH * sizes * 10)),
            )
        )
    steal = stolen(recording)
    if steal:
        found.append(
            RunWarning(
                "steal",
                f"the hypervisor took {rounded(100 * steal, 2)} % of the CPU time during the run",
                "other virtual machines share this computer",
                "measure again later, or use more processes, which spread the run over time",
                quiet=True,
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
                "close them and measure again",
                quiet=True,
            )
        )
    return tuple(found)
