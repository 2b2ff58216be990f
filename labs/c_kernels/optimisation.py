"""The optimisation level of a C kernel, from its compiler flags."""

from __future__ import annotations

import shlex

#: The level that a compiler uses if the flags name none, and the level that plain -O means.
DEFAULT, PLAIN = "-O0", "-O1"


def level_of(flags: str) -> str | None:
    """The optimisation level in `flags`, the last one of several; None if they cannot be parsed."""
    try:
        words = shlex.split(flags)
    except ValueError:
        return None
    levels = [word for word in words if word.startswith("-O")]
    last = levels[-1] if levels else DEFAULT
    return PLAIN if last == "-O" else last
