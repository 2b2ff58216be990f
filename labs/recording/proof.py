"""Proof that the timed switches happened: compare the C kernel's claim with the OS's count."""

from __future__ import annotations

from dataclasses import dataclass

from labs.recording.file import Recording
from labs.units import rounded

#: How far claim and count may differ: a timer tick or a page fault causes an occasional switch.
TOLERANCE = 0.02

_KINDS = ("voluntary_switches", "involuntary_switches")


@dataclass(frozen=True)
class Switches:
    """The switches of one variant, claimed and counted over the run, and `claim` per operation.

    `edges` is how many more switches may happen at the beginnings of its samples. If variants are
    interleaved, the other task of the previous variant may still have to go to sleep.
    """

    claimed: int
    counted: int
    claim: float
    edges: int = 0

    @property
    def each(self) -> float:
        """How many switches per operation the OS counted."""
        return self.counted / self.claimed * self.claim

    @property
    def accounted_for(self) -> bool:
        """Whether the OS counted as many switches as claimed, within the tolerance."""
        more = self.counted - self.claimed
        tolerated = TOLERANCE * self.claimed
        return -tolerated <= more <= tolerated + self.edges

    def __str__(self) -> str:
        counts = f"{self.claimed:,} switches claimed, {self.counted:,} counted by the OS"
        if self.accounted_for:
            return counts
        return f"{counts}: {rounded(self.each)} for one operation, not {self.claim:g}"


def of_variant(recording: Recording, variant: str) -> Switches | None:
    """Claim and count of `variant`; None if it claims no switch, or if there is no count."""
    claim = claim_of(recording, variant)
    claimed, counted = switches(recording, variant)
    if not claim or not claimed or counted is None:
        return None
    # Variants with a second task have a baseline, or they claim switches.
    with_peer = [
        name
        for name in recording.variants
        if claim_of(recording, name) or recording.condition(f"variant.{name}.baseline")
    ]
    mine = recording.rows_of(variant)
    return Switches(claimed, counted, claim, int(mine.sum()) if len(with_peer) > 1 else 0)


def switches(recording: Recording, variant: str | None = None) -> tuple[int | None, int | None]:
    """Switches claimed and counted for `variant`, or over the whole run; None if not recorded.

    The count is the sum of both kinds over all tasks: a task that wakes another can be preempted by
    it, and the OS then counts an involuntary switch. C kernels count each variant's switches around
    its samples. Older recordings have only the counts of the whole run.
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
    """Whether the C kernel counted the switches around the samples of `variant` alone."""
    return bool(recording.condition(f"variant.{variant}.claimed_switches"))


def claim_of(recording: Recording, variant: str) -> float:
    """How many switches one operation of `variant` claims."""
    return recording.number(f"variant.{variant}.switches") or 0.0
