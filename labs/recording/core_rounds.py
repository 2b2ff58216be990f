"""What the core did in rounds spread over the samples of each process.

kernels_c/core_rounds.h defines the rounds. Each counts additions and stores per core cycle. If
another hardware thread of the same physical core is busy, the additions fall to about half. If that
thread often waits for memory, only the stores show it. Each round also measures how long a core
cycle is. Recordings of older kits state neither stores nor the cycle of a round.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from labs.recording.file import Recording, Samples
from labs.recording.memo import memoized

#: What a round counts per core cycle, and the length of the cycle in ticks: the conditions of a
#: process that list these numbers.
ADDITIONS, STORES, CYCLE = "core_width", "core_stores", "core_cycle_ticks.in_round"
#: A round has eight chains, so it does at most eight additions per cycle (kernels_c/core_rounds.h),
#: and no core does more stores.
MOST_WIDTH = 8.5
#: A width is remembered only if at least this share of a run's rounds reached it.
SHARE_OF_ROUNDS = 0.1


@memoized
def widths(recording: Recording, counted: str = ADDITIONS) -> tuple[tuple[float, ...], ...]:
    """What was `counted` in each round, one tuple for each process.

    The tuple is empty if the process does not state a list of such numbers.
    """
    return tuple(_numbers(text) for text in recording.condition(counted))


@memoized
def reached(recording: Recording, counted: str = ADDITIONS) -> float | None:
    """The number per cycle that a tenth of the rounds of all processes reached.

    None if no round is known.
    """
    known = sorted((width for each in widths(recording, counted) for width in each), reverse=True)
    return known[math.ceil(SHARE_OF_ROUNDS * len(known)) - 1] if known else None


def around(
    recording: Recording, samples: Samples, rounds: Sequence[Sequence[float]]
) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """The values of the round before each sample and of the round after it; each of shape (n,).

    `rounds` holds the values of each process, round by round. None if the recording does not state
    as many places of rounds among the samples.
    """
    after = [_whole_numbers(text) for text in recording.condition("core_width.after")]
    count = len(recording.processes)
    # If all processes have the same values, the recording holds them once.
    rounds = list(rounds) * count if len(rounds) == 1 else rounds
    after = after * count if len(after) == 1 else after
    if not len(rounds) == len(after) == count or any(
        len(one) != len(other) or not one for one, other in zip(rounds, after, strict=True)
    ):
        return None
    before, following = np.ones(len(samples)), np.ones(len(samples))
    by_process = np.argsort(samples.process.astype(np.int16), kind="stable")
    ends = np.cumsum(np.bincount(samples.process, minlength=count))
    for values, place, mine in zip(rounds, after, np.split(by_process, ends[:-1]), strict=True):
        next_round = np.searchsorted(place, samples.sample[mine])
        known = np.array([values[0], *values, values[-1]])
        before[mine], following[mine] = known[next_round], known[next_round + 1]
    return before, following


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
