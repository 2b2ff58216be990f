"""What judges a figure, and what an instructor runs.

In a notebook: `from grader import check`, then `check("timer-overhead-fenced")`.
"""

from __future__ import annotations

from grader.notebook import check

__all__ = ["check"]
