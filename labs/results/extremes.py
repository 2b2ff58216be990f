"""Which of several estimates is the lowest and which the highest, if that can be said at all.

Where the interval of the lowest one overlaps with others, chance may have made it the lowest. Then
no name is given for it, but "not distinguishable".
"""

from __future__ import annotations

from collections.abc import Sequence

from labs.analysis.estimate import Estimate

#: At most so many names are listed.
_MOST_NAMED = 4

Named = tuple[str, Estimate]


def lowest(known: Sequence[Named]) -> tuple[Named, tuple[str, ...]]:
    """The lowest estimate, and the names of those whose interval overlaps with its own."""
    name, least = min(known, key=lambda each: each[1].value)
    return (name, least), tuple(n for n, e in known if n != name and e.low <= least.high)


def highest(known: Sequence[Named]) -> tuple[Named, tuple[str, ...]]:
    """The highest estimate, and the names of those whose interval overlaps with its own."""
    name, most = max(known, key=lambda each: each[1].value)
    return (name, most), tuple(n for n, e in known if n != name and e.high >= most.low)


def doubt(of: str, value: str, name: str, near: Sequence[str]) -> str:
    """The sentence that it is not distinguishable which one is `of` ("the cheapest").

    `name` has the lowest or highest value, and its interval overlaps with those of `near`.
    """
    others = f"that of {near[0]}" if len(near) == 1 else f"those of {listed(near)}"
    return (
        f"Which one is {of} is not distinguishable: the interval of {name} ({value}) overlaps "
        f"with {others}."
    )


def listed(names: Sequence[str]) -> str:
    """`a, b and c`; of many names, the first ones and how many more there are."""
    shown = list(names)
    if len(shown) > _MOST_NAMED + 1:
        shown = [*shown[:_MOST_NAMED], f"{len(shown) - _MOST_NAMED} more"]
    return " and ".join(filter(None, (", ".join(shown[:-1]), shown[-1])))
