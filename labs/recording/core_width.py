"""How many additions and stores the core did per cycle, in rounds spread over the samples of each
process.

kernels_c/core_rounds.h defines the rounds. If another hardware thread of the same physical core is
busy, the additions fall to about half. If that thread often waits for memory, only the stores show
it. Recordings of older kits state no stores.
"""

from __future__ import annotations

import math

from labs.recording.file import Recording
from labs.recording.memo import memoized

#: What a round counts: the condition of a process that lists the numbers per core cycle.
ADDITIONS, STORES = "core_width", "core_stores"
#: A round has eight chains, so it does at most eight additions per cycle (kernels_c/core_rounds.h),
#: and no core does more stores.
MOST_WIDTH = 8.5
#: A width is remembered only if at least this share of a run's rounds reached it.
SHARE_OF_ROUNDS = 0.1


@memoized
def widths(recording: Recording, counted: str = ADDITIONS) -> tuple[tuple[float, ...], ...]:
    """What was `counted`, per core cycle in each round, one tuple for each process.

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


def _numbers(text: str) -> tuple[float, ...]:
    try:
        found = tuple(map(float, text.split()))
    except ValueError:
        return ()
    return found if all(0 <= width < math.inf for width in found) else ()
