"""The view of any times next to a broken and a repaired run: how many times as large they are."""

from __future__ import annotations

import math

from labs.common.table import Table
from labs.common.units import rounded
from labs.notebook.broken_pair import Pair
from labs.views.gather import refused

_HEADER = ("what", "in ns", "times the broken figure", "times the repaired one")


def beside_trial(pair: Pair, **values: float) -> Table:
    """Each of `values`, in ns, divided by the broken and by the repaired figure of a trial.

    `views.beside_trial(trial, as_printed=180, by_hand=160)`. Raises Refused for anything but
    numbers.
    """
    if not isinstance(pair, Pair) or not values or not all(map(_is_number, values.values())):
        raise refused(
            "views.beside_trial takes a trial and numbers in ns, each by its name",
            "Write it like this: views.beside_trial(trial, as_printed=180).",
        )
    repaired = pair.repaired.in_unit("ns").result().estimate
    broken = pair.naive_value * pair.broken.result().clock.ticks_in(pair.broken.unit)
    broken /= pair.broken.result().clock.ticks_in("ns")
    rows = tuple(
        (
            name.replace("_", " "),
            rounded(value, 4),
            _times(value, broken),
            _times(value, repaired.value) if repaired is not None else "no figure",
        )
        for name, value in values.items()
    )
    right = f"{rounded(repaired.value)} ns" if repaired is not None else "no figure"
    return Table(f"Broken figure {rounded(broken)} ns, repaired figure {right}", _HEADER, rows)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _times(value: float, figure: float) -> str:
    if value <= 0:
        return "none: this value is not above zero"
    return rounded(value / figure) if figure > 0 else "none: not above zero"
