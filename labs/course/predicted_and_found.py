"""What a student predicted beside what was found, over all labs: as a table, and in a sentence."""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass
from pathlib import Path

from labs.course import figures, guide, predictions, progress
from labs.course.figures import CHOICE, TIMES, Figure
from labs.course.guide import Guide
from labs.course.predictions import RIGHT_WITHIN, Prediction, is_near
from labs.html import Table
from labs.units import (
    NANOSECONDS,
    factor_text,
    is_within_tenth,
    off_by,
    rounded,
    spelled,
    with_unit,
)

#: Calibration uses this many of the last guesses.
LATELY = 6


@dataclass(frozen=True)
class Compared:
    """A prediction, how many versions it has, and the figure, if any.

    It is the last version before the recording that answers it. If all are `late`, it is the newest
    one, and does not count. `unknown` is one that its lab does not ask for; if `alone`, the lab
    hands in no figure that it could be compared with.
    """

    lab: str
    id: str
    predicted: Prediction
    versions: int
    found: Figure | None
    late: bool = False
    unknown: bool = False
    alone: bool = False

    @property
    def factor(self) -> float | None:
        """The figure divided by its prediction; None if that is no number above 0.

        So it is for numbers in units that cannot be compared, and for those of conclusions.
        """
        if self.found is None or self.predicted.value == 0 or self._is_choice:
            return None
        units = self.predicted.unit, spelled(self.found.unit)
        if not predictions.comparable(*units):
            return None
        found = self.found.value * NANOSECONDS.get(units[1], 1.0)
        factor = found / (self.predicted.value * NANOSECONDS.get(units[0], 1.0))
        return factor if factor > 0 and math.isfinite(factor) else None

    @property
    def _is_choice(self) -> bool:
        return self.found is not None and self.found.unit == CHOICE

    def as_text(self) -> str:
        """How close the prediction was, and whether it counts."""
        if self.found is None and self.unknown:
            return "its lab asks for no such prediction"
        close = self._closeness()
        return f"{close}, but late: it does not count" if self.late else close

    def _closeness(self) -> str:
        if self.found is None:
            return "compare it with the run in its cell" if self.alone else "no figure yet"
        if self._is_choice and self.predicted.unit == CHOICE:
            same = self.found.value == self.predicted.value
            return "the same conclusion" if same else "another conclusion"
        if not predictions.comparable(self.predicted.unit, self.found.unit):
            return "in another unit"
        factor = self.factor
        return "these two have no ratio" if factor is None else factor_text(factor)


def of_labs(folder: Path) -> tuple[Compared, ...]:
    """Every prediction in the lab folders in `folder`, without unreadable files."""
    rows: list[Compared] = []
    for lab in sorted(path for path in folder.iterdir() if path.is_dir()):
        try:
            rows += of_lab(lab)
        except ValueError:
            continue
    return tuple(rows)


def of_lab(lab: Path, asked: Guide | None = None) -> list[Compared]:
    """Every prediction in one lab folder. Raises ValueError if a file in it is unreadable.

    A caller with many folders of one lab passes its guide, which then is not read each time.
    """
    predicted, found = predictions.read(lab), figures.read(lab)
    ratios = predictions.found(lab)
    asked = guide.of_lab(lab.name) if asked is None else asked
    handed_in = progress.figures_asked(asked)
    rows = []
    for name, versions in predicted.items():
        known = asked.predictions.get(name)
        answer = known.figure if known and known.figure else name
        figure = found.get(answer)
        readable = figure if isinstance(figure, Figure) else None
        shown, late = predictions.shown(versions)
        unknown = bool(asked.predictions) and known is None
        alone = known is not None and answer not in handed_in
        if alone and readable is None and name in ratios:
            readable = Figure(name, ratios[name], TIMES, None)
        rows.append(Compared(lab.name, name, shown, len(versions), readable, late, unknown, alone))
    return rows


def with_factor(rows: tuple[Compared, ...]) -> tuple[tuple[Compared, float], ...]:
    """The rows whose figure can be divided by the prediction, in the order in which they were
    predicted, each with that factor."""
    known = [(row, factor) for row in rows if (factor := row.factor) is not None]
    return tuple(sorted(known, key=lambda each: each[0].predicted.when))


def calibration(rows: tuple[Compared, ...]) -> tuple[str, ...]:
    """Sentences on how good the last guesses were and how sure their author was.

    A guess is a prediction that counts, of a figure that is known. There are no sentences if there
    is no guess.
    """
    known = [(factor, row.predicted.sure) for row, factor in with_factor(rows) if not row.late]
    if not known:
        return ()
    last, before = known[-LATELY:], known[-2 * LATELY : -LATELY]
    sentences = [_about_last([factor for factor, _ in last])]
    if len(before) == LATELY:
        earlier = _middle([factor for factor, _ in before])
        sentences.append(f"The {LATELY} guesses before were off by a factor of {rounded(earlier)}.")
    sure = [(chance, is_near(factor)) for factor, chance in last if chance is not None]
    if len(sure) > 1:
        right = sum(hit for _, hit in sure)
        sentences.append(
            f"You were {100 * statistics.fmean(chance for chance, _ in sure):.0f} % sure on "
            f"average; {right} of {len(sure)} came within a factor of {RIGHT_WITHIN:g}."
        )
    return tuple(sentences)


def _about_last(factors: list[float]) -> str:
    """A sentence on how far the last guesses were off.

    The plot above it says on which side, of those that were off by more than RIGHT_WITHIN.
    """
    if len(factors) == 1:
        if is_within_tenth(factors[0]):
            return "Your one guess so far was right within 10 %."
        if is_near(factors[0]):
            return f"Your one guess so far came within a factor of {RIGHT_WITHIN:g}."
        factor = rounded(off_by(factors[0]))
        side = "too low" if factors[0] > 1 else "too high"
        return f"Your one guess so far was off by a factor of {factor} ({side})."
    return (
        f"Your last {len(factors)} guesses were off by a factor of {rounded(_middle(factors))} "
        f"on average, the worst by {rounded(max(map(off_by, factors)))}."
    )


def _middle(factors: list[float]) -> float:
    """The geometric mean of the factors by which the guesses were off."""
    return math.exp(statistics.fmean(math.log(off_by(factor)) for factor in factors))


def table(rows: tuple[Compared, ...]) -> Table:
    """The comparison as a table."""
    return Table(
        "Your predictions, and what you found. The last one before the recording counts.",
        ("lab", "prediction", "predicted", "how sure", "found", "found relative to predicted"),
        tuple(
            (
                row.lab,
                row.id,
                with_unit(rounded(row.predicted.value, 4), row.predicted.unit)
                + (f" (of {row.versions} versions)" if row.versions > 1 else ""),
                "" if row.predicted.sure is None else f"{100 * row.predicted.sure:.0f} %",
                with_unit(rounded(row.found.value, 4), row.found.unit) if row.found else "",
                row.as_text(),
            )
            for row in rows
        ),
    )
