"""Switches and created tasks: what a C kernel claims, what the OS counted, where the tasks were.

Several mistakes change the same numbers. `code_of` decides which one a recording shows, so that the
grader never reports two of them at once. Counts alone never tell which. If the measured C does not
show it either, the finding says only that claim and count differ.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from grader.evidence import c_calls, c_tree, caveats, observed
from grader.evidence.c_tree import Code
from grader.figures.case import Case
from grader.figures.spec import Quantity
from labs.recording import counts, run_conditions
from labs.recording.counts import Switches
from labs.recording.file import Recording, memoized
from labs.recording.run_conditions import Places

#: How far count and claim may differ without a mistake; a busy machine adds some switches.
SHARE = 0.1
#: How far the count may fall short on a machine that cannot pin: tasks on two CPUs may not sleep.
SHARE_UNBOUND = 0.5
#: An operation that creates or ends a task touches at least this many new pages.
FAULTS_OF_CREATION = 5

#: More switches than claimed, or fewer, and nothing that shows why.
MORE, FEWER = "more-switches-than-claimed", "fewer-switches-than-claimed"

#: A handoff puts at least one of its two tasks to sleep: the task that wakes the other may be
#: preempted by it, and then finds its turn come back before it could sleep.
SHARE_ASLEEP = 0.25


@dataclass(frozen=True)
class Counted(Switches):
    """Claim and count of one variant, with its name."""

    variant: str = ""

    def as_text(self) -> str:
        """Claim and count as a sentence."""
        return (
            f"Your variant {self.variant} claims {self.claimed:,} switches; the OS counted "
            f"{self.counted:,}"
        )


@dataclass(frozen=True)
class Sleeps:
    """How the tasks of one variant gave up the CPU; None where the recording does not say.

    `asleep` of the `counted` switches were those of a task that went to sleep or ended. After the
    samples of a student's own C, the run gave the other thread its turn in `tried` processes and
    woke nobody; in `unwoken` of them that thread went on all the same.
    """

    counted: int | None
    asleep: int | None
    tried: int | None
    unwoken: int | None

    @property
    def goes_on_unwoken(self) -> bool:
        """Whether the thread usually took its turn though nobody had woken it."""
        return bool(self.tried) and 2 * (self.unwoken or 0) > (self.tried or 0)

    @property
    def hardly_asleep(self) -> bool:
        """Whether fewer switches were sleeps than those of any handoff."""
        if not self.counted or self.asleep is None:
            return False
        return self.asleep < SHARE_ASLEEP * self.counted


def sleeps(recording: Recording, variant: str) -> Sleeps:
    """How the tasks of `variant` gave up the CPU."""
    keys = ("counted_switches", "voluntary_switches", "turns_tried", "turns_unwoken")
    return Sleeps(*(recording.total(f"variant.{variant}.{key}") for key in keys))


#: A wait may look at its turn a few times before it sleeps.
MOST_LOOKS = 7


def rounds_awake(recording: Recording, variant: str) -> float | None:
    """How often a wait for a turn that did not come went through a loop before it slept.

    None if these are few, as where a thread sleeps at once, or not known.
    """
    rounds = observed.in_most(recording, f"variant.{variant}.watched_rounds_awake")
    return rounds if rounds is not None and rounds > MOST_LOOKS else None


@memoized
def code_of(case: Case) -> str | None:
    """The code of the one pitfall that counts and places show; None if they show none."""
    if case.others or case.spec.quantity is Quantity.SWITCHES:
        return None
    if observed.stops_of_tracer(case.recording, own=case.spec.own) is not None:
        return None  # the counts are those of the tracer
    for name in case.spec.variants:
        seen = counted(case.recording, name)
        if seen is None or counts.trials_of(case.recording, name).sends_nothing:
            continue  # that is why there are fewer
        if created_inside(case, seen) is not None:
            return "creation-counted-as-switch"
        code = _of_counts(case, seen)
        if code is not None:
            return code
    return None


def shown_by(case: Case, code: str) -> Counted | None:
    """The counts of the first variant, if they show the mistake `code`."""
    if code_of(case) != code:
        return None
    return next(
        (seen for name in case.spec.variants if (seen := counted(case.recording, name))), None
    )


def counted(recording: Recording, variant: str) -> Counted | None:
    """What `variant` claims and the OS counted; None if it claims no switch or has no count."""
    claim = counts.claim_of(recording, variant)
    claiming = [name for name in recording.variants if counts.claim_of(recording, name)]
    if not claim or (len(claiming) > 1 and not counts.has_own_count(recording, variant)):
        return None
    seen = counts.switches_of(recording, variant)
    return None if seen is None else Counted(**vars(seen), variant=variant)


def apart(recording: Recording, variant: str) -> Places | None:
    """Places of the tasks of `variant` in a process in which they could use several CPUs."""
    free = max(
        (len(run_conditions.cpus_of(text)) for text in recording.condition("cpu.allowed")),
        default=1,
    )
    if free < 2:
        return None
    known = (each for each in run_conditions.places_of(recording, variant) if each.may_use)
    return next((each for each in known if not each.bound_together), None)


def created_inside(case: Case, seen: Counted) -> str | None:
    """The evidence that an operation creates tasks, as text; None if there is none."""
    operations = case.recording.total(f"variant.{seen.variant}.operations") or 0
    faults = case.recording.total(f"variant.{seen.variant}.faults") or 0
    if operations and faults >= FAULTS_OF_CREATION * operations:
        return f"{faults / operations:.0f} page faults for each operation"
    called = c_calls.creation(_measured(case))
    return f"{called}() between its readings" if called is not None else None


def _of_counts(case: Case, seen: Counted) -> str | None:
    recording = case.recording
    unbound_there = caveats.binds_no_task(recording)
    two_cpus = not unbound_there and apart(recording, seen.variant) is not None
    if seen.counted < (1 - (SHARE_UNBOUND if unbound_there else SHARE)) * seen.claimed:
        if two_cpus:
            return "never-slept"
        if c_calls.posts_what_it_waits_for(c_tree.measured_region(case.source)):
            return "own-semaphore"
        return "lock-convoy" if c_calls.only_locks(_measured(case)) else FEWER
    if two_cpus:
        return "two-cpus-not-one"
    preemptions = counts.most_preemptions(recording, seen.variant)
    if seen.counted <= (1 + SHARE) * seen.claimed + preemptions + seen.edges:
        return None
    if seen.claim == 1 and abs(seen.each - 2) <= 2 * SHARE:
        return "unclear-divisor"
    if unbound_there:
        # Tasks on two CPUs may sleep at the lock at any time, whether or not one signals under it.
        return None
    signals, waits = c_calls.signals_under_lock(_measured(case)), wait_with_an_end(case)
    if signals and waits is None:
        return "signal-under-the-lock"
    return "wait-with-an-end" if waits is not None and not signals else MORE


def wait_with_an_end(case: Case) -> str | None:
    """The function between the readings that sleeps for a time or waits until one; None if none."""
    return c_calls.wait_with_an_end(_measured(case))


def _measured(case: Case) -> Code:
    """The code between the readings, with the functions that it reaches; empty if not known."""
    source = case.source
    return c_tree.timed(source) if source is not None else Code()


# Clocks of CPU time around a switch: which one was read, and whether it counts the work.

_NAMES = re.compile(r"CLOCK_(PROCESS|THREAD)_CPUTIME_ID")

#: A sample with several times the work must be longer by at least this share of the extra work.
SHARE_OF_GROWTH = 0.25


def missing_the_peer(case: Case, variant: str) -> str | None:
    """The clock that `variant` reads, if it stops while the other task runs; else None.

    The clock of a thread misses all other tasks. The clock of a process misses other processes.
    """
    if not counts.claim_of(case.recording, variant):
        return None
    stated = " ".join(case.recording.condition(f"clock.{variant}.name"))
    words = " ".join(sorted(c_tree.measured_region(case.source).words))
    match = _NAMES.search(stated) or _NAMES.search(words)
    if match is None:
        return None
    if match[1] == "THREAD" or case.recording.kernel == "process_switch":
        return match[0]
    in_peers = case.recording.total("task.peers.voluntary_switches") or 0
    return match[0] if in_peers else None


def without_growth(case: Case, variant: str) -> tuple[int, float, int, float] | None:
    """Smallest and largest batch size with their median samples in ns, if these hardly grow.

    None if they do grow, or if there is only one batch size.
    """
    samples = case.recording.samples(variant)
    sizes = [size for size in samples.batch_sizes if size > 0]
    if len(sizes) < 2:
        return None
    per_ns = samples.clock.ticks_in("ns")
    few, many = (
        float(np.median(samples.ticks[samples.batch == size])) / per_ns
        for size in (sizes[0], sizes[-1])
    )
    in_proportion = few * (1 + SHARE_OF_GROWTH * (sizes[-1] / sizes[0] - 1))
    return (sizes[0], few, sizes[-1], many) if many < in_proportion else None


# The tasks that were created in a case, and what the OS counted for them.
#
# A run of a student's own C also tries one task before all samples (kernels_c/created_task.h), and
# states who raised the number then.

CREATING = frozenset({"task_creation", "own_creation"})

#: Variants whose tasks share the memory of their creator; the exercise asks "own" to do so.
SAME_MEMORY = ("pthread", "pthread-wait", "clone-vm", "clone-vm-wait", "own")

#: Those of them whose tasks are threads, which are never child processes.
THREADS = ("pthread", "pthread-wait")

#: Variants whose tasks are processes with their own page tables.
COPIED_MEMORY = "fork"


@dataclass(frozen=True)
class Account:
    """What the OS counted for the tasks that one variant created, over the whole recording.

    `children_faults` and `children_switches` are those of child processes that were waited for, not
    of threads. `children_switches` is None if this OS counts no switches.
    """

    variant: str
    created: int
    faults: int
    children_faults: int
    children_switches: int | None


@dataclass(frozen=True)
class Trial:
    """What the trials of a student's own task have shown, as sums over the `tried` processes.

    `by_task`, `by_parent` and `by_nobody` say who raised the number first. `shares` is how often
    the task raised it in its parent's memory, and `asleep` how often the parent slept until its
    task had ended. `seen` is how often the parent saw it raised in all samples, for `created` ones.
    """

    tried: int
    by_task: int
    by_parent: int
    by_nobody: int
    shares: int
    asleep: int
    seen: int
    created: int

    @property
    def once_each(self) -> bool:
        """Whether the number was raised as often as a task was created."""
        return abs(self.seen - self.created) <= 0.02 * self.created


def trial_of(recording: Recording, variant: str) -> Trial | None:
    """What the trials of `variant` have shown; None if the run made none."""
    keys = (
        *("tried", "raised_by_task", "raised_by_parent", "raised_by_nobody", "shares_memory"),
        *("parent_slept", "seen", "created"),
    )
    counts = [recording.total(f"variant.{variant}.{key}") for key in keys]
    known = [count for count in counts if count is not None]
    return Trial(*known) if len(known) == len(keys) and known[0] > 0 else None


def accounts(case: Case) -> Iterator[Account]:
    """The account of each variant that the figure is about, if the recording has one."""
    if case.spec.kernel not in CREATING:
        return
    for name in case.spec.variants:
        created, faults, of_children, switches = (
            case.recording.total(f"variant.{name}.{key}")
            for key in ("created", "faults", "children_faults", "children_switches")
        )
        if created and faults is not None and of_children is not None:
            yield Account(name, created, faults, of_children, switches)
