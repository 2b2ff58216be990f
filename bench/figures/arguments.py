"""Are 6, 8 and 12 arguments distinguishable, on this counter and on one that steps by 26 ticks?

Fewer arguments cost no more than 6 on some cores (AMD EPYC: 4.00 cycles for 0 and for 6 at -O0).

The counter of 26 is made of the real one: all samples of the real recording are cut down to
multiples of 26, each from a phase of its own, as a counter with that step would have shown them.

They are distinguishable in core cycles: all counts of a run meet the same clock speeds, and each
process counts its samples in its own core cycles. In ns the clock speeds
that the processes met are part of the interval. Both are printed. Where the length of a core cycle
is not known, ns is all there is.
"""

from __future__ import annotations

import dataclasses
import itertools
from types import MappingProxyType

import numpy as np

from bench import command
from bench.command import CannotRun
from bench.report import must_hold, say, verdict
from labs.recording.file import Recording
from labs.results.result import result_of
from labs.units import NAMES

COUNTS = (6, 8, 12)
STEP = 26


def run(quick: bool) -> bool:
    """Several recordings, each as it is and coarsened."""
    must_hold(
        "6, 8, 12 arguments at -O0: intervals in core cycles that do not touch, also at a step "
        "of 26"
    )
    variants = ",".join(f"args{count}" for count in COUNTS)
    apart = {"as recorded": 0, f"step {STEP}": 0}
    rounds = 2 if quick else 5
    for number in range(rounds):
        try:
            recorded = command.record("procedure_call", "--variant", variants, "--flags=-O0")
        except CannotRun as error:
            return verdict(False, str(error))
        for name, recording in zip(
            apart, (recorded, coarsened(recorded, STEP, number)), strict=True
        ):
            unit = "cycles" if recording.clock(f"args{COUNTS[0]}").core_cycle_ticks else "ns"
            apart[name] += _are_apart(_intervals(recording, unit))
            if number == 0:
                for shown in dict.fromkeys((unit, "ns")):
                    intervals = _intervals(recording, shown)
                    words = ", ".join(f"{v:.3f} [{low:.3f} {hi:.3f}]" for v, low, hi in intervals)
                    touch = "" if _are_apart(intervals) else " (these touch)"
                    say(f"   {name}: {words} {NAMES[shown]}{touch}")
    counts = ", ".join(f"{name}: {count} of {rounds}" for name, count in apart.items())
    return verdict(all(count == rounds for count in apart.values()), f"distinguishable: {counts}")


def coarsened(recording: Recording, step: int, seed: int) -> Recording:
    """The recording as a counter with that step would have shown it."""
    phase = np.random.default_rng(seed).integers(0, step, len(recording))
    ticks = (recording.ticks + phase) // step * step
    stated = {"counter.step": str(step)}
    stated |= {f"clock.{name}.step": str(step) for name in recording.variants}
    processes = tuple(
        MappingProxyType({key: text for key, text in process.items() if key not in stated})
        for process in recording.processes
    )
    conditions = MappingProxyType({**recording.conditions, **stated})
    return dataclasses.replace(recording, ticks=ticks, conditions=conditions, processes=processes)


def _are_apart(intervals: list[tuple[float, float, float]]) -> bool:
    """Whether no two of these values with low and high have intervals that touch."""
    return all(
        one[2] < other[1] or other[2] < one[1]
        for one, other in itertools.combinations(intervals, 2)
    )


def _intervals(recording: Recording, unit: str) -> list[tuple[float, float, float]]:
    """Value, low and high of each count; where there is no figure, all of the line."""
    found = []
    for count in COUNTS:
        estimate = result_of(recording, f"args{count}", unit).estimate
        if estimate is None:
            found.append((float("nan"), float("-inf"), float("inf")))
        else:
            found.append((estimate.value, estimate.low, estimate.high))
    return found
