"""From the click on Run to the drawn plot: 10,000 samples, with a C kernel that is built."""

from __future__ import annotations

import asyncio
import statistics
import tempfile
from pathlib import Path

from bench.report import median_and_range, must_hold, say, verdict
from labs.notebook.session import Session

MOST_MS = 150


def run(quick: bool) -> bool:
    """Click, wait for the plot, again and again."""
    must_hold(f"median from click to drawn plot at most {MOST_MS} ms")
    with tempfile.TemporaryDirectory() as folder:
        every = asyncio.run(_clicks(Path(folder), 5 if quick else 20))
    if not every:
        return verdict(False, "no click led to a plot")
    for part in every[0]:
        say(f"   {part:<7} {median_and_range([each[part] for each in every], 0, 'ms')}")
    total = statistics.median(each["total"] for each in every)
    return verdict(total <= MOST_MS, f"median {total:.0f} ms of {len(every)} clicks")


async def _clicks(folder: Path, count: int) -> list[dict[str, float]]:
    """The parts of each click but the first, which builds the C kernel."""
    shown = Session("x", folder).panel("timer_overhead")
    every = []
    for _ in range(count + 1):
        shown.timings = {}
        shown.controls.run.click()
        await shown.finished()
        if shown.timings:
            every.append(shown.timings)
        elif shown.message is not None:
            say(f"   {shown.message}")
    return every[1:]
