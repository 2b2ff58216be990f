"""Do the readers stand whatever is handed in? 20,000 bad inputs: no crash, no hang, no memory.

Inputs are guided to new code by Atheris where it is installed; without it, Hypothesis changes the
seeds and makes up inputs from a grammar. Then come the hostile inputs. What fails is kept in
build/fuzz/.
"""

from __future__ import annotations

import concurrent.futures
import json
import os
import sys
from collections.abc import Iterator

from bench.fuzz import engine, hostile, limits
from bench.fuzz.engine import KEPT, Outcome
from bench.fuzz.targets import TARGETS
from bench.report import must_hold, say, verdict
from support.paths import REPOSITORY
from support.programs import call

INPUTS, INPUTS_QUICK = 20_000, 2_000
#: Inputs of one process.
PART = 2_000


def run(quick: bool, inputs: int | None = None) -> bool:
    """All targets, in as many processes as there are CPUs."""
    inputs = inputs or (INPUTS_QUICK if quick else INPUTS)
    must_hold(
        f"{inputs:,} bad inputs: no crash, none over {limits.MOST_SECONDS:g} s of CPU time or "
        f"{limits.MOST_MEGABYTES} MB, errors that name the place"
    )
    with_engine = engine.installed()
    say(f"   guided by {with_engine}")
    if with_engine != "atheris":
        say("   Atheris finds more: `pip install atheris` (Linux x86-64, Python 3.11 to 3.13)")
    outcomes: dict[str, list[Outcome]] = {}
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        waiting = {pool.submit(_part, *each, with_engine): each[0] for each in _parts(inputs)}
        for done in concurrent.futures.as_completed(waiting):
            outcomes.setdefault(waiting[done], []).append(done.result())
    outcomes["hostile"] = [_hostile()]
    return _reported(outcomes)


def _parts(inputs: int) -> Iterator[tuple[str, int, int]]:
    """Target, number of inputs and seed of each part."""
    for name, target in TARGETS.items():
        left = -(-inputs * target.share // 100)
        for seed, begin in enumerate(range(0, left, PART)):
            yield name, min(PART, left - begin), seed


def _part(target: str, count: int, seed: int, with_engine: str) -> Outcome:
    """The outcome of a process of its own. What seems to cost too much is measured again."""
    if TARGETS[target].made_up is not None:  # a grammar has no seeds that Atheris could change
        with_engine = "hypothesis"
    words = [sys.executable, "-m", "bench.fuzz.engine", target, str(count), str(seed), with_engine]
    done = call(*words, cwd=REPOSITORY, errors="replace")
    try:
        outcome = Outcome(**json.loads(done.stdout.splitlines()[-1]))
    except (IndexError, ValueError, TypeError):
        end = " ".join(done.stderr.splitlines()[-3:])[-400:]
        return Outcome(wrong=[f"{target}: ended with status {done.returncode}: {end}"])
    costs = {each: limits.cost_of(target, (KEPT / each).read_bytes()) for each in outcome.suspects}
    if costs:
        outcome.slowest_s = max(cost.seconds for cost in costs.values())
        outcome.megabytes = max(cost.megabytes for cost in costs.values())
    outcome.wrong += [f"{target}: {c.too_much} [{name}]" for name, c in costs.items() if c.too_much]
    return outcome


def _hostile() -> Outcome:
    """The hostile inputs, one after the other, each in a process of its own."""
    outcome = Outcome()
    for case in hostile.cases():
        cost = limits.cost_of(case.target, case.content())
        outcome.inputs += 1
        outcome.read += cost.read
        outcome.slowest_s = max(outcome.slowest_s, cost.seconds)
        outcome.megabytes = max(outcome.megabytes, cost.megabytes)
        fault = case.fault(cost)
        if fault:
            outcome.wrong.append(f"{case.target}, {case.name}: {fault}")
    return outcome


def _reported(outcomes: dict[str, list[Outcome]]) -> bool:
    say(f"   {'':<14}{'inputs':>8}{'read':>8}{'slowest':>10}{'memory':>10}{'wrong':>7}")
    held = True
    for kind, parts in outcomes.items():
        wrong = list(dict.fromkeys(text for each in parts for text in each.wrong))
        held &= not wrong
        say(
            f"   {kind:<14}{sum(each.inputs for each in parts):>8,}"
            f"{sum(each.read for each in parts):>8,}"
            f"{max(each.slowest_s for each in parts):>8.2f} s"
            f"{max(each.megabytes for each in parts):>7.0f} MB{len(wrong):>7}"
        )
        for text in wrong[:20]:
            say(f"      {text}")
    made = sum(each.inputs for parts in outcomes.values() for each in parts)
    return verdict(held, f"{made:,} inputs")
