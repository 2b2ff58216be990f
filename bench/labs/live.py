"""Every lab live, as in class: its solved notebook measures here, top to bottom, and is graded.

Three times in a row, the second time with the last CPU busy: labs that choose one take the first.
Every run is made once: what gives no figure is not made again, and counts as a stop.
"""

from __future__ import annotations

import contextlib
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from bench import machine
from bench.labs.solved_lab import Solved, as_text, has_held, labs_in_order, solve
from bench.report import must_hold, say, show, verdict

ROUNDS = (False, True, False)  # whether another CPU is busy


def run(quick: bool, numbers: Sequence[str] = ()) -> bool:
    """All labs in three rounds, or those with these numbers; with `quick` in one."""
    rounds = ROUNDS[:1] if quick else ROUNDS
    must_hold(f"every lab gets all its points, live, in each of {len(rounds)} rounds")
    labs = labs_in_order(numbers)
    allowed = machine.cpus()
    tried: list[dict[str, Solved]] = []
    took: dict[str, list[float]] = {lab: [] for lab in labs}
    for busy in rounds:
        tried.append({})
        with machine.busy(1, allowed[-1]) if busy and allowed else contextlib.nullcontext():
            for lab in labs:
                begin = time.monotonic()
                with tempfile.TemporaryDirectory(prefix="ticklab-live-") as scratch:
                    solved = solve(lab, Path(scratch) / lab, patient=False)
                took[lab].append(time.monotonic() - begin)
                tried[-1][lab] = solved
                _explain(f"round {len(tried)}, {lab}", solved)
    say()
    heads = [f"round {n}{', CPU busy' if busy else ''}" for n, busy in enumerate(rounds, 1)]
    rows = [
        [lab, *(as_text(each[lab]) for each in tried), f"{max(took[lab]):.0f} s"] for lab in labs
    ]
    show(["points", *heads, "at most"], rows)
    every = [each for by_lab in tried for each in by_lab.values()]
    held = sum(map(has_held, every))
    return verdict(held == len(every), f"{held} of {len(every)} with all points")


def _explain(where: str, solved: Solved) -> None:
    for cell, why in solved.stops.items():
        say(f"   {where} STOPS at {cell}: {why}")
    for figure, why in solved.lost.items():
        say(f"   {where} LOSES {figure}: {why}")
