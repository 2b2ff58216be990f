"""How many additions the core did in a cycle, in rounds spread over the samples of each process.

The rounds are those of kernels_c/core_rounds.h. Where another hardware thread of the same physical
core is busy, the number falls to about half.
"""

from __future__ import annotations

import math

from labs.recording.file import Recording
from labs.recording.memo import kept

#: Eight chains add eight in a cycle at most (kernels_c/core_rounds.h).
MOST_WIDTH = 8.5
#: So large a share of a run's rounds must have reached a width that is remembered.
SHARE_OF_ROUNDS = 0.1


@kept
def widths(recording: Recording) -> tuple[tuple[float, ...], ...]:
    """Additions per core cycle in each round, one tuple a process; a process whose text is not a
    list of such numbers has none."""
    return tuple(_numbers(text) for text in recording.condition("core_width"))


def reached(recording: Recording) -> float | None:
    """The width that a tenth of the rounds of all processes reached; None where none is known."""
    known = sorted((width for each in widths(recording) for width in each), reverse=True)
    return known[math.ceil(SHARE_OF_ROUNDS * len(known)) - 1] if known else None


def _numbers(text: str) -> tuple[float, ...]:
    try:
        found = tuple(map(float, text.split()))
    except ValueError:
        return ()
    return found if all(0 <= width < math.inf for width in found) else ()
