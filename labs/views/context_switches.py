"""Views of context switches: their cost by placement, and how many the OS counted."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from typing import TYPE_CHECKING, Final

from labs.analysis import confidence
from labs.analysis.confidence import Estimate
from labs.html import Table
from labs.messages import refused
from labs.plots import picture
from labs.plots.picture import Picture
from labs.plots.rows import Dot, Group, Row, rows_drawing
from labs.plots.scale import INK, LOOKS, QUIET, VERMILLION, Look, symbol
from labs.recording import counts, declared, run_conditions
from labs.recording.declared import Placement
from labs.results.result import Result, with_ends
from labs.units import NAMES, plural, rounded
from labs.views import gather

if TYPE_CHECKING:
    from labs.notebook.run import Run


ONE_CPU: Final = "on one CPU: a switch"
TWO_CPUS: Final = "on two CPUs: a wake-up of the other CPU"
ANYWHERE: Final = "not pinned: a switch or a wake-up of the other CPU"
UNPROVED: Final = "called a switch, but the OS did not count so many"
ALONE: Final = "with no other task: the calls alone"

_LOOKS = {
    ONE_CPU: LOOKS[0],
    TWO_CPUS: LOOKS[1],
    ANYWHERE: LOOKS[3],
    UNPROVED: Look(INK, "X", "✖", "-"),
    ALONE: LOOKS[2],
}


@gather.with_notes
def placement(*runs: gather.Runs | None) -> Picture:
    """The cost of a switch by placement: a row for each variant, with its interval.

    Groups separate four kinds: switches on one CPU that the OS counted, wake-ups of another CPU,
    tasks that were not pinned, and variants that claim switches which the OS did not count. A fifth
    group holds the calls alone. The unit is that of the first run. Raises Refused if no run is of
    switches, or if no result has a figure.
    """
    every_run = gather.runs_of(runs)
    chosen, unit = gather.in_one_unit(every_run, every_run[0].unit)
    results = [r for run in chosen for r in run.results if _about_switches(r)]
    if not results:
        kernels = ", ".join(sorted({run.recording.kernel for run in chosen}))
        raise refused(
            f"views.placement shows runs of switches; this is of {kernels}",
            'Measure one: lab.measure("process_switch", "pipe-pinned").',
        )
    gather.require_figure(results)
    named = list(zip(_names(results), results, strict=True))
    grouped: dict[str, list[tuple[str, Result]]] = {}
    for heading in _LOOKS:
        mine = [(name, result) for name, result in named if group_of(result) == heading]
        if mine:
            grouped[heading] = mine
    groups = [
        Group(heading, tuple(_row(name, result, look) for name, result in mine), look)
        for heading, mine in grouped.items()
        for look in (_LOOKS[heading],)
    ]
    kernels = " and ".join(dict.fromkeys(result.recording.kernel for result in results))
    figure = rows_drawing(
        groups, unit, "cost, net of the calls", f"{kernels}: cost by placement",
        [("bars: 95 % interval; do not average over groups", QUIET)],
    )  # fmt: skip
    described = *_describe(grouped, kernels, unit), _table(grouped, kernels, unit)
    return picture.make_picture(figure, *described).with_remarks(results)


def group_of(result: Result) -> str:
    """The group of a result, by the switches that it claims and those that the OS counted."""
    recording, name = result.recording, result.variant
    if counts.claim_of(recording, name):
        claimed, counted = counts.switches(recording, name)
        # More switches than claimed are no contradiction: on a busy machine others switch too.
        if claimed and counted is not None and counted < (1 - counts.SWITCHES_TOLERANCE) * claimed:
            return UNPROVED
        return _where(result)
    if name in declared.baselines(recording) or declared.other_tasks(recording, name) == 0:
        return ALONE
    on_two = declared.of_variant(recording, name).placement is Placement.TWO_CPUS
    return TWO_CPUS if on_two else ANYWHERE


def _where(result: Result) -> str:
    """The group of a variant whose switches the OS counted, by the CPUs of its tasks.

    The count alone does not decide: a task that waits on a CPU of its own gives up that CPU, and
    the OS counts this as a switch too.
    """
    for bound in run_conditions.places_of(result.recording, result.variant):
        if bound.may_use and not bound.mine & bound.may_use:
            return TWO_CPUS
        if len(bound.may_use) > 1:
            return ANYWHERE
    return ANYWHERE if run_conditions.why_unbound(result.recording) else ONE_CPU


def _about_switches(result: Result) -> bool:
    """Whether the C kernel measures switches: then each variant states how many it claims."""
    recording = result.recording
    return recording.total("claimed.switches") is not None and (
        "switch" in recording.kernel
        or any(counts.claim_of(recording, name) for name in recording.variants)
    )


def _names(results: Sequence[Result]) -> list[str]:
    """A name for each row: the variant, with its C kernel or a number if it needs one."""
    several = len({result.recording.kernel for result in results}) > 1
    names = [
        f"{result.recording.kernel}, {result.variant}" if several else result.variant
        for result in results
    ]
    seen = {name: count(1) for name in names}
    return [f"{name} ({next(seen[name])})" if names.count(name) > 1 else name for name in names]


def _row(name: str, result: Result, look: Look) -> Row:
    estimate = result.estimate
    if estimate is None:
        return Row(name, (), "no figure", VERMILLION)
    text = with_ends(estimate, symbol(result.unit))
    if estimate.value <= 0:
        return Row(name, (), f"not above zero: {text}", VERMILLION)
    return Row(name, (Dot(estimate.value, look, estimate.low, estimate.high),), text)


def _describe(
    grouped: dict[str, list[tuple[str, Result]]], kernels: str, unit: str
) -> tuple[str, str]:
    sign, meaning = symbol(unit), []
    kind = (
        f"Dot plot of {kernels}: the cost in {NAMES[unit]}, with 95 % intervals, of "
        f"{plural(sum(map(len, grouped.values())), 'variant')} in {plural(len(grouped), 'group')}, "
        "by where the tasks ran."
    )
    cheapest: dict[str, Estimate] = {}
    for heading, mine in grouped.items():
        known = [r.estimate for _, r in mine if r.estimate and r.estimate.value > 0]
        known.sort(key=lambda estimate: estimate.value)
        if not known:
            continue
        cheapest[heading] = known[0]
        span = rounded(known[0].value)
        if rounded(known[-1].value) != span:
            span += f" to {rounded(known[-1].value)}"
        meaning.append(f'In the group "{heading}" the costs are {span} {sign}.')
    if ONE_CPU in cheapest and TWO_CPUS in cheapest:
        factor, low, high = confidence.ratio(cheapest[TWO_CPUS], cheapest[ONE_CPU])
        meaning.append(
            f"The cheapest wake-up across CPUs costs {rounded(factor, 2)} times the cheapest "
            f"switch on one CPU (95 % interval {rounded(low, 2)} to {rounded(high, 2)}). They are "
            "different operations, so a mean of the two has no meaning."
        )
    without = [name for mine in grouped.values() for name, r in mine if r.estimate is None]
    meaning += picture.without_figure(without)
    return kind, " ".join(meaning)


def _counts(result: Result) -> tuple[str, str]:
    """The switches claimed and counted, as text; ("none", "") for a variant that claims none."""
    if not counts.claim_of(result.recording, result.variant):
        return "none", ""
    claimed, counted = counts.switches(result.recording, result.variant)
    return f"{claimed or 0:,}", "" if counted is None else f"{counted:,}"


def _table(grouped: dict[str, list[tuple[str, Result]]], kernels: str, unit: str) -> Table:
    rows = [
        (
            name,
            heading,
            *gather.value_cells(result),
            *_counts(result),
            gather.why_no_figure(result),
        )
        for heading, mine in grouped.items()
        for name, result in mine
    ]
    return Table(
        f"{kernels}: cost in {NAMES[unit]}, and switches in the whole run",
        (
            "variant",
            "where",
            "cost",
            "from",
            "to (95 %)",
            "switches claimed",
            "switches counted",
            "why not",
        ),
        tuple(rows),
    ).without_empty()


_HEADER = (
    "run",
    "figure",
    "switches claimed",
    "counted by the OS",
    "counted for one operation",
    "went on without being woken",
)


@gather.with_warnings
def switches(*runs: gather.Runs | None) -> Table:
    """For each run: the figure of its first variant, and its switches as claimed and as counted.

    For the exercise of lab 06, the last column says in how many processes the thread went on
    without being woken. Raises Refused if there is no run.
    """
    rows = tuple(_row_of_counts(run) for run in gather.runs_of(runs))
    return Table("Switches claimed and counted", _HEADER, rows).without_empty()


def _row_of_counts(run: Run) -> tuple[str, ...]:
    estimate = run.result().estimate
    figure = "none" if estimate is None else f"{rounded(estimate.value)} {symbol(run.unit)}"
    name = f"{run.recording.kernel} {run.variant}"
    found = counts.switches_of(run.recording, run.variant)
    if found is None:
        return name, figure, "none, or not counted here", "", "", ""
    claimed = f"{found.claimed:,}, {found.claim:g} for each operation"
    tried, unwoken = run.recording.totals(run.variant, "turns_tried", "turns_unwoken")
    woken = f"in {unwoken} of {tried} processes" if tried else ""
    return name, figure, claimed, f"{found.counted:,}", found.rate, woken
