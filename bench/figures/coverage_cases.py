"""The simulated machines of the benchmark `coverage`: what is disturbed, and which truth is held.

A cost is judged on an operation (9 ticks, batches of 16 to 128, 1,200 samples), an overhead on a
timer (50 ticks, 3,000 samples).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum

import numpy as np

from labs.recording.file import Recording
from support import simulate
from support.declarations import as_declared
from support.simulate import BASELINE, DISTURBANCES, OPERATION, STEPS, Machine

#: The steps of the counter for most cases, in ticks.
FEW_STEPS = (1, 26, 108)
#: Where processes differ by more than any step does.
ONE_STEP = (26,)
#: Ticks in a microsecond of the timer's counter.
MICROSECOND = 2600
#: So many rounds of the core's width each process takes (kernels_c/core_rounds.h).
ROUNDS = 41


class Truth(str, Enum):
    """What of a run is held against the truth. `UNSHARED` is the cost on a core that nothing else
    uses, where the run never had such a core: the value is then above it. `CHORD` is the slope from
    the shortest to the longest batch, where the cost grows between them. `DRIFT` is what the run
    reports as a change of the cost within its processes, as a share of the cost."""

    OVERHEAD = "overhead"
    COST = "cost"
    NET = "net cost"
    UNSHARED = "unshared cost"
    CHORD = "chord"
    DRIFT = "drift"


BOTH = (Truth.OVERHEAD, Truth.COST)
COST = (Truth.COST,)


@dataclass(frozen=True)
class Case:
    """A simulated machine and what of it is held against the truth; what is only `shown` is printed
    and not judged, for the reason `why_not`.

    The net cost is that of `machine` less `times` the `baseline`, divided by `times`; with `alike`,
    a process that is slower is so for both. `factor` is what the tail of a cost multiplies it by.
    """

    name: str
    machine: Machine
    held: tuple[Truth, ...] = BOTH
    shown: tuple[Truth, ...] = ()
    why_not: str = ""
    kernel: str = "timer_overhead"
    baseline: Machine | None = None
    times: float = 1.0
    alike: bool = False
    factor: float = 1.0

    def truth(self, what: Truth) -> float:
        """The true value, in ticks; of a drift, by how much the cost really changed."""
        if what is Truth.OVERHEAD:
            return self.machine.intercept
        if what is Truth.CHORD:
            return self.machine.chord
        if what is Truth.DRIFT:
            return -self.machine.slower_at_first
        if what is Truth.NET and self.baseline is not None:
            return (self.machine.cost - self.times * self.baseline.cost) / self.times
        return self.machine.mean_cost * self.factor

    def recording(self, seed: int) -> Recording:
        """One run, every sample decided by `seed`."""
        if self.baseline is None:
            return as_declared(simulate.run(self.machine, seed), self.kernel)
        speeds = None
        if self.alike:
            speeds = np.random.default_rng(seed).normal(0, 0.005, self.machine.processes)
        return simulate.with_baseline(
            self.machine, self.baseline, seed, times=self.times, parts=self.times, speeds=speeds
        )


def all_cases() -> tuple[Case, ...]:
    """Every case with every counter that it is seen by, as today's recordings record it."""
    cases = (
        *_of_timers(),
        *_of_operations(),
        *_that_change(),
        *_of_gaps(),
        *_of_own_delays(),
        *_of_other_programs(),
        *_net(),
    )
    return tuple(
        replace(
            case,
            machine=_recorded(case.machine),
            baseline=None if case.baseline is None else _recorded(case.baseline),
        )
        for case in cases
    )


def _recorded(machine: Machine) -> Machine:
    """The machine with rounds of the core's width, and with what it counts of interruptions."""
    gaps = machine.gaps_per_s
    if gaps is None:
        gaps = round(max(machine.frequency_hz / machine.interrupted_every, 500.0))
    return replace(machine, rounds=ROUNDS, gaps_per_s=gaps)


def _stepped(case: Case, steps: tuple[int, ...] = FEW_STEPS) -> list[Case]:
    """The case with counters of these steps."""
    found = []
    for step in steps:
        baseline = None if case.baseline is None else replace(case.baseline, step=step)
        machine = replace(case.machine, step=step)
        found.append(replace(case, machine=machine, baseline=baseline))
    return found


def _of_timers() -> list[Case]:
    timer = Machine()
    found = [
        each
        for name, machine in DISTURBANCES.items()
        for each in _stepped(Case(name, machine), STEPS)
    ]
    visited = replace(timer, neighbour=11.0, neighbour_stretches=((0.1, 0.3), (0.55, 0.75)))
    found += _stepped(Case("a neighbour 40 % of the time", visited))
    nearly_all = replace(timer, interrupted_every=180.0, interruption=7000.0)
    found += _stepped(Case("interruptions in 91 % of the longest", nearly_all), STEPS[:3])
    found += _stepped(Case("400 samples, 10 processes", replace(timer, samples=400)))
    found += _stepped(Case("skewed tail", replace(timer, skew=6.0)))
    no_mean = "an overhead with a Pareto tail, which has no agreed value"
    pareto = Case("Pareto tail", replace(timer, pareto=3.0), COST, (Truth.OVERHEAD,), no_mean)
    found += _stepped(pareto, FEW_STEPS[1:])
    no_variance = "a Pareto tail in whole ticks: where it is cut off, a tick decides"
    found += _stepped(replace(pareto, held=(), shown=BOTH, why_not=no_variance), FEW_STEPS[:1])
    for step, declared in ((26, 1), (108, 1), (108, 26)):
        coarser = replace(timer, step=step, declared_step=declared)
        found.append(Case(f"coarser than declared ({declared})", coarser))
    return found


def _operation(name: str, machine: Machine, steps: tuple[int, ...] = FEW_STEPS) -> list[Case]:
    return _stepped(Case(name, machine, COST, kernel="procedure_call"), steps)


def _shown(name: str, machine: Machine, why_not: str, factor: float = 1.0) -> list[Case]:
    only_shown = Case(name, machine, (), COST, why_not, "procedure_call", factor=factor)
    return _stepped(only_shown, ONE_STEP)


def _of_operations() -> list[Case]:
    found: list[Case] = []
    for slower, of in ((1, 5), (2, 6), (1, 10), (2, 10), (4, 10), (6, 10)):
        machine = replace(OPERATION, processes=of, slower_processes=slower)
        found += _operation(f"{slower} of {of} slower by 10 %", machine)
    for layout in (0.015, 0.03, 0.05):
        found += _operation(f"layout {layout:.1%}", replace(OPERATION, speed_spread=layout))
    for layout in (0.015, 0.03, 0.05):
        for slower in (1, 2, 4, 6):
            machine = replace(OPERATION, slower_processes=slower, speed_spread=layout)
            found += _operation(f"{slower} of 10 slower, layout {layout:.1%}", machine, ONE_STEP)
    for more in (0.1, 0.4, 1.4):
        machine = replace(OPERATION, slower_processes=10, slower_by=more, speed_spread=0.015)
        always = Case(f"all slower by {more:.0%}", machine, (Truth.UNSHARED,))
        found += _stepped(replace(always, kernel="procedure_call"), ONE_STEP)
    cheaper = replace(OPERATION, slower_processes=1, slower_by=-0.02)
    found += _operation("one process 2 % cheaper", cheaper)
    why_not = "a tail that grows with the length: rare samples decide its mean"
    machine = replace(OPERATION, skew_by_length=0.05)
    found += _shown("tail by length, 5 %", machine, why_not, 1.05)
    why_not = "a Pareto tail by length, whose mean few samples decide; shown by its median"
    machine = replace(OPERATION, pareto_by_length=0.05)
    found += _shown("Pareto by length, 5 %", machine, why_not, 1 + 0.05 * (2 ** (2 / 3) - 1))
    return found


def _that_change() -> list[Case]:
    """A cost that grows with the batch, or that changes while a process runs, or that does not."""
    bent = Case("a slight bend", replace(OPERATION, bend=0.02), (Truth.CHORD,))
    every = [bent]
    for name, part, more in (
        ("a first half slower by 5 %", 0.5, 0.05),
        ("no part slower", 0.0, 0.0),
    ):
        machine = replace(OPERATION, first_part=part, slower_at_first=more)
        every.append(Case(name, machine, (Truth.DRIFT,)))
    return [each for case in every for each in _stepped(replace(case, kernel="procedure_call"))]


def _of_gaps() -> list[Case]:
    """5 us every 70 us, where the longest interval lasts so many us."""
    found: list[Case] = []
    for share, longest_us in ((15, 11.4), (62, 67.7), (88, 148.4)):
        machine = replace(
            Machine(),
            cost=longest_us * MICROSECOND / 64,
            batches=(8, 16, 32, 64),
            interrupted_every=70.0 * MICROSECOND,
            interruption=5.0 * MICROSECOND,
        )
        found += _stepped(Case(f"gaps in {share} % of the longest", machine))
        noisy = replace(machine, noise=0.4 * MICROSECOND)
        below = "an overhead of 50 ticks under a noise of 1,040"
        name = f"gaps in {share} %, noise 0.4 us"
        found += _stepped(Case(name, noisy, COST, (Truth.OVERHEAD,), below))
        missed = replace(machine, gaps_per_s=10_000)
        found += _stepped(Case(f"gaps in {share} %, fewer counted beside", missed))
    return found


def _of_own_delays() -> list[Case]:
    """An operation of 0.6 us, one in 20 of which takes 2.3 us longer, alone and next to a host that
    interrupts it for as long. It does so 1.25 times as often as was counted beside."""
    machine = replace(
        OPERATION,
        cost=0.6 * MICROSECOND,
        batches=(12, 18, 24),
        noise=0.01 * MICROSECOND,
        own_every=20.0,
        own=2.3 * MICROSECOND,
        gaps_per_s=500,
    )
    found = _operation("one in 20 takes longer", machine)
    shorter = replace(machine, batches=(4, 6, 8))
    found += _operation("one in 20 takes longer, short", shorter)
    every, length = 200 * MICROSECOND, 2.3 * MICROSECOND
    host = replace(machine, interrupted_every=every, interruption=length, gaps_per_s=4_000)
    alike = "interruptions as long as delays that most samples hold: 1.15 % of the time"
    return found + _shown("one in 20 takes longer, interrupted too", host, alike)


def _of_other_programs() -> list[Case]:
    """A neighbour that waits for memory, so that only the stores show it; and time slices of 4 ms
    that others take from samples of 0.3 to 2.4 ms."""
    found = []
    for slower in (2, 6):
        waits = replace(OPERATION, slower_processes=slower, only_stores=True, speed_spread=0.005)
        found += _operation(f"{slower} of 10 beside one that waits for memory", waits)
    for share in (0.3, 0.7):
        long = replace(
            OPERATION,
            cost=300.0 * MICROSECOND,
            batches=(1, 2, 4, 8),
            noise=3.0 * MICROSECOND,
            speed_spread=0.005,
            preempted=share,
            time_slice=4_000.0 * MICROSECOND,
        )
        found += _operation(f"{share:.0%} of long samples preempted", long)
    return found


def _net() -> list[Case]:
    found: list[Case] = []
    for name, machine in (*DISTURBANCES.items(), ("slower alike", Machine())):
        operation, baseline = (
            replace(machine, cost=each.cost, samples=each.samples, batches=each.batches)
            for each in (OPERATION, BASELINE)
        )
        case = Case(f"net: {name}", operation, (Truth.NET,), baseline=baseline, times=2)
        found += _stepped(replace(case, alike=name == "slower alike"), STEPS)
    small = replace(OPERATION, cost=BASELINE.cost + 0.2)
    return found + _stepped(Case("net: 0.2 ticks", small, (Truth.NET,), baseline=BASELINE))


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


#: Machines on which the model T(k) = overhead + k * cost does not hold.
MISFITS: dict[str, Callable[[Machine, int], Recording]] = {
    "unfenced": _unfenced,
    "a knee": _knee,
    "bent": _bent,
}
