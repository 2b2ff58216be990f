"""Views of a run in numbers: the line T(k) = overhead + k * cost, parts, lengths of samples.

A student computes the numbers of the line by hand.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from labs.html import Table
from labs.messages import refused
from labs.plots.scale import symbol
from labs.results.result import Result, with_ends
from labs.results.results_compared import another_result
from labs.units import NAMES, fixed, is_number, rounded
from labs.views.gather import Runs, runs_of, with_warnings

if TYPE_CHECKING:
    from labs.analysis.line import Line
    from labs.notebook.run import Run


def mean_samples(run: Runs) -> dict[int, float]:
    """The mean sample of the run's first variant at each batch size, in the unit of the run.

    Batch size 0, the empty sample, is among them if it was measured. Raises Refused if the run has
    too few samples.
    """
    result, line = _first_with_line(run)
    per_unit = result.clock.ticks_in(result.unit)
    means = {} if line.empty is None else {0: line.empty.value / per_unit}
    for k, mean in zip(line.batch, line.location, strict=True):
        means[int(k)] = float(mean) / per_unit
    return means


@with_warnings
def after_subtracting(run: Runs, constant: float) -> Table:
    """The mean samples less `constant` core cycles, next to the cycles that the work must take.

    Each operation takes one core cycle. Raises Refused if `constant` is not a number, if the run
    has too few samples, or if the length of a core cycle is not known.
    """
    _demand_number("the constant", constant)
    (first, *_) = runs_of([run])
    rows = []
    for k, mean in mean_samples(first.in_unit("cycles")).items():
        if k == 0:
            continue
        left = mean - constant
        rows.append((f"{k}", fixed(mean, 0), fixed(left, 0), f"{k}", fixed(k - left, 0)))
    return Table(
        f"{first.variant}, in core cycles: every mean sample less {rounded(constant, 4)}",
        ("additions", "mean sample", "left", "the work takes", "missing"),
        tuple(rows),
    )


@with_warnings
def your_line(run: Runs, overhead: float, cost: float) -> Table:
    """The line with this `overhead` and `cost`, in the unit of the run, next to its mean samples.

    The caption has the overhead that the kit finds. Raises Refused if a number is none, or if the
    run has too few samples.
    """
    _demand_number("the overhead", overhead)
    _demand_number("the cost", cost)
    result, _ = _first_with_line(run)
    rows = []
    for k, mean in mean_samples(run).items():
        if k == 0:
            continue
        on_line = overhead + k * cost
        off = f"{fixed(100 * (mean - on_line) / mean, 1, signed=True)} %" if mean else ""
        rows.append((f"{k}", fixed(mean, 1), fixed(on_line, 1), off))
    sign = symbol(result.unit)
    kit = (
        f"the kit's line through all points begins at {with_ends(result.estimate, sign)}"
        if result.estimate is not None
        else f"the kit draws no line: {result.no_figure}"
    )
    return Table(
        f"{result.variant}: your line begins at {rounded(overhead, 4)} {sign}; {kit}",
        ("k", f"mean sample ({sign})", f"your line ({sign})", "the mean is off it by"),
        tuple(rows),
    )


def _first_with_line(run: Runs) -> tuple[Result, Line]:
    """The first result and its line. Raises Refused if there are too few samples for one."""
    (first, *_) = runs_of([run])
    result = first.result()
    if result.line is None:
        raise refused("there are too few samples for a mean at each k", f"{result.no_figure}.")
    return result, result.line


def _demand_number(what: str, number: object) -> None:
    """Raise Refused if `number` is not a number, in words about `what`."""
    if not is_number(number):
        raise refused(f"{what} must be a number, not {number!r}")


_HEADER = (
    "variant",
    "'whole': one round",
    "'baseline': one empty round",
    "'net': difference, process by process",
)


@with_warnings
def parts(*runs: Runs | None) -> Table:
    """What one round of the loop costs, what an empty round costs, and the difference.

    The numbers are those of `run.parts`, in the unit of each run. Raises Refused if a run has no
    figure, or if nothing is subtracted for it.
    """
    chosen = runs_of(runs)
    units = " and ".join(dict.fromkeys(NAMES[run.unit] for run in chosen))
    caption = f"The parts of a figure, in {units}"
    if any(map(_is_no_plain_difference, chosen)):
        caption += (
            ". Here 'net' is not 'whole' minus 'baseline': each of the three is a mean over the "
            "processes that count for it"
        )
    return Table(caption, _HEADER, tuple(map(_row, chosen)))


def _row(run: Run) -> tuple[str, ...]:
    name = f"{run.recording.kernel} {run.variant}"
    return (name, *(rounded(run.parts[part]) for part in ("whole", "baseline", "net")))


def _is_no_plain_difference(run: Run) -> bool:
    """Whether whole minus baseline is visibly not the net cost."""
    net = run.results[0].net
    if net is None or net.baseline is None:
        return False
    plain = (net.whole.value - net.times * net.baseline.value) / net.parts
    return another_result(plain, net.net.value, net.net.low, net.net.high)


#: So many of the most frequent lengths have a row of their own.
MOST_LEVELS = 8


@dataclass(frozen=True, repr=False)
class Lengths:
    """The samples of one variant in ticks, next to an empty sample of the same run.

    `ticks` holds every sample without the warm-up; `empty` is the median of a few samples with
    nothing between their readings; `cycle` is one core cycle in ticks.
    """

    ticks: tuple[int, ...]
    empty: float
    cycle: float
    step: float

    def table(self) -> Table:
        """One row for each of the most frequent lengths, in ascending order, and the others."""
        every = Counter(self.ticks)
        chosen = sorted(every.most_common(MOST_LEVELS))
        rows = [
            (f"{ticks} ticks", rounded(ticks / self.cycle), f"{times:,}") for ticks, times in chosen
        ]
        others = len(every) - len(chosen)
        if others:
            rest = len(self.ticks) - sum(times for _, times in chosen)
            name = "1 other length" if others == 1 else f"{others} other lengths"
            rows.append((name, "", f"{rest:,}"))
        caption = (
            f"The lengths of {len(self.ticks):,} samples. An empty sample takes {self.empty:.0f} "
            f"ticks; the counter moves in steps of {self.step:.0f}"
        )
        return Table(caption, ("length", "in core cycles", "samples"), tuple(rows))

    def _repr_html_(self) -> str:
        return self.table().as_html()

    def __repr__(self) -> str:
        return self.table().as_text()


def lengths(run: Run) -> Lengths:
    """Which lengths the samples of a run have. Raises Refused if its core cycle is not known."""
    (chosen,) = runs_of([run])
    samples = chosen.recording.samples(chosen.variant)
    empty, cycle = chosen.recording.number("counter.overhead"), samples.clock.core_cycle_ticks
    if empty is None or cycle is None:
        raise refused("this run does not state an empty sample, or the length of a core cycle")
    return Lengths(tuple(samples.ticks.tolist()), empty, cycle, samples.clock.step)
