"""Proof that what was timed has happened: what the C kernel claims beside what the OS counted."""

from __future__ import annotations

from dataclasses import dataclass

from labs.common.units import rounded
from labs.recording.file import Recording

#: How far claim and count may lie apart: a timer tick or a page fault now and then.
TOLERANCE = 0.02

_KINDS = ("voluntary_switches", "involuntary_switches")


@dataclass(frozen=True)
class Switches:
    """Of one variant: switches claimed and counted over the run, and `claim`, that of one
    operation.

    `edges` is how many switches more its intervals may hold at their beginnings: where variants are
    interleaved, the other task of the one before may still have to go to sleep.
    """

    claimed: int
    counted: int
    claim: float
    edges: int = 0

    @property
    def each(self) -> float:
        """Switches that the OS counted for one operation."""
        return self.counted / self.claimed * self.claim

    @property
    def accounted_for(self) -> bool:
        """Whether the OS counted the switches that are claimed, within the tolerance."""
        more = self.counted - self.claimed
        tolerated = TOLERANCE * self.claimed
        return -tolerated <= more <= tolerated + self.edges

    def __str__(self) -> str:
        told = f"{self.claimed:,} switches claimed, {self.counted:,} counted by the OS"
        if self.accounted_for:
            return told
        return f"{told}: {rounded(self.each)} for one operation, not {self.claim:g}"


def of_variant(recording: Recording, variant: str) -> Switches | None:
    """Claim and count of `variant`; None where it claims no switch, or nobody counted."""
    claim = claim_of(recording, variant)
    claimed, counted = switches(recording, variant)
    if not claim or not claimed or counted is None:
        return None
    # Those with a second task: they have something to subtract, or switches to claim.
    with_peer = [
        name
        for name in recording.variants
        if claim_of(recording, name) or recording.condition(f"variant.{name}.baseline")
    ]
    mine = recording.rows_of(variant)
    return Switches(claimed, counted, claim, int(mine.sum()) if len(with_peer) > 1 else 0)


def switches(recording: Recording, variant: str | None = None) -> tuple[int | None, int | None]:
    """Switches claimed and counted for `variant`, or over the whole run; None: not recorded.

    Both kinds are summed, over all tasks: a wake-up can preempt the one who wakes, which the OS
    then counts as involuntary. A variant's own are counted around its intervals; recordings made
    before that was done have those of the whole run only.
    """
    if variant is not None and has_own_count(recording, variant):
        return (
            recording.total(f"variant.{variant}.claimed_switches"),
            recording.total(f"variant.{variant}.counted_switches"),
        )
    claimed = recording.total("claimed.switches")
    counted = [
        recording.total(f"task.{task}.{kind}") for task in ("main", "peers") for kind in _KINDS
    ]
    known = [count for count in counted if count is not None]
    return claimed, sum(known) if known else None


def has_own_count(recording: Recording, variant: str) -> bool:
    """Whether switches were counted around the intervals of `variant` alone."""
    return bool(recording.condition(f"variant.{variant}.claimed_switches"))


def claim_of(recording: Recording, variant: str) -> float:
    """The switches that one operation of `variant` claims to make."""
    return recording.number(f"variant.{variant}.switches") or 0.0
