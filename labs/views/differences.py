"""The view of several differences below each other, each with its interval."""

from __future__ import annotations

from labs.common.table import Table
from labs.common.units import NAMES, rounded
from labs.results.compared import Comparison
from labs.views.gather import refused

_HEADER = ("difference", "first", "minus", "value", "from", "to (95 %)", "more than chance")


def differences(**named: Comparison) -> Table:
    """What `lab.compare` found, as differences: one row for each, under its name.

    `views.differences(set=lab.compare(run["a"], run["b"]))`. Raises Refused for anything else.
    """
    wrong = [name for name, each in named.items() if not isinstance(each, Comparison)]
    if wrong or not named:
        raise refused(
            "views.differences takes comparisons, each by its name",
            'Write it like this: views.differences(set=lab.compare(run["a"], run["b"])).',
        )
    units = dict.fromkeys(each.unit for each in named.values())
    rows = tuple(_row(name, each, len(units) > 1) for name, each in named.items())
    in_words = " and ".join(NAMES.get(unit, unit) for unit in units)
    return Table(f"Differences, in {in_words}", _HEADER, rows)


def _row(name: str, each: Comparison, with_unit: bool) -> tuple[str, ...]:
    values = (each.difference, *each.difference_interval)
    unit = f" {each.unit}" if with_unit else ""
    return (
        name.replace("_", " "),
        each.first,
        each.second,
        *(rounded(value) + unit for value in values),
        "yes" if each.distinguishable else "no",
    )
