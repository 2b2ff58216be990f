"""What to say of an unknown word: the known one that it is a slip of."""

from __future__ import annotations

import difflib

#: How much alike two names are for one to be taken for a slip of the other.
ALIKE = 0.7


def meant(word: str, known: tuple[str, ...]) -> str:
    """The end of a sentence about an unknown word: the known one it is a slip of, or all there
    are."""
    close = difflib.get_close_matches(word, known, n=1, cutoff=ALIKE)
    return f": did you mean {close[0]}?" if close else f"; there is {', '.join(known)}."
