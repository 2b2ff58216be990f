"""Compare predictions with results, over all labs that a student has worked on."""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass
from pathlib import Path

from labs.common.table import Table
from labs.common.units import NANOSECONDS, canonical, rounded
from labs.course import figures, predictions
from labs.course.figures import Figure
from labs.course.predictions import Prediction

#: Calibration uses this many of the last guesses. A guess within this factor counts as right.
LATELY = 6
RIGHT_WITHIN = 2.0


@dataclass(frozen=True)
class Compared:
    """The first prediction of a figure, the number of predictions, and the figure, if any."""

    lab: str
    id: str
    predicted: Prediction
    versions: int
    found: Figure | None

    @property
    def factor(self) -> float | None:
        """The figure divided by its prediction; None if they cannot be divided."""
        if self.found is None or self.predicted.value == 0:
            return None
        units = self.predicted.unit, _unit(self.found.unit)
        if units[0] == units[1]:
            return self.found.value / self.predicted.value
        if not all(unit in NANOSECONDS for unit in units):
            return None
        found = self.found.value * NANOSECONDS[units[1]]
        return found / (self.predicted.value * NANOSECONDS[units[0]])

    def as_text(self) -> str:
        """How close the prediction was."""
        if self.found is None:
            return "not measured yet"
        factor = self.factor
        if factor is None or factor <= 0:
            return "in another unit"
        if 0.9 <= factor <= 1.1:
            return "within 10 %"
        return (
            f"{rounded(factor, 2)} times as much"
            if factor > 1
            else f"{rounded(1 / factor, 2)} times less"
        )


def of_labs(folder: Path) -> tuple[Compared, ...]:
    """Every predicted figure of the lab folders in `folder`, without unreadable files."""
    rows = []
    for lab in sorted(path for path in folder.iterdir() if path.is_dir()):
        try:
            predicted, found = predictions.read(lab), figures.read(lab)
        except ValueError:
            continue
        for name, versions in predicted.items():
            figure = found.get(name)
            readable = figure if isinstance(figure, Figure) else None
            rows.append(Compared(lab.name, name, versions[0], len(versions), readable))
    return tuple(rows)


def calibration(rows: tuple[Compared, ...]) -> tuple[str, ...]:
    """Sentences on how good the last guesses were and how sure their author was.

    A guess is the first prediction of a figure that was measured later. There are no sentences if
    there is no guess.
    """
    guessed = sorted(
        (
            (row.predicted.when, factor, row.predicted.sure)
            for row in rows
            if (factor := row.factor)
        ),
        key=lambda guess: guess[0],
    )
    known = [guess for guess in guessed if guess[1] > 0]
    if not known:
        return ()
    last, before = known[-LATELY:], known[-2 * LATELY : -LATELY]
    sentences = [_about_last([factor for _, factor, _ in last])]
    if len(before) == LATELY:
        earlier = _middle([factor for _, factor, _ in before])
        sentences.append(
            f"The {LATELY} guesses before were off by a factor of {rounded(earlier, 2)}."
        )
    sure = [
        (chance, _off(factor) <= RIGHT_WITHIN) for _, factor, chance in last if chance is not None
    ]
    if len(sure) > 1:
        right = sum(hit for _, hit in sure)
        sentences.append(
            f"You were {100 * statistics.fmean(chance for chance, _ in sure):.0f} % sure on "
            f"average; {right} of {len(sure)} came within a factor of {RIGHT_WITHIN:g}."
        )
    return tuple(sentences)


def _about_last(factors: list[float]) -> str:
    """A sentence on how far the last guesses were off, and on which side."""
    low = sum(factor > 1.1 for factor in factors)
    high = sum(factor < 1 / 1.1 for factor in factors)
    sides = [f"{count} too {side}" for count, side in ((low, "low"), (high, "high")) if count]
    side = f": {' and '.join(sides)}" if sides else ""
    if len(factors) == 1:
        side = " (too low)" if low else " (too high)" if high else ""
        return f"Your one guess so far was off by a factor of {rounded(_off(factors[0]), 2)}{side}."
    offs = sorted(map(_off, factors))
    return (
        f"Your last {len(factors)} guesses were off by a factor of {rounded(_middle(factors), 2)}, "
        f"the best by {rounded(offs[0], 2)}, the worst by {rounded(offs[-1], 2)}{side}."
    )


def _off(factor: float) -> float:
    """By which factor of 1 or more a guess was off; 1 is exact."""
    return max(factor, 1 / factor)


def _middle(factors: list[float]) -> float:
    """The geometric mean of the factors by which the guesses were off."""
    return math.exp(statistics.fmean(math.log(_off(factor)) for factor in factors))


def table(rows: tuple[Compared, ...]) -> Table:
    """The comparison as a table."""
    return Table(
        "Your first prediction, and what you found",
        ("lab", "figure", "predicted", "how sure", "found", "found relative to predicted"),
        tuple(
            (
                row.lab,
                row.id,
                f"{rounded(row.predicted.value, 4)} {row.predicted.unit}"
                + (f" (then {row.versions - 1} more)" if row.versions > 1 else ""),
                "" if row.predicted.sure is None else f"{100 * row.predicted.sure:.0f} %",
                f"{rounded(row.found.value, 4)} {row.found.unit}" if row.found else "",
                row.as_text(),
            )
            for row in rows
        ),
    )


def _unit(text: str) -> str:
    try:
        return canonical(text)
    except ValueError:
        return text
