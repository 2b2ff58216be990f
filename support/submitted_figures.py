"""Recordings with a known answer, and figures on them, for the tests of the check."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from grader.evidence.sources import released_sources
from grader.figures import figure_named
from labs.course.figures import Figure
from labs.recording.file import Recording, parse
from support.declarations import as_declared

BATCHES = (0, 64, 128, 256, 512)
COUNTER_HZ = 2.6e9
CYCLE_TICKS = 0.7253


@dataclass(frozen=True)
class Clocked:
    """What a variant's clock really costs, in its own ticks: overhead, and each addition."""

    overhead: float
    cost: float
    frequency_hz: float = COUNTER_HZ
    step: int = 2
    straight: bool = True


FENCED = Clocked(42.6, CYCLE_TICKS)
UNFENCED = Clocked(23.0, CYCLE_TICKS, straight=False)
MONOTONIC = Clocked(16.0, CYCLE_TICKS / 2.6, frequency_hz=1e9, step=1)
PROCESS_CPU = Clocked(201.0, CYCLE_TICKS / 2.6, frequency_hz=1e9, step=1)


def recording(
    variants: Mapping[str, Clocked],
    *,
    kernel: str = "timer_overhead",
    samples: int = 2000,
    processes: int = 10,
    seed: int = 1,
    noise: float = 1.5,
    spikes: float = 0.0,
    extra: Mapping[str, str] | None = None,
    each_process: Mapping[str, str] | None = None,
) -> Recording:
    """A recording as `labs` writes and reads it; `samples` per variant over all processes."""
    random = np.random.default_rng(seed)
    names = tuple(variants)
    rows = []
    for process in range(processes):
        offset = random.normal(0, 0.1)
        count = samples // processes * len(names)
        index = np.arange(count) % len(names)
        batch = np.array(BATCHES)[np.arange(count) // len(names) % len(BATCHES)]
        for place in range(-10, count):
            cold = place < 0
            clocked = variants[names[index[place]]]
            k = int(batch[place])
            worth = k if clocked.straight else max(0, k - 300)
            length = clocked.overhead + offset + clocked.cost * worth
            length += abs(random.normal(0, noise)) + (900 if cold else 0)
            length += 50_000 if random.random() < spikes else 0
            ticks = int((length + random.random() * clocked.step) // clocked.step * clocked.step)
            rows.append(f"{names[index[place]]},{process},{place},{k},{max(ticks, 0)}")
    head = {
        "source.sha256": sorted(released_sources())[0],
        "counter.frequency_hz": f"{COUNTER_HZ}",
        "core_cycle_ticks": f"{CYCLE_TICKS}",
        "cpu.asked": "none",
        "os": "Linux 6.1 x86_64",
    }
    for name, clocked in variants.items():
        head[f"clock.{name}.frequency_hz"] = f"{clocked.frequency_hz}"
        head[f"clock.{name}.step"] = f"{clocked.step}"
    head |= dict(extra or {})
    process_line = "{" + ", ".join(f'"{k}": "{v}"' for k, v in (each_process or {}).items()) + "}"
    text = [f"# ticklab recording: 1\n# kernel: {kernel}\n"]
    text += [f"# {key}: {value}\n" for key, value in head.items()]
    text += [f"# process.{number}: {process_line}\n" for number in range(processes)]
    text.append("variant,process,sample,batch,ticks\n")
    plain = as_declared(parse("".join([*text, *(row + "\n" for row in rows)]).encode()))
    # Written and read once more: with the count and the hash of its samples.
    return parse(plain.as_bytes(), where="recordings/run.csv")


def figure(figure_id: str, value: float, unit: str) -> Figure:
    """The figure as handed in, with a recording named; `figure_id` must be one that is asked."""
    return Figure(figure_named(figure_id).id, value, unit, "recordings/run.csv")


def switching(
    variant: str = "condvar",
    *,
    kernel: str = "thread_switch",
    claim: float = 2.0,
    counted: float = 2.0,
    may_use: str = "0",
    peers: str = "0",
    allowed: str = "0-1",
    faults: int = 0,
    more: dict[str, str] | None = None,
) -> Recording:
    """Round trips of 4 µs; `counted` switches for each of 10,000, where `claim` are claimed."""
    head = {
        f"variant.{variant}.switches": f"{claim:g}",
        f"variant.{variant}.parts": "2",
        f"variant.{variant}.baseline": "alone",
        f"variant.{variant}.baseline_times": "2",
        f"variant.{variant}.operations": "10000",
        f"variant.{variant}.claimed_switches": f"{10_000 * claim:.0f}",
        f"variant.{variant}.counted_switches": f"{10_000 * counted:.0f}",
        f"variant.{variant}.faults": str(faults),
        f"variant.{variant}.cpus": "0",
        f"variant.{variant}.peers_cpus": peers,
        f"variant.{variant}.peers_may_use": may_use,
        "cpu.allowed": allowed,
    }
    # One process of a recording stands for what all of them say alike.
    trips = {variant: Clocked(60.0, 10_400.0), "alone": Clocked(60.0, 1_300.0)}
    return recording(
        trips, kernel=kernel, samples=300, processes=1, noise=40.0, extra=head | (more or {})
    )
