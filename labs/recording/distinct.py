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
