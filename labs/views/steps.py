"""The view of single steps: what each further argument of a procedure call adds, run by run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from labs.c_kernels.optimisation import level_of
from labs.common.table import Table
from labs.common.units import NAMES, fixed
from labs.results.compared import compared
from labs.results.result import Result
from labs.views.gather import Runs, in_one_unit, refused, runs_of, with_warnings

if TYPE_CHECKING:
    from labs.notebook.run import Run

MOST_ARGUMENTS = 12


@with_warnings
def steps(*runs: Runs | None) -> Table:
    """What one more argument adds, from 0 to 12, with one column for each run.

    A `*` marks a step whose 95 % interval excludes 0, and `(2 modes)` one between variants of which
    at least one has two modes. The unit is core cycles if their length is known. Raises Refused if
    no run has two neighbours to compare.
    """
    chosen, unit = in_one_unit(runs_of(runs), "cycles")
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
    caption = f"What one more argument adds, in {NAMES[unit]} (*: its interval excludes 0)"
    if any("modes" in cell for row in rows for cell in row):
        caption = (
            f"What one more argument adds, in {NAMES[unit]} (*: its interval excludes 0; 2 modes: "
            "the processes fall into two groups with two costs)"
        )
    return Table(caption, ("arguments", *map(_level, chosen)), tuple(rows))


def _step(less: Result | None, more: Result | None) -> str:
    if less is None or more is None:
        return "not measured"
    if less.estimate is None or more.estimate is None:
        return "no figure"
    found = compared(more, less)
    mark = "*" if found.distinguishable else ""
    modes = any("two modes" in each.modes() for each in (less, more))
    return f"{fixed(found.difference, 2, signed=True)}{mark}{' (2 modes)' * modes}"


def _level(run: Run) -> str:
    flags = run.recording.conditions.get("flags")
    return (flags is not None and level_of(flags)) or "unknown flags"
