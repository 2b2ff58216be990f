"""Recordings with a known answer: T(k) = overhead + k * cost, seen through a disturbed clock."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from labs.analysis.confidence import Floats
from labs.analysis.cpu_core import ADDITIONS_IN_ROUND
from labs.analysis.line import Line, fit_line
from labs.recording import run_conditions
from labs.recording.file import Integers, Recording
from support.declarations import as_declared

VARIANT = "simulated"
#: Additions per core cycle of a core that nothing else uses.
WHOLE_WIDTH, WHOLE_STORES, CORE_CYCLE_TICKS = 4.0, 2.0, 0.7


@dataclass(frozen=True)
class Machine:
    """A machine whose answer is known. All lengths in ticks.

    `noise` is the standard deviation of a sample, `tail` the share of samples that meet an
    interrupt (exponential, mean `tail_length`), `slow_share` of them run `slow` longer (two modes),
    `drift` is what samples gain from the first to the last process, `process_spread` the standard
    deviation between processes, `speed_spread` that of the share by which a process is slower.
    An interruption comes every `interrupted_every` ticks of a sample on average and adds
    `interruption` of them. `hidden` ticks of the work are not seen, as by a reading without a
    fence. While the `neighbour` runs, every sample is that much longer; its stretches are given
    as shares of the run. In `slower_processes` of the processes, chosen at random, an operation
    takes longer by the share `slower_by`; `slower` names such a share for each process. `skew` is
    the mean of an exponential addition to every sample, `pareto` the scale of a Pareto one (shape
    1.5), `skew_by_length` and `pareto_by_length` the same as shares of the work. The counter
    declares the step `declared_step`, where that is not 0, instead of its own. With `rounds`,
    each process records so many rounds of the core's width: WHOLE_WIDTH, and half of it in the
    slower processes and while the neighbour runs; with `only_stores`, the stores fall to 0.85
    instead. Another program takes the CPU for a `time_slice` in the share `preempted` of samples
    longer than 100 us, which are marked. One in `own_every` operations takes `own` ticks
    longer by itself. With `gaps_per_s`, each process states that it counted so many interruptions,
    and with `taken` that they took this share of the time. From the shortest to the longest batch,
    the cost of one more operation grows by the share `bend`. In the first part of each process,
    which is this share of its samples, an operation takes longer by the share `slower_at_first`.
    """

    overhead: float = 50.0
    cost: float = 0.73
    step: int = 1
    noise: float = 2.0
    tail: float = 0.0
    tail_length: float = 4000.0
    interrupted_every: float = float("inf")
    interruption: float = 0.0
    own_every: float = float("inf")
    own: float = 0.0
    gaps_per_s: int | None = None
    taken: float | None = None
    slow: float = 0.0
    slow_share: float = 0.0
    drift: float = 0.0
    process_spread: float = 0.0
    speed_spread: float = 0.0
    slower_processes: int = 0
    slower_by: float = 0.1
    slower: tuple[float, ...] = ()
    skew: float = 0.0
    skew_by_length: float = 0.0
    pareto: float = 0.0
    pareto_by_length: float = 0.0
    declared_step: int = 0
    rounds: int = 0
    hidden: float = 0.0
    bend: float = 0.0
    only_stores: bool = False
    preempted: float = 0.0
    time_slice: float = 0.0
    first_part: float = 0.1
    slower_at_first: float = 0.0
    neighbour: float = 0.0
    neighbour_stretches: tuple[tuple[float, float], ...] = ()
    processes: int = 10
    samples: int = 3000
    batches: tuple[int, ...] = (0, 64, 128, 256, 512)
    frequency_hz: float = 2.6e9

    @property
    def mean_cost(self) -> float:
        """The true cost of an operation, with what it does now and then."""
        return self.cost + self.own / self.own_every

    @property
    def chord(self) -> float:
        """The true cost of an operation between the shortest and the longest batch."""
        return self.mean_cost + self.cost * self.bend / 2

    @property
    def intercept(self) -> float:
        """The true intercept of the mean sample, disturbances by interrupts left out."""
        return self.overhead + self.slow * self.slow_share + self.skew


#: What a machine may do to the samples, apart from the step of its counter.
DISTURBANCES = {
    "quiet": Machine(),
    "drift": Machine(drift=3.0, process_spread=1.5),
    "heavy tails": Machine(tail=0.02),
    "interruptions": Machine(interrupted_every=1200.0, interruption=7000.0),
    "two modes": Machine(slow=8.0, slow_share=0.4),
    "processes differ": Machine(process_spread=1.5, speed_spread=0.005),
}

STEPS = (1, 8, 26, 108)


def run(machine: Machine, seed: int, speeds: NDArray[np.float64] | None = None) -> Recording:
    """One run of `machine`, every sample decided by `seed`.

    `speeds`, shape (processes,), are the shares by which its processes are slower, where another
    variant of the same run has met them too.
    """
    random = np.random.default_rng(seed)
    each = machine.samples // machine.processes
    count = each * machine.processes
    process = np.repeat(np.arange(machine.processes), each)
    sample = np.tile(np.arange(each), machine.processes)
    # Shuffled blocks, as the harness lays them: every batch size once in each.
    blocks = -(-each // len(machine.batches)) * machine.processes
    order = random.permuted(np.tile(machine.batches, (blocks, 1)), axis=1)
    batch = order.reshape(machine.processes, -1)[:, :each].reshape(-1)
    layout = random.normal(0, machine.process_spread, machine.processes)
    speed = 1 + random.normal(0, machine.speed_spread, machine.processes)
    if speeds is not None:
        speed = 1 + speeds
    slower = np.zeros(machine.processes, dtype=np.bool_)
    if machine.slower_processes:
        slower[random.permutation(machine.processes)[: machine.slower_processes]] = True
        speed[slower] *= 1 + machine.slower_by
    if machine.slower:
        speed *= 1 + np.array(machine.slower)
    work = machine.cost * (batch + machine.bend * _bent(batch, machine))
    seen = work - np.clip(work, 0, machine.hidden)
    at_first = sample < machine.first_part * each
    seen = seen * speed[process] * (1 + machine.slower_at_first * at_first)
    length = machine.overhead + seen + layout[process]
    length += random.normal(0, machine.noise, count)
    length += machine.drift * (np.arange(count) / count - 0.5)
    length += machine.slow * (random.random(count) < machine.slow_share)
    length += np.where(
        random.random(count) < machine.tail, random.exponential(machine.tail_length, count), 0
    )
    if machine.skew or machine.skew_by_length:
        length += random.exponential(1, count) * (machine.skew + machine.skew_by_length * work)
    if machine.pareto or machine.pareto_by_length:
        length += random.pareto(1.5, count) * (machine.pareto + machine.pareto_by_length * work)
    if machine.own:
        length += machine.own * random.poisson(batch / machine.own_every)
    if machine.interruption:
        length += machine.interruption * random.poisson(
            np.maximum(length, 0) / machine.interrupted_every
        )
    lost = length > run_conditions.SHORTEST_S * machine.frequency_hz
    if machine.preempted:
        lost &= random.random(count) < machine.preempted
        length += machine.time_slice * lost
    place = np.arange(count) / count
    for begin, end in machine.neighbour_stretches:
        length += machine.neighbour * ((begin <= place) & (place < end))
    phase = random.uniform(0, machine.step, count)
    ticks = np.floor((phase + np.maximum(length, 0)) / machine.step).astype(np.int64) * machine.step
    made = recording(machine, process, sample, batch, ticks)
    if machine.preempted:
        made = _marked(made, lost)
    return with_rounds(made, machine, slower, random) if machine.rounds else made


def _marked(made: Recording, lost: NDArray[np.bool_]) -> Recording:
    """The recording, in which each process states which of its samples were preempted."""
    processes = []
    for number, conditions in enumerate(made.processes):
        marks = " ".join(map(str, made.sample[lost & (made.process == number)]))
        processes.append(MappingProxyType({**conditions, run_conditions.PREEMPTED_KEY: marks}))
    return replace(made, processes=tuple(processes))


def _bent(batch: Integers, machine: Machine) -> Floats:
    """How many operations longer a batch is for each unit of `bend`."""
    timed = [k for k in machine.batches if k] or [0]
    shortest, longest = min(timed), max(timed)
    beyond = np.clip(batch - shortest, 0, None).astype(np.float64)
    return beyond**2 / (2 * max(longest - shortest, 1))


def with_rounds(
    made: Recording, machine: Machine, slower: NDArray[np.bool_], random: np.random.Generator
) -> Recording:
    """The recording with rounds of the core's width, spread over each process from before its first
    sample to after its last; `slower`, shape (processes,), are those that share the core."""
    each = machine.samples // machine.processes
    after = np.linspace(-1, each - 1, machine.rounds).astype(int)
    processes = []
    for number, conditions in enumerate(made.processes):
        place = (number * each + np.clip(after, 0, None)) / (machine.processes * each)
        shared = np.full(machine.rounds, slower[number])
        for begin, end in machine.neighbour_stretches:
            shared |= (begin <= place) & (place < end)
        share = np.where(shared, 0.85 if machine.only_stores else 0.5, 1)
        share *= 1 - abs(random.normal(0, 0.01, len(after)))
        stated = {}
        if machine.only_stores:
            stated["core_stores"] = " ".join(f"{WHOLE_STORES * x:.2f}" for x in share)
            share[:] = 1
        width = _as_counted(WHOLE_WIDTH * share, machine, random)
        stated["core_width"] = " ".join(f"{x:.2f}" for x in width)
        processes.append(MappingProxyType({**conditions, **stated}))
    conditions = {**made.conditions, "core_width.after": " ".join(map(str, after))}
    return replace(made, conditions=MappingProxyType(conditions), processes=tuple(processes))


def _as_counted(width: Floats, machine: Machine, random: np.random.Generator) -> Floats:
    """Widths as a counter with this step gives them: from the lengths of a chain of additions and
    of as many independent ones."""
    chain = np.full(len(width), ADDITIONS_IN_ROUND * CORE_CYCLE_TICKS)
    whole_steps = [
        np.floor(random.uniform(0, 1, len(width)) + length / machine.step)
        for length in (chain, chain / width)
    ]
    counted: Floats = whole_steps[0] / np.maximum(whole_steps[1], 1)
    return counted


def recording(
    machine: Machine, process: Integers, sample: Integers, batch: Integers, ticks: Integers
) -> Recording:
    """A recording of these samples, described as `machine` would describe itself."""
    conditions = {
        "counter": "tsc",
        "counter.frequency_hz": str(machine.frequency_hz),
        "counter.step": str(machine.declared_step or machine.step),
        "core_cycle_ticks": str(CORE_CYCLE_TICKS),
        f"clock.{VARIANT}.frequency_hz": str(machine.frequency_hz),
        f"clock.{VARIANT}.step": str(machine.declared_step or machine.step),
        "cpu.asked": "1",
        "cpu.after": "1",
        "task.main.migrations": "0",
    }
    gaps = {} if machine.gaps_per_s is None else {"cpu.gaps_per_s": str(machine.gaps_per_s)}
    if machine.taken is not None:
        gaps["cpu.taken"] = str(machine.taken)
    each = tuple(MappingProxyType({"seed": str(n + 1), **gaps}) for n in range(machine.processes))
    columns = [column.astype(np.int64) for column in (process, sample, batch, ticks)]
    made = Recording(
        "timer_overhead",
        MappingProxyType(conditions),
        each,
        (VARIANT,),
        np.zeros(len(ticks), dtype=np.int64),
        *columns,
    )
    return as_declared(made)


#: An operation, the baseline that it contains, and how the net cost follows from them.
OPERATION = Machine(overhead=50, cost=9.0, samples=1200, batches=(16, 32, 64, 128))
BASELINE = Machine(overhead=50, cost=2.5, samples=1200, batches=(16, 32, 64, 128))


def with_baseline(
    operation: Machine,
    baseline: Machine,
    seed: int,
    *,
    times: float = 1,
    parts: float = 1,
    kernel: str = "system_call",
    more: Mapping[str, str] | None = None,
    speeds: NDArray[np.float64] | None = None,
) -> Recording:
    """One run of an operation and its baseline, interleaved; `speeds` as in `run`, for both."""
    one, other = (run(m, 2 * seed + i, speeds) for i, m in enumerate((operation, baseline)))
    conditions = {
        **one.conditions,
        **{key.replace(VARIANT, "operation"): v for key, v in one.conditions.items()},
        **{key.replace(VARIANT, "alone"): v for key, v in other.conditions.items()},
        "variants": "operation",
        "variant.operation.parts": f"{parts}",
        "variant.operation.baseline": "alone",
        "variant.operation.baseline_times": f"{times}",
        "variant.alone.parts": "1",
    }

    def in_turns(name: str) -> Integers:
        both: Integers = np.stack([getattr(one, name), getattr(other, name)], axis=1).reshape(-1)
        return both

    made = replace(
        one,
        conditions=MappingProxyType(conditions),
        variants=("operation", "alone"),
        variant_index=np.tile([0, 1], len(one)).astype(np.int64),
        sample=np.stack([2 * one.sample, 2 * other.sample + 1], axis=1).reshape(-1),
        process=in_turns("process"),
        batch=in_turns("batch"),
        ticks=in_turns("ticks"),
    )
    declared = as_declared(made, kernel)
    return replace(declared, conditions=MappingProxyType({**declared.conditions, **(more or {})}))


def coverage(machine: Machine, runs: int, first_seed: int = 1) -> tuple[float, float, float]:
    """Shares of runs whose interval holds the true intercept, the true cost, and that are lines."""
    lines = [line_of(run(machine, first_seed + i)) for i in range(runs)]
    return (
        sum(line.overhead.contains(machine.intercept) for line in lines) / runs,
        sum(line.cost.contains(machine.cost) for line in lines) / runs,
        sum(line.straight for line in lines) / runs,
    )


def line_of(simulated: Recording) -> Line:
    """The line of a simulated recording."""
    return fit_line(simulated, VARIANT)


def with_step(machine: Machine, step: int) -> Machine:
    """The same machine with a counter of another step."""
    return replace(machine, step=step)
