"""Views of created tasks: their cost against the parent's memory, and what the OS counted."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from matplotlib.axes import Axes

from labs import terminal
from labs.html import Table
from labs.messages import refused
from labs.plots import picture
from labs.plots.intervals import INTERVALS, XAxis, YAxis, series_figure
from labs.plots.picture import Picture
from labs.plots.scale import GREEN, LOOKS, symbol
from labs.results.result import Result
from labs.units import NAMES, rounded
from labs.views import gather

if TYPE_CHECKING:
    from labs.notebook.run import Run


_EXAMPLE = (
    'Each size needs a run of its own: lab.measure("task_creation", "fork-wait-64mb"), and the '
    "same for fork-wait and fork-wait-1mb."
)
#: Up to this size in megabytes the axes are linear, on which a constant cost for each page is a
#: straight line; beyond it the small sizes would fall together.
_LINEAR_UP_TO = 128
#: A prediction is drawn up to this many times the highest figure, where the axes are linear.
_HIGHEST_GUESS = 3
_NAME = re.compile(r"(fork|fork-wait)(?:-(\d+)(mb|gb))?")
#: The quantity on the horizontal axis, by whether the recordings state the resident memory.
_WHAT = {True: "resident memory of the parent", False: "additional memory of the parent"}
_ABOUT = {"fork": "fork, creation only", "fork-wait": "fork to wait"}
_BOTH = "fork, creation only, and fork to wait"

#: By operation, then by megabytes: all resident memory, or only what the variant adds.
_ByMemory = dict[str, dict[float, Result]]


@gather.with_notes
def memory(*runs: gather.Runs | None) -> Picture:
    """Cost of fork against the parent's memory: fork-wait, fork-wait-1mb to fork-wait-1gb, or fork.

    Each size needs a run of its own, because a process that holds memory for one variant holds it
    for all variants of its run. If several runs hold the same variant, the last run counts. Raises
    Refused if there are fewer than two sizes, or if no result has a figure.
    """
    every_run = gather.runs_of(runs)
    chosen, unit = gather.in_one_unit(every_run, gather.large_unit(every_run))
    last: dict[str, dict[int, Result]] = {}
    for result in gather.results_of_kernel(chosen, "task_creation", "views.memory", _EXAMPLE):
        match = _NAME.fullmatch(result.variant)
        if match is not None:
            asked = int(match[2]) * {"mb": 1, "gb": 1024}[match[3]] if match[2] else 0
            last.setdefault(match[1], {})[asked] = result
    # An operation with a single size makes no line. If none has two sizes, the view refuses below.
    last = {name: by_size for name, by_size in last.items() if len(by_size) > 1} or last
    every = [result for by_size in last.values() for result in by_size.values()]
    resident = all(_resident(result) for result in every)
    found: _ByMemory = {
        name: {
            (_resident(result) if resident else asked): result
            for asked, result in sorted(by_size.items())
        }
        for name, by_size in sorted(last.items())
    }
    sizes = sorted({asked for by_size in last.values() for asked in by_size})
    if len(sizes) < 2:
        raise refused("views.memory needs fork with two or more sizes of memory", _EXAMPLE)
    gather.require_figure(every)
    log = max(size for by_size in found.values() for size in by_size) > _LINEAR_UP_TO
    on_log = ", log axis" if log else ""
    series = [
        gather.series_of(
            _ABOUT[name], {_place(size, log): result for size, result in by_size.items()}, look
        )
        for (name, by_size), look in zip(found.items(), LOOKS, strict=False)
    ]
    guesses = _guesses(chosen, found, unit, log)
    labels, reach = _labels(found, sizes, resident, log), [value for _, value in guesses]
    figure = series_figure(
        [("", series)],
        XAxis(f"{_WHAT[resident]} (megabytes{on_log})", *labels, log=log),
        YAxis(f"cost of one fork\n({NAMES[unit]}{on_log})", log=log, reach=reach),
        "task_creation: fork against the memory of the parent",
        [(f"{each.look.sign} {each.name}", each.look.colour) for each in series]
        + [("― your prediction", GREEN)] * bool(guesses)
        + [INTERVALS],
        more=partial(_draw_guesses, guesses=guesses),
    )
    kind, meaning = _describe(found, _WHAT[resident], unit, log)
    meaning += _predicted(chosen, unit)
    table = _table(found, _WHAT[resident], unit)
    return picture.make_picture(figure, kind, meaning, table).with_remarks(every)


def _guesses(
    runs: Sequence[Run], found: _ByMemory, unit: str, log: bool
) -> list[tuple[float, float]]:
    """The place on both axes of each prediction that these axes can show.

    A prediction far above all figures would flatten their line on a linear axis, so only the
    sentences below the plot name it.
    """
    figures = [r.estimate for by_size in found.values() for r in by_size.values() if r.estimate]
    most = math.inf if log else _HIGHEST_GUESS * max(each.value for each in figures)
    places = {
        result.variant: _place(size, log)
        for by_size in found.values()
        for size, result in by_size.items()
    }
    said = {
        result.variant: mark.into(unit, result.clock)
        for run in runs
        for result in run.results
        if result.variant in places and (mark := run.prediction(result)) is not None
    }
    return [(places[name], value) for name, value in said.items() if 0 < value <= most]


def _draw_guesses(axes: Axes, guesses: Sequence[tuple[float, float]]) -> None:
    """A short level line for each of `guesses` at its size."""
    axes.plot(
        [x for x, _ in guesses], [value for _, value in guesses], linestyle="none", color=GREEN,
        marker="_", markersize=22, markeredgewidth=2.2, zorder=2,
    )  # fmt: skip


def _resident(result: Result) -> float:
    """Megabytes that the parent holds in memory; 0 if the recording does not state it."""
    return (result.recording.number("memory.resident_kb") or 0.0) / 1024


def _place(size: float, log: bool) -> float:
    """The place of a size on the axis; on a logarithmic one, 0 is left of the smallest size."""
    return size or (0.25 if log else 0.0)


def _labels(
    found: _ByMemory, asked: Sequence[int], resident: bool, log: bool
) -> tuple[tuple[float, ...], tuple[str, ...]]:
    """The places of the labels on the horizontal axis, and their texts."""
    if not resident:
        places = tuple(_place(size, log) for size in asked)
        return places, tuple(f"{size:,}" if size else "none" for size in asked)
    sizes = sorted(size for by_size in found.values() for size in by_size)
    apart = [size for n, size in enumerate(sizes) if n == 0 or size > 1.4 * sizes[n - 1]]
    places = (*apart[:-1], max(sizes[-1], apart[-1]))
    return places, tuple(rounded(place, 2 if place < 10 else 3) for place in places)


def _describe(found: _ByMemory, what: str, unit: str, log: bool) -> tuple[str, str]:
    sizes = sorted(size for by_size in found.values() for size in by_size)
    operations = _BOTH if len(found) > 1 else _ABOUT[next(iter(found))]
    ends = f"{rounded(sizes[0])} to {rounded(sizes[-1])}"
    axis = "a logarithmic axis" if log else "a linear axis"
    kind = (
        f"Line plot of task_creation: the cost of one fork in {NAMES[unit]} on {axis}, with 95 % "
        f"intervals, against the {what}, from {ends} megabytes; for {operations}."
    )
    sign, meaning = symbol(unit), []
    for name, by_size in found.items():
        known = {s: r.estimate.value for s, r in by_size.items() if r.estimate is not None}
        if len(known) < 2:
            continue
        (least, first), *_, (most, last) = known.items()
        each = (last - first) / (most - least)
        places = list(known)
        steps = [
            (known[more] - known[less]) / (more - less) for less, more in itertools.pairwise(places)
        ]
        meaning.append(
            f"With {rounded(least)} MB in memory {_ABOUT[name]} costs {rounded(first)} {sign} and "
            f"with {rounded(most)} MB {rounded(last)} {sign}: {rounded(each, 2)} {sign} for each "
            "MB more."
        )
        if len(steps) > 1:
            fewest, highest = rounded(min(steps), 2), rounded(max(steps), 2)
            meaning.append(
                "Rounded to two digits, it is the same between all neighbouring sizes."
                if fewest == highest
                else f"Between neighbouring sizes it is {fewest} to {highest} {sign} for each MB "
                "more."
            )
    meaning += gather.without_figure(r for by_size in found.values() for r in by_size.values())
    return kind, " ".join(meaning)


def _predicted(runs: Sequence[Run], unit: str) -> str:
    """A sentence on each prediction of a variant of `runs` that can be shown in `unit`."""
    said: dict[str, str] = {}
    for run in runs:
        for result in run.results:
            mark = run.prediction(result)
            if mark is not None and _NAME.fullmatch(result.variant):
                value = rounded(mark.into(unit, result.clock))
                said[result.variant] = f" {mark.of(result.variant)}: {value} {symbol(unit)}."
    return "".join(said.values())


def _table(found: _ByMemory, what: str, unit: str) -> Table:
    rows = [
        (
            rounded(size, 3 if size < 1000 else 4),
            _ABOUT[name],
            *gather.value_cells(result),
            gather.why_no_figure(result),
        )
        for name, by_size in found.items()
        for size, result in by_size.items()
    ]
    return Table(
        f"task_creation: cost of one fork in {NAMES[unit]}, by {what}",
        ("megabytes", "operation", "cost", "from", "to (95 %)", "why not"),
        tuple(rows),
    ).without_empty()


#: By the name of a count: what a recording states, and the head of the column.
COUNTS = {
    "page faults": ("children_faults", "page faults of a child process, for each task"),
    "switches": ("children_switches", "switches of a child process, for each task"),
    "number seen": ("seen", "tasks whose number the parent saw raised"),
    "parent slept": ("parent_slept", "trials in which the parent slept until the task had ended"),
}


@gather.with_warnings_of_counts
def created_tasks(run: Run, *counts: str) -> Table:
    """For each variant of `run`: how many tasks it created, and the `counts` asked for.

    `counts` are some of "page faults", "switches", "number seen" and "parent slept". The OS adds
    the page faults and the switches of a child process to its parent's account when the parent has
    waited for it. A thread is no child process. The last two are counted only in the exercise of
    lab 05. The sleep is counted in one trial of each process. Raises Refused for another count, or
    none.
    """
    if not counts:
        raise refused("name one count or more", f"The counts are {_known()}.")
    for each in counts:
        if each not in COUNTS:
            meant = terminal.meant(str(each), tuple(COUNTS))
            close = f": did you mean {meant}?" if meant else ""
            raise refused(f"there is no count {each!r}{close}", f"The counts are {_known()}.")
    heads = [COUNTS[each][1] for each in counts]
    rows = []
    for result in run.results:
        made = run.recording.total(f"variant.{result.variant}.created")
        if made:
            cells = [_cell(run, result.variant, each, made) for each in counts]
            rows.append((result.variant, f"{made:,}", *cells))
    if not rows:
        raise refused("this run created no task", 'Pass a run of "task_creation", such as `kinds`.')
    header = ("variant", "tasks created", *heads)
    return Table("What the OS counted", header, tuple(rows)).without_empty()


def _known() -> str:
    return ", ".join(f'"{each}"' for each in COUNTS)


def _cell(run: Run, variant: str, count: str, made: int) -> str:
    """The count of a variant as text: for each task, or out of all tasks or trials."""
    stated = f"variant.{{}}.{COUNTS[count][0]}".format
    total = run.recording.total(stated(variant))
    if total is None:
        every = [result.variant for result in run.results]
        others = [name for name in every if run.recording.total(stated(name)) is not None]
        if others:
            return f"counted for {' and '.join(others)} only"
        of_exercise = any(run.recording.total(f"variant.{name}.seen") is not None for name in every)
        return "" if count == "parent slept" and of_exercise else "not counted"
    if count == "parent slept":
        return f"{total:,} of {run.recording.total(f'variant.{variant}.tried') or 0:,}"
    return f"{total:,} of {made:,}" if count == "number seen" else rounded(total / made)
