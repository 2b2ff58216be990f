"""All warnings of a run, before anybody grades it: symptom, likely cause, what to try.

Those of its line are in line_warnings. The others come from the conditions of the run: the samples
and processes that it has, the CPUs where it ran, what it inherited, and how it ended.
"""

from __future__ import annotations

import math
from dataclasses import replace

from labs import limits
from labs.analysis import core_clock
from labs.analysis.estimates import Estimate
from labs.analysis.line import Line
from labs.messages import Advice, Option, Words, advice
from labs.recording import declared, proof, run_conditions
from labs.recording.cut_short import (
    CANCELLED,
    COMPUTES,
    FULL,
    PATIENCE,
    TIME_IS_UP,
    WAITS,
    CutShort,
    cut_short,
    not_narrow,
)
from labs.recording.file import Recording, memoized
from labs.recording.rows import distinct
from labs.recording.run_conditions import busy_cpus, stolen
from labs.results.line_warnings import RunWarning, more_processes, of_line
from labs.units import rounded, times

__all__ = ["RunWarning", "of_recording", "of_run"]

#: Fewer samples per batch size give a warning, and so does a larger change of the core's clock.
FEWEST_PER_BATCH = 30
SPEED_CHANGE = 0.02
#: Up to this change of the core's clock a time is still worth handing in.
MUCH_SPEED_CHANGE = 0.10

#: About a baseline in which the operation of a student's own question happens.
BASELINE_TOO = "baseline-does-it-too"
_BASELINE_TOO = "the baseline does what you ask about, and it is subtracted"
_ONLY_AROUND = "leave only what surrounds the operation in the baseline"


def of_run(
    recording: Recording, line: Line, figure: Estimate | None = None
) -> tuple[RunWarning, ...]:
    """All warnings of this run, the most serious first.

    `figure` is the estimate made from `line`; None means its intercept or slope itself.
    """
    conditions = of_recording(recording, line.variant)
    found = of_line(recording, line, figure)
    if any(each.code == BASELINE_TOO for each in conditions):
        # What is subtracted from itself leaves nothing, however long the run is.
        found = tuple(
            replace(each, likely_cause=_BASELINE_TOO, advice=_ONLY_AROUND)
            if each.code in ("not-believable", "wide-interval", "negative")
            else each
            for each in found
        )
    return (*found, *conditions)


def _of_counts(recording: Recording, variant: str) -> list[RunWarning]:
    """A warning if a student's own count found operations in baselines, or where none was made."""
    idle, of_baseline, tried = (
        recording.total(f"variant.{variant}.{name}")
        for name in ("counted_idle", "counted_of_baseline", "tried")
    )
    if idle:
        return [
            RunWarning(
                "counts-nothing",
                f"where nothing was done, your function counted {idle:,} operations",
                "it returns something else than what happened since its last call",
                "let it return only what is new",
            )
        ]
    if not of_baseline or tried is None:
        return []
    return [
        RunWarning(
            BASELINE_TOO,
            f"in {tried:,} baselines, your function counted {of_baseline:,} operations",
            _BASELINE_TOO,
            _ONLY_AROUND,
        )
    ]


def _of_switches(recording: Recording, variant: str) -> list[RunWarning]:
    """A warning if the switches that `variant` claims are more or fewer than the OS counted."""
    seen = proof.of_variant(recording, variant)
    if seen is None or seen.accounted_for:
        return []
    claimed, counted = seen.claimed, seen.counted
    if run_conditions.why_unbound(recording) and counted > claimed / 2:
        return []  # tasks with a CPU each may sleep at a lock more or less often
    claiming = [name for name in recording.variants if proof.claim_of(recording, name)]
    symptom = f"{claimed:,} switches are claimed, and the OS counted {counted:,}"
    if len(claiming) > 1 and proof.has_own_count(recording, variant):
        symptom = f"{claimed:,} switches are claimed for {variant}, and the OS counted {counted:,}"
    if counted >= claimed:
        return [
            RunWarning(
                "switches-unaccounted",
                symptom,
                "each exchange takes more switches than it seems: a task wakes up before it has "
                "its turn, or blocks on a lock that the other task still holds, and switches again",
                "signal after you release the lock, and wait without a time-out",
            )
        ]
    where = run_conditions.places_of(recording, variant)
    together = bool(where) and all(each.bound_together for each in where)
    return [
        RunWarning(
            "switches-unaccounted",
            symptom,
            "the other task did not have to run: the exchange makes no handoff"
            if together
            else "the other task did not have to run: the exchange makes no handoff, or the task "
            "had its own CPU",
            "make each task wait for the other"
            if together
            else "put both tasks on one CPU, and make each wait for the other",
        )
    ]


def _of_clock_speed(recording: Recording, variant: str) -> list[RunWarning]:
    """A warning if the clock of the core changed during the run.

    Memory does not follow this clock, so core cycles are no way out for an operation on it.
    """
    speeds = core_clock.speeds_ghz(recording)
    if not speeds or speeds[1] <= (1 + SPEED_CHANGE) * speeds[0]:
        return []
    low, high = map(rounded, speeds)
    if declared.of_variant(recording, variant).memory:
        return [
            RunWarning(
                "clock-speed",
                f"the core's clock changed during the run, from {low} to {high} GHz",
                "turbo or power saving; this operation also waits for memory, which has a clock of "
                "its own",
                "state both speeds in your report, or measure again when the speed is steady",
                quiet=True,  # there is nothing to do about the figure
            )
        ]
    return [
        RunWarning(
            "clock-speed",
            f"the core's clock changed during the run, from {low} to {high} GHz",
            "turbo or power saving; a time in ns depends on the clock speed",
            advice(
                "use the unit core cycles ({unit}), which does not depend on it",
                unit=Option("unit", "cycles"),
            ),
            quiet=speeds[1] <= (1 + MUCH_SPEED_CHANGE) * speeds[0],
        )
    ]


def _of_tracer(recording: Recording) -> list[RunWarning]:
    """A warning if a tracer followed the run."""
    tracer = run_conditions.tracer_of(recording)
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
                advice(
                    "{option_1} and {option_2}",
                    option_1=Option("samples", 10_000),
                    option_2=Option("processes", 10),
                ),
            )
        ]
    return [
        RunWarning(
            "one-process",
            "all samples come from one process",
            "the layout in memory differs between processes, and one process cannot show this",
            advice("{processes}", processes=Option("processes", 10)),
        )
    ]


def _few_samples(steady: int, sizes: int, variants: int) -> str:
    """How few samples there are."""
    if variants == 1:
        return (
            f"{steady} sample{'s' if steady != 1 else ''} over {sizes} batch "
            f"size{'s' if sizes != 1 else ''}"
        )
    return (
        f"{steady} sample{'s' if steady != 1 else ''} over {variants} variants with {sizes} batch "
        f"size{'s' if sizes != 1 else ''} each"
    )


@memoized
def of_recording(recording: Recording, variant: str) -> tuple[RunWarning, ...]:
    """Warnings from the conditions alone: placement, disturbance, number of samples.

    Switches and CPUs are those of `variant`, if the C kernel counted them for it alone.
    """
    found = _of_tracer(recording) + of_cut_short(recording) + of_inherited(recording, variant)
    found += of_unbound(recording, variant) or of_placement(recording, variant)
    found += _of_clock_speed(recording, variant)
    found += _of_switches(recording, variant)
    found += _of_counts(recording, variant)
    sizes, variants = max(len(distinct(recording.batch)), 1), max(len(recording.variants), 1)
    steady = int((recording.sample >= 0).sum())
    found += _of_one_process(recording, steady)
    if steady / (sizes * variants) < FEWEST_PER_BATCH:
        found.append(
            RunWarning(
                "few-samples",
                _few_samples(steady, sizes, variants),
                "an interval from so few samples is itself uncertain",
                advice("{samples}", samples=Option("samples", FEWEST_PER_BATCH * sizes * 10)),
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


# Warnings about a run that ended too soon: before all of its processes, or before its interval was
# as narrow as asked.

#: The longest `--at-most` in seconds and the widest `--within` in percent that a plan takes.
MOST_AT_MOST_S, WIDEST = 600, 50


def of_cut_short(recording: Recording) -> list[RunWarning]:
    """A warning if the run ended before all of its processes, and why."""
    found = cut_short(recording)
    if found is None:
        return []
    if found.by == PATIENCE:
        return [_of_patience(found)]
    if found.by == CANCELLED:
        return [_of_cancel(found)] if found.whole < found.planned else []
    longer = math.ceil(1.2 * found.needed_s)
    option = Option("time-limit", longer)
    return [
        RunWarning(
            "cut-short",
            f"the time limit of {found.after_s:g} s ended this run after {found.whole} of "
            f"{found.planned} processes",
            "all of them together need more time, or one of them waited without end",
            advice("{time_limit}, or fewer samples or variants at a time", time_limit=option)
            if longer <= limits.MOST_TIME_LIMIT_S
            else "fewer samples, or fewer variants at a time",
        )
    ]


def _of_cancel(found: CutShort) -> RunWarning:
    return RunWarning(
        "cut-short",
        f"the run was cancelled after {found.whole} of {found.planned} processes, and only these "
        "are in it",
        "Cancel, the stop button or Control-C ended it",
        "measure again and let the run end, if the interval is too wide",
    )


def _of_patience(found: CutShort) -> RunWarning:
    """The warning about C that took no sample in one of the processes."""
    symptom = (
        f"a process took no sample for {found.after_s:g} s, and Ticklab ended this run after "
        f"{found.whole} of {found.planned} processes"
        if found.whole < found.planned
        else f"an added process took no sample for {found.after_s:g} s, and Ticklab ended it"
    )
    patience = Option("patience", math.ceil(2 * found.after_s))
    share = found.cpu_share
    if share is not None and share < WAITS:
        return RunWarning(
            "cut-short",
            symptom,
            "that process used no processor time, so it waited for what never came",
            advice(
                "look in the C for a byte that nobody writes, or for a task that waits too or has "
                "ended; if one sample may take so long, {patience}",
                patience=patience,
            ),
        )
    if share is not None and share > COMPUTES:
        return RunWarning(
            "cut-short",
            symptom,
            "that process computed all the time",
            advice(
                "look in the C for a loop that never ends, or for assembly that changes a register "
                "without naming it; if one sample may take so long, {patience}",
                patience=patience,
            ),
        )
    return RunWarning(
        "cut-short",
        symptom,
        "that process computed without end, or waited for what never came",
        advice(
            "look in the C for an endless loop or wait; if one sample may take so long, {patience}",
            patience=patience,
        ),
    )


def of_width(recording: Recording, figure: Estimate) -> list[RunWarning]:
    """A warning if the run stopped before the interval of `figure` was as narrow as asked."""
    found = not_narrow(recording)
    if found is None or not figure.value:
        return []
    share = figure.half_width / abs(figure.value)
    if share <= found.within:
        return []
    reachable = found.reachable if found.reachable is not None else share
    at_best = rounded(100 * reachable, 2)
    causes = {
        TIME_IS_UP: f"the {found.at_most_s:g} s in which it could add processes were over",
        FULL: "a recording can hold no more processes and samples",
        CANCELLED: "the run was cancelled",
    }
    return [
        RunWarning(
            "not-within",
            f"half of the interval's width is {rounded(100 * share, 2)} % of the value, and "
            f"{100 * found.within:g} % was asked for",
            causes.get(
                found.why,
                f"more processes would narrow it to about {at_best} % at best, so the run stopped",
            ),
            "let the run end"
            if found.why == CANCELLED
            else _narrower(recording, share / found.within, found.at_most_s, reachable),
        )
    ]


def _narrower(
    recording: Recording, times: float, at_most_s: float, reachable: float
) -> Advice | str:
    """What to try for an interval that is narrower by a factor of `times`.

    The width falls with the root of the number of processes, and so of the time.
    """
    if len(recording.processes) * min(times, 1e6) ** 2 <= limits.MOST_PROCESSES:
        seconds = math.ceil(at_most_s * times**2 / 10) * 10
        if at_most_s < seconds <= MOST_AT_MOST_S:
            return advice("{at_most}", at_most=Option("at-most", seconds))
    percent = math.ceil(100 * min(reachable, 1.0))
    if percent <= WIDEST:
        return advice("{within}, or more samples in each process", within=Option("within", percent))
    return "more samples in each process, or a machine with less load"


# Warnings about what a run inherited, if it changes the figure and the reader can change it.


def of_inherited(recording: Recording, variant: str) -> list[RunWarning]:
    """Warnings about the scheduling policy, preloaded libraries, and clocks that disagree."""
    return [
        *_of_policy(recording, variant),
        *_of_preloaded(recording),
        *_of_clocks(recording),
    ]


def _of_policy(recording: Recording, variant: str) -> list[RunWarning]:
    """A warning if the OS scheduled the run by another policy than usual.

    It is quiet if `variant` has one task that never waits: its cost does not depend on the policy.
    """
    unusual = [
        each for each in run_conditions.policies(recording) if each != run_conditions.USUAL_POLICY
    ]
    if not unusual:
        return []
    hands_over = proof.claim_of(recording, variant) or declared.other_tasks(recording, variant)
    return [
        RunWarning(
            "scheduled",
            f"this run was scheduled as {unusual[0]}",
            "it inherits this policy from the program that started it, and the policy changes what "
            "a switch costs",
            "start the terminal or JupyterLab without chrt, and measure again",
            quiet=not hands_over,
        )
    ]


def _of_preloaded(recording: Recording) -> list[RunWarning]:
    """A warning if a variable of the environment puts libraries before the C library."""
    by = {k: v for k, v in run_conditions.preloaded(recording).items() if k.startswith("LD_")}
    if not by:
        return []
    variable, libraries = " and ".join(by), " ".join(by.values())
    return [
        RunWarning(
            "preloaded",
            f"a library was loaded before the C library (by {variable}: {libraries})",
            "its functions may take the place of those that the run times",
            f"unset {variable}, and measure again",
        )
    ]


def _of_clocks(recording: Recording) -> list[RunWarning]:
    """A warning about the first clock that disagrees with the OS kernel's.

    The counter's frequency is measured against the OS kernel's clock, so a figure in ns is wrong
    only if that clock is wrong, or if the figure is of the other clock.
    """
    for clock, speed in run_conditions.clocks_off(recording).items():
        times = rounded(speed)
        if clock == run_conditions.COUNTER_CLOCK:
            return [
                RunWarning(
                    "clock-off",
                    f"by the OS kernel's clock, the counter is {times} times as fast as the "
                    "processor states",
                    "the clock of this machine is wrong, or the machine was moved to another "
                    "processor",
                    "measure on another machine, or state core cycles",
                )
            ]
        return [
            RunWarning(
                "clock-off",
                f"the clock {clock} of the C library is {times} times as fast as the OS kernel's",
                "a program such as faketime replaces the clocks that programs read; a figure of "
                "such a clock is wrong",
                "measure without that program",
            )
        ]
    return []


# Warnings about where a run took place: CPUs that it did not get, and moves between CPUs.

#: Who can tell which CPUs there are, for the middle of a sentence.
_DOCTOR = Words("labs doctor", "!labs doctor in a cell")


def of_placement(recording: Recording, variant: str) -> list[RunWarning]:
    """A warning if `variant` was not on the CPU where it was pinned, or if it moved.

    If the recording states the CPUs of the variant's own samples, they decide: another variant of
    the run may be on another CPU or free to move. So moves of all variants together say nothing of
    a variant whose tasks are pinned to a CPU each.
    """
    asked = [cpu for cpu in recording.condition("cpu.asked") if cpu != "none"]
    if own := run_conditions.places_of(recording, variant):
        # A C kernel may put a pair of tasks on each CPU in turn: this is no move by chance.
        mine = [each.mine for each in own if len(each.mine) == 1 or not each.bound_together]
        most = max(mine, key=len, default=frozenset[int]())
        # The processes share few sets; each set may hold all CPUs of a large machine.
        seen = frozenset[int]().union(*set(mine))
        away = frozenset(cpu for cpu in seen if str(cpu) not in asked)
        astray = (
            f"the task was pinned to CPU {asked[0]}, but {variant} was seen on CPU "
            f"{run_conditions.as_text(away)}"
            if asked and away
            else ""
        )
        moved = f"{variant} was seen on CPU {run_conditions.as_text(most)}" if len(most) > 1 else ""
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
        and not run_conditions.places_of(recording, variant)
        and moves <= len(recording.processes)
    )


def _cannot_bind(recording: Recording) -> str:
    """Why the machine cannot pin, as a clause; '' if it can, or if it has only one CPU."""
    why = run_conditions.why_unbound(recording)
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
