"""Compare the switches that a C kernel claims with the OS's count, and see where its tasks were.

Several mistakes change the same numbers. This module decides which one a recording shows, so that
the grader never reports two of them at once.
"""

from __future__ import annotations

from dataclasses import dataclass

from grader.cases.case import Case
from grader.cases.spec import Quantity
from grader.facts import unbound
from grader.facts.c import calls, parts
from labs.recording import places, proof
from labs.recording.file import Recording
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


@dataclass(frozen=True)
class Counted(Switches):
    """Claim and count of one variant, with its name."""

    variant: str = ""

    def as_text(self) -> str:
        """Claim and count as a sentence."""
        return (
            f"Your {self.variant} claims {self.claimed:,} switches; the OS counted {self.counted:,}"
        )


def code_of(case: Case) -> str | None:
    """The code of the one pitfall that counts and places show; None if they show none."""
    if case.others or case.spec.quantity is Quantity.SWITCHES:
        return None
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
    called = calls.creation(parts.measured_region(case.source))
    return f"{called}() between its readings" if called is not None else None


def _of_counts(case: Case, seen: Counted) -> str | None:
    recording = case.recording
    unbound_there = unbound.is_honest(recording)
    two_cpus = not unbound_there and apart(recording, seen.variant) is not None
    if seen.counted < (1 - (SHARE_UNBOUND if unbound_there else SHARE)) * seen.claimed:
        if two_cpus:
            return "never-slept"
        return "own-semaphore" if _raises_what_it_lowers(case.source) else "lock-convoy"
    if two_cpus:
        return "two-cpus-not-one"
    preemptions = _preemptions(recording, seen.variant)
    if seen.counted <= (1 + SHARE) * seen.claimed + preemptions + seen.edges:
        return None
    if seen.claim == 1 and abs(seen.each - 2) <= 2 * SHARE:
        return "unclear-divisor"
    # Tasks on two CPUs may sleep at the lock at any time, whether or not one signals under it.
    return None if unbound_there else "signal-under-the-lock"


def _preemptions(recording: Recording, variant: str) -> float:
    """How often other programs may have had the CPU during samples of `variant`."""
    mine = recording.rows_of(variant)
    seconds = float(recording.ticks[mine].sum()) / recording.clock(variant).frequency_hz
    return PREEMPTIONS_PER_S * seconds


def _raises_what_it_lowers(source: str | None) -> bool:
    """Whether the measured lines wait for the same semaphore that they post."""
    made = calls.calls(parts.measured_region(source))
    waited, posted = (
        {each.arguments for each in made if each.name == name} for name in ("sem_wait", "sem_post")
    )
    return bool(waited & posted)
