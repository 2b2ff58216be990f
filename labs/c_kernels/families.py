"""Names that differ only in their numbers, written as one: `args{0..12}` for thirteen variants."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence

#: A number in a name, with the unit of a size: `8`, `16k`, `256mb`.
_NUMBER = re.compile(r"\d+(?:[kmg]b?)?(?=-|$)")
#: Fewer names than this are written out.
_FEWEST = 3


def short(names: Sequence[str]) -> list[str]:
    """The names in their order, each family of them as one text at the place of its first name."""
    found: list[str] = []
    families: dict[str, list[tuple[str, ...]]] = {}
    for name in names:
        families.setdefault(_NUMBER.sub("{}", name), []).append(tuple(_NUMBER.findall(name)))
    for name in names:
        form = _NUMBER.sub("{}", name)
        family = families[form]
        values = [tuple(dict.fromkeys(column)) for column in zip(*family, strict=True)]
        whole = set(family) == set(itertools.product(*values))
        if not values or len(family) < _FEWEST or not whole:
            found.append(name)
        elif name == form.format(*family[0]):
            found.append(form.format(*map(_braces, values)))
    return found


def _braces(values: tuple[str, ...]) -> str:
    """The values as a shell has them: `{0..12}`, `{2,4,8}`; one value as it is."""
    if len(values) == 1:
        return values[0]
    first, last = values[0], values[-1]
    if all(value.isdecimal() for value in values) and list(values) == [
        str(number) for number in range(int(first), int(last) + 1)
    ]:
        return f"{{{first}..{last}}}"
    return f"{{{','.join(values)}}}"
