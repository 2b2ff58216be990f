"""Text in which code stands between backticks, as its parts."""

from __future__ import annotations


def parts(text: str) -> list[tuple[str, bool]]:
    """The parts of a text, each with whether it is code, which stands between backticks."""
    found = text.split("`")
    if len(found) % 2 == 0:
        return [(text, False)]
    return [(part, number % 2 == 1) for number, part in enumerate(found) if part]
