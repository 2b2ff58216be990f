"""Student's t: the number of standard errors that a 95 % interval reaches to either side."""

from __future__ import annotations

from collections.abc import Sequence

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
