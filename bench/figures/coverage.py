"""Do 95 % intervals hold the truth in 95 of 100 runs? By simulated machines whose truth is known.

The machines are those of coverage_cases.py. The interval must hold the truth in 92 to 98 % of the
runs that give a figure, and all but 3 % of the runs must give one. The median of the values must
lie within 0.3 % of the truth or a tenth of the interval's width, and always within 5 %: not their
mean, which the few runs decide whose wide intervals say that they know little. Where the model
T(k) = overhead + k * cost does not hold, no interval can be right: there must be a warning and no
figure. Where the core was shared from end to end, its undisturbed cost lies below the value, which
is an upper limit: everything below it counts as held.

Where the cost grows a little with the batch, the interval must hold the slope from the shortest to
the longest batch. The misfit widens it, so it may hold that in more than 98 % of the runs. Where a
first part of each process is slower, the run must report that the cost changes within its
processes: by more than 1.5 half-widths of its interval and 2 % of the cost. Where nothing changes,
at most 3 % of the runs may report that.

Some cases have no answer that samples could show. They are printed and not judged: a Pareto tail,
whose mean depends on samples that are hardly ever seen (of one that grows with the length, the
median cost stands for the truth); interruptions as long as the operation's own delays, where most
samples hold such a delay; an overhead of 50 ticks under a noise of 1,040 ticks; a neighbour
that adds less than half a step of the counter.
"""

from __future__ import annotations

import concurrent.futures
import os
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bench.figures.coverage_cases import MISFITS, Case, Truth, all_cases
from bench.report import must_hold, say, verdict
from labs.analysis.confidence import CannotEstimate, Estimate, lowest
from labs.analysis.line import fit_line
from labs.analysis.net_cost import net_cost
from labs.recording.file import Recording
from labs.results.result import result_of
from support import simulate
from support.simulate import Machine

RUNS, RUNS_QUICK = 2_000, 100
LEAST, MOST = 0.92, 0.98
#: Most bias, as a share of the truth and of the interval's width: the larger of the two counts, up
#: to the last share of the truth. Else an interval of 200 % would excuse any value.
BIAS, BIAS_OF_WIDTH, MOST_BIAS = 0.003, 0.1, 0.05
MOST_REFUSED = 0.03
#: A change within the processes is reported beyond so many half-widths and this share of the cost.
DRIFT_HALF_WIDTHS, DRIFT_SHARE = 1.5, 0.02
#: Shares of the runs that report a change: where there is one, and where there is none.
LEAST_REPORTED, MOST_REPORTED = 0.95, 0.03
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
            held = _judged(case, what, found[:, place])
            if what in case.held:
                judged += 1
                outside += [] if held else [f"{case.name}, step {case.machine.step}"]
    for why_not in sorted({case.why_not for case in cases if case.why_not}):
        say(f"   not judged: {why_not}")
    return verdict(not outside, f"{judged - len(outside)} of {judged}" + _listed(outside))


def _listed(outside: list[str]) -> str:
    return f"; not: {'; '.join(outside)}" if outside else ""


def _chance(runs: int, share: float) -> float:
    """By how much a share of so few runs may miss by chance; 0 for all runs."""
    return 0.0 if runs >= RUNS else 3 * float(np.sqrt(share * (1 - share) / runs))


@dataclass(frozen=True)
class Row:
    """What many runs of a case gave: the share of intervals that hold the truth, the bias and the
    median width as they are printed (NaN without any figure), the share without a figure, and what
    of these is outside its limits. Of a drift, `held` is the share of runs that report one, and
    `bias` its mean."""

    held: float
    bias: float
    width: float
    none: float
    wrong: tuple[str, ...]


def row_of(case: Case, what: Truth, found: Values) -> Row:
    """`found`, shape (runs, 3), has the value, low and high of each run, NaN without a figure."""
    runs, truth = len(found), case.truth(what)
    value, low, high = found[~np.isnan(found[:, 0])].T
    none = 1 - len(value) / runs
    wrong = []
    if none > MOST_REFUSED + _chance(runs, MOST_REFUSED):
        wrong.append("no figure")
    if not len(value):
        return Row(np.nan, np.nan, np.nan, none, tuple(wrong))
    bias, width = float(np.median(value)) - truth, float(np.median(high - low))
    if what is Truth.DRIFT:
        beyond = np.maximum(DRIFT_HALF_WIDTHS * (high - low) / 2, DRIFT_SHARE)
        reported = float(np.sum(np.abs(value) > beyond)) / runs
        if truth:
            wrong += ["missed"] if reported < LEAST_REPORTED - _chance(runs, LEAST_REPORTED) else []
        else:
            most = MOST_REPORTED + _chance(runs, MOST_REPORTED)
            wrong += ["false alarms"] if reported > most else []
        return Row(reported, float(value.mean()), width, none, tuple(wrong))
    held = float(np.mean((low <= truth) & (truth <= high)))
    chance = _chance(len(value), 0.95)
    if what is Truth.UNSHARED:
        from_above = float(np.mean((low <= truth) & (truth < value)))
        wrong += ["not from above"] if from_above < LEAST - chance else []
    else:
        spread = float(np.subtract(*np.quantile(value, (0.84, 0.16)))) / 2
        by_chance = 3 * 1.25 * spread / len(value) ** 0.5 if runs < RUNS else 0.0
        of_width = min(BIAS_OF_WIDTH * width, MOST_BIAS * abs(truth))
        most = max(BIAS * abs(truth), of_width) + by_chance
        most_held = 1.0 if what is Truth.CHORD else MOST + chance
        wrong += [] if LEAST - chance <= held <= most_held else ["held"]
        wrong += ["bias"] if abs(bias) > most else []
    return Row(held, bias / truth, width / abs(truth), none, tuple(wrong))


def _judged(case: Case, what: Truth, found: Values) -> bool:
    """Print the row of a case; whether it is within its limits."""
    row = row_of(case, what, found)
    remark = f"  <- {', '.join(row.wrong)}" if row.wrong else ""
    if what in case.shown:
        remark = "  not judged"
    of = f"   {case.name:<38}{case.machine.step:>5}  {what.value:<14}"
    if np.isnan(row.held):
        say(f"{of}{'':>7}{'':>9}{'':>9}{row.none:>7.1%}{remark}")
    else:
        say(f"{of}{row.held:>7.1%}{row.bias:>+9.2%}{row.width:>9.2%}{row.none:>7.1%}{remark}")
    return not row.wrong


def estimates(case: Case, recording: Recording) -> Values:
    """Value, low and high of each thing that is held against the truth or shown, NaN without a
    figure; shape (things, 3)."""
    found = np.full((len(case.held) + len(case.shown), 3), np.nan)
    try:
        line = fit_line(recording, recording.variants[0])
        net = net_cost(recording, line).net if case.baseline else None
    except CannotEstimate:
        return found
    for place, what in enumerate((*case.held, *case.shown)):
        estimate: Estimate | None = net or line.cost
        if what is Truth.OVERHEAD:
            estimate = line.overhead
        elif what is Truth.DRIFT:
            estimate = line.drift and line.drift.times(1 / abs(line.cost.value))
        if line.straight and estimate is not None:
            low = lowest(estimate)
            found[place] = estimate.value, low, estimate.high
    return found


def _estimates(case: Case, begin: int, end: int) -> Values:
    """The estimates of these runs; shape (runs, things, 3)."""
    return np.stack([estimates(case, case.recording(1 + seed)) for seed in range(begin, end)])


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
