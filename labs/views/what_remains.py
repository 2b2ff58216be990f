"""The view of a student's own repair in a trial: how much of the mistake is left in it."""

from __future__ import annotations

from labs.analysis import compare
from labs.analysis.estimate import Estimate
from labs.common.table import Table
from labs.common.units import rounded
from labs.notebook.broken_pair import Pair
from labs.notebook.run import Run
from labs.results.naive import naive_estimate
from labs.views.gather import Runs, refused, runs_of, with_warnings

_HEADER = ("run", "in ns", "of the mistake remain")

#: From this share on, the mistake is still in the run; up to the other one, it is left out.
STILL, HARDLY = 0.5, 0.1


@with_warnings
def what_remains(pair: Pair, own: Runs) -> Table:
    """Of what the mistake of a trial adds to the repaired figure, the share that `own` still has.

    `own` is the run of a student's own repair. A share of 100 % is as in the broken run, and 0 % is
    as in the repaired one. Raises Refused for anything but a trial and one run, without a figure,
    and if the mistake adds nothing here.
    """
    runs = runs_of([own])
    if not isinstance(pair, Pair) or len(runs) != 1:
        raise refused(
            "views.what_remains takes a trial and the run of your own repair",
            "Write it like this: views.what_remains(trial, own_loop).",
        )
    broken = naive_estimate(pair.broken.in_unit("ns").result())
    repaired, mine = _figure_of(pair.repaired), _figure_of(runs[0])
    if compare.side(broken, repaired) == 0:
        raise refused(
            "the mistake changes nothing here",
            "The broken and the repaired figure of this trial are not distinguishable.",
        )
    share = (mine.value - repaired.value) / (broken.value - repaired.value)
    rows = (
        (f"broken: {pair.kernel.name}", rounded(broken.value), "100 %"),
        (f"repaired: {pair.repaired.variant}", rounded(repaired.value), "0 %"),
        (f"yours: {runs[0].variant}", rounded(mine.value), _percent(mine, share)),
    )
    return Table(_verdict(mine, share), _HEADER, rows)


def _figure_of(run: Run) -> Estimate:
    """The figure of a run in ns. Raises Refused, with the reason, if it has none."""
    result = run.in_unit("ns").result()
    if result.estimate is None:
        raise refused(f"{result.variant} has no figure", f"{result.no_figure}.")
    return result.estimate


def _percent(mine: Estimate, share: float) -> str:
    return "below zero" if mine.high <= 0 else f"{round(100 * share)} %"


def _verdict(mine: Estimate, share: float) -> str:
    """What the share means, as a sentence without its full stop."""
    if mine.high <= 0:
        return "Your figure is below zero: your samples hold less than the empty loop does"
    if share >= STILL:
        return "The mistake is still in your C"
    if share > HARDLY:
        return "A part of the mistake is still in your C"
    if share >= -HARDLY:
        return "The mistake is no longer in your C"
    return "Your C does less than the repaired one"
