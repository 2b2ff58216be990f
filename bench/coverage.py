"""Do 95 % intervals hold the truth in 95 of 100 runs? By simulated machines whose truth is known.

The machines are those of tests/simulate.py: quiet, drifting, with interrupts, with two modes, with
processes that differ, each seen by counters that step by 1, 8, 26 and 108 ticks. Where the model
T(k) = overhead + k * cost does not hold, no interval can be right: there must be a warning and no
figure. Net costs are held against the truth as well: an operation less twice its baseline, by two.
There is one machine more for these, on which a process that is slower is so for both alike: what is
added to the interval as if the two were independent then holds the truth too often.
"""

from __future__ import annotations

import concurrent.futures
import math
import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from bench.report import must_hold, say, verdict
from labs.analysis.line import fit_line
from labs.analysis.net import net_cost
from labs.recording import Recording
from labs.result import result_of
from tests import simulate
from tests.simulate import Machine

RUNS, RUNS_QUICK = 2_000, 100
LEAST, MOST = 0.92, 0.98
#: The machine on which a process that is slower is so for an operation and its baseline.
ALIKE = "slower alike"
#: Where the model does not hold, at least this share of runs must end without a figure.
LEAST_REFUSED = 0.98


def _bent(machine: Machine, seed: int) -> Recording:
    """The cost grows with k: the 512th operation costs twice as much as the first."""
    recording = simulate.run(machine, seed)
    bend = machine.cost / 512 / 2
    ticks = recording.ticks + (bend * recording.batch**2 + 0.5).astype(recording.ticks.dtype)
    return replace(recording, ticks=ticks)


def _knee(machine: Machine, seed: int) -> Recording:
    """From the 257th operation on, each costs half as much again: a cache that is full."""
    recording = simulate.run(machine, seed)
    more = 0.5 * machine.cost * (recording.batch - 256).clip(0)
    return replace(recording, ticks=recording.ticks + (more + 0.5).astype(recording.ticks.dtype))


def _unfenced(machine: Machine, seed: int) -> Recording:
    """120 ticks of the work are done while the counter is read: a reading without a fence."""
    return simulate.run(replace(machine, hidden=120, samples=10_000), seed)


MISFITS: dict[str, Callable[[Machine, int], Recording]] = {
    "unfenced": _unfenced,
    "a knee": _knee,
    "bent": _bent,
}


def run(quick: bool) -> bool:
    """Every machine with every counter."""
    runs = RUNS_QUICK if quick else RUNS
    with concurrent.futures.ProcessPoolExecutor(os.cpu_count()) as pool:
        return all([_fitting(pool, runs), _net(pool, runs), _misfitting(pool, max(runs // 10, 50))])


def _fitting(pool: concurrent.futures.Executor, runs: int) -> bool:
    slack = 0.0 if runs >= RUNS else 3 * (0.95 * 0.05 / runs) ** 0.5
    must_hold(f"intervals hold the truth in {LEAST:.0%} to {MOST:.0%} of {runs:,} runs")
    if slack:
        say(f"   of {runs} runs, {slack:.1%} more on either side is chance")
    say(f"   {'':18}{'':>6}{'overhead':>10}{'cost':>8}{'a line':>8}")
    shares: list[float] = []
    for name in simulate.DISTURBANCES:
        for step in simulate.STEPS:
            overhead, cost, straight = (
                sum(parts) / runs
                for parts in zip(*_in_parts(pool, _covered, name, step, runs), strict=True)
            )
            shares += [overhead, cost]
            outside = not all(LEAST - slack <= s <= MOST + slack for s in (overhead, cost))
            say(
                f"   {name:<18}{step:>6}{overhead:>10.1%}{cost:>8.1%}{straight:>8.1%}"
                + ("  <- outside" if outside else "")
            )
    held = all(LEAST - slack <= share <= MOST + slack for share in shares)
    return verdict(held, f"{min(shares):.1%} to {max(shares):.1%}")


def _net(pool: concurrent.futures.Executor, runs: int) -> bool:
    slack = 0.0 if runs >= RUNS else 3 * (0.95 * 0.05 / runs) ** 0.5
    must_hold(
        f"intervals of net costs hold the truth in {LEAST:.0%} to {MOST:.0%} of {runs:,} runs"
    )
    say(f"   {'':18}{'':>6}{'net cost':>10}{'as if independent':>20}")
    shares: list[float] = []
    for name in (*simulate.DISTURBANCES, ALIKE):
        for step in simulate.STEPS:
            together, apart = (
                sum(parts) / runs
                for parts in zip(*_in_parts(pool, _net_covered, name, step, runs), strict=True)
            )
            shares.append(together)
            outside = not LEAST - slack <= together <= MOST + slack
            say(
                f"   {name:<18}{step:>6}{together:>10.1%}{apart:>20.1%}"
                + ("  <- outside" if outside else "")
            )
    held = all(LEAST - slack <= share <= MOST + slack for share in shares)
    return verdict(held, f"{min(shares):.1%} to {max(shares):.1%}")


def _misfitting(pool: concurrent.futures.Executor, runs: int) -> bool:
    must_hold("where the model does not hold, a warning and no figure")
    held = []
    for name in MISFITS:
        for step in simulate.STEPS:
            refused = sum(_in_parts(pool, _refused, name, step, runs)) / runs
            held.append(refused >= LEAST_REFUSED)
            say(
                f"   {name:<18}{step:>6}: no figure in {refused:.1%} of {runs} runs"
                + ("" if held[-1] else "  <- too few")
            )
    return verdict(all(held), f"{sum(held)} of {len(held)} cases")


def _in_parts(
    pool: concurrent.futures.Executor, work: Callable[[str, int, int, int], Any], *case: Any
) -> Iterator[Any]:
    """`work` on all runs of a case, in parts of 50."""
    name, step, runs = case
    begins = range(0, runs, 50)
    ends = [min(begin + 50, runs) for begin in begins]
    count = len(begins)
    return pool.map(work, [name] * count, [step] * count, begins, ends)


def _covered(name: str, step: int, begin: int, end: int) -> tuple[int, int, int]:
    """Of these runs: those whose interval holds the overhead, the cost, and that are lines."""
    machine = simulate.with_step(simulate.DISTURBANCES[name], step)
    lines = [simulate.line_of(simulate.run(machine, 1 + seed)) for seed in range(begin, end)]
    return (
        sum(line.overhead.contains(machine.intercept) for line in lines),
        sum(line.cost.contains(machine.cost) for line in lines),
        sum(line.straight for line in lines),
    )


def _net_covered(name: str, step: int, begin: int, end: int) -> tuple[int, int]:
    """Of these runs: those whose interval holds the net cost, and those that one of the two errors
    added as if they were independent would."""
    disturbed = simulate.DISTURBANCES.get(name, Machine())
    operation, baseline = (
        simulate.with_step(
            replace(disturbed, cost=each.cost, samples=each.samples, batches=each.batches), step
        )
        for each in (simulate.OPERATION, simulate.BASELINE)
    )
    truth = (operation.cost - 2 * baseline.cost) / 2
    together = apart = 0
    for seed in range(begin, end):
        speeds = None
        if name == ALIKE:
            speeds = np.random.default_rng(seed).normal(0, 0.005, operation.processes)
        recording = simulate.with_baseline(
            operation, baseline, 1 + seed, times=2, parts=2, speeds=speeds
        )
        net = net_cost(recording, fit_line(recording, "operation"))
        together += net.net.contains(truth)
        assert net.baseline is not None
        error = math.hypot(net.whole.half_width, 2 * net.baseline.half_width) / 2
        apart += abs(net.net.value - truth) <= error
    return together, apart


def _refused(name: str, step: int, begin: int, end: int) -> int:
    """Of these runs: those that give a warning and no figure."""
    machine = simulate.with_step(Machine(), step)
    results = [result_of(MISFITS[name](machine, 1 + seed)) for seed in range(begin, end)]
    return sum(result.estimate is None and bool(result.warnings) for result in results)
