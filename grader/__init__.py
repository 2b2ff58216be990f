"""The package that judges figures, and the commands that an instructor runs.

In a notebook: `from grader import check`, then `check("timer-overhead-fenced")`.
"""

from __future__ import annotations

from grader.notebook import check

__all__ = ["check"]
