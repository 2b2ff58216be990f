"""Facts that a recording must show before a figure is praised for them, by name.

Where a recording says nothing, a pitfall is silent: that is no reason to praise. A system
that does not let a process watch its child states fewer counts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from grader.evidence import c_calls, memory_use, observed, task_counts, traps
from grader.figures.case import Case
from grader.figures.spec import Praise, Quantity
from labs.analysis.confidence import side
from labs.c_kernels.toolchain import optimisation_level
from labs.recording import run_conditions
from labs.recording.file import Recording
from labs.units import canonical

#: Interleaved variants each have at least this share of their samples in either half of a process.
SHARE_OF_HALF = 0.25

#: The praise of a figure whose recording shows none of its facts.
FOLLOWS = Praise("Your figure follows from your recording.", by=("figure-not-from-recording",))
FOLLOWS_FROM_FIGURES = Praise(
    "This follows from your other figures.", by=("figure-not-from-recording",)
)
BORNE_OUT = Praise("Your data support your conclusion.", by=("conclusion-against-table",))


def praise_of(case: Case) -> Praise:
    """The first praise of the figure whose facts the recording shows."""
    plain = BORNE_OUT if case.spec.quantity is Quantity.CHOICE else FOLLOWS
    return next((each for each in case.spec.praises if shown(each, case)), plain)


def shown(praise: Praise, case: Case) -> bool:
    """Whether the recording shows all facts that this praise names."""
    return all(FACTS[name](case) for name in praise.by if name in FACTS)


# ------------------------------------------------------------------------------- the samples


def interleaved(case: Case) -> bool:
    """Whether the variants of the figure were measured in turns, in each process."""
    recording = case.recording
    wanted = [recording.variants.index(name) for name in case.spec.variants]
    for rows in _by_process(recording):
        variant, half = recording.variant_index[rows], len(rows) // 2
        for index in wanted:
            every = int((variant == index).sum())
            later = int((variant[half:] == index).sum())
            if not 0 < SHARE_OF_HALF * every <= later <= (1 - SHARE_OF_HALF) * every:
                return False
    return len(wanted) > 1


def no_sample_missing(case: Case) -> bool:
    """Whether the samples of each process are numbered from 0 on, without a gap."""
    recording = case.recording
    return all(
        np.array_equal(recording.sample[rows], np.arange(len(rows)))
        for rows in _by_process(recording)
    )


def _by_process(recording: Recording) -> list[NDArray[np.int64]]:
    """The rows of each process, in the order in which they were taken."""
    rows = np.lexsort((recording.sample, recording.process))
    return np.split(rows, np.flatnonzero(np.diff(recording.process[rows])) + 1)


def on_the_step(case: Case) -> bool:
    """Whether all samples are multiples of the handed-in step, and of no larger one."""
    samples = case.recording.samples(case.spec.variant)
    return observed.step_of(samples.ticks) == samples.clock.step


def baseline_subtracted(case: Case) -> bool:
    """Whether a baseline is subtracted from each variant of the figure."""
    nets = [case.results[name].net for name in case.spec.variants]
    return bool(nets) and all(net is not None and net.baseline is not None for net in nets)


def cost_left(case: Case) -> bool:
    """Whether more than nothing is left of each variant after the subtraction."""
    nets = [case.results[name].net for name in case.spec.variants]
    return bool(nets) and all(net is not None and net.net.low > 0 for net in nets)


def use_measured(case: Case) -> bool:
    """Whether the recording says what the use of each working set costs one task alone."""
    return all(memory_use.cost_of_reading(case, name) is not None for name in case.spec.variants)


def costs_more_than_refused(case: Case) -> bool:
    """Whether the call costs more than one that the OS kernel refuses, in the same recording."""
    refused = case.results.get(f"{case.spec.variant}-refused")
    if refused is None or refused.estimate is None or case.result.estimate is None:
        return False
    return side(case.result.estimate, refused.estimate) > 0


def floor_in_run(case: Case) -> bool:
    """Whether the recording gives the floor of every trap as well."""
    floor = case.results.get("invalid")
    return floor is not None and floor.estimate is not None


def calls_comparable(case: Case) -> bool:
    """Whether the recording claims system calls, and says how many core cycles they take."""
    claiming = [result for _, result, _ in traps.claiming(case)]
    return bool(claiming) and all(each.net and each.clock.core_cycle_ticks for each in claiming)


def less_than_half(case: Case) -> bool:
    """Whether less than half of an unprepared first call is left."""
    own, other = case.result.estimate, case.results.get("unprepared")
    if own is None or other is None or other.estimate is None:
        return False
    return side(own, other.estimate, 0.5) < 0


def in_core_cycles(case: Case) -> bool:
    """Whether the figure was handed in in core cycles, and not in another unit of time."""
    return canonical(case.figure.unit.strip()) == "cycles"


# ------------------------------------------------------------------------- what the OS counted


def faults_counted(case: Case) -> bool:
    """Whether the OS counted the page faults of the measuring task."""
    return case.recording.total("task.main.minor_faults") is not None


def switches_counted(case: Case) -> bool:
    """Whether the OS counted about as many switches as are claimed, and nothing is odd in them."""
    counts = [task_counts.counted(case.recording, name) for name in case.spec.variants]
    odd = task_counts.code_of(case)
    return (
        bool(counts)
        and odd is None
        and all(
            each is not None and each.counted >= (1 - task_counts.SHARE) * each.claimed
            for each in counts
        )
    )


def on_one_cpu(case: Case) -> bool:
    """Whether the tasks were bound to one CPU, in each process."""
    of_variants = [run_conditions.places_of(case.recording, name) for name in case.spec.variants]
    return bool(of_variants) and all(
        found and all(each.bound_together for each in found) for found in of_variants
    )


def no_child_counted(case: Case) -> bool:
    """Whether the OS counted for child processes, and found none among the tasks."""
    account = next(task_counts.accounts(case), None)
    if account is None or account.children_switches is None:
        return False
    return max(account.children_faults, account.children_switches) < account.created / 2


def children_waited_for(case: Case) -> bool:
    """Whether the OS charged the parent for its children, as it does once they were waited for."""
    account = next(task_counts.accounts(case), None)
    if account is None:
        return False
    return max(account.children_faults, account.children_switches or 0) >= account.created / 2


def memory_held(case: Case) -> bool:
    """Whether the OS says how much memory the process held."""
    return bool(case.recording.numbers("memory.resident_kb"))


def level_stated(case: Case) -> bool:
    """Whether the recording states the optimisation level that was asked for."""
    stated = case.recording.conditions.get("flags")
    return stated is not None and optimisation_level(stated) == optimisation_level(case.spec.flags)


# ------------------------------------------------------- what the run saw a student's own C do


def one_chain_seen(case: Case) -> bool:
    """Whether the run saw all additions of a sample in one chain."""
    return observed.seen(case, "chains") == 1 and bool(observed.seen(case, "additions"))


def page_seen(case: Case) -> bool:
    """Whether the run saw the C touch the page that it was given."""
    return bool(observed.seen(case, "page"))


def call_seen(case: Case) -> bool:
    """Whether the run saw one call of a procedure for each operation."""
    operations = observed.seen(case, "operations")
    return bool(operations) and observed.seen(case, "calls") == operations


def reads_seen(case: Case) -> bool:
    """Whether the OS kernel got a read of 0 bytes for each operation, and refused none."""
    operations = observed.seen(case, "operations")
    seen = observed.seen(case, "empty_reads")
    return bool(operations) and seen == operations and observed.seen(case, "failed") == 0


def no_call_refused(case: Case) -> bool:
    """Whether the run saw the OS kernel refuse no call of the C, if it could watch it."""
    return not observed.seen(case, "failed")


def failure_noticed(case: Case) -> bool:
    """Whether the run saw the function return 0 when the OS kernel refused its call."""
    return observed.seen(case, "failure_noticed") == 1


def made_by_hand(case: Case) -> bool:
    """Whether the C enters the OS kernel by itself, and only so, for the call asked for by name."""
    code = traps.measured(case)
    return (
        code is not None
        and case.spec.variant in traps.ASKED
        and traps.made_by_hand(case, code)
        and c_calls.called(code, ("syscall",)) is None
    )


def raised_by_task(case: Case) -> bool:
    """Whether each created task raised the number, in the memory of its parent."""
    trial = task_counts.trial_of(case.recording, case.spec.variant)
    if trial is None or not trial.once_each:
        return False
    return min(trial.by_task, trial.shares) >= trial.tried


def parent_awake(case: Case) -> bool:
    """Whether the parent never slept until its task had ended."""
    trial = task_counts.trial_of(case.recording, case.spec.variant)
    return trial is not None and trial.asleep == 0


def sleeps_until_woken(case: Case) -> bool:
    """Whether the thread that waits went to sleep at once, and never went on unwoken."""
    seen = task_counts.sleeps(case.recording, case.spec.variant)
    if not seen.tried or seen.asleep is None:
        return False
    if task_counts.rounds_awake(case.recording, case.spec.variant) is not None:
        return False
    return not seen.unwoken and not seen.hardly_asleep


def every_line_used(case: Case) -> bool:
    """Whether the run saw the C use each cache line that the run changed."""
    found = memory_use.lines_used(case.recording, case.spec.variant)
    return found is not None and found.used == found.tried


def nearly_every_line_used(case: Case) -> bool:
    """The same, but for a few lines that change nothing in the cost."""
    found = memory_use.lines_used(case.recording, case.spec.variant)
    return found is not None and not found.in_part


_EVERY = (
    interleaved, no_sample_missing, on_the_step, baseline_subtracted, cost_left, use_measured,
    costs_more_than_refused, floor_in_run, in_core_cycles, calls_comparable, less_than_half,
    faults_counted, memory_use.one_fault_a_page, memory_use.no_fault_left, switches_counted,
    on_one_cpu, no_child_counted, children_waited_for, memory_held, level_stated, one_chain_seen,
    page_seen, call_seen, reads_seen, no_call_refused, failure_noticed, made_by_hand,
    raised_by_task, parent_awake, sleeps_until_woken, every_line_used, nearly_every_line_used,
    *memory_use.LADDER_FACTS,
)  # fmt: skip
FACTS: Mapping[str, Callable[[Case], bool]] = {
    fact.__name__.replace("_", " "): fact for fact in _EVERY
}
