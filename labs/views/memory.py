"""The creation of a task against the memory that its parent holds."""

from __future__ import annotations

import re
from collections.abc import Sequence

from labs import picture
from labs.picture import Picture
from labs.plot_series import LOOKS, Across, Series, series_figure
from labs.plot_style import symbol
from labs.result import Result
from labs.table import Table
from labs.units import NAMES, rounded
from labs.views.gather import (
    Runs,
    has_figure,
    large_unit,
    numbers,
    one_unit,
    point,
    reason,
    refused,
    results_of,
    runs_of,
)

_EXAMPLE = (
    'Each size needs a run of its own: lab.measure("task_creation", "fork-wait-64mb"), and so '
    "for fork-wait and fork-wait-1mb."
)
_NAME = re.compile(r"(fork|fork-wait)(?:-(\d+)(mb|gb))?")
_ABOUT = {"fork": "fork, creation only", "fork-wait": "fork to wait"}

#: By operation, then by megabytes beside what the process needs itself.
_ByMemory = dict[str, dict[int, Result]]


def memory(*runs: Runs | None) -> Picture:
    """Cost of fork against the parent's memory: fork-wait, fork-wait-1mb to fork-wait-1gb, or fork.

    Each size is a run of its own, because what is in memory counts for all variants of a run. Where
    runs hold the same variant, the last one counts. Raises Refused where fewer than two sizes are
    there, or none has a figure.
    """
    given = runs_of(runs)
    chosen, unit = one_unit(given, large_unit(given))
    found: _ByMemory = {}
    for result in results_of(chosen, "task_creation", "views.memory", _EXAMPLE):
        match = _NAME.fullmatch(result.variant)
        if match is not None:
            size = int(match[2]) * {"mb": 1, "gb": 1024}[match[3]] if match[2] else 0
            found.setdefault(match[1], {})[size] = result
    found = {name: dict(sorted(sizes.items())) for name, sizes in sorted(found.items())}
    sizes = sorted({size for by_size in found.values() for size in by_size})
    if len(sizes) < 2:
        raise refused("views.memory needs fork with two or more sizes of memory", _EXAMPLE)
    has_figure(result for by_size in found.values() for result in by_size.values())
    series = [
        Series(
            _ABOUT[name],
            tuple(
                point(_place(size), result.estimate)
                for size, result in by_size.items()
                if result.estimate is not None
            ),
            look,
            tuple(_place(size) for size, result in by_size.items() if reason(result)),
        )
        for (name, by_size), look in zip(found.items(), LOOKS, strict=False)
    ]
    figure = series_figure(
        [("", series)],
        Across(
            "memory of the parent beside its own (megabytes, log axis; bars: 95 % interval)",
            tuple(_place(size) for size in sizes),
            tuple(f"{size:,}" if size else "none" for size in sizes),
            log=True,
        ),
        f"cost of one fork\n({NAMES[unit]}, log axis)",
        "task_creation: fork against the memory of the parent",
        [(f"{each.look.sign} {each.name}", each.look.colour) for each in series],
        log=True,
    )
    return picture.drawn(figure, *_in_words(found, sizes, unit), _table(found, unit))


def _place(size: int) -> float:
    """Where a size stands on the logarithmic axis; none stands left of the smallest."""
    return float(size) if size else 0.25


def _in_words(found: _ByMemory, sizes: Sequence[int], unit: str) -> tuple[str, str]:
    kind = (
        f"Line plot of task_creation: the cost of one fork in {NAMES[unit]} on a logarithmic axis, "
        f"with 95 % intervals, against the memory that the parent holds beside its own, from "
        f"{sizes[0] or 'none'} to {sizes[-1]:,} megabytes; for "
        f"{' and '.join(_ABOUT[name] for name in found)}."
    )
    sign, meaning = symbol(unit), []
    for name, by_size in found.items():
        known = {s: r.estimate.value for s, r in by_size.items() if r.estimate is not None}
        if len(known) < 2:
            continue
        (least, first), *_, (most, last) = known.items()
        each = (last - first) / (most - least)
        meaning.append(
            f"{_ABOUT[name]} costs {rounded(first)} {sign} with "
            f"{f'{least:,} MB' if least else 'nothing'} more in memory and {rounded(last)} {sign} "
            f"with {most:,} MB: {rounded(each, 2)} {sign} for each MB."
        )
    without = [r.variant for by_size in found.values() for r in by_size.values() if reason(r)]
    if without:
        meaning.append(f"Without a figure: {', '.join(without)}.")
    return kind, " ".join(words[0].upper() + words[1:] for words in meaning)


def _table(found: _ByMemory, unit: str) -> Table:
    rows = [
        (f"{size:,}", _ABOUT[name], *numbers(result), reason(result))
        for name, by_size in found.items()
        for size, result in by_size.items()
    ]
    return Table(
        f"task_creation: cost of one fork in {NAMES[unit]}",
        ("megabytes more", "what", "cost", "from", "to (95 %)", "why not"),
        tuple(rows),
    ).without_empty()
