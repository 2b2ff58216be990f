"""Warnings as a reader gets them, below a result, a plot or a table."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from labs.common.html import filled
from labs.languages.words import words

_BOX = Path(__file__).with_name("warned.html.jinja")


def as_html(warnings: Sequence[str]) -> str:
    """A box with all warnings; '' if there are none."""
    return filled(_BOX, warnings=[words(each) for each in warnings]) if warnings else ""


def as_lines(warnings: Sequence[str]) -> list[str]:
    """A line of plain text for each warning."""
    return [f"{words('warning')}: {words(warning)}" for warning in warnings]
