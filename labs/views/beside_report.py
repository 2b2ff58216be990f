"""The view of a trial next to a report's printed figures: the same size, or the same side?"""

from __future__ import annotations

from labs.analysis import compare
from labs.analysis.estimate import Estimate
from labs.common.table import Table
from labs.common.units import rounded
from labs.course import published
from labs.notebook.broken_pair import Pair
from labs.results.naive import naive_estimate
from labs.views.gather import refused

_SIDES = {1: "larger", -1: "smaller", 0: "not distinguishable"}


def beside_report(report: str, pair: Pair) -> Table:
    """Each figure that `report` prints in a time, next to the broken and the repaired run.

    If a report has several machines or runs, the printed figure is their geometric mean. It is
    divided by the broken figure and by the ends of its interval. Raises Refused for an unknown
    report.
    """
    try:
        quantities = published.quantities_in_time(report)
    except KeyError as error:
        raise refused(f"there is no report {report!r}", str(error.args[0])) from None
    broken = naive_estimate(pair.broken.in_unit("ns").result())
    repaired = pair.repaired.in_unit("ns").result().estimate
    rows = []
    for quantity in quantities:
        printed = published.in_ns(quantity, report)
        side = "no figure" if repaired is None else _SIDES[_side(printed, repaired)]
        rows.append((quantity, rounded(printed, 4), _times(printed, broken), side))
    header = (
        "printed quantity",
        _in_ns(report),
        "times the broken figure",
        "than the repaired one",
    )
    return Table(_caption(report, broken, repaired), header, tuple(rows))


def _in_ns(report: str) -> str:
    """The heading of the printed figures, which says what they are the mean of, if of anything."""
    figures = published.settled(published.figures(report=report))
    if len({each.machine for each in figures}) > 1:
        return "in ns, mean of machines"
    several = len(figures) > len({each.quantity for each in figures})
    return "in ns, mean of runs" if several else "in ns"


def _side(printed: float, repaired: Estimate) -> int:
    return compare.side(Estimate(printed, printed, printed, "ns", "", 0, 0), repaired)


def _times(printed: float, broken: Estimate) -> str:
    """'5.1 (5.0 to 5.2)': the printed figure divided by the broken one."""
    if broken.low <= 0:
        return f"{rounded(printed / broken.value, 2)} or any other" if broken.value > 0 else "none"
    value, low, high = (printed / each for each in (broken.value, broken.high, broken.low))
    return f"{rounded(value)} ({rounded(low)} to {rounded(high)})"


def _caption(report: str, broken: Estimate, repaired: Estimate | None) -> str:
    wrong, factor = rounded(broken.value), rounded(published.spread_of_machines(), 2)
    if repaired is None:
        return (
            f"Report {report}, and this trial: broken {wrong} ns. Machines alone differ by up to "
            f"{factor} times"
        )
    relation, right = _SIDES[compare.side(broken, repaired)], rounded(repaired.value)
    return (
        f"Report {report}, and this trial: broken {wrong} ns, repaired {right} ns (broken is "
        f"{relation}). Machines alone differ by up to {factor} times"
    )
