"""Runs whose times are given: the program is built and run, and its ticks are replaced.

For tests of what is done with a run. What the machine's clock says meanwhile is chance, and other
programs can take so many samples of a run that it has no figure.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest

from labs.recording.file import Integers
from labs.run.c_process import ProcessRun, one_process

#: In ticks: what reading the clock takes, an operation that is a baseline, and any other at least.
OVERHEAD, BASELINE, OPERATION = 60, 2, 150
#: What the first sample of a process takes in addition.
FIRST = 20_000
#: A core cycle in ticks. If it were measured, it might change by as much as what a test compares.
CYCLE = 0.8


def give(patched: pytest.MonkeyPatch, costs: Mapping[str, int]) -> None:
    """Let every run that is measured in this process take what `costs` says, in ticks.

    The names are those of variants. Any other variant has a cost of its own, or that of a baseline
    if it is the baseline of another one.
    """

    async def with_given_times(*arguments: Any, **options: Any) -> ProcessRun:
        return _given(await one_process(*arguments, **options), costs)

    patched.setattr("labs.run.c_process.one_process", with_given_times)


def _given(run: ProcessRun, costs: Mapping[str, int]) -> ProcessRun:
    baselines = {text for key, text in run.conditions.items() if key.endswith(".baseline")}
    each = [
        costs[name] if name in costs else BASELINE if name in baselines else _of_its_own(name)
        for name in run.variants
    ]
    undisturbed = {
        key: "0" if "involuntary_switches" in key or "migrations" in key else text
        for key, text in run.conditions.items()
        if not key.startswith(("core_width", "core_stores"))
    }
    if "core_cycle_ticks" in undisturbed:
        undisturbed["core_cycle_ticks"] = f"{CYCLE:.7f}"
    return replace(
        run,
        conditions=MappingProxyType(undisturbed),
        table=_timed(run.table, np.array(each, dtype=np.int64)),
    )


def _of_its_own(name: str) -> int:
    return OPERATION + zlib.crc32(name.encode()) % 400


def _timed(table: Integers, cost: Integers) -> Integers:
    """The table (variant, sample, batch, ticks) with the ticks of these costs, and little noise."""
    variant, sample, batch, _ = table.T
    noise = np.arange(len(table)) * 7 % 5
    ticks = OVERHEAD + batch * cost[variant] + noise + FIRST * (sample == sample.min())
    return np.column_stack([variant, sample, batch, ticks]).astype(np.int64)
