"""A recording of the samples that a test gives."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from labs.recording.file import Recording
from support.declarations import as_declared


def recording_of(
    ticks: Sequence[int],
    batch: Sequence[int],
    *,
    warmup: int = 0,
    processes: int = 1,
    variant: str = "fenced",
) -> Recording:
    """Samples on a clock of 1 GHz, so that a tick is a nanosecond; the first are warm-up."""
    count = len(ticks)
    made = Recording(
        "timer_overhead",
        {f"clock.{variant}.frequency_hz": "1e9", f"clock.{variant}.step": "1"},
        tuple({} for _ in range(processes)),
        (variant,),
        np.zeros(count, dtype=np.int64),
        np.sort(np.arange(count) % processes),
        np.arange(count) - warmup,
        np.array(batch, dtype=np.int64),
        np.array(ticks, dtype=np.int64),
    )
    return as_declared(made)
