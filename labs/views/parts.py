"""The view of a figure's parts: the round of the loop as timed, the empty loop, the difference."""

from __future__ import annotations

from typing import TYPE_CHECKING

from labs.common.table import Table
from labs.common.units import NAMES, rounded
from labs.results.digits import another_result
from labs.views.gather import Runs, runs_of, with_warnings

if TYPE_CHECKING:
    from labs.notebook.run import Run

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
        caption = (
            f"The parts of a figure, in {units}. Here 'net' is not 'whole' minus 'baseline': each "
            "of the three is a mean over the processes that count for it"
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
