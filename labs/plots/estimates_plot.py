"""The plot of several figures side by side, with their 95 % intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure

from labs.plots.known_number import Mark
from labs.plots.rows import Dot, Group, Row, rows_figure
from labs.plots.series import LOOKS
from labs.plots.style import BLUE, GREEN, VERMILLION, symbol
from labs.plots.tables import names_of
from labs.results.result import Result, with_ends


def estimates_figure(
    results: Sequence[Result], predictions: Mapping[str, Mark] | None = None
) -> Figure:
    """The figures of several results with their 95 % intervals, one row each, on a log axis.

    All values are in the unit of the first result. `predictions` are by variant, and each is drawn
    in the row of its variant. A result keeps its row if it has no figure or a
    negative one, and the row says so. Raises ValueError if `results` is empty.
    """
    if not results:
        raise ValueError("nothing to compare")
    unit = results[0].unit
    known = predictions or {}
    rows = tuple(
        _row(name, result, unit, known.get(result.variant))
        for name, result in zip(names_of(results), results, strict=True)
    )
    key = [("● figure, bar: its 95 % interval", BLUE)]
    drawn = [known[result.variant] for result in results if result.variant in known]
    texts = [mark.key_text() if len(drawn) == 1 else f"╌ {mark.name}" for mark in drawn]
    key += [(text, GREEN) for text in dict.fromkeys(texts)]
    return rows_figure(
        [Group("", rows)],
        unit,
        results[0].what,
        f"{results[0].recording.kernel}: {results[0].what} of each variant",
        key,
        scale="log",
    )


def _row(name: str, result: Result, unit: str, prediction: Mark | None) -> Row:
    level = prediction.into(unit, result.clock) if prediction is not None else None
    estimate = result.estimate.into(unit, result.clock) if result.estimate is not None else None
    if estimate is None or estimate.value <= 0:
        why = "no figure" if estimate is None else "not above zero"
        return Row(name, (), why, VERMILLION, level)
    dot = Dot(estimate.value, LOOKS[0], estimate.low, estimate.high)
    return Row(name, (dot,), with_ends(estimate, symbol(unit)), level=level)
