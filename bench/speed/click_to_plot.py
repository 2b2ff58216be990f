"""From the click on Run to the plot that the panel hands to the page: 10,000 samples."""

from __future__ import annotations

import asyncio
import statistics
import tempfile
import time
from pathlib import Path

from bench.report import median_and_range, must_hold, say, verdict
from labs.notebook.panel_runs import DEFAULT_PROCESSES
from labs.notebook.session import Session

MOST_MS = 150


def run(quick: bool) -> bool:
    """Click, wait for the plot, again and again."""
    must_hold(f"median from click to plot at most {MOST_MS} ms, where nothing else took the core")
    clicks = 5 if quick else 20
    with tempfile.TemporaryDirectory() as folder:
        every = asyncio.run(_clicks(Path(folder), clicks))
    if not every:
        return verdict(False, "no click led to a plot of the planned processes")
    total = statistics.median(every)
    words = f"median {total:.0f} ms of {len(every)} clicks; {clicks - len(every)} left out"
    return verdict(total <= MOST_MS, f"{words}: {median_and_range(every, 0, 'ms')}")


async def _clicks(folder: Path, count: int) -> list[float]:
    """The milliseconds of each click but the first, which builds the C kernel.

    Clicks are left out whose run added processes, because it lost the core to another program.
    """
    shown = Session("x", folder).panel("timer_overhead")
    every = []
    for number in range(count + 1):
        before, begin = shown.run, time.perf_counter()
        shown.controls.run.click()
        await shown.finished()
        milliseconds = 1e3 * (time.perf_counter() - begin)
        if shown.run is None or shown.run is before:
            say(f"   {shown.message}")
        elif number and len(shown.run.recording.processes) == DEFAULT_PROCESSES:
            every.append(milliseconds)
    return every
