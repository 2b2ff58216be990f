"""`labs compare A B`: how often it sees a difference where there is none, and finds a small one.

Each of ten operations is compared with itself, and with itself made slower by additions that wait
for it (bench/figures/a_or_b.c). How many it takes is measured: where a branch is often foreseen
wrongly, the first few cost nothing. All comparisons take turns, first with the machine as it is
(1 % slower) and then with one more busy program (3 % slower). An operation is steady if half of
the interval of its ratio to itself is at most half of the slowdown, in the median: then the
interval of a slower one nearly always lies above 1. Others are named.

Two other tools then compare the same operations, where they are installed. hyperfine runs the same
programs, each with so many samples that it takes about 50 ms. It states a ratio with an error, and
we take it to see a difference if the ratio is more than two of its errors away from 1. compare.py
of google/benchmark runs 20 repetitions of 0.1 s for each side, about as long as ours take. It sees
a difference if its test of the CPU times gives less than its own limit, 0.05.
"""

from __future__ import annotations

import json
import math
import os
import shutil
import statistics
import subprocess
import tempfile
from collections import defaultdict
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from bench import command, machine
from bench.command import CannotRun
from bench.report import must_hold, say, show, verdict
from labs import paths
from labs.c_kernels import toolchain
from labs.run import variants

SOURCE = Path(__file__).with_suffix(".c")
#: The same operations in google/benchmark, a file of C and one of C++.
FOR_GOOGLE = SOURCE.with_name("a_or_b_google")
#: Slower by these shares: one that a quiet machine finds, and one that a busy machine finds.
SHARES = (0.01, 0.03)
FOUND, FALSE_ALARMS = 0.95, 0.01
#: How often, for --quick and else: 20 times ten operations are 200 comparisons.
ROUNDS = {True: 1, False: 20}
#: The same for another tool, which takes as long again.
ROUNDS_BESIDE = {True: 1, False: 5}
#: Numbers of additions that are tried.
MOST_TRIES = 6
#: Of one program that hyperfine starts.
HYPERFINE_SAMPLES = {"switch": 500, "far": 500, "sort": 1000}
#: google/benchmark's compare.py, where Debian puts it, and a Python that has scipy for it.
COMPARE = os.environ.get("GOOGLE_COMPARE", "/usr/share/benchmark/compare.py")
PYTHON_OF_COMPARE = os.environ.get("GOOGLE_COMPARE_PYTHON", "/usr/bin/python3")
GOOGLE_LIMIT = 0.05


def run(quick: bool) -> bool:
    """All comparisons, in turns."""
    must_hold(
        f"at most {FALSE_ALARMS:.0%} of A/A comparisons differ; of steady operations {FOUND:.0%} "
        f"are found 1 % slower, on a busy machine 3 % slower"
    )
    names = [each.name for each in variants.of_kernel(str(SOURCE)) if not each.missing]
    slower = {share: {name: _additions(name, share) for name in names} for share in SHARES}
    held = []
    for busy, share in enumerate(SHARES):
        say(f"   with {busy} more busy programs")
        with machine.busy(busy):
            held.append(_in_turns(slower[share], ROUNDS[quick], share))
    beside(slower, ROUNDS_BESIDE[quick])
    return all(held)


def _additions(name: str, share: float) -> int:
    """So many that the median of three comparisons is slower by `share` or more."""
    cycles = command.measure(str(SOURCE), "--variant", name, "--unit", "cycles")["value"]
    number: int = math.ceil(share * cycles)
    for _ in range(MOST_TRIES):
        by = _slower_by(name, number)
        if by >= share:
            by = statistics.median((by, _slower_by(name, number), _slower_by(name, number)))
        if by >= share:
            break
        number = math.ceil(number * min(max(share / max(by, 1e-9), 1.1), 2))
    return number


def _slower_by(name: str, additions: int) -> float:
    value = _compared(name, additions)["value"]
    return 0.0 if value is None else float(value) - 1


def _flags(additions: int) -> str:
    return f"-O2 -DEXTRA={additions}"


def _in_turns(slower: dict[str, int], rounds: int, share: float) -> bool:
    names = list(slower)
    found: dict[tuple[str, float], list[bool]] = defaultdict(list)
    widths: dict[str, list[float]] = defaultdict(list)
    slower_by: dict[str, list[float]] = defaultdict(list)
    for _ in range(rounds):
        for name in names:
            for each in (0.0, share):
                ratio = _compared(name, slower[name] if each else 0)
                low, high = ratio["interval"] or (0, 2)
                if each == 0:
                    widths[name].append((high - low) / 2)
                elif ratio["value"] is not None:
                    slower_by[name].append(ratio["value"] - 1)
                seen_slower = ratio["told_apart"] and (each == 0 or ratio["value"] > 1)
                found[name, each].append(bool(seen_slower))
    steady = [name for name in names if statistics.median(widths[name]) <= share / 2]
    rows = [
        (
            name,
            f"{statistics.median(slower_by[name] or [math.nan]):.1%}",
            *(f"{sum(found[name, each])} of {rounds}" for each in (0.0, share)),
            f"±{statistics.median(widths[name]):.1%}",
            "" if name in steady else "not steady",
        )
        for name in names
    ]
    show(("operation", "slower by", "A/A differ", f"{share:.0%} found", "interval", ""), rows)
    alarms = [each for name in names for each in found[name, 0.0]]
    seen = [each for name in steady for each in found[name, share]]
    figures = (
        f"{sum(alarms)} of {len(alarms)} A/A differ; {share:.0%} slower found in {sum(seen)} of "
        f"{len(seen)} of {len(steady)} steady operations"
    )
    right = sum(alarms) <= FALSE_ALARMS * len(alarms) and sum(seen) >= FOUND * len(seen)
    return verdict(right, figures)


def _compared(name: str, additions: int) -> dict[str, Any]:
    """The entry `ratio` of `labs compare --json`; without a figure, nothing is told apart."""
    side, flags = f"{SOURCE}:{name}", (f"--flags-a={_flags(additions)}", f"--flags-b={_flags(0)}")
    try:
        found = command.compare(side, side, *flags)
    except CannotRun:
        return {"value": None, "interval": None, "told_apart": False}
    ratio: dict[str, Any] = found["ratio"]
    return ratio


def beside(slower: dict[float, dict[str, int]], rounds: int) -> None:
    """The same comparisons by the other tools, on the machine as it is."""
    if shutil.which("hyperfine") is None:
        say("   hyperfine is not installed")
    else:
        _by_peer("hyperfine", _program, _differ_by_hyperfine, slower, rounds)
    with tempfile.TemporaryDirectory() as folder:
        try:
            command.run(PYTHON_OF_COMPARE, COMPARE, "--help")
            _google_program(Path(folder), _flags(0))
        except CannotRun as error:
            say(f"   google/benchmark and its compare.py cannot run: {error}")
            return
        build = partial(_google_program, Path(folder))
        _by_peer("compare.py", build, _differ_by_google, slower, rounds)


def _by_peer(
    peer: str,
    build: Callable[[str], Path],
    differ: Callable[[Path, Path, str], float],
    slower: dict[float, dict[str, int]],
    rounds: int,
) -> None:
    """How often a peer says that a program is slower, or that it differs from itself."""
    rows = []
    for name in slower[SHARES[0]]:
        seen = []
        for additions in (0, *(slower[share][name] for share in SHARES)):
            one, other = build(_flags(additions)), build(_flags(0))
            told = [differ(one, other, name) for _ in range(rounds)]
            seen.append(sum(each > 0 or (each < 0 and additions == 0) for each in told))
        rows.append((name, *(f"{each} of {rounds}" for each in seen)))
    show((peer, "A/A differ", "1 % found", "3 % found"), rows)


def _program(flags: str) -> Path:
    return toolchain.build(SOURCE, tuple(flags.split())).path


def _differ_by_hyperfine(one: Path, other: Path, name: str) -> float:
    """Above 0 if `one` is slower, below 0 if it is faster, 0 if it cannot be told."""
    words = f"--variant {name} --samples {HYPERFINE_SAMPLES.get(name, 10_000)} --batch 32"
    with tempfile.TemporaryDirectory() as folder:
        result = Path(folder) / "result.json"
        lines = [f"{program} {words}" for program in (one, other)]
        options = ["-N", "--style", "none", "--export-json", str(result), "--warmup", "3"]
        subprocess.run(["hyperfine", *options, *lines], check=True, capture_output=True)
        first, second = json.loads(result.read_text(encoding="utf-8"))["results"]
    ratio = first["mean"] / second["mean"]
    error = ratio * sum((each["stddev"] / each["mean"]) ** 2 for each in (first, second)) ** 0.5
    return float(ratio - 1) if abs(ratio - 1) > 2 * error else 0.0


def _google_program(folder: Path, flags: str) -> Path:
    """The operations in google/benchmark, built with these flags. Raises CannotRun."""
    built = folder / flags.replace(" ", "")
    if not built.exists():
        c_object = f"{built}.o"
        of_c = [f"-I{paths.kernels_c()}", *flags.split(), "-c", f"{FOR_GOOGLE}.c"]
        command.run(os.environ.get("CC", "gcc"), *of_c, "-o", c_object)
        of_cpp = ["-O2", f"{FOR_GOOGLE}.cpp", c_object, "-lbenchmark", "-pthread"]
        command.run(os.environ.get("CXX", "g++"), *of_cpp, "-o", str(built))
    return built


def _differ_by_google(one: Path, other: Path, name: str) -> float:
    """Above 0 if `one` is slower, below 0 if it is faster, 0 if it cannot be told."""
    with tempfile.TemporaryDirectory() as folder:
        result = Path(folder) / "result.json"
        options = ("--benchmark_repetitions=20", "--benchmark_min_time=0.1")
        words = ("benchmarks", str(other), str(one), f"--benchmark_filter=^{name}$", *options)
        command.run(PYTHON_OF_COMPARE, COMPARE, "--dump_to_json", str(result), *words)
        entries = json.loads(result.read_text(encoding="utf-8"))
    found = {each["aggregate_name"] or "each": each for each in entries}
    told = found["each"]["utest"].get("cpu_pvalue", 1) < GOOGLE_LIMIT
    return float(found["median"]["measurements"][0]["cpu"]) if told else 0.0
