"""Spread the stacks of a run's processes evenly: over a page, and over a cache line.

The place of the stack can change the cost of a program (Mytkowicz et al., "Producing wrong data
without doing anything obviously wrong!", ASPLOS 2009). The OS chooses a random place for each
process, but ten such places may lie close together. So the run chooses them
(kernels_c/stack_place.h).

A cost can depend on the place in the page or on the place in the cache line. On one machine, a call
with five arguments at -O0 took 3.5 cycles at the places 32, 96, 160 and so on, and 4.0 at all
others. Places that differ by multiples of 256 bytes would all be of one kind, and the next run's
places might be of the other.
"""

from __future__ import annotations

import random

#: Bytes of a page, and the distance in bytes between possible places of a stack.
PAGE = 4096
GRAIN = 16
_SLOTS = PAGE // GRAIN
#: From one process to the next, in slots. It is odd, so the places also go through all slots of
#: each smaller power of two. For 2 to 40 processes, and in 64 bytes to 4 KB, the largest gap is at
#: most 2.5 times that of evenly spaced places; no odd number does better.
_STRIDE = 39


def random_start() -> int:
    """A random place for a run's first process, which its recording states as `stack.place`."""
    return random.SystemRandom().randrange(_SLOTS) * GRAIN


def place_of(process: int, start: int) -> int:
    """The place of process number `process`, in bytes modulo 4096, in a run that began at `start`.

    These are multiples of a constant modulo the page (a Kronecker sequence). So the places are
    spread evenly for any number of processes, and 256 of them are distinct.
    """
    return (start + process * _STRIDE * GRAIN) % PAGE
