"""A comparison of two results in full: ratio and difference, as sentences and as a table."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Sequence

from labs.common.units import rounded
from labs.results.compared import Comparison
from labs.results.result import Result, sensible

#: Below "No difference seen", groups of processes would else read like a difference.
_OF_THE_MEAN = "The limit is for the mean of the processes, not for each of them."
_HEADER = ("what", "value", "low", "high", "unit")


def sentences(found: Comparison) -> tuple[str, ...]:
    """Two sentences if the two differ; else one that says how large the difference is at most.

    `found` compares with the whole second result: its `times` is 1.
    """
    if not found.distinguishable:
        return (_not_seen(found), *found.modes, *([_OF_THE_MEAN] if found.modes else []))
    more = "more" if found.difference > 0 else "less"
    gap = f"{found.first} takes {found.difference_as_text()} {more} than {found.second}."
    return tuple(dict.fromkeys((found.sentence(), gap, *found.modes)))


def _not_seen(found: Comparison) -> str:
    """The ends of both 95 % intervals say how large a difference was missed at most."""
    most = f"{_rounded_up(max(map(abs, found.difference_interval)))} {found.unit}"
    if found.ratio_interval is not None:
        share = max(abs(end - 1) for end in found.ratio_interval)
        most += f", or {_rounded_up(100 * share)} % of {found.second}"
    return (
        f"No difference seen between {found.first} and {found.second}: at most {most} "
        "(by the 95 % interval)."
    )


def _rounded_up(value: float) -> str:
    """Two digits of a number that is not negative, and never less than the number."""
    if not (math.isfinite(value) and value > 0):
        return f"{value:g}"
    step = 10.0 ** (math.floor(math.log10(value)) - 1)
    # The quotient of a number that has two digits may be off by the last bit.
    return rounded(math.ceil(value / step - 1e-9) * step, 2)


def as_csv(found: Comparison, results: Sequence[Result]) -> str:
    """The two figures, their ratio and their difference, with all digits: one row each."""
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(_HEADER)
    for name, each in zip((found.first, found.second), results, strict=True):
        if each.estimate is not None:
            figure = each.estimate
            rows.writerow((name, figure.value, figure.low, figure.high, each.unit))
    if found.ratio is not None and found.ratio_interval is not None:
        rows.writerow(("ratio", found.ratio, *found.ratio_interval, ""))
    rows.writerow(("difference", found.difference, *found.difference_interval, found.unit))
    return text.getvalue().rstrip("\n")


def as_markdown(found: Comparison, results: Sequence[Result]) -> str:
    """The two figures as a table in Markdown, and the sentences below it."""
    lines = [f"| | {found.unit} | 95 % interval |", "|---|---:|---:|"]
    for name, each in zip((found.first, found.second), results, strict=True):
        if each.estimate is not None:
            value, low, high = sensible(each.estimate)
            lines.append(f"| {_cell(name)} | {value} | {low} to {high} |")
    return "\n".join([*lines, "", *map(_cell, sentences(found))])


def _cell(text: str) -> str:
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;")


def as_json(
    found: Comparison, results: Sequence[Result], saved: Sequence[str | None]
) -> dict[str, object]:
    """Both results as `labs measure --json` has them, and how they compare."""
    first, second = (result.as_json(path) for result, path in zip(results, saved, strict=True))
    return {"first": first, "second": second, "ratio": found.as_json()}
