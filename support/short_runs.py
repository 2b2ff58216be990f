"""Runs in the first lab that take a moment, for the tests of what a notebook holds."""

from __future__ import annotations

from typing import Any

from labs.notebook.run import Run
from labs.notebook.session import Session

LAB = "01-timer-overhead"


def quick(lab: Session, variant: str = "fenced", **options: Any) -> Run:
    """A run that is short, and still long enough for a figure."""
    return lab.measure("timer_overhead", variant, **{"samples": 1000, "processes": 5, **options})
