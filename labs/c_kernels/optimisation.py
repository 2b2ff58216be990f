"""The optimisation level that a C kernel was compiled at, as its flags say."""

from __future__ import annotations

import shlex

#: What a compiler does where no level is named, and what plain -O means.
BY_ITSELF, PLAIN = "-O0", "-O1"


def level_of(flags: str) -> str | None:
    """The level that these flags ask for, the last of several; None: they cannot be read."""
    try:
        words = shlex.split(flags)
    except ValueError:
        return None
    levels = [word for word in words if word.startswith("-O")]
    last = levels[-1] if levels else BY_ITSELF
    return PLAIN if last == "-O" else last
