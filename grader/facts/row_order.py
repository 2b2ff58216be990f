"""Whether the rows of a recording stand in the order that its seeds give.

The harness draws the order of variants and batch sizes from the seed of each process
(`lay_schedule` in kernels_c/harness.h), and the recording states the seed. Rows that somebody made
up, sorted or moved to another process have another order.
"""

from __future__ import annotations

import functools

import numpy as np
from numpy.typing import NDArray

from labs.recording.file import Integers, Recording

#: Rows replayed of each process, and processes: enough that no other order passes by chance.
_ROWS, _PROCESSES = 400, 4
#: The fewest rows, and places in the order, of which an order tells something.
_FEWEST_ROWS, _FEWEST_CELLS = 20, 4
_MOST_CELLS = 1_024
_SEED_BITS, _FACTOR = 31, np.uint64(2685821657736338717)


def follows_seed(recording: Recording) -> bool | None:
    """Whether the order of the rows follows from the recorded seeds.

    None where that is not known: a recording without seeds or schedule, or with a single batch
    size and variant.
    """
    cells = _cells(recording)
    seeds = recording.condition("seed")
    if not _FEWEST_CELLS <= len(cells) <= _MOST_CELLS or len(seeds) != len(recording.processes):
        return None
    known = [
        same
        for process, seed in list(enumerate(seeds))[:_PROCESSES]
        if (same := _one_follows(recording, process, seed, cells)) is not None
    ]
    return all(known) if known else None


def _cells(recording: Recording) -> list[tuple[int, int]]:
    """Variant (its index in the recording) and batch size of each place in a block, in the order in
    which the harness counts them; empty if the recording does not state them."""
    stated = recording.conditions.get("variants", "").split(",")
    sizes = recording.conditions.get("batch", "").split(",")
    # Baselines come after the variants that were asked for.
    for name in stated:
        baseline = recording.conditions.get(f"variant.{name}.baseline", name)
        if baseline not in stated and len(stated) <= len(recording.variants):
            stated.append(baseline)
    if set(stated) != set(recording.variants) or not all(size.isdecimal() for size in sizes):
        return []
    if any(len(size) > 10 for size in sizes):
        return []
    return [(recording.variants.index(name), int(size)) for name in stated for size in sizes]


def _one_follows(
    recording: Recording, process: int, seed: str, cells: list[tuple[int, int]]
) -> bool | None:
    """The same for one process; None if it has too few rows or no seed that the harness takes."""
    rows = np.flatnonzero(recording.process == process)
    rows = rows[np.argsort(recording.sample[rows], kind="stable")]
    if len(rows) < _FEWEST_ROWS or not (seed.isdecimal() and 0 < int(seed[:12]) < 2**_SEED_BITS):
        return None
    warmup = int((recording.sample[rows] < 0).sum())
    order = _schedule(int(seed), len(cells), [warmup, len(rows) - warmup])
    expected = np.array(cells)[order]
    rows = rows[: len(order)]
    seen = np.stack([recording.variant_index[rows], recording.batch[rows]], axis=1)
    return bool(np.array_equal(seen, expected))


def _schedule(seed: int, cells: int, parts: list[int]) -> Integers:
    """The places in a block that the harness draws, of the first rows; each part begins anew."""
    drawn: list[int] = []
    blocks = sum(-(-rows // cells) for rows in parts)
    blocks = min(blocks, -(-_ROWS // cells) + len(parts))
    places = np.tile(np.arange(cells - 1, 0, -1), blocks)
    others = iter((_random(seed, len(places)) % (places + 1).astype(np.uint64)).tolist())
    for rows in parts:
        block = list(range(cells))
        for first in range(0, rows, cells):
            # `others` comes second: of what ends first, zip takes nothing from what follows.
            for place, other in zip(range(cells - 1, 0, -1), others, strict=False):
                block[place], block[other] = block[other], block[place]
            drawn += block[: rows - first]
            if len(drawn) >= _ROWS:
                return np.array(drawn)
    return np.array(drawn)


def _random(seed: int, count: int) -> NDArray[np.uint64]:
    """The first numbers that the harness draws; shape (count,).

    The generator is xorshift64* (Vigna, "An experimental exploration of Marsaglia's xorshift
    generators, scrambled", 2016). Its states are those of the seed's bits, joined by exclusive or.
    """
    bits = [bit for bit in range(_SEED_BITS) if seed >> bit & 1]
    states = _states_of_bits(1 << count.bit_length())[:count, bits]
    drawn: NDArray[np.uint64] = np.bitwise_xor.reduce(states, axis=1) * _FACTOR
    return drawn


@functools.cache
def _states_of_bits(count: int) -> NDArray[np.uint64]:
    """The first states of the generator for each seed with one bit; shape (count, bits)."""
    state = np.uint64(1) << np.arange(_SEED_BITS, dtype=np.uint64)
    found = np.empty((count, _SEED_BITS), np.uint64)
    for number in range(count):
        state ^= state >> np.uint64(12)
        state ^= state << np.uint64(25)
        state ^= state >> np.uint64(27)
        found[number] = state
    return found
