"""Which figures a lab asks for, and what to say of a name that is none of them: most are slips."""

from __future__ import annotations

from labs.common.spelling import meant
from labs.course.guide import Guide


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
