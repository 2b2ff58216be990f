"""Student's t: the number of standard errors that a 95 % interval reaches to either side."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from labs.analysis.arrays import Floats

#: Two-sided 95 % points of Student's t for 1 to 30 degrees of freedom (any statistics table).
_T_TABLE: Sequence[float] = (
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
    2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
    2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
)  # fmt: skip


def student_t(freedom: int) -> float:
    """The two-sided 95 % point of Student's t for `freedom` degrees of freedom.

    Beyond the table this is an expansion in 1 / freedom.
    """
    if freedom <= len(_T_TABLE):
        return _T_TABLE[max(freedom, 1) - 1]
    return 1.959964 + 2.372 / freedom + 2.82 / freedom**2


def student_t_array(freedom: NDArray[np.int64]) -> Floats:
    """The same as `student_t` for an array of any shape."""
    table = np.array(_T_TABLE)[np.clip(freedom, 1, len(_T_TABLE)) - 1]
    beyond = np.maximum(freedom, 1).astype(np.float64)
    expansion = 1.959964 + 2.372 / beyond + 2.82 / beyond**2
    return np.where(freedom <= len(_T_TABLE), table, expansion)
