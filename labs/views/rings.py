"""Views of rings and of memory: hops, switches, working sets, caches and walks."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from labs.analysis.confidence import Estimate
from labs.html import Table
from labs.machine.description import data_caches
from labs.messages import refused
from labs.plots import picture
from labs.plots.intervals import INTERVALS, Point, Series, XAxis, YAxis, series_figure
from labs.plots.picture import Picture
from labs.plots.scale import LOOKS, QUIET, Look, symbol
from labs.recording import counts
from labs.recording.file import Recording
from labs.results import results_compared
from labs.results.result import Result, result_of
from labs.results.results_compared import compared
from labs.results.warning_thresholds import LEAST_CYCLES_A_LINE, MOST_CYCLES_A_LINE
from labs.units import NAMES, rounded
from labs.views import gather
from labs.views.comparisons import what_differs

if TYPE_CHECKING:
    from labs.notebook.run import Run


_RING_EXAMPLE = 'Measure one: lab.measure("switch_footprint", "processes-8-256k", unit="us").'


@gather.with_warnings
def hops(run: gather.Runs) -> Table:
    """For each ring: the token's way round, one hop, and the same hop of one task alone.

    Nothing is subtracted. The numbers are in the unit of the run, and `run[variant].parts` has the
    first and the last of them as `whole` and `baseline`. Raises Refused if the run has no ring.
    """
    every_run = gather.runs_of([run])
    results = gather.results_of_kernel(every_run, "switch_footprint", "views.hops", _RING_EXAMPLE)
    rows = tuple(row for result in results if (row := _row_of_hop(result)))
    if not rows:
        raise refused("this run has no ring of tasks with a figure", _RING_EXAMPLE)
    unit = NAMES[every_run[0].unit]
    header = ("ring", "tasks", "once round", "one hop", "one task alone: a hop to itself")
    caption = f"switch_footprint as timed, in {unit}; nothing is subtracted"
    if len(rows) == 2:
        caption += f". The two rings differ in: {what_differs(rows[0][0], rows[1][0])}"
    return Table(caption, header, rows)


def _row_of_hop(result: Result) -> tuple[str, ...]:
    """The row of a ring; empty for one task alone, and for a ring without a figure."""
    net = result.net
    if net is None or net.baseline is None or result.variant.startswith("alone"):
        return ()
    per_unit = result.clock.ticks_in(result.unit)
    timed = (net.whole.value, net.unsubtracted.value, net.baseline.value)
    return (result.variant, f"{net.parts:g}", *(rounded(each / per_unit, 4) for each in timed))


_RING = re.compile(r"(processes|threads)-(\d{1,3})-(0|\d+[km])")
_SETS = 'lab.measure("switch_footprint", ["processes-8-0", "processes-8-64k"], unit="us")'


@gather.with_warnings
def set_sizes(run: gather.Runs) -> Table:
    """For each ring: its sets, all of them together, a switch, and what the sets add to it.

    What sets add is the difference to the ring of as many tasks without a set, with its interval.
    Raises Refused if the run has no ring.
    """
    every_run = gather.runs_of([run])
    found = {
        result.variant: result
        for result in gather.results_of_kernel(
            every_run, "switch_footprint", "views.set_sizes", _SETS
        )
        if _RING.fullmatch(result.variant)
    }
    if not found:
        raise refused("this run has no ring of tasks", f"Measure one: {_SETS}.")
    rows = [_row_of_sets(result, found) for result in sorted(found.values(), key=_parts)]
    header = (
        "tasks",
        "set of each",
        "all sets together",
        "one switch",
        "from",
        "to (95 %)",
        "the sets add",
        "why not",
    )
    unit = NAMES[every_run[0].unit]
    return Table(
        f"What working sets add to a switch, in {unit}", header, tuple(rows)
    ).without_empty()


def _row_of_sets(result: Result, found: dict[str, Result]) -> tuple[str, ...]:
    kind, tasks, size = _parts(result)
    return (
        f"{tasks} {kind}",
        _in_kib(size),
        _in_kib(tasks * size),
        *gather.value_cells(result),
        _added(result, found.get(f"{kind}-{tasks}-0"), f"{kind}-{tasks}-0") if size else "",
        gather.why_no_figure(result),
    )


def _added(result: Result, without: Result | None, name: str) -> str:
    """'1.71 (1.5 to 1.9)': the difference to the ring `name`, without a set; '' without a figure.

    Without that ring, what to measure.
    """
    if without is None:
        return f"unknown: measure {name} in the same run"
    if result.estimate is None or without.estimate is None:
        return ""
    difference = compared(result, without)
    low, high = difference.difference_interval
    shown = f"{rounded(difference.difference)} ({rounded(low)} to {rounded(high)})"
    if difference.side > 0:
        return shown
    if difference.side < 0:
        return f"less than without: {shown}"
    return "; ".join(filter(None, (f"not distinguishable from 0: {shown}", difference.doubt())))


def _parts(result: Result) -> tuple[str, int, int]:
    """Kind and number of the tasks, and the bytes of each set."""
    match = _RING.fullmatch(result.variant)
    assert match is not None
    return match[1], int(match[2]), _bytes(match[3])


def _in_kib(size: int) -> str:
    return f"{size >> 10:,} KiB"


_WALKS_EXAMPLE = 'Measure one: lab.measure("memory_ladder", ["random-1m", "ordered-1m"]).'
_WALKS_HEADER = (
    "walk",
    "set, MB",
    "resident, MB",
    "in huge pages, MB",
    "cache lines of the set",
    "lines that the walk goes round",
    "hops that repeat one of the last four",
    "samples that ended at the right line",
)


@gather.with_warnings
def walks(run: gather.Runs) -> Table:
    """For each walk of a run: what it visited, and its pages; all counts of one process.

    Of a count that differs between the processes, the smallest and the largest are shown. Raises
    Refused for a run that has no walk through memory.
    """
    rows = [
        row
        for each in gather.runs_of([run])
        for result in each.results
        if (row := _row_of_walk(each.recording, result.variant)) is not None
    ]
    if not rows:
        raise refused("this run has no walk through memory", _WALKS_EXAMPLE)
    caption = "What each process walked through, counted outside the timed regions"
    return Table(caption, _WALKS_HEADER, tuple(rows)).without_empty()


def _row_of_walk(recording: Recording, variant: str) -> tuple[str, ...] | None:
    def count(key: str, share: int = 1) -> str:
        known = recording.numbers(f"variant.{variant}.{key}")
        if not known:
            return ""
        ends = (each / share for each in (min(known), max(known)))
        texts = (f"{each:,.0f}" if each >= 100 or share == 1 else rounded(each, 3) for each in ends)
        return " to ".join(dict.fromkeys(texts))

    set_kb, right, samples = recording.totals(variant, "set_kb", "ends_right", "samples_walked")
    if set_kb is None:
        return None
    return (
        variant,
        count("set_kb", 1024),
        count("resident_kb", 1024),
        count("huge_kb", 1024),
        count("set_nodes"),
        count("nodes_walked"),
        count("same_hops"),
        "" if right is None or not samples else f"{right:,} of {samples:,}",
    )


#: As in kernels_c/own_footprint.h.
_SET, _LINE = 256 << 10, 64
_OWN_C, _OWN_C_ALONE = "own-256k", "alone-256k"


@gather.with_warnings
def lines_used(run: gather.Runs) -> Table:
    """How many cache lines the run tried, how many of them the C used, and what one costs alone.

    After its last sample the run changes one line after another, and sees whether the sum changes.
    Raises Refused for a run of another C kernel.
    """
    rows = [row for each in gather.runs_of([run]) for row in _rows_on_lines(each)]
    if not rows:
        raise refused(
            "views.lines_used shows a run of own_footprint", "Run your C: its cell has --save own."
        )
    return Table("Your use of the working set", ("what", "found"), tuple(rows))


def _rows_on_lines(run: Run) -> list[tuple[str, str]]:
    recording = run.recording
    if recording.kernel != "own_footprint":
        return []
    rows = []
    tried, used = recording.totals(_OWN_C, "lines_tried", "lines_used")
    if tried and used is not None:
        rows.append(("cache lines changed one at a time, in all processes together", f"{tried:,}"))
        rows.append(("of these, your sum changed with", f"{used:,}"))
    each = _cycles_for_a_line(run)
    if each is not None:
        rows.append(("core cycles for one cache line, one task alone", rounded(each)))
    if rows:
        rows.append(("so your C", verdict(tried, used, each)))
    return rows or [("cache lines", "not tried on this machine")]


def verdict(tried: int | None, used: int | None, cycles: float | None) -> str:
    """What your C did with the set, in words: by the lines that it used, else by what one costs."""
    if tried and used is not None:
        if used == 0:
            return "used none of the lines: your sum changed with none of them"
        if used == tried:
            if cycles is not None and cycles > MOST_CYCLES_A_LINE:
                return (
                    "used every line, but takes too long for one byte of each: does it read more?"
                )
            return "used every line"
        return f"used {used:,} of {tried:,} lines, not every one"
    if cycles is not None and cycles < LEAST_CYCLES_A_LINE:
        return "read nothing: no core loads a line so fast"
    return "took enough time to have read the set"


def _cycles_for_a_line(run: Run) -> float | None:
    """What one task alone pays for one cache line, in core cycles; None without a figure."""
    if _OWN_C_ALONE not in run.recording.variants:
        return None
    try:
        alone = result_of(run.recording, _OWN_C_ALONE, "cycles").estimate
    except ValueError:
        return None
    return None if alone is None else alone.value / (_SET / _LINE)


def caches(sys: Path = Path("/sys")) -> Table:
    """The caches for data of this machine, with their sizes, as the OS reports them.

    Raises Refused if the OS reports none.
    """
    found = data_caches(sys)
    if not found:
        raise refused(
            "this OS does not report the sizes of its caches",
            "Look up the CPU that the first cell names.",
        )
    rows = tuple(
        (f"L{cache.level}", f"{rounded(cache.size / 1024, 6)} KiB", cache.cpus) for cache in found
    )
    caption = "Caches for data of CPU 0, as the OS reports them"
    return Table(caption, ("cache", "size", "shared by the CPUs"), rows).without_empty()


@gather.with_warnings_of_counts
def ring_switches(run: gather.Runs) -> Table:
    """For each variant that claims switches: claimed, counted, the share, and the CPUs used.

    Raises Refused if no variant claims a switch, or if this OS counts none.
    """
    rows = tuple(row for each in gather.runs_of([run]) for row in _rows_of_switches(each))
    if not rows:
        raise refused("there are no switches to count: none is claimed, or this OS counts none")
    header = ("variant", "switches claimed", "counted by the OS", "counted of claimed", "on CPU")
    return Table("Switches, over all samples of each variant", header, rows)


def _rows_of_switches(run: Run) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    for result in run.results:
        seen = counts.switches_of(run.recording, result.variant)
        if seen is None:
            continue
        cpus = sorted(set(run.recording.condition(f"variant.{result.variant}.cpus")))
        share = f"{100 * seen.counted / seen.claimed:.1f} %"
        rows.append(
            (result.variant, f"{seen.claimed:,}", f"{seen.counted:,}", share, ", ".join(cpus))
        )
    return rows


_FOOTPRINT_EXAMPLE = (
    'Measure one: lab.measure("switch_footprint", "processes-2-0,processes-2-64k,processes-2-1m").'
)
_ALONE = re.compile(r"alone-(0|\d+[km])")
_TOUCHING = Look(QUIET, "x", "×", (0, (1, 1)))

#: By kind and number of tasks, then by bytes.
_Rings = dict[tuple[str, int], dict[int, Result]]


@gather.with_notes
def footprint(*runs: gather.Runs | None) -> Picture:
    """Cost of a switch against each task's working set, by number of processes or threads.

    The plot also shows what a hop to itself costs one task alone, which has been subtracted.
    If several runs hold the same variant, the last run counts. Raises Refused if no run has a ring
    of tasks, or if no result has a figure.
    """
    every_run = gather.runs_of(runs)
    chosen, unit = gather.in_one_unit(every_run, gather.large_unit(every_run))
    results = gather.results_of_kernel(
        chosen, "switch_footprint", "views.footprint", _FOOTPRINT_EXAMPLE
    )
    rings: _Rings = {}
    for result in results:
        if _RING.fullmatch(result.variant):
            kind, tasks, size = _parts(result)
            rings.setdefault((kind, tasks), {})[size] = result
    if not rings:
        raise refused("these runs have no ring of tasks", _FOOTPRINT_EXAMPLE)
    gather.require_figure(result for ring in rings.values() for result in ring.values())
    rings = {key: dict(sorted(ring.items())) for key, ring in sorted(rings.items())}
    sizes = sorted({size for ring in rings.values() for size in ring})
    touching = _touching(results, unit)
    looks = dict(zip(sorted({tasks for _, tasks in rings}), LOOKS, strict=False))
    panels = [
        (kind if len({kind for kind, _ in rings}) > 1 else "", _lines(rings, kind, looks, touching))
        for kind in dict.fromkeys(kind for kind, _ in rings)
    ]
    labels = tuple(_in_bytes(size).replace(" ", "\n") for size in sizes)
    figure = series_figure(
        panels,
        XAxis("working set of each task (log axis)", tuple(map(_place, sizes)), labels, log=True),
        YAxis(f"cost ({NAMES[unit]}, log axis)", log=True),
        "switch_footprint: the cost of a switch against the working set",
        [
            (f"{look.sign} one switch among {tasks} tasks", look.colour)
            for tasks, look in looks.items()
        ]
        + ([("× one task alone: a hop to itself", QUIET)] if touching else [])
        + [INTERVALS],
        height=4.3,
    )
    described = *_describe(rings, sizes, touching, unit), _table(rings, touching, unit)
    every = [result for ring in rings.values() for result in ring.values()]
    return picture.make_picture(figure, *described).with_remarks(every)


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
            found[size] = gather.point_at(_place(size), estimate)
    return dict(sorted(found.items()))


def _lines(
    rings: _Rings, kind: str, looks: dict[int, Look], touching: dict[int, Point]
) -> list[Series]:
    lines = [
        gather.series_of(
            str(tasks), {_place(size): result for size, result in ring.items()}, looks[tasks]
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
        kind += " One more line is for a task alone that touches the same memory."
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
    meaning += gather.without_figure(r for ring in rings.values() for r in ring.values())
    return kind, " ".join(meaning)


def _ring(count: int, of: str, size: int) -> str:
    """A ring of tasks in a sentence."""
    if size:
        return f"{count} {of} with {_in_bytes(size)} each"
    return f"{count} {of} with no memory"


def _least_and_most(known: Sequence[tuple[str, Estimate]], sign: str) -> str:
    """Where a switch costs least and where it costs most, if the differences show it."""
    (cheapest, least), near = results_compared.extreme(known, -1)
    (dearest, most), nearby = results_compared.extreme(known, 1)
    at_least, at_most = (f"{rounded(each.value)} {sign}" for each in (least, most))
    if len(known) == 1:
        return f"A switch costs {at_least} among {cheapest}."
    if not near and not nearby:
        return f"A switch costs {at_least} among {cheapest}, and {at_most} among {dearest}."
    said = [f"A switch costs least, {at_least}, among {cheapest}."]
    if near:
        said = [results_compared.doubt("the cheapest switch", at_least, cheapest, near)]
    said.append(
        results_compared.doubt("the most expensive switch", at_most, dearest, nearby)
        if nearby
        else f"It costs most, {at_most}, among {dearest}."
    )
    return " ".join(said)


def _table(rings: _Rings, touching: dict[int, Point], unit: str) -> Table:
    rows = [
        (
            f"{tasks} {kind}",
            _in_bytes(size),
            *gather.value_cells(result),
            rounded(touching[size].value) if size in touching else "",
            gather.why_no_figure(result),
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
