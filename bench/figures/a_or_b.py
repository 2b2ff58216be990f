"""`labs compare A B`: how often it sees a difference where there is none, and finds a small one.

Each of ten operations is compared with itself, and with itself made slower: by additions that wait
for it, so many core cycles (bench/figures/a_or_b.c). All comparisons take turns, first with the
machine as it is (1 % slower) and then with one more busy program (3 % slower). An operation is
steady if half of the interval of its ratio to itself is at most half of the slowdown, in the
median: then the interval of a slower one nearly always lies above 1. Others are named.

Where hyperfine is installed, it compares the same programs, each with so many samples that it takes
about 50 ms. It states a ratio with an error, and we take it to see a difference if the ratio is
more than two of its errors away from 1.
"""

from __future__ import annotations

import json
import shutil
import statistics
import subprocess
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Any

from bench import command, machine
from bench.command import CannotRun
from bench.report import must_hold, say, show, verdict
from labs.c_kernels import toolchain
from labs.run import variants

SOURCE = Path(__file__).with_suffix(".c")
#: Slower by these shares: one that a quiet machine finds, and one that a busy machine finds.
SHARES = (0.01, 0.03)
FOUND, FALSE_ALARMS = 0.95, 0.01
#: How often, for --quick and else: 20 times ten operations are 200 comparisons.
ROUNDS = {True: 1, False: 20}
#: Of one program that hyperfine starts.
HYPERFINE_SAMPLES = {"switch": 500, "far": 500, "sort": 1000}


def run(quick: bool) -> bool:
    """All comparisons, in turns."""
    must_hold(
        f"at most {FALSE_ALARMS:.0%} of A/A comparisons differ; of steady operations {FOUND:.0%} "
        f"are found 1 % slower, on a busy machine 3 % slower"
    )
    names = [each.name for each in variants.of_kernel(str(SOURCE)) if not each.missing]
    extra = {name: _cycles(name) for name in names}
    held = []
    for busy in (0, 1):
        say(f"   with {busy} more busy programs")
        with machine.busy(busy):
            held.append(_in_turns(names, extra, ROUNDS[quick], SHARES[busy]))
    _beside_hyperfine(names, extra, ROUNDS[quick])
    return all(held)


def _cycles(name: str) -> float:
    """What the operation costs, in core cycles."""
    return float(command.measure(f"{SOURCE}", "--variant", name, "--unit", "cycles")["value"])


def _flags(share: float, cycles: float) -> str:
    return f"-O2 -DEXTRA={round(share * cycles)}"


def _in_turns(names: list[str], extra: dict[str, float], rounds: int, share: float) -> bool:
    found: dict[tuple[str, float], list[bool]] = defaultdict(list)
    widths: dict[str, list[float]] = defaultdict(list)
    for _ in range(rounds):
        for name in names:
            for each in (0.0, share):
                ratio = _compared(name, _flags(each, extra[name]))
                low, high = ratio["interval"] or (0, 2)
                if each == 0:
                    widths[name].append((high - low) / 2)
                slower = ratio["told_apart"] and (each == 0 or ratio["value"] > 1)
                found[name, each].append(bool(slower))
    steady = [name for name in names if statistics.median(widths[name]) <= share / 2]
    rows = [
        (
            name,
            f"{extra[name]:.0f}",
            *(f"{sum(found[name, each])} of {rounds}" for each in (0.0, share)),
            f"±{statistics.median(widths[name]):.1%}",
            "" if name in steady else "not steady",
        )
        for name in names
    ]
    show(("operation", "cycles", "A/A differ", f"{share:.0%} found", "interval", ""), rows)
    alarms = [each for name in names for each in found[name, 0.0]]
    seen = [each for name in steady for each in found[name, share]]
    figures = (
        f"{sum(alarms)} of {len(alarms)} A/A differ; {share:.0%} slower found in {sum(seen)} of "
        f"{len(seen)} of {len(steady)} steady operations"
    )
    right = sum(alarms) <= FALSE_ALARMS * len(alarms) and sum(seen) >= FOUND * len(seen)
    return verdict(right, figures)


def _compared(name: str, flags: str) -> dict[str, Any]:
    """The entry `ratio` of `labs compare --json`; without a figure, nothing is told apart."""
    side = f"{SOURCE}:{name}"
    try:
        found = command.compare(side, side, f"--flags-a={flags}", "--flags-b=-O2 -DEXTRA=0")
    except CannotRun:
        return {"value": None, "interval": None, "told_apart": False}
    ratio: dict[str, Any] = found["ratio"]
    return ratio


def _beside_hyperfine(names: list[str], extra: dict[str, float], rounds: int) -> None:
    hyperfine = shutil.which("hyperfine")
    if hyperfine is None:
        say("   hyperfine is not installed")
        return
    rows = []
    for name in names:
        seen = []
        for share in (0.0, *SHARES):
            programs = [
                toolchain.build(SOURCE, tuple(flags.split())).path
                for flags in (_flags(share, extra[name]), _flags(0, extra[name]))
            ]
            seen.append(sum(_differ(hyperfine, programs, name) for _ in range(rounds)))
        rows.append((name, *(f"{each} of {rounds}" for each in seen)))
    show(("hyperfine", "A/A differ", "1 % found", "3 % found"), rows)


def _differ(hyperfine: str, programs: list[Path], name: str) -> bool:
    """Whether hyperfine sees the first of two programs slower, or different if they are one."""
    words = f"--variant {name} --samples {HYPERFINE_SAMPLES.get(name, 10_000)} --batch 32"
    with tempfile.TemporaryDirectory() as folder:
        result = Path(folder) / "result.json"
        lines = [f"{program} {words}" for program in programs]
        options = ["-N", "--style", "none", "--export-json", str(result), "--warmup", "3"]
        subprocess.run([hyperfine, *options, *lines], check=True, capture_output=True)
        one, other = json.loads(result.read_text(encoding="utf-8"))["results"]
    ratio = one["mean"] / other["mean"]
    error = ratio * sum((each["stddev"] / each["mean"]) ** 2 for each in (one, other)) ** 0.5
    return bool(ratio - 1 > 2 * error or (programs[0] == programs[1] and 1 - ratio > 2 * error))
