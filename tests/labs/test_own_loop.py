"""Lab 08's loop in C: with the clock outside it costs what a call costs, and inside far more."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from labs.notebook import ckernel_magic
from labs.notebook.session import Session

CELL = """#include "own_loop.h"
static uint64_t calls(long batch)
{{
    {}
}}
MEASURE_OWN_LOOP(calls)
"""
OUTSIDE = """const uint64_t begin = counter_begin();
    for (long left = batch; left > 0; left--)
        procedure();
    return counter_end() - begin;"""
INSIDE = """uint64_t sum = 0;
    for (long left = batch; left > 0; left--) {
        const uint64_t begin = counter_begin();
        procedure();
        sum += counter_end() - begin;
    }
    return sum;"""


def cost_of(folder: Path, body: str) -> float:
    lab = Session("08-five-reports-on-trial", folder)
    line = "own_loop --variant own --samples 200 --warmup 20 --processes 2 --save own-loop"
    ckernel_magic.measure_cell(lab, line, CELL.format(body))
    run = lab.runs["own-loop"].recording
    # Half of the samples may meet other programs: on a busy machine a line may be refused.
    return float(np.median(run.ticks[run.batch > 0] / run.batch[run.batch > 0]))


def test_the_clock_inside_the_loop_costs_more_than_the_call(tmp_path: Path) -> None:
    outside, inside = cost_of(tmp_path, OUTSIDE), cost_of(tmp_path, INSIDE)
    assert 0 < outside < inside / 2
