"""Which of several estimates is the lowest and which the highest, if that can be said at all.

Where the lowest one is not distinguishable from others by the rule of labs.analysis.compare, chance
may have made it the lowest. Then no name is given for it, but "not distinguishable".
"""

from __future__ import annotations

from collections.abc import Sequence

from labs.analysis import compare
from labs.analysis.estimate import Estimate

#: At most so many names are listed.
_MOST_NAMED = 4

Named = tuple[str, Estimate]


def lowest(known: Sequence[Named]) -> tuple[Named, tuple[str, ...]]:
    """The lowest estimate, and the names of those not distinguishable from it."""
    name, least = min(known, key=lambda each: each[1].value)
    return (name, least), tuple(n for n, e in known if n != name and compare.side(e, least) <= 0)


def highest(known: Sequence[Named]) -> tuple[Named, tuple[str, ...]]:
    """The highest estimate, and the names of those not distinguishable from it."""
    name, most = max(known, key=lambda each: each[1].value)
    return (name, most), tuple(n for n, e in known if n != name and compare.side(e, most) >= 0)


def doubt(of: str, value: str, name: str, near: Sequence[str]) -> str:
    """The sentence that it is not distinguishable which one is `of` ("the cheapest").

    `name` has the lowest or highest value, and is not distinguishable from those of `near`.
    """
    return (
        f"Which one is {of} is not distinguishable: the difference between {name} ({value}) and "
        f"{listed(near, 'or')} may be chance."
    )


def listed(names: Sequence[str], joined_by: str = "and") -> str:
    """`a, b and c`; of many names, the first ones and how many more there are."""
    shown = list(names)
    if len(shown) > _MOST_NAMED + 1:
        shown = [*shown[:_MOST_NAMED], f"{len(shown) - _MOST_NAMED} more"]
    return f" {joined_by} ".join(filter(None, (", ".join(shown[:-1]), shown[-1])))
