"""From the click to the drawn plot: run, reduce, draw, with a C kernel that is built already."""

from __future__ import annotations

import time

from bench.table import milliseconds, show
from labs import plot, surroundings
from labs.measure import Plan, measure_now
from labs.result import result_of


def run(quick: bool) -> None:
    """Print how long each part takes for 10,000 samples."""
    cpus = sorted(surroundings.allowed_cpus() or ())
    plan = Plan("timer_overhead", ("fenced",), cpu=cpus[-1] if cpus else None)
    plot.png(plot.samples_figure(measure_now(plan), "fenced", "ns"))  # builds; loads fonts
    parts: dict[str, list[float]] = {"run": [], "reduce": [], "draw": [], "all": []}
    for _ in range(5 if quick else 30):
        marks = [time.perf_counter()]
        recording = measure_now(plan)
        marks.append(time.perf_counter())
        result_of(recording, "fenced", "ns")
        marks.append(time.perf_counter())
        plot.png(plot.samples_figure(recording, "fenced", "ns"))
        marks.append(time.perf_counter())
        for name, begin, end in zip(parts, marks, marks[1:], strict=False):
            parts[name].append(end - begin)
        parts["all"].append(marks[-1] - marks[0])
    show(
        ("part", "median ms", "least", "most"),
        [(name, *milliseconds(times)) for name, times in parts.items()],
    )
