"""Compare the switches that a C kernel claims with the OS's count, and see where its tasks were.

Several mistakes change the same numbers. This module decides which one a recording shows, so that
the grader never reports two of them at once. Counts alone never tell which: where the C that was
measured does not show it either, the finding says only that claim and count differ.
"""

from __future__ import annotations

from dataclasses import dataclass

from grader.cases.case import Case
from grader.cases.spec import Quantity
from grader.facts import tracing, unbound
from grader.facts.c import calls, parts, waiting
from grader.facts.c.parse import Code
from grader.facts.sources import hashes_by_name
from labs.common import paths
from labs.recording import places, proof
from labs.recording.file import Recording
from labs.recording.memo import memoized
from labs.recording.places import Places
from labs.recording.proof import Switches

#: How far count and claim may differ without a mistake; a busy machine adds some switches.
SHARE = 0.1
#: How far the count may fall short on a machine that cannot pin: tasks on two CPUs may not sleep.
SHARE_UNBOUND = 0.5
#: The OS gives a CPU to another program at most this often during a sample.
PREEMPTIONS_PER_S = 2_000
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


@memoized
def code_of(case: Case) -> str | None:
    """The code of the one pitfall that counts and places show; None if they show none."""
    if case.others or case.spec.quantity is Quantity.SWITCHES:
        return None
    if tracing.stops(case.recording, own=case.spec.own) is not None:
        return None  # the counts are those of the tracer
    for name in case.spec.variants:
        seen = counted(case.recording, name)
        if seen is None:
            continue
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
    claim = proof.claim_of(recording, variant)
    claiming = [name for name in recording.variants if proof.claim_of(recording, name)]
    if not claim or (len(claiming) > 1 and not proof.has_own_count(recording, variant)):
        return None
    seen = proof.of_variant(recording, variant)
    return None if seen is None else Counted(**vars(seen), variant=variant)


def apart(recording: Recording, variant: str) -> Places | None:
    """Places of the tasks of `variant` in a process in which they could use several CPUs."""
    free = max(
        (len(places.cpus_of(text)) for text in recording.condition("cpu.allowed")), default=1
    )
    if free < 2:
        return None
    known = (each for each in places.of_variant(recording, variant) if each.may_use)
    return next((each for each in known if not each.bound_together), None)


def created_inside(case: Case, seen: Counted) -> str | None:
    """The evidence that an operation creates tasks, as text; None if there is none."""
    operations = case.recording.total(f"variant.{seen.variant}.operations") or 0
    faults = case.recording.total(f"variant.{seen.variant}.faults") or 0
    if operations and faults >= FAULTS_OF_CREATION * operations:
        return f"{faults / operations:.0f} page faults for each operation"
    called = calls.creation(_measured(case))
    return f"{called}() between its readings" if called is not None else None


def _of_counts(case: Case, seen: Counted) -> str | None:
    recording = case.recording
    unbound_there = unbound.is_honest(recording)
    two_cpus = not unbound_there and apart(recording, seen.variant) is not None
    if seen.counted < (1 - (SHARE_UNBOUND if unbound_there else SHARE)) * seen.claimed:
        if two_cpus:
            return "never-slept"
        if waiting.posts_what_it_waits_for(parts.measured_region(_source(case))):
            return "own-semaphore"
        return "lock-convoy" if waiting.only_locks(_measured(case)) else FEWER
    if two_cpus:
        return "two-cpus-not-one"
    preemptions = _preemptions(recording, seen.variant)
    if seen.counted <= (1 + SHARE) * seen.claimed + preemptions + seen.edges:
        return None
    if seen.claim == 1 and abs(seen.each - 2) <= 2 * SHARE:
        return "unclear-divisor"
    if unbound_there:
        # Tasks on two CPUs may sleep at the lock at any time, whether or not one signals under it.
        return None
    signals, waits = waiting.signals_under_lock(_measured(case)), wait_with_an_end(case)
    if signals and waits is None:
        return "signal-under-the-lock"
    return "wait-with-an-end" if waits is not None and not signals else MORE


def wait_with_an_end(case: Case) -> str | None:
    """The function between the readings that sleeps for a time or waits until one; None if none."""
    return waiting.wait_with_an_end(_measured(case))


def _preemptions(recording: Recording, variant: str) -> float:
    """How often other programs may have had the CPU during samples of `variant`."""
    mine = recording.rows_of(variant)
    seconds = float(recording.ticks[mine].sum()) / recording.clock(variant).frequency_hz
    return PREEMPTIONS_PER_S * seconds


def _source(case: Case) -> str | None:
    """The C that was measured; of an older version of a broken C kernel, today's."""
    if case.source is not None:
        return case.source
    stated = case.recording.conditions.get("source.sha256")
    listed = hashes_by_name()["broken"].items()
    name = next((name for name, hashes in listed if stated in hashes), None)
    path = paths.kernels_c() / "broken" / f"{name}.c"
    return path.read_text(encoding="utf-8") if path.is_file() else None


def _measured(case: Case) -> Code:
    """The code between the readings, with the functions that it reaches; empty if not known."""
    source = _source(case)
    return parts.timed(source) if source is not None else Code()
