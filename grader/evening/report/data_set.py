"""The figures of a class for its students: sums over all of them, and no name."""

from __future__ import annotations

import numpy as np

from grader.cases.spec import FigureSpec, Quantity
from grader.evening.report.graded_class import GradedClass
from grader.evening.report.spread import Spread, specs_of, spreads_of_class
from labs.course.class_figures import ALL, FEWEST, ClassFigure
from labs.recording.machine_kind import SEVERAL, UNKNOWN

#: The quantities that a run shows as the result of one variant.
_OF_A_VARIANT = (Quantity.OVERHEAD, Quantity.COST)


def class_figures(graded: GradedClass) -> tuple[ClassFigure, ...]:
    """The rows of the data set: by figure and machine, where FEWEST runs gave an accepted number.

    A run counts once, also if several students handed it in: else four copies of one run would be
    published as the figures of five students.
    """
    specs = specs_of(graded.lab)
    return tuple(
        row
        for spread in spreads_of_class(graded)
        for row in _rows(spread, specs.get(spread.figure))
    )


def _rows(spread: Spread, spec: FigureSpec | None) -> list[ClassFigure]:
    by_machine = {kind.machine: kind.of_runs for kind in spread.kinds}
    for unclear in (SEVERAL, UNKNOWN):
        by_machine.pop(unclear, None)
    kernel, variant, flags = "", "", ""
    if (
        spec is not None
        and spec.quantity in _OF_A_VARIANT
        and not (spec.hides_variants or spec.demonstrates)
    ):
        kernel, variant, flags = spec.kernel, spec.variant, spec.flags
    rows = []
    for machine, values in {ALL: spread.of_runs, **by_machine}.items():
        if len(values) >= FEWEST:
            low, middle, high = map(float, np.quantile(values, (0.25, 0.5, 0.75)))
            rows.append(
                ClassFigure(
                    spread.figure, kernel, variant, flags, machine, spread.unit, len(values),
                    low, middle, high,
                )
            )  # fmt: skip
    return rows
