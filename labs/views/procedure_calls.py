"""Views of a procedure call: its cost against its arguments, and what each argument adds."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

from matplotlib.axes import Axes

from labs.c_kernels.toolchain import optimisation_level
from labs.html import Table
from labs.messages import refused
from labs.plots import picture
from labs.plots.intervals import INTERVALS, Series, XAxis, YAxis, series_figure
from labs.plots.picture import Picture
from labs.plots.scale import LOOKS, QUIET, symbol
from labs.plots.style import FONT_PT
from labs.results.result import Result
from labs.results.results_compared import compared
from labs.units import NAMES, fixed, rounded, with_unit
from labs.views import gather

if TYPE_CHECKING:
    from labs.notebook.run import Run


_EXAMPLE = 'lab.measure("procedure_call", "args0,args6,args8,args12", flags="-O0")'

#: Integer arguments that the calling convention passes in registers, by architecture.
_IN_REGISTERS = {"x86_64": 6, "aarch64": 8, "arm64": 8, "riscv64": 8}

_Counted = dict[int, Result]


@gather.with_notes
def arguments(*runs: gather.Runs | None) -> Picture:
    """Cost against argument count: the variants args0 to args12 of each run, with intervals.

    Each run is a series; take one at -O0 and one at -O2. The unit is core cycles if their length is
    known, else the unit of the first run. Raises Refused if a run has no such variants, if there
    are fewer than two argument counts, or if no result has a figure.
    """
    chosen, unit = gather.in_one_unit(gather.runs_of(runs), "cycles")
    named = {name: _counts(run) for name, run in zip(_names(chosen), chosen, strict=True)}
    every = [result for counted in named.values() for result in counted.values()]
    gather.require_figure(every)
    counts = sorted({count for counted in named.values() for count in counted})
    if len(counts) < 2:
        raise refused("a line needs two argument counts", f"Measure several: {_EXAMPLE}.")
    series = []
    for (name, counted), look in zip(named.items(), LOOKS, strict=False):
        figures = {count: result.estimate for count, result in counted.items()}
        points = (gather.point_at(count, each) for count, each in figures.items() if each)
        without = tuple(count for count, each in figures.items() if each is None)
        series.append(Series(name, tuple(points), look, without))
    ends = _registers(chosen, counts)
    # Leave room above the lines for the text at the border.
    reach = [1.12 * point.high for each in series for point in each.points] if ends else ()
    figure = series_figure(
        [("", series)],
        XAxis("integer arguments", tuple(map(float, counts)), tuple(map(str, counts))),
        YAxis(f"cost of one call\n({NAMES[unit]})", log=False, reach=reach),
        "procedure_call: cost against the number of arguments",
        [(f"{each.look.sign} {each.name}", each.look.colour) for each in series] + [INTERVALS],
        more=None if ends is None else partial(_draw_border, ends=ends, counts=counts),
    )
    described = *_describe(named, counts, unit, ends), _table(named, counts, unit)
    return picture.make_picture(figure, *described).with_remarks(every)


def _counts(run: Run) -> _Counted:
    """The results by argument count, in ascending order. Raises Refused if there is none."""
    found = {}
    for result in gather.results_of_kernel(
        [run], "procedure_call", "views.arguments", f"Measure: {_EXAMPLE}."
    ):
        match = re.fullmatch(r"args(\d{1,3})", result.variant)
        if match is not None:
            found[int(match[1])] = result
    if not found:
        names = ", ".join(result.variant for result in run.results)
        raise refused(
            f"this run has no variant args0 to args12; it has {names}", f"Measure: {_EXAMPLE}."
        )
    return dict(sorted(found.items()))


def _names(runs: Sequence[Run]) -> list[str]:
    """The optimisation level of each run, with a number if two runs have the same level."""
    if len(runs) > len(LOOKS):
        raise refused(f"one plot can show at most {len(LOOKS)} runs, not {len(runs)}")
    return picture.numbered([_level(run) for run in runs])


def _registers(runs: Sequence[Run], counts: Sequence[int]) -> int | None:
    """How many arguments go in registers; None if unknown, or if the plot does not reach there."""
    for run in runs:
        for word in run.recording.conditions.get("os", "").split():
            ends = _IN_REGISTERS.get(word)
            if ends is not None:
                return ends if counts[0] <= ends < counts[-1] else None
    return None


def _draw_border(axes: Axes, ends: int, counts: Sequence[int]) -> None:
    """Draw a line after the last argument that goes in a register, with text on both sides."""
    axes.axvline(ends + 0.5, color=QUIET, linewidth=0.9, dashes=(2, 3), zorder=0)
    inside, outside = f"{ends} in registers", "the others on the stack"
    left, right = (f"{inside} ", f" {outside}")
    share = (ends + 0.5 - counts[0]) / (counts[-1] - counts[0])
    if share < 0.3:  # there is no room at the left, so both texts stand at the right
        left, right = "", f" {inside}, {outside}"
    elif share > 0.7:
        left, right = f"{inside}, {outside} ", ""
    for words, side in ((left, "right"), (right, "left")):
        axes.text(
            ends + 0.5, 0.985, words, transform=axes.get_xaxis_transform(), va="top", ha=side,
            fontsize=FONT_PT, color=QUIET,
        )  # fmt: skip


def _describe(
    named: dict[str, _Counted], counts: Sequence[int], unit: str, ends: int | None
) -> tuple[str, str]:
    kind = (
        f"Line plot of procedure_call: the cost of one call in {NAMES[unit]}, with 95 % intervals, "
        f"against its integer arguments, {counts[0]} to {counts[-1]}; one line for "
        f"{' and '.join(named)}."
    )
    sign, meaning = symbol(unit), []
    for name, counted in named.items():
        known = {n: r.estimate.value for n, r in counted.items() if r.estimate is not None}
        if len(known) < 2:
            continue
        (least, first), *_, (most, last) = known.items()
        rise = (last - first) / (most - least)
        meaning.append(
            f"At {name} a call with {least} arguments costs {rounded(first)} {sign} and one with "
            f"{most} costs {rounded(last)} {sign}: {rounded(rise, 2)} {sign} for each argument."
        )
        steps = [((b[1] - a[1]) / (b[0] - a[0]), a[0], b[0]) for a, b in pairwise(known.items())]
        step, before, after = max(steps)
        if len(steps) > 2 and compared(counted[after], counted[before]).distinguishable:
            by = with_unit(rounded(step, 2), sign) + (" for each" if after - before > 1 else "")
            meaning.append(f"The cost rises most from {before} to {after} arguments: by {by}.")
    if ends is not None:
        meaning.append(
            f"The calling convention of this machine passes {ends} arguments in registers and the "
            "others on the stack; a line marks this border."
        )
    without = [
        f"{r.variant} ({name})" for name, c in named.items() for r in c.values() if not r.estimate
    ]
    meaning += picture.without_figure(without)
    return kind, " ".join(meaning)


def _table(named: dict[str, _Counted], counts: Sequence[int], unit: str) -> Table:
    header = ["arguments"]
    for name in named:
        header += [f"cost at {name}", "from", "to (95 %)"]
    rows = []
    for count in counts:
        row = [str(count)]
        for counted in named.values():
            row += gather.value_cells(counted.get(count))
        reasons = [gather.why_no_figure(counted.get(count)) for counted in named.values()]
        rows.append((*row, "; ".join(filter(None, reasons))))
    return Table(
        f"procedure_call: cost of one call in {NAMES[unit]}", (*header, "why not"), tuple(rows)
    ).without_empty()


MOST_ARGUMENTS = 12


@gather.with_warnings
def steps(*runs: gather.Runs | None) -> Table:
    """What one more argument adds, from 0 to 12, with one column for each run.

    A `*` marks a step whose 95 % interval excludes 0, and `(2 modes)` one between variants of which
    at least one has two modes. The unit is core cycles if their length is known. Raises Refused if
    no run has two neighbours to compare.
    """
    chosen, unit = gather.in_one_unit(gather.runs_of(runs), "cycles")
    named = [{each.variant: each for each in run.results} for run in chosen]
    pairs = [(f"args{n}", f"args{n + 1}") for n in range(MOST_ARGUMENTS)]
    kept = [pair for pair in pairs if any(set(pair) <= set(known) for known in named)]
    if not kept:
        raise refused(
            "no run has two neighbours such as args5 and args6",
            'Measure them in one run: lab.measure("procedure_call", "args5, args6").',
        )
    rows = [
        (
            f"step from {one} to {other}",
            *(_step(known.get(one), known.get(other)) for known in named),
        )
        for one, other in kept
    ]
    caption = f"What one more argument adds, in {NAMES[unit]} (*: its interval excludes 0"
    if any("modes" in cell for row in rows for cell in row):
        caption += "; 2 modes: the processes fall into two groups with two costs"
    return Table(f"{caption})", ("arguments", *map(_level, chosen)), tuple(rows))


def _step(less: Result | None, more: Result | None) -> str:
    if less is None or more is None:
        return "not measured"
    if less.estimate is None or more.estimate is None:
        return "no figure"
    found = compared(more, less)
    mark = "*" if found.distinguishable else ""
    modes = any("two modes" in each.modes() for each in (less, more))
    # What differs from 0 must not read 0.00.
    decimals = 3 if mark and abs(found.difference) < 0.005 else 2
    return f"{fixed(found.difference, decimals, signed=True)}{mark}{' (2 modes)' * modes}"


def _level(run: Run) -> str:
    flags = run.recording.conditions.get("flags")
    return (flags is not None and optimisation_level(flags)) or "unknown flags"
