"""What `python -m bench coverage` judges of the runs of a simulated machine."""

from __future__ import annotations

import numpy as np

from bench.figures import coverage
from bench.figures.coverage_cases import Case, Truth
from support.simulate import OPERATION


def test_an_interval_excuses_a_tenth_of_its_width_and_at_most_5_percent() -> None:
    """All values are off by so much; the intervals hold the truth in 95 of 100 runs."""
    for off, half, wrong in (
        (0.0, 0.02, ()),
        (0.03, 0.02, ("bias",)),
        (0.04, 1.0, ()),
        (0.15, 1.0, ("bias",)),  # an interval of 200 % does not excuse it
    ):
        truth = OPERATION.cost
        value = np.full(coverage.RUNS, truth * (1 + off))
        reach = truth * np.maximum(half, off + 0.001) * np.ones(coverage.RUNS)
        reach[: coverage.RUNS // 20] = 1e-9 if off else 0.0
        found = np.stack([value, value - reach, value + reach], axis=1)
        if not off:
            found[: coverage.RUNS // 20, 1:] += truth
        assert coverage.row_of(Case("made up", OPERATION), Truth.COST, found).wrong == wrong
