"""Spread the stacks of a run's processes evenly over a page.

The place of the stack can change the cost of a program (Mytkowicz et al., "Producing wrong data
without doing anything obviously wrong!", ASPLOS 2009). The OS chooses a random place for each
process, but ten such places may lie close together. So the run chooses them
(kernels_c/stack_place.h).
"""

from __future__ import annotations

import random

#: Bytes of a page, and the distance in bytes between possible places of a stack.
PAGE = 4096
GRAIN = 16
_SLOTS = PAGE // GRAIN
_BITS = _SLOTS.bit_length() - 1


def random_start() -> int:
    """A random place for a run's first process, which its recording states as `stack.place`."""
    return random.SystemRandom().randrange(_SLOTS) * GRAIN


def place_of(process: int, start: int) -> int:
    """The place of process number `process`, in bytes modulo 4096, in a run that began at `start`.

    We reverse the bits of 0, 1, 2, ... (van der Corput's sequence). So the places cover the page
    evenly for any number of processes, and 256 of them are distinct.
    """
    reversed_bits = int(f"{process % _SLOTS:0{_BITS}b}"[::-1], 2)
    return (start + reversed_bits * GRAIN) % PAGE
