"""What the core did in rounds spread over the samples of each process.

kernels_c/core_rounds.h defines the rounds. Each counts additions and stores per core cycle. If
another hardware thread of the same physical core is busy, the additions fall to about half. If that
thread often waits for memory, only the stores show it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from labs.recording.file import Integers, Recording, Samples
from labs.recording.memo import memoized

#: What a round counts per core cycle: the conditions of a process that list these numbers.
ADDITIONS, STORES = "core_width", "core_stores"
#: A round has eight chains, so it does at most eight additions per cycle (kernels_c/core_rounds.h),
#: and no core does more stores.
MOST_WIDTH = 8.5


@memoized
def by_round(recording: Recording, counted: str = ADDITIONS) -> tuple[tuple[float, ...], ...]:
    """What was `counted` in each round, one tuple for each process.

    The tuple is empty if the process does not state a list of such numbers.
    """
    return tuple(_numbers(text) for text in recording.condition(counted))


def around(
    recording: Recording, samples: Samples, rounds: Sequence[Sequence[float]]
) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """The values of the round before each sample and of the round after it; each of shape (n,).

    `samples` are all steady samples of a variant, and `rounds` holds the values of each process,
    round by round. None if the recording does not state as many places of rounds among the samples.
    """
    places = _places(recording)
    # If all processes have the same values, the recording holds them once.
    rounds = list(rounds) * len(places) if len(rounds) == 1 else rounds
    if not places or [len(each) for each in rounds] != [len(each) for each in places]:
        return None
    # The first round stands for the one before it, and the last one for the one after it.
    known = np.array([x for each in rounds for x in (each[0], *each, each[-1])])
    before = _round_before(recording, samples.variant)
    return known[before], known[before + 1]


@memoized
def _places(recording: Recording) -> list[list[int]]:
    """After how many samples each round of each process came; none if that is not known of each."""
    after = [_whole_numbers(text) for text in recording.condition("core_width.after")]
    count = len(recording.processes)
    after = after * count if len(after) == 1 else after
    return after if len(after) == count and all(after) else []


@memoized
def _round_before(recording: Recording, variant: str) -> Integers:
    """The round before each steady sample, counted over all processes, with one more round before
    the first and after the last one of each; shape (n,)."""
    samples, places = recording.samples(variant), _places(recording)
    before = np.zeros(len(samples), dtype=np.int64)
    by_process = np.argsort(samples.process.astype(np.int16), kind="stable")
    ends = np.cumsum(np.bincount(samples.process, minlength=len(places)))
    first = 0
    for place, mine in zip(places, np.split(by_process, ends[:-1]), strict=True):
        before[mine] = first + np.searchsorted(place, samples.sample[mine])
        first += len(place) + 2
    return before


def _whole_numbers(text: str) -> list[int]:
    """Ascending whole numbers from a text; none if the text is anything else."""
    try:
        found = [int(word) for word in text.split() if len(word) < 12]
    except ValueError:
        return []
    return found if found == sorted(found) else []


def _numbers(text: str) -> tuple[float, ...]:
    try:
        found = tuple(map(float, text.split()))
    except ValueError:
        return ()
    return found if all(0 <= width < math.inf for width in found) else ()
