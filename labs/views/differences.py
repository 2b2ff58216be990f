"""The view of several differences below each other, each with its interval."""

from __future__ import annotations

import re

from labs.common.table import Table
from labs.common.units import NAMES, rounded
from labs.results.compared import Comparison
from labs.views.gather import refused

_HEADER = (
    "difference",
    "first",
    "minus",
    "value",
    "from",
    "to (95 %)",
    "more than chance",
    "they differ in",
)

#: The ring of a C kernel: its kind of task, how many there are, and the working set of each.
_RING = re.compile(r"(processes|threads|alone)(?:-(\d{1,3}))?-(0|\d+[km])")
_OF_A_RING = ("the address space", "the number of tasks", "the set")


def differences(**named: Comparison) -> Table:
    """What `lab.compare` found, as differences: one row for each, under its name.

    `views.differences(set=lab.compare(run["a"], run["b"]))`. For rings of tasks, the last column
    says what the two of a difference have different. Raises Refused for anything else.
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
    return Table(f"Differences, in {in_words}", _HEADER, rows).without_empty()


def _row(name: str, each: Comparison, with_unit: bool) -> tuple[str, ...]:
    values = (each.difference, *each.difference_interval)
    unit = f" {each.unit}" if with_unit else ""
    return (
        name.replace("_", " "),
        each.first,
        each.second,
        *(rounded(value) + unit for value in values),
        _more_than_chance(each),
        _what_differs(each.first, each.second),
    )


def _more_than_chance(each: Comparison) -> str:
    """'yes', or 'no' with the reason where the interval of the difference does not show it."""
    if each.distinguishable:
        return "yes"
    why = each.doubt()
    return f"no: {why}" if why else "no"


def _what_differs(first: str, second: str) -> str:
    """What two rings of tasks have different, by their names; '' if one of them is no ring."""
    one, other = _RING.fullmatch(first), _RING.fullmatch(second)
    if one is None or other is None:
        return ""
    pairs = zip(_OF_A_RING, one.groups(), other.groups(), strict=True)
    return ", ".join(what for what, here, there in pairs if here != there) or "nothing"
