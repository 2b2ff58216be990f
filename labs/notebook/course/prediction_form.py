"""The form of a prediction: number, unit, reason, confidence, and the same as a line of Python."""

from __future__ import annotations

from pathlib import Path

from labs.common.messages import Message, show
from labs.course.guide import Guide
from labs.notebook.course import foretell


def show_form(folder: Path, guide: Guide, name: str) -> None:
    """Show the form for the prediction `name`. Raises Refused for an unknown one."""
    asked = foretell.asked_for(guide, name)
    line = foretell.example(name, asked.unit if asked else "ns")
    heading = asked.asks if asked else f"what do you expect of {name}?"
    show(Message("open", heading, (f"Write your own numbers: {line}",)))
