"""Suggest the known word that a misspelt word stands for."""

from __future__ import annotations

from collections.abc import Sequence

#: From this similarity on, we take one name for a misspelling of the other.
ALIKE = 0.7
#: More names than this are not listed: they would hide what is wrong.
_MOST_LISTED = 60


def meant(word: str, known: Sequence[str], alike: float = ALIKE) -> str:
    """The known word that is most like `word`; '' if none is."""
    # Here: few commands are misspelt, and difflib takes as long to load as they do.
    import difflib

    # A very long word is like none, and comparing it would take long.
    close = difflib.get_close_matches(word[:200], known, n=1, cutoff=alike)
    return close[0] if close else ""


def suggestion(word: str, known: Sequence[str]) -> str:
    """The end of a sentence about an unknown word: a similar known word, or all known words."""
    close = meant(word, known)
    if close:
        return f": did you mean {close}?"
    if len(known) > _MOST_LISTED:
        return f"; there are {len(known)}, such as {', '.join(known[:3])}."
    listed = ", ".join(known)
    return f"; there is {listed}." if known else "; there is none."
