"""The distinct values of whole numbers, without a sort where they are small."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

#: Smaller numbers are counted in a table of this size, which is faster than sorting them.
TABLE_SIZE = 1 << 14


def distinct(values: NDArray[np.int64]) -> NDArray[np.int64]:
    """The distinct values in ascending order; `values` has the shape (n,)."""
    if len(values) and values.min() >= 0 and values.max() < TABLE_SIZE:
        return np.flatnonzero(np.bincount(values))
    return np.unique(values)


def numbered(values: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The distinct values in ascending order, and the index of each of `values` among them.

    `values` has the shape (n,) and holds no number below 0.
    """
    found = distinct(values)
    if values.max(initial=0) >= TABLE_SIZE:
        return found, np.searchsorted(found, values)
    place = np.zeros(TABLE_SIZE, dtype=np.int64)
    place[found] = np.arange(len(found))
    return found, place[values]
