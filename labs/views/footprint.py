"""The view of a switch's cost against the working set of each task: a line for each task count."""

from __future__ import annotations

import re
from collections.abc import Sequence

from labs.analysis.estimate import Estimate
from labs.common.table import Table
from labs.common.units import NAMES, rounded
from labs.plots import picture
from labs.plots.picture import Picture
from labs.plots.series import INTERVALS, LOOKS, Look, Point, Series, XAxis, YAxis, series_figure
from labs.plots.style import QUIET, symbol
from labs.results import extremes
from labs.results.result import Result
from labs.views.gather import (
    Runs,
    in_one_unit,
    large_unit,
    point_at,
    refused,
    require_figure,
    results_of_kernel,
    runs_of,
    value_cells,
    why_no_figure,
    with_notes,
)

_EXAMPLE = 'lab.measure("switch_footprint", "processes-2-0,processes-2-64k,processes-2-1m")'
_NAME = re.compile(r"(processes|threads)-(\d{1,3})-(0|\d+[km])")
_ALONE = re.compile(r"alone-(0|\d+[km])")
_TOUCHING = Look(QUIET, "x", "×", (0, (1, 1)))

#: By kind and number of tasks, then by bytes.
_Rings = dict[tuple[str, int], dict[int, Result]]


@with_notes
def footprint(*runs: Runs | None) -> Picture:
    """Cost of a switch against each task's working set, by number of processes or threads.

    The plot also shows what a hop to itself costs one task alone, which has been subtracted.
    If several runs hold the same variant, the last run counts. Raises Refused if no run has a ring
    of tasks, or if no result has a figure.
    """
    every_run = runs_of(runs)
    chosen, unit = in_one_unit(every_run, large_unit(every_run))
    results = results_of_kernel(
        chosen, "switch_footprint", "views.footprint", f"Measure one: {_EXAMPLE}."
    )
    rings: _Rings = {}
    for result in results:
        match = _NAME.fullmatch(result.variant)
        if match is not None:
            rings.setdefault((match[1], int(match[2])), {})[_bytes(match[3])] = result
    if not rings:
        raise refused("these runs have no ring of tasks", f"Measure one: {_EXAMPLE}.")
    require_figure(result for ring in rings.values() for result in ring.values())
    rings = {key: dict(sorted(ring.items())) for key, ring in sorted(rings.items())}
    sizes = sorted({size for ring in rings.values() for size in ring})
    touching = _touching(results, unit)
    looks = dict(zip(sorted({tasks for _, tasks in rings}), LOOKS, strict=False))
    panels = [
        (kind if len({kind for kind, _ in rings}) > 1 else "", _lines(rings, kind, looks, touching))
        for kind in dict.fromkeys(kind for kind, _ in rings)
    ]
    figure = series_figure(
        panels,
        XAxis(
            "working set of each task (log axis)",
            tuple(_place(size) for size in sizes),
            tuple(_in_bytes(size).replace(" ", "\n") for size in sizes),
            log=True,
        ),
        YAxis(f"cost of one switch\n({NAMES[unit]}, log axis)", log=True),
        "switch_footprint: the cost of a switch against the working set",
        [(f"{look.sign} {tasks} tasks", look.colour) for tasks, look in looks.items()]
        + ([("× one task alone: a hop to itself", QUIET)] if touching else [])
        + [INTERVALS],
        height=4.3,
    )
    drawn = picture.make_picture(
        figure, *_describe(rings, sizes, touching, unit), _table(rings, touching, unit)
    )
    return drawn.with_remarks([result for ring in rings.values() for result in ring.values()])


def _bytes(text: str) -> int:
    """A size such as `16k` or `1m`, in bytes."""
    return int(text.rstrip("km")) << {"k": 10, "m": 20}.get(text[-1], 0)


def _in_bytes(size: int) -> str:
    return f"{size >> 20} MiB" if size >= 1 << 20 else f"{size >> 10} KiB" if size else "0"


def _place(size: int) -> float:
    """The place of a working set on the logarithmic axis; 0 is left of the smallest size."""
    return float(size or 4 << 10)


def _touching(results: Sequence[Result], unit: str) -> dict[int, Point]:
    """What one task alone pays for passing the token to itself and touching its memory, by bytes.

    Values are in `unit`.
    """
    found: dict[int, Point] = {}
    for result in results:
        name, estimate = result.variant, result.estimate
        if result.net is not None and result.net.baseline is not None:
            name = result.net.baseline_variant or ""
            estimate = result.net.baseline.into(unit, result.clock)
        match = _ALONE.fullmatch(name)
        if match is not None and estimate is not None:
            size = _bytes(match[1])
            found[size] = point_at(_place(size), estimate)
    return dict(sorted(found.items()))


def _lines(
    rings: _Rings, kind: str, looks: dict[int, Look], touching: dict[int, Point]
) -> list[Series]:
    lines = [
        Series(
            str(tasks),
            tuple(
                point_at(_place(size), result.estimate)
                for size, result in ring.items()
                if result.estimate is not None
            ),
            looks[tasks],
            tuple(_place(size) for size, result in ring.items() if why_no_figure(result)),
        )
        for (of, tasks), ring in rings.items()
        if of == kind
    ]
    return [*lines, Series("alone", tuple(touching.values()), _TOUCHING)]


def _describe(
    rings: _Rings, sizes: Sequence[int], touching: dict[int, Point], unit: str
) -> tuple[str, str]:
    kinds = " and ".join(dict.fromkeys(kind for kind, _ in rings))
    tasks = ", ".join(map(str, sorted({tasks for _, tasks in rings})))
    kind = (
        f"Line plot of switch_footprint: the cost of one switch in {NAMES[unit]} on a logarithmic "
        f"axis, with 95 % intervals, against the working set of each task, {_in_bytes(sizes[0])} "
        f"to {_in_bytes(sizes[-1])}; for {kinds}, with a line for each number of tasks: {tasks}."
    )
    if touching:
        also = "One more line is for a task alone that touches the same memory."
        kind = " ".join((kind, also))
    sign, meaning = symbol(unit), []
    for of in dict.fromkeys(of for of, _ in rings):
        known = [
            (_ring(number, of, size), result.estimate)
            for (its, number), ring in rings.items()
            for size, result in ring.items()
            if its == of and result.estimate is not None and result.estimate.value > 0
        ]
        if known:
            meaning.append(_least_and_most(known, sign))
    if touching:
        meaning.append(
            "These costs are net: what a task alone pays for passing the token to itself and for "
            "touching its memory is subtracted, and has a line of its own."
        )
    without = [r.variant for ring in rings.values() for r in ring.values() if why_no_figure(r)]
    if without:
        meaning.append(f"Without a figure: {', '.join(without)}.")
    return kind, " ".join(meaning)


def _ring(number_1: int, of: str, size: int) -> str:
    """A ring of tasks in a sentence."""
    if size:
        return f"{number_1} {of} with {_in_bytes(size)} each"
    return f"{number_1} {of} with no memory"


def _least_and_most(known: Sequence[tuple[str, Estimate]], sign: str) -> str:
    """Where a switch costs least and where it costs most, if the differences show it."""
    (cheapest, least), near = extremes.lowest(known)
    (dearest, most), nearby = extremes.highest(known)
    at_least, at_most = (f"{rounded(each.value)} {sign}" for each in (least, most))
    if len(known) == 1:
        return f"A switch costs {at_least} among {cheapest}."
    if not near and not nearby:
        return f"A switch costs {at_least} among {cheapest}, and {at_most} among {dearest}."
    said = [f"A switch costs least, {at_least}, among {cheapest}."]
    if near:
        said = [extremes.doubt("the cheapest switch", at_least, cheapest, near)]
    said.append(
        extremes.doubt("the most expensive switch", at_most, dearest, nearby)
        if nearby
        else f"It costs most, {at_most}, among {dearest}."
    )
    return " ".join(said)


def _table(rings: _Rings, touching: dict[int, Point], unit: str) -> Table:
    rows = [
        (
            f"{tasks} {kind}",
            _in_bytes(size),
            *value_cells(result),
            rounded(touching[size].value) if size in touching else "",
            why_no_figure(result),
        )
        for (kind, tasks), ring in rings.items()
        for size, result in ring.items()
    ]
    return Table(
        f"switch_footprint: cost of one switch in {NAMES[unit]}",
        (
            "tasks",
            "working set",
            "cost",
            "from",
            "to (95 %)",
            "one task alone: a hop to itself",
            "why not",
        ),
        tuple(rows),
    ).without_empty()
