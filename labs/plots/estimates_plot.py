"""The plot of several figures side by side, with their 95 % intervals."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.figure import Figure

from labs.plots.known_number import Mark
from labs.plots.rows import Dot, Group, Row, rows_figure
from labs.plots.series import LOOKS
from labs.plots.style import BLUE, GREEN, VERMILLION, symbol
from labs.results.result import Result, with_ends


def estimates_figure(results: Sequence[Result], prediction: Mark | None = None) -> Figure:
    """The figures of several results with their 95 % intervals, one row each, on a log axis.

    All values are in the unit of the first result. A result keeps its row if it has no figure or a
    negative one, and the row says so. Raises ValueError if `results` is empty.
    """
    if not results:
        raise ValueError("nothing to compare")
    unit = results[0].unit
    rows = tuple(_row(result, unit) for result in results)
    key = [("● figure, bar: its 95 % interval", BLUE)]
    level = None
    if prediction is not None:
        level = (prediction.into(unit, results[0].clock), GREEN)
        key.append((prediction.key_text(), GREEN))
    return rows_figure(
        [Group("", rows)],
        unit,
        results[0].what,
        f"{results[0].recording.kernel}: {results[0].what} of each variant",
        key,
        scale="log",
        level=level,
    )


def _row(result: Result, unit: str) -> Row:
    estimate = result.estimate.into(unit, result.clock) if result.estimate is not None else None
    if estimate is None or estimate.value <= 0:
        why = "no figure" if estimate is None else "not above zero"
        return Row(result.variant, (), why, VERMILLION)
    dot = Dot(estimate.value, LOOKS[0], estimate.low, estimate.high)
    return Row(result.variant, (dot,), with_ends(estimate, symbol(unit)))
