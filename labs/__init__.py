"""Ticklab: what does it cost, and how do you know?

What a notebook imports: build and run small C kernels, record, reduce, plot.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from labs.common.version import __version__

__all__ = ["__version__", "proof", "published", "start", "toolchain", "variants", "views"]

if TYPE_CHECKING:
    from labs import views
    from labs.c_kernels import toolchain
    from labs.course import published
    from labs.notebook.session import start
    from labs.recording import proof
    from labs.run import variants

#: What notebooks import from here, and the module that it is, or is in.
_MODULES = {
    "proof": "labs.recording.proof",
    "published": "labs.course.published",
    "toolchain": "labs.c_kernels.toolchain",
    "variants": "labs.run.variants",
    "views": "labs.views",
}


def __getattr__(name: str) -> Any:
    """Find a name when it is asked for: the commands need not load what a notebook needs."""
    if name == "start":
        return importlib.import_module("labs.notebook.session").start
    if name in _MODULES:
        return importlib.import_module(_MODULES[name])
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
