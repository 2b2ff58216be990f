"""Recordings as honest students would have them: real, disturbed, emulated, by other counters."""

from __future__ import annotations

import random
import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

import numpy as np

from bench import machine
from labs import paths
from labs.c_kernels import toolchain
from labs.machine import surroundings
from labs.recording.file import Recording
from labs.run import measure, variants
from labs.run.c_process import gather, parse_run
from support.programs import call


@dataclass(frozen=True)
class Counter:
    """A counter of another machine: its step, and its frequency, None for that of this one."""

    name: str
    step: int
    frequency_hz: float | None = None


#: As met on virtual machines (26, 108), on Apple silicon (24 MHz), and on faster parts.
COUNTERS = (
    Counter("step of 8", 8),
    Counter("step of 26", 26),
    Counter("step of 108", 108),
    Counter("24 MHz", 1, 24e6),
    Counter("1 GHz", 1, 1e9),
    Counter("5 GHz", 2, 5e9),
)


#: What a C kernel states in ticks beside its samples.
_IN_TICKS = re.compile(r"variant\.[a-z0-9_-]+\.beside_(own|kit|its_calls)")


@dataclass(frozen=True)
class Circumstance:
    """What a student's machine was like: `busy` other processes that compute all the time."""

    name: str
    busy: int = 0
    counter: Counter | None = None
    emulated: bool = False


def samples_for(kernel: str, chance: random.Random) -> int:
    """From 200 to 100,000, mostly few; of what takes long never more than five times the usual."""
    wanted = int(10 ** chance.choice([2.31, 2.5, 2.7, 3.0, 3.3, 4.0]))
    if kernel in ("timer_overhead", "system_call", "procedure_call"):
        return 100_000 if chance.random() < 0.02 else wanted
    return min(wanted, 5 * variants.listing_of(measure.Plan(kernel))[0].samples)


def real(plan: measure.Plan) -> Recording:
    """A run on this machine, as it is just now."""
    return measure.measure_now(plan)


def placed_at_random(plan: measure.Plan, chance: random.Random) -> measure.Plan:
    """Pinned or not, as it comes."""
    cpus = machine.cpus()
    return replace(plan, cpu=chance.choice([None, None, *cpus]))


def seen_by(recording: Recording, counter: Counter, seed: int) -> Recording:
    """The same run as another counter would have shown it.

    A sample begins anywhere between two steps of the counter, because the harness waits for a
    random time before it: so each length is cut at a random phase.
    """
    ratio, step = 1.0, counter.step
    mine_hz = recording.number("counter.frequency_hz")
    if counter.frequency_hz is None:
        step *= int(recording.number("counter.step") or 1) or 1
    elif mine_hz:
        ratio = counter.frequency_hz / mine_hz
    own = [name for name in recording.variants if _reads_the_counter(recording, name)]
    mine = np.isin(recording.variant_index, [recording.variants.index(name) for name in own])
    phase = np.random.default_rng(seed).random(len(recording))
    ticks = np.floor(recording.ticks * ratio / step + phase).astype(np.int64) * step
    factors = {"counter.frequency_hz": ratio, "core_cycle_ticks": ratio, "counter.overhead": ratio}
    steps = {"counter.step": str(step)}
    for name in own:
        factors[f"clock.{name}.frequency_hz"] = ratio
        steps[f"clock.{name}.step"] = str(step)

    def changed(conditions: Mapping[str, str]) -> Mapping[str, str]:
        new = dict(conditions)
        for key in new:
            if factor := factors.get(key, ratio if _IN_TICKS.fullmatch(key) else 0.0):
                new[key] = f"{float(new[key]) * factor:.5f}"
        new.update({key: value for key, value in steps.items() if key in new})
        new.pop("core_cycle_ticks.last_hour", None)
        return MappingProxyType(new)

    return replace(
        recording,
        ticks=np.where(mine, ticks, recording.ticks),
        conditions=changed(recording.conditions),
        processes=tuple(changed(process) for process in recording.processes),
    )


def _reads_the_counter(recording: Recording, variant: str) -> bool:
    names = recording.condition(f"clock.{variant}.name")
    return not names or set(names) <= set(recording.condition("counter"))


class NoEmulator(RuntimeError):
    """There is no cross compiler or no emulator here."""


def emulated(plan: measure.Plan) -> Recording:
    """A run on an emulated aarch64. Raises NoEmulator, and what a run raises."""
    compiler = shutil.which("aarch64-linux-gnu-gcc")
    emulator = shutil.which("qemu-aarch64-static") or shutil.which("qemu-aarch64")
    if compiler is None or emulator is None:
        raise NoEmulator("aarch64-linux-gnu-gcc or qemu-aarch64 is not installed")
    text = plan.source
    if text is None:
        text = toolchain.c_kernel_source(plan.kernel).read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        source, program = Path(folder) / f"{plan.kernel_name}.c", Path(folder) / "program"
        source.write_text(text, encoding="utf-8")
        command = [compiler, "-static", "-std=gnu11", "-pthread", *plan.flags]
        for included in (paths.kernels_c(), paths.kernels_c() / "broken"):
            command += ["-I", str(included)]
        command += [str(source), "-o", str(program), "-lm"]
        built = call(*command)
        if built.returncode != 0:
            raise RuntimeError(f"does not compile for aarch64: {built.stderr.strip()[:300]}")
        share = max(plan.samples // plan.processes, 1)
        words = [emulator, str(program), "--samples", str(share)]
        words += ["--variant", ",".join(plan.variants)] if plan.variants else []
        words += ["--cpu", str(plan.cpu)] if plan.cpu is not None else []
        runs = []
        for _ in range(plan.processes):
            done = subprocess.run(words, check=False, capture_output=True, timeout=120)
            if done.returncode != 0:
                said = done.stderr.decode("utf-8", "replace").strip().splitlines()[-1:]
                raise RuntimeError(f"status {done.returncode}: {' '.join(said)}")
            runs.append(parse_run(done.stdout, where=plan.kernel_name))
    conditions = {
        "command": plan.command_line(),
        "source.sha256": toolchain.source_hash(text),
        "flags": " ".join(plan.flags),
        **surroundings.machine_conditions(),
    }
    return gather(conditions, runs, plan.kernel_name)
