"""The figure ids that a lab asks for, and a message about any other id, often a misspelt one."""

from __future__ import annotations

from labs.common.spelling import suggestion
from labs.course.guide import Guide


def figures(guide: Guide) -> tuple[str, ...]:
    """The ids of the figures that a lab has handed in, in the order of its steps."""
    named = (step.name for step in guide.steps if step.kind == "figure")
    return tuple(dict.fromkeys(named))


def message_for(figure: str, guide: Guide) -> str:
    """A message if the lab asks for no figure called `figure`.

    It is empty if the lab asks for that figure, or if the guide names no figures.
    """
    known = figures(guide)
    if not known or figure in known:
        return ""
    return f"This lab asks for no figure {figure!r}{suggestion(figure, known)}"
