"""Suggest the known word that a misspelt word stands for."""

from __future__ import annotations

import difflib

#: From this similarity on, we take one name for a misspelling of the other.
ALIKE = 0.7


def suggestion(word: str, known: tuple[str, ...]) -> str:
    """The end of a sentence about an unknown word: a similar known word, or all known words."""
    close = difflib.get_close_matches(word, known, n=1, cutoff=ALIKE)
    return f": did you mean {close[0]}?" if close else f"; there is {', '.join(known)}."
