"""Ticklab: what does it cost, and how do you know?

What a notebook imports: build and run small C kernels, record, reduce, plot.
"""

from __future__ import annotations

__version__ = "0.1.0"
