"""What the samples, dates and counts of a recording show of its run."""

from __future__ import annotations

import datetime
import functools
import re
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from grader.figures.case import Case
from labs.analysis import thresholds
from labs.course.figures import Figure
from labs.recording.file import Integers, Numbers, Recording, Samples, memoized
from labs.recording.run_conditions import tracer_of, unclaimed_switches


def step_of(ticks: Numbers) -> int:
    """The greatest common divisor of all samples, in ticks; 0 if all of them are 0."""
    return int(np.gcd.reduce(np.asarray(ticks, dtype=np.int64))) if len(ticks) else 0


def reads_the_counter(recording: Recording, variant: str) -> bool:
    """Whether the recording states that `variant` reads the counter and not a clock of the OS."""
    counter = recording.condition("counter")
    return bool(counter) and set(recording.condition(f"clock.{variant}.name")) == set(counter)


@memoized
def usual_ticks(samples: Samples, size: int) -> float:
    """The mean sample at batch size `size`, without those far from the lower quartile."""
    ticks = samples.ticks[samples.batch == size].astype(np.float64)
    away = np.abs(ticks - np.quantile(ticks, 0.25))
    steps = thresholds.NEAR_STEPS * samples.clock.coarseness
    return float(ticks[away <= max(thresholds.REACH * float(np.median(away)), steps)].mean())


def is_below_the_clock(samples: Samples) -> bool:
    """Whether this clock usually shows 0 ticks for the smallest batch, including the timer.

    The clock of an emulator may advance once in a microsecond and claim a step of a nanosecond. Its
    samples do not grow with their work, and may be shorter than the work can be.
    """
    sizes = samples.batch[samples.batch > 0]
    return bool(len(sizes)) and float(np.median(samples.ticks[samples.batch == sizes.min()])) == 0.0


def measured_after(figure: Figure, recording: Recording) -> bool:
    """Whether the recording is newer than the figure; False if one of them has no date."""
    return _is_before(figure.when, recording.conditions.get("created"))


def made_before(recording: Recording, other: Recording) -> bool:
    """Whether `recording` is older than `other`; False if one of them has no date."""
    return _is_before(recording.conditions.get("created"), other.conditions.get("created"))


def _is_before(first: str | None, second: str | None) -> bool:
    try:
        return datetime.datetime.fromisoformat(first or "") < datetime.datetime.fromisoformat(
            second or ""
        )
    except (ValueError, TypeError):  # no date, or one without a time zone
        return False


# The plumbing of a run follows a student's C in a child process after the last sample. A recording
# states nothing of it if the system does not let a process watch its child, or if the kit was
# older. Then only the C and the samples say something.


def seen(case: Case, what: str) -> float | None:
    """The count `what` of the figure's own C; None if the run could not watch it."""
    if not case.spec.own or case.others:
        return None
    return case.recording.number(f"variant.{case.spec.variant}.watched_{what}")


# After the last sample, the run also times a student's operation next to the kit's own of the same
# kind (kernels_c/beside.h), and without its system calls (kernels_c/without_calls.h).


def in_most(recording: Recording, key: str) -> float | None:
    """What at least three quarters of the processes reach; None if none states it."""
    return _reached_by_most(of_processes(recording, key))


def of_processes(recording: Recording, key: str) -> list[float]:
    """What the processes state; what all state alike is in the recording once."""
    return recording.numbers(key) * (len(recording.processes) if key in recording.conditions else 1)


@dataclass(frozen=True)
class Beside:
    """What one operation takes and what the kit's takes, in ticks, as medians over the processes.

    `more` is the difference that at least three quarters of the processes reach, and `times` is the
    same of the ratio.
    """

    own: float
    kit: float
    more: float
    times: float


def beside_kit(recording: Recording, variant: str) -> Beside | None:
    """The operation of `variant` and the kit's own; None if the run did not time them."""
    own, kit = (
        of_processes(recording, f"variant.{variant}.beside_{whose}") for whose in ("own", "kit")
    )
    if not own or len(own) != len(kit) or min(kit) <= 0:
        return None
    pairs = list(zip(own, kit, strict=True))
    more = _reached_by_most([mine - other for mine, other in pairs])
    times = _reached_by_most([mine / other for mine, other in pairs])
    return Beside(statistics.median(own), statistics.median(kit), more or 0.0, times or 0.0)


def _reached_by_most(values: list[float]) -> float | None:
    return sorted(values)[len(values) // 4] if values else None


#: Options by which a compiler adds its own code to the program, such as calls that count calls.
_INSTRUMENTS = re.compile(
    r"-pg?|--coverage|-f(?:instrument-|sanitize|profile-(?:arcs|generate|instr)|xray-)\S*"
)


def instrumentation(recording: Recording) -> str | None:
    """The first option of the compiler that adds code of its own; None if there is none."""
    stated = recording.conditions.get("flags", "").split()
    return next((word for word in stated if _INSTRUMENTS.fullmatch(word)), None)


#: A tracer stops a program when a system call begins and when it ends: two voluntary switches. A
#: call that waits makes one, such as waiting for a child.
FEWEST_PER_CALL = 1.5


@dataclass(frozen=True)
class Stops:
    """Voluntary switches that nobody claims, and the system calls that were claimed.

    `tracer` is the name of the tracer if the recording states it, else empty.
    """

    switches: int
    calls: int
    tracer: str


def stops_of_tracer(recording: Recording, *, own: bool = False) -> Stops | None:
    """The stops by a tracer that the recording shows; None if it shows none.

    If no tracer is stated, only counts can show it, and they decide only for our own C kernels that
    claim no switch: `own` C may wait as often as it likes. A tracer that stopped nothing did no
    harm.
    """
    switches = unclaimed_switches(recording)
    calls = recording.total("claimed.system_calls") or 0
    stated = tracer_of(recording)
    if switches is None:
        return None
    if stated:
        operations = int(recording.batch.sum())
        return Stops(switches, calls, stated) if switches >= max(operations, 1) else None
    if own or not calls or recording.total("claimed.switches"):
        return None
    return Stops(switches, calls, "") if switches >= FEWEST_PER_CALL * calls else None


# The harness draws the order of variants and batch sizes from the seed of each process
# (`lay_schedule` in kernels_c/harness.h), and the recording states the seed. Rows that somebody
# made up, sorted or moved to another process have another order.

#: Rows replayed of each process: enough that no other order passes by chance.
_ROWS = 400
#: The fewest rows, and places in the order, of which an order tells something.
_FEWEST_ROWS, _FEWEST_CELLS = 20, 4
_MOST_CELLS = 1_024
_SEED_BITS, _FACTOR = 31, np.uint64(2685821657736338717)


def follows_seed(recording: Recording) -> bool | None:
    """Whether the order of the rows of every process follows from its recorded seed.

    None where that is not known: a recording without seeds or schedule, with few rows, or with a
    single batch size and variant.
    """
    cells = _cells(recording)
    if not cells and recording.condition("variants") and recording.condition("batch"):
        return False if np.bincount(recording.process).max(initial=0) >= _FEWEST_ROWS else None
    if not _FEWEST_CELLS <= len(cells) <= _MOST_CELLS:
        return None
    # Processes with as many rows are replayed together.
    alike = dict[tuple[int, int], list[tuple[int, Integers]]]()
    for process, seed in enumerate(seeds_of(recording)):
        rows = np.flatnonzero(recording.process == process)
        if seed is not None and len(rows) >= _FEWEST_ROWS:
            sample = recording.sample[rows]
            warmup = int((sample < 0).sum())
            rows = rows[np.argsort(sample, kind="stable")][:_ROWS]
            alike.setdefault((warmup, len(sample) - warmup), []).append((seed, rows))
    if not alike:
        return None
    expected = np.array(cells)
    for parts, runs in alike.items():
        seeds, each = zip(*runs, strict=True)
        rows = np.stack(each)
        seen = np.stack([recording.variant_index[rows], recording.batch[rows]], axis=2)
        if not np.array_equal(seen, expected[_schedules(seeds, len(cells), parts)]):
            return False
    return True


def seeds_of(recording: Recording) -> list[int | None]:
    """The seed that each process states; None where it states none that the harness takes."""
    stated = [each.get("seed", "") for each in recording.processes]
    return [
        int(seed) if seed.isdecimal() and len(seed) < 11 and 0 < int(seed) < 2**_SEED_BITS else None
        for seed in stated
    ]


def _cells(recording: Recording) -> list[tuple[int, int]]:
    """Variant (its index in the recording) and batch size of each place in a block, in the order in
    which the harness counts them; empty if the recording does not state them, or others."""
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


def _schedules(seeds: Sequence[int], cells: int, parts: Sequence[int]) -> Integers:
    """The places in a block that the harness draws for the first rows; shape (seeds, rows).

    Warmup and samples are the parts: each begins with the places in order. Each block exchanges
    the places of the one before it, so its exchanges are a permutation, and all are found at once.
    """
    first = np.arange(cells)
    blocks = [-(-min(rows, _ROWS) // cells) for rows in parts]
    draws = np.stack([_random(seed, sum(blocks) * (cells - 1)) for seed in seeds])
    others = draws.reshape(-1, cells - 1) % np.arange(cells, 1, -1, dtype=np.uint64)
    moved, row = np.tile(first, (len(others), 1)), np.arange(len(others))
    for place, other in zip(first[:0:-1], others.T, strict=True):
        moved[row, other], moved[:, place] = moved[:, place], moved[row, other]
    drawn, run = [], np.arange(len(seeds))[:, np.newaxis]
    split = np.split(moved.reshape(len(seeds), -1, cells), [blocks[0]], axis=1)
    for of_part, rows in zip(split, parts, strict=True):
        order, each = np.tile(first, (len(seeds), 1)), [np.empty((len(seeds), 0), np.int64)]
        for block in np.moveaxis(of_part, 1, 0):
            order = order[run, block]
            each.append(order)
        drawn.append(np.concatenate(each, axis=1)[:, :rows])
    return np.concatenate(drawn, axis=1)[:, :_ROWS]


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
