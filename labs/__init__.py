"""Ticklab: what does it cost, and how do you know?

What a notebook imports: build and run small C kernels, record, reduce, plot.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"
__all__ = ["__version__", "start"]

if TYPE_CHECKING:
    from labs.session import start


def __getattr__(name: str) -> Any:
    """Find `start` when it is asked for: the commands need not load what a notebook needs."""
    if name == "start":
        from labs import session

        return session.start
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
