"""Views of differences, and of runs and figures next to a broken and a repaired run."""

from __future__ import annotations

import re

from labs.analysis import confidence
from labs.analysis.confidence import Estimate
from labs.course import published
from labs.html import Table
from labs.messages import refused
from labs.notebook.broken_pair import Pair
from labs.notebook.run import Run
from labs.results.result import naive_estimate
from labs.results.results_compared import Comparison
from labs.units import NAMES, is_number, off_by, rounded
from labs.views.gather import Runs, runs_of, with_warnings

_DIFFERENCES_HEADER = (
    "difference",
    "first",
    "minus",
    "value",
    "from",
    "to (95 %)",
    "more than chance",
    "they differ in",
)

#: The ring of a C kernel: its kind of task, how many there are, and the working set of each.
_RING = re.compile(r"(processes|threads|alone)(?:-(\d{1,3}))?-(0|\d+[km])")
_OF_A_RING = ("the address space", "the number of tasks", "the set")


def differences(**named: Comparison) -> Table:
    """What `lab.compare` found, as differences: one row for each, under its name.

    `views.differences(set=lab.compare(run["a"], run["b"]))`. For rings of tasks, the last column
    says what the two of a difference have different. Raises Refused for anything else.
    """
    wrong = [name for name, each in named.items() if not isinstance(each, Comparison)]
    if wrong or not named:
        raise refused(
            "views.differences takes comparisons, each by its name",
            'Write it like this: views.differences(set=lab.compare(run["a"], run["b"])).',
        )
    units = dict.fromkeys(each.unit for each in named.values())
    rows = tuple(_row(name, each, len(units) > 1) for name, each in named.items())
    in_words = " and ".join(NAMES.get(unit, unit) for unit in units)
    return Table(f"Differences, in {in_words}", _DIFFERENCES_HEADER, rows).without_empty()


def _row(name: str, each: Comparison, with_unit: bool) -> tuple[str, ...]:
    values = (each.difference, *each.difference_interval)
    unit = f" {each.unit}" if with_unit else ""
    return (
        name.replace("_", " "),
        each.first,
        each.second,
        *(rounded(value) + unit for value in values),
        _more_than_chance(each),
        what_differs(each.first, each.second),
    )


def _more_than_chance(each: Comparison) -> str:
    """'yes', or 'no' with the reason where the interval of the difference does not show it."""
    if each.distinguishable:
        return "yes"
    why = each.doubt()
    return f"no: {why}" if why else "no"


def what_differs(first: str, second: str) -> str:
    """What two rings of tasks have different, by their names; '' if one of them is no ring."""
    one, other = _RING.fullmatch(first), _RING.fullmatch(second)
    if one is None or other is None:
        return ""
    pairs = zip(_OF_A_RING, one.groups(), other.groups(), strict=True)
    return ", ".join(what for what, here, there in pairs if here != there) or "nothing"


_TRIAL_HEADER = ("what", "in ns", "times the broken figure", "times the repaired one")


def beside_trial(pair: Pair, **values: float) -> Table:
    """Each of `values`, in ns, divided by the broken and by the repaired figure of a trial.

    `views.beside_trial(trial, as_printed=180, by_hand=160)`. Raises Refused for anything but
    numbers.
    """
    if not isinstance(pair, Pair) or not values or not all(map(is_number, values.values())):
        raise refused(
            "views.beside_trial takes a trial and numbers in ns, each by its name",
            "Write it like this: views.beside_trial(trial, as_printed=180).",
        )
    repaired = pair.repaired.in_unit("ns").result().estimate
    broken = pair.naive_value * pair.broken.result().clock.ticks_in(pair.broken.unit)
    broken /= pair.broken.result().clock.ticks_in("ns")
    rows = tuple(
        (
            name.replace("_", " "),
            rounded(value, 4),
            _times_of(value, broken),
            _times_of(value, repaired.value) if repaired is not None else "no figure",
        )
        for name, value in values.items()
    )
    right = f"{rounded(repaired.value)} ns" if repaired is not None else "no figure"
    return Table(
        f"Broken figure {rounded(broken)} ns, repaired figure {right}", _TRIAL_HEADER, rows
    )


def _times_of(value: float, figure: float) -> str:
    if value <= 0:
        return "none: this value is not above zero"
    return rounded(value / figure) if figure > 0 else "none: not above zero"


_REMAINS_HEADER = ("run", "in ns", "of the mistake remain")

#: From this share on, the mistake is still in the run; up to the other one, it is left out.
STILL, HARDLY = 0.5, 0.1


@with_warnings
def what_remains(pair: Pair, own: Runs) -> Table:
    """Of what the mistake of a trial adds to the repaired figure, the share that `own` still has.

    `own` is the run of a student's own repair. A share of 100 % is as in the broken run, and 0 % is
    as in the repaired one. The share is left out if the two are not distinguishable here. Raises
    Refused for anything but a trial and one run, and without a figure.
    """
    runs = runs_of([own])
    if not isinstance(pair, Pair) or len(runs) != 1:
        raise refused(
            "views.what_remains takes a trial and the run of your own repair",
            "Write it like this: views.what_remains(trial, own_loop).",
        )
    broken = naive_estimate(pair.broken.in_unit("ns").result())
    repaired, mine = _figure_of(pair.repaired), _figure_of(runs[0])
    told = confidence.side(broken, repaired) != 0
    share = (mine.value - repaired.value) / (broken.value - repaired.value) if told else 0.0
    shares = ("100 %", "0 %", _percent(mine, share)) if told else ("", "", "")
    names = (pair.kernel.name, pair.repaired.variant, runs[0].variant)
    rows = tuple(
        (f"{what}: {name}", rounded(each.value), left)
        for what, name, each, left in zip(
            ("broken", "repaired", "yours"), names, (broken, repaired, mine), shares, strict=True
        )
    )
    return Table(_verdict(mine, share) if told else _NOT_TOLD, _REMAINS_HEADER, rows)


_NOT_TOLD = (
    "The broken and the repaired figure of this trial are not distinguishable here, so no share of "
    "the mistake is known"
)


def _figure_of(run: Run) -> Estimate:
    """The figure of a run in ns. Raises Refused, with the reason, if it has none."""
    result = run.in_unit("ns").result()
    if result.estimate is None:
        raise refused(f"{result.variant} has no figure", f"{result.why_unnamed}.")
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
        exact = Estimate(printed, printed, printed, "ns", "", 0, 0)
        side = _SIDES[confidence.side(exact, repaired)] if repaired else "no figure"
        rows.append((quantity, rounded(printed, 4), _times_with_interval(printed, broken), side))
    header = (
        "printed quantity",
        _in_ns(report),
        "times the broken figure",
        "compared with the repaired one",
    )
    return Table(_caption(report, broken, repaired), header, tuple(rows))


def _in_ns(report: str) -> str:
    """The heading of the printed figures, which says what they are the mean of, if of anything."""
    figures = published.settled(published.figures(report=report))
    if len({each.machine for each in figures}) > 1:
        return "in ns, mean of machines"
    several = len(figures) > len({each.quantity for each in figures})
    return "in ns, mean of runs" if several else "in ns"


def _times_with_interval(printed: float, broken: Estimate) -> str:
    """'5.1 (5.0 to 5.2)': the printed figure divided by the broken one."""
    if broken.low <= 0:
        return f"{rounded(printed / broken.value, 2)} or any other" if broken.value > 0 else "none"
    value, low, high = (printed / each for each in (broken.value, broken.high, broken.low))
    return f"{rounded(value)} ({rounded(low)} to {rounded(high)})"


def _caption(report: str, broken: Estimate, repaired: Estimate | None) -> str:
    shown = f"broken {rounded(broken.value)} ns"
    if repaired is not None:
        side = confidence.side(broken, repaired)
        relation = _SIDES[side]
        if side and min(broken.value, repaired.value) > 0:
            relation += f", by a factor of {rounded(off_by(broken.value / repaired.value))}"
        shown += f", repaired {rounded(repaired.value)} ns (broken is {relation})"
    factor = rounded(published.spread_of_machines(), 2)
    return (
        f"Report {report}, and this trial: {shown}. The timer overhead of report A's machines "
        f"differs by {factor} times"
    )
