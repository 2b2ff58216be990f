"""Where in a page the stack of each process of a run stands: evenly spread, not drawn once.

The place of the stack can change what a program costs (Mytkowicz et al., "Producing wrong data
without doing anything obviously wrong!", ASPLOS 2009). The OS draws a place for each process, but
ten such places may lie close together. So the run chooses them (kernels_c/stack_place.h).
"""

from __future__ import annotations

import random

#: Bytes of a page, and the steps in which a stack can stand in it.
PAGE = 4096
GRAIN = 16
_SLOTS = PAGE // GRAIN
_BITS = _SLOTS.bit_length() - 1


def random_start() -> int:
    """The place of a run's first process, which its recording states as `stack.place`."""
    return random.SystemRandom().randrange(_SLOTS) * GRAIN


def place_of(process: int, start: int) -> int:
    """The place of the process with this number, in bytes modulo 4096, in a run that began at
    `start`.

    The numbers 0, 1, 2, ... with their bits reversed (van der Corput's sequence): however many
    processes a run takes, their places cover the page evenly, and 256 of them are distinct.
    """
    reversed_bits = int(f"{process % _SLOTS:0{_BITS}b}"[::-1], 2)
    return (start + reversed_bits * GRAIN) % PAGE
