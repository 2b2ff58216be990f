"""One operation with two costs: processes of a run that fall into two groups, and why.

This explains a run and does not change its figure, which is the mean over all processes.

The run chooses the place of each process's stack (labs/run/c_process.py), so the place is an
experiment: if it separates the processes into two groups, it is the cause of the difference.
Anything else would have to choose the same processes by chance. Of ten processes, two that it chose
have one place to themselves in 2 of 45 cases, and three in 2 of 120.
"""

from __future__ import annotations

import statistics
from dataclasses import dataclass

import numpy as np

from labs.analysis.confidence import Bools, ByProcess, Floats, student_t
from labs.recording.file import Integers, Recording, distinct
from labs.results import warning_thresholds
from labs.units import rounded, rounded_apart

#: Bytes of a cache line on most machines.
CACHE_LINE = 64


@dataclass(frozen=True)
class StackEffect:
    """An operation takes `factor` times as long if the stack begins at one of the bytes `slow` of a
    cache line as it takes at one of the bytes `fast`. `slowed` numbers the slow processes.
    """

    fast: tuple[int, ...]
    slow: tuple[int, ...]
    factor: float
    slowed: tuple[int, ...]

    def slow_bytes(self) -> str:
        """The bytes at which it takes longer, as text."""
        return ", ".join(map(str, self.slow))

    def fast_bytes(self) -> str:
        """The other bytes, as text."""
        return ", ".join(map(str, self.fast))


@dataclass(frozen=True)
class Modes:
    """Of `every` process, `slow` took `factor` times as long as the others; `stack` may say why."""

    slow: int
    every: int
    factor: float
    stack: StackEffect | None = None

    @property
    def _rest(self) -> str:
        return "others" if self.every - self.slow > 1 else "other one"

    def symptom(self) -> str:
        """What the run shows, as a clause."""
        shown = (
            f"{self.slow} of {self.every} processes took {rounded(self.factor)} times as long as "
            f"the {self._rest}"
        )
        if self.stack is None:
            return shown
        slow, fast = self.stack.slow_bytes(), self.stack.fast_bytes()
        return f"{shown}, with the stack at byte {slow} of a cache line instead of {fast}"

    def sentence(self, name: str) -> str:
        """The same for a comparison of the operation `name`."""
        value = rounded_apart(self.factor, 1.0, 1.0, 1.0)[0]
        if self.stack is not None:
            return (
                f"{name} has two modes: it costs {value} times as much if its stack begins at byte "
                f"{self.stack.slow_bytes()} of a cache line as at byte {self.stack.fast_bytes()}."
            )
        # One process is no mode: something else met it.
        which = f"{name}: in one" if self.slow == 1 else f"{name} has two modes: in {self.slow}"
        much = f"{value} times as much as in the {self._rest}"
        return f"{which} of {self.every} processes it costs {much}."


def modes(recording: Recording, by: ByProcess | None) -> Modes | None:
    """The two groups of processes by their values; None if there are none.

    The widest gap between two neighbouring values separates two groups if it is t squared times as
    wide as the spread within them (t: Student's, 95 %). Of runs without groups, chance exceeds this
    in 1 of 50 with 5 processes, in 1 of 300 with 10, and hardly ever with more.
    """
    if (
        by is None
        or len(by.value) < 3
        or len(distinct(recording.process)) < 2
        or by.value.min() <= 0
    ):
        return None
    value, every = np.sort(by.value), len(by.value)
    if (effect := stack_effect(recording, by)) is not None:
        return Modes(len(effect.slowed), every, effect.factor, effect)
    cut = int(np.diff(value).argmax()) + 1
    fast, slow = value[:cut], value[cut:]
    within = float(((fast - fast.mean()) ** 2).sum() + ((slow - slow.mean()) ** 2).sum())
    spread = max(float(np.sqrt(within / (every - 2))), float(np.median(by.error)))
    factor = float(slow.mean() / fast.mean())
    if (
        factor < 1 + warning_thresholds.LEAST_GAP
        or slow[0] - fast[-1] < student_t(every - 2) ** 2 * spread
    ):
        return None
    return Modes(len(slow), every, factor)


def stack_effect(recording: Recording, by: ByProcess) -> StackEffect | None:
    """The effect of the place on the values of the processes.

    None if there is no effect, or if the recording does not state the places of all processes.
    """
    place = _places(recording)
    if place is None:
        return None
    place, value = place[by.process], by.value
    bytes_, count = np.unique(place, return_counts=True)
    if len(bytes_) < 2 or count.min() < warning_thresholds.FEWEST_AT_A_PLACE:
        return None
    # Of a few numbers, Python finds the median in less time than numpy.
    at_each = np.array([statistics.median(value[place == each].tolist()) for each in bytes_])
    order = bytes_[np.argsort(at_each)]
    cuts = [_cut(value, np.isin(place, order[:cut])) for cut in range(1, len(order))]
    cut = int(np.argmax([sure for sure, _ in cuts]))
    sure, factor = cuts[cut]
    if sure < warning_thresholds.TIMES_OWN_SPREAD:
        return None
    fast, slow = np.sort(order[: cut + 1]), np.sort(order[cut + 1 :])
    slowed = by.process[np.isin(place, slow)]
    return StackEffect(tuple(fast.tolist()), tuple(slow.tolist()), factor, tuple(slowed.tolist()))


def _places(recording: Recording) -> Integers | None:
    """The byte of a cache line at which the stack of each process begins; None if not stated."""
    try:
        place = np.array([int(text) for text in recording.condition("stack.place")], dtype=np.int64)
    except (ValueError, OverflowError):
        return None
    return place % CACHE_LINE if len(place) == len(recording.processes) else None


def _cut(value: Floats, fast: Bools) -> tuple[float, float]:
    """How far the groups lie apart, in units of their own spread; 0 if they are no two groups.

    Also how many times as long the slow group took.
    """
    lower, upper = (statistics.median(value[each].tolist()) for each in (fast, ~fast))
    gap, middle = upper - lower, (upper + lower) / 2
    wrong = int((value[fast] > middle).sum() + (value[~fast] < middle).sum())
    if (
        lower <= 0
        or gap < warning_thresholds.LEAST_GAP_BY_PLACE * lower
        or wrong > warning_thresholds.MOST_ON_THE_WRONG_SIDE * len(value)
    ):
        return 0.0, 1.0
    own = float(np.percentile(np.abs(value - np.where(fast, lower, upper)), 80))
    return gap / max(own, 1e-9 * upper), upper / lower
