"""Ticklab: what does it cost, and how do you know?

A notebook imports this package to build and run small C kernels, record, estimate and plot.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from labs.version import __version__

__all__ = ["__version__", "published", "start", "variants", "views"]

if TYPE_CHECKING:
    from labs import views
    from labs.course import published
    from labs.notebook.session import start
    from labs.run import variants

#: The names that notebooks import from here, and the module of each.
_MODULES = {
    "published": "labs.course.published",
    "variants": "labs.run.variants",
    "views": "labs.views",
}


def __getattr__(name: str) -> Any:
    """Import a name on first use, so that the commands do not load what only notebooks need."""
    if name == "start":
        return importlib.import_module("labs.notebook.session").start
    if name in _MODULES:
        return importlib.import_module(_MODULES[name])
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
