"""Which figures a lab asks for, and what to say of a name that is none of them: most are slips."""

from __future__ import annotations

import difflib

from labs.course.guide import Guide

#: How much alike two names are for one to be taken for a slip of the other.
ALIKE = 0.7


def figures(guide: Guide) -> tuple[str, ...]:
    """The ids of the figures that a lab has predicted and handed in, in the order of its steps."""
    named = (step.name for step in guide.steps if step.kind in ("prediction", "figure"))
    return tuple(dict.fromkeys(named))


def of_another_name(figure: str, guide: Guide) -> str:
    """What to say where the lab asks for no figure called `figure`: '' where it does, and where
    nobody knows what it asks for."""
    known = figures(guide)
    if not known or figure in known:
        return ""
    return f"This lab asks for no figure {figure!r}{meant(figure, known)}"


def meant(word: str, known: tuple[str, ...]) -> str:
    """The end of a sentence about an unknown word: the known one it is a slip of, or all there
    are."""
    close = difflib.get_close_matches(word, known, n=1, cutoff=ALIKE)
    return f": did you mean {close[0]}?" if close else f"; there is {', '.join(known)}."
