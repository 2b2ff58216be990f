"""Prediction against result, over all labs that a student has worked on."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from labs import figures, predictions
from labs.figures import Figure
from labs.predictions import Prediction
from labs.table import Table
from labs.units import NANOSECONDS, canonical, rounded


@dataclass(frozen=True)
class Compared:
    """The first prediction of a figure, how many followed, and the figure (None: not yet)."""

    lab: str
    id: str
    predicted: Prediction
    versions: int
    found: Figure | None

    @property
    def factor(self) -> float | None:
        """Found over predicted; None where there is nothing to divide."""
        if self.found is None or self.predicted.value == 0:
            return None
        units = self.predicted.unit, _unit(self.found.unit)
        if units[0] == units[1]:
            return self.found.value / self.predicted.value
        if not all(unit in NANOSECONDS for unit in units):
            return None
        found = self.found.value * NANOSECONDS[units[1]]
        return found / (self.predicted.value * NANOSECONDS[units[0]])

    def in_words(self) -> str:
        """What became of the prediction."""
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
    """Every predicted figure of the lab folders in `folder`; files that are broken are left out."""
    rows = []
    for lab in sorted(path for path in folder.iterdir() if path.is_dir()):
        try:
            predicted, found = predictions.read(lab), figures.read(lab)
        except ValueError:
            continue
        for name, versions in predicted.items():
            figure = found.get(name)
            kept = figure if isinstance(figure, Figure) else None
            rows.append(Compared(lab.name, name, versions[0], len(versions), kept))
    return tuple(rows)


def table(rows: tuple[Compared, ...]) -> Table:
    """The comparison as a table."""
    return Table(
        "Your first prediction, and what you found",
        ("lab", "figure", "predicted", "how sure", "found", "found against predicted"),
        tuple(
            (
                row.lab,
                row.id,
                f"{rounded(row.predicted.value, 4)} {row.predicted.unit}"
                + (f" (then {row.versions - 1} more)" if row.versions > 1 else ""),
                "" if row.predicted.sure is None else f"{100 * row.predicted.sure:.0f} %",
                f"{rounded(row.found.value, 4)} {row.found.unit}" if row.found else "",
                row.in_words(),
            )
            for row in rows
        ),
    )


def _unit(text: str) -> str:
    try:
        return canonical(text)
    except ValueError:
        return text
