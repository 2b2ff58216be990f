"""The package that judges figures, and the commands that an instructor runs.

In a notebook: `from grader import check`, then `check("timer-overhead-fenced")`.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__all__ = ["check"]

if TYPE_CHECKING:
    from grader.check_folders import check


def __getattr__(name: str) -> Any:
    """Import the check on first use, so that `grader --version` does not load what it needs."""
    if name == "check":
        return importlib.import_module("grader.check_folders").check
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
