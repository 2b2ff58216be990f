"""How long it takes to read a recording, reduce it to its figure, and check that figure."""

from __future__ import annotations

import statistics
import tempfile
import time
import timeit
from pathlib import Path

import numpy as np

from bench.report import median_and_range, must_hold, say, verdict
from grader.figures import figure_named
from grader.judging.check import check
from labs.analysis.line import fit_line
from labs.analysis.net_cost import net_cost
from labs.course.figures import Figure
from labs.recording.file import read
from labs.results.result import result_of
from labs.run import measure

#: Samples, and the most milliseconds that reading and checking may take, and reducing by itself.
LIMITS = {10_000: (15.0, 3.0), 100_000: (100.0, 30.0)}

SPEC = figure_named("timer-overhead-fenced")


def run(quick: bool) -> bool:
    """Both sizes, each many times."""
    held = []
    with tempfile.TemporaryDirectory() as folder:
        for samples, (most, most_reducing) in LIMITS.items():
            must_hold(
                f"{samples:,} samples read and checked in {most:.0f} ms, of which reducing them to "
                f"a line and a net cost takes {most_reducing:.0f} ms"
            )
            path = Path(folder) / f"{samples}.csv"
            try:
                plan = measure.Plan("timer_overhead", ("fenced",), samples=samples)
                measure.measure_now(plan).write(path)
            except (RuntimeError, OSError) as error:
                held.append(verdict(False, str(error)))
                continue
            held.append(_timed(path, 5 if quick else 20, most, most_reducing))
    return all(held)


def _timed(path: Path, times: int, most: float, most_reducing: float) -> bool:
    parts: dict[str, list[float]] = {"read": [], "reduce": [], "check": []}
    estimate = result_of(read(path)).estimate
    figure = Figure(SPEC.id, estimate.value if estimate else 0.0, "ns", path.name)
    for _ in range(times):
        at = [time.perf_counter()]
        recording = read(path)
        at.append(time.perf_counter())
        check(SPEC, figure, recording)
        at.append(time.perf_counter())
        again = read(path)  # what has been reduced of a recording is kept with it
        begin = time.perf_counter()
        net_cost(again, fit_line(again, "fenced"))
        parts["read"].append(1e3 * (at[1] - at[0]))
        parts["check"].append(1e3 * (at[2] - at[1]))
        parts["reduce"].append(1e3 * (time.perf_counter() - begin))
    content = np.frombuffer(path.read_bytes(), dtype=np.uint8)
    one_pass = min(timeit.repeat(lambda: content.sum(), number=1, repeat=times)) * 1e3
    for name, values in parts.items():
        say(f"   {name:<7} {median_and_range(values, 1, 'ms')}")
    # A grader reads and checks: checking reduces by itself.
    total = statistics.median(map(sum, zip(parts["read"], parts["check"], strict=True)))
    reducing = statistics.median(parts["reduce"])
    return verdict(
        total <= most and reducing <= most_reducing,
        f"read and check {total:.1f} ms, reduce {reducing:.1f} ms, {len(content):,} bytes; one "
        f"pass of numpy over these takes {one_pass:.2f} ms, {total / one_pass:.0f} times less",
    )
