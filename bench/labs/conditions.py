"""Does every lab work, and can it be graded, on a machine that lacks something?

The author's notebook of each lab is run from top to bottom, as a student with all answers would, on
this machine made to lack what others lack: a counter better than clock_gettime, a second CPU,
pinning, a trap instruction that the kit knows; and all of these but the last at once. Then its
figures are graded. What no machine shows when it is busy is no fault of the condition: a run that
gives no figure is made again (bench.labs.solved_lab), and `as it is` stands beside.
"""

from __future__ import annotations

import html
import json
import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bench import machine
from bench.labs.solved_lab import NOTEBOOKS, Solved, as_text, has_held, labs_in_order
from bench.report import must_hold, say, show, skipped, verdict
from grader.evidence import caveats
from grader.judging import check
from labs.c_kernels import toolchain
from support.programs import call

LAB_LIMIT_S = 900
QUICK = ("03-system-call", "06-process-and-thread-switch")


@dataclass(frozen=True)
class Condition:
    """A machine that lacks something: how its C is built, and what it is kept from."""

    name: str
    flags: tuple[str, ...] = ()
    one_cpu: bool = False
    no_pinning: bool = False


AS_IT_IS = Condition("as it is")
NO_COUNTER = "-DTICKLAB_NO_COUNTER"
CONDITIONS = (
    AS_IT_IS,
    Condition("no counter", flags=(NO_COUNTER,)),
    Condition("one CPU", one_cpu=True),
    Condition("no pinning", no_pinning=True),
    Condition("no trap", flags=("-DTICKLAB_NO_TRAP",)),
    Condition("first three", flags=(NO_COUNTER,), one_cpu=True, no_pinning=True),
)


def run(quick: bool, numbers: Sequence[str] = ()) -> bool:
    """Every lab, or those with these numbers, under every condition: a table, and the notes."""
    must_hold(f"every lab gets all points under {len(CONDITIONS)} conditions, and no cell stops")
    if not machine.cpus():
        return skipped("no conditions can be made on a machine without pinning")
    labs = [lab for lab in labs_in_order(numbers) if numbers or not quick or lab in QUICK]
    tried: dict[str, dict[str, Solved]] = {}
    for condition in CONDITIONS:
        tried[condition.name] = {}
        for lab in labs:
            tried[condition.name][lab] = _solve(lab, condition)
            say(f"   {condition.name}, {lab}: {as_text(tried[condition.name][lab])}")
    say()
    rows = [[lab, *(as_text(tried[each.name][lab]) for each in CONDITIONS)] for lab in labs]
    show(["points", *(each.name for each in CONDITIONS)], rows)
    for condition in CONDITIONS:
        _explain(condition, tried[condition.name], tried[AS_IT_IS.name])
    every = [each for by_lab in tried.values() for each in by_lab.values()]
    held = sum(map(has_held, every))
    return verdict(held == len(every), f"{held} of {len(every)} with all points")


def _explain(condition: Condition, mine: dict[str, Solved], others: dict[str, Solved]) -> None:
    """What the labs say of this machine that they do not say of the one as it is."""
    usual = {words for each in others.values() for words in each.notes}
    notes = dict.fromkeys(words for each in mine.values() for words in each.notes)
    say(f"   {condition.name}:")
    for words in notes:
        if words not in usual or condition is AS_IT_IS:
            say(f"      note: {html.unescape(words)}")
    for lab, each in mine.items():
        reasons = each.reasons
        instead = (caveats.HANDOFFS_IN_ITS_PLACE, check.NO_COUNTER)
        hedged = sum(any(words in reason for words in instead) for reason in reasons.values())
        if hedged:
            say(f"      {lab}: {hedged} of {len(reasons)} verdicts say what was measured instead")
        for cell, why in each.stops.items():
            say(f"      {lab} STOPS at {cell}: {why}")
        for figure, why in each.lost.items():
            say(f"      {lab} LOSES {figure}: {why}")


def _solve(lab: str, condition: Condition) -> Solved:
    """One run of a lab in a process of its own, which lacks what the condition says."""
    with tempfile.TemporaryDirectory(prefix="ticklab-conditions-") as scratch:
        done = run_in(condition, "-m", "bench.labs.solved_lab", lab, str(Path(scratch) / lab))
    if done.returncode != 0:
        return Solved(0, 1, {"the run itself": done.stderr.strip()[-300:]}, [], {}, {})
    return Solved(**json.loads(done.stdout.splitlines()[-1]))


def run_in(condition: Condition, *words: str) -> subprocess.CompletedProcess[str]:
    """Run Python with these words on a machine that lacks what the condition says."""
    compiler = [*toolchain.find_compiler().command, *condition.flags]
    without = [sys.executable, "-m", "bench.no_pinning"] if condition.no_pinning else []
    cpu = machine.cpus()[0]
    return call(
        *without,
        sys.executable,
        *words,
        timeout=LAB_LIMIT_S,
        cwd=NOTEBOOKS.parent,
        env={**os.environ, "CC": shlex.join(compiler)},
        preexec_fn=(lambda: os.sched_setaffinity(0, {cpu})) if condition.one_cpu else None,
    )
