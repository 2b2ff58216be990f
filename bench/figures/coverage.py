"""Do 95 % intervals hold the truth in 95 of 100 runs? By simulated machines whose truth is known.

The machines are those of coverage_cases.py. The interval must hold the truth in 92 to 98 % of the
runs that give a figure, the mean of the values must lie within 0.3 % of the truth or a tenth of the
interval's width, and all but 3 % of the runs must give a figure. Where the model
T(k) = overhead + k * cost does not hold, no interval can be right: there must be a warning and no
figure. Where the core was shared from end to end, its undisturbed cost lies below the value: the
interval must still reach down to it.

Some cases have no answer that samples could show. They are printed and not judged: processes that
are slower by 10 % under a layout of 3 % or more, where no rounds of the core's width were recorded;
a Pareto tail, whose mean depends on samples that are hardly ever seen (of one that grows with the
length, the median cost stands for the truth); an overhead of 50 ticks under a noise of 1,040 ticks;
a neighbour that adds less than half a step of the counter.
"""

from __future__ import annotations

import concurrent.futures
import os
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from bench.figures.coverage_cases import MISFITS, Case, Truth, all_cases
from bench.report import must_hold, say, verdict
from labs.analysis.estimate import CannotEstimate, Estimate
from labs.analysis.line import fit_line
from labs.analysis.net_cost import net_cost
from labs.results.result import result_of
from testing import simulate
from testing.simulate import Machine

RUNS, RUNS_QUICK = 2_000, 100
LEAST, MOST = 0.92, 0.98
#: Most bias, as a share of the truth and of the interval's width: the larger of the two counts.
BIAS, BIAS_OF_WIDTH = 0.003, 0.1
MOST_REFUSED = 0.03
#: Where the model does not hold, at least this share of runs must end without a figure.
LEAST_REFUSED = 0.98
#: Runs that one task of the pool does.
AT_ONCE = 50

Values = NDArray[np.float64]


def run(quick: bool) -> bool:
    """Every machine with every counter."""
    runs = RUNS_QUICK if quick else RUNS
    with concurrent.futures.ProcessPoolExecutor(os.cpu_count()) as pool:
        return all([_fitting(pool, runs), _misfitting(pool, max(runs // 10, 50))])


def _fitting(pool: concurrent.futures.Executor, runs: int) -> bool:
    must_hold(
        f"intervals hold the truth in {LEAST:.0%} to {MOST:.0%} of {runs:,} runs, bias under "
        f"{BIAS:.1%} of it or {BIAS_OF_WIDTH:.0%} of the width, no figure in under "
        f"{MOST_REFUSED:.0%}"
    )
    if runs < RUNS:
        say(f"   of {runs} runs, so much more is chance: {_chance(runs, 0.95):.1%} of coverage")
    say(f"   {'':38}{'step':>5}  {'of':<14}{'held':>7}{'bias':>9}{'width':>9}{'none':>7}")
    judged, outside = 0, []
    cases = all_cases()
    begins = range(0, runs, AT_ONCE)
    tasks = [(case, begin, min(begin + AT_ONCE, runs)) for case in cases for begin in begins]
    done = pool.map(_estimates, *zip(*tasks, strict=True))
    for case in cases:
        found = np.concatenate([next(done) for _ in begins])
        for place, what in enumerate((*case.held, *case.shown)):
            wrong = _judged(case, what, found[:, place])
            if what in case.held:
                judged += 1
                outside += [f"{case.name}, step {case.machine.step}"] if wrong else []
    for why_not in sorted({case.why_not for case in cases if case.why_not}):
        say(f"   not judged: {why_not}")
    return verdict(not outside, f"{judged - len(outside)} of {judged}" + _listed(outside))


def _listed(outside: list[str]) -> str:
    return f"; not: {'; '.join(outside)}" if outside else ""


def _chance(runs: int, share: float) -> float:
    """By how much a share of so few runs may miss by chance; 0 for all runs."""
    return 0.0 if runs >= RUNS else 3 * float(np.sqrt(share * (1 - share) / runs))


def _judged(case: Case, what: Truth, found: Values) -> list[str]:
    """Print the row of a case; `found` has the value, low and high of each run, NaN without a
    figure. Returns what is outside its limits."""
    runs, truth = len(found), case.truth(what)
    value, low, high = found[~np.isnan(found[:, 0])].T
    none = 1 - len(value) / runs
    wrong = []
    if none > MOST_REFUSED + _chance(runs, MOST_REFUSED):
        wrong.append("no figure")
    row = f"   {case.name:<38}{case.machine.step:>5}  {what.value:<14}"
    if not len(value):
        say(f"{row}{'':>7}{'':>9}{'':>9}{none:>7.1%}  <- no figure")
        return wrong
    held = float(np.mean((low <= truth) & (truth <= high)))
    bias, width = float(value.mean()) - truth, float(np.median(high - low))
    chance = _chance(len(value), 0.95)
    if what is Truth.UNSHARED:
        from_above = float(np.mean((low <= truth) & (truth < value)))
        wrong += ["not from above"] if from_above < LEAST - chance else []
    else:
        by_chance = 3 * float(value.std()) / len(value) ** 0.5 if runs < RUNS else 0.0
        most = max(BIAS * abs(truth), BIAS_OF_WIDTH * width) + by_chance
        wrong += [] if LEAST - chance <= held <= MOST + chance else ["held"]
        wrong += ["bias"] if abs(bias) > most else []
    remark = "" if not wrong else f"  <- {', '.join(wrong)}"
    if what in case.shown:
        remark = "  not judged"
    say(f"{row}{held:>7.1%}{bias / truth:>+9.2%}{width / abs(truth):>9.2%}{none:>7.1%}{remark}")
    return wrong


def _estimates(case: Case, begin: int, end: int) -> Values:
    """Of these runs value, low and high of each thing that is held against the truth, NaN without
    a figure; shape (runs, things, 3)."""
    found = np.full((end - begin, len(case.held) + len(case.shown), 3), np.nan)
    for place, seed in enumerate(range(begin, end)):
        for which, estimate in enumerate(_of_run(case, 1 + seed)):
            low = 0.0 if estimate.at_most else estimate.low
            found[place, which] = estimate.value, low, estimate.high
    return found


def _of_run(case: Case, seed: int) -> Iterator[Estimate]:
    recording = case.recording(seed)
    try:
        line = fit_line(recording, recording.variants[0])
        net = net_cost(recording, line).net if case.baseline else None
    except CannotEstimate:
        return
    if line.straight:
        for what in (*case.held, *case.shown):
            yield line.overhead if what is Truth.OVERHEAD else net or line.cost


def _misfitting(pool: concurrent.futures.Executor, runs: int) -> bool:
    must_hold("where the model does not hold, a warning and no figure")
    held = []
    begins = range(0, runs, AT_ONCE)
    ends = [min(begin + AT_ONCE, runs) for begin in begins]
    for name in MISFITS:
        for step in simulate.STEPS:
            count = len(ends)
            counted = pool.map(_refused, [name] * count, [step] * count, begins, ends)
            refused = sum(counted) / runs
            held.append(refused >= LEAST_REFUSED)
            say(
                f"   {name:<38}{step:>5}: no figure in {refused:.1%} of {runs} runs"
                + ("" if held[-1] else "  <- too few")
            )
    return verdict(all(held), f"{sum(held)} of {len(held)} cases")


def _refused(name: str, step: int, begin: int, end: int) -> int:
    """Of these runs: those that give a warning and no figure."""
    machine = simulate.with_step(Machine(), step)
    results = [result_of(MISFITS[name](machine, 1 + seed)) for seed in range(begin, end)]
    return sum(result.estimate is None and bool(result.warnings) for result in results)
