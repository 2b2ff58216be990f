"""What a student's cells got, as a page of feedback shows it."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Given:
    """What a cell got: `score` of `most` points; `open` if a person has yet to look at it."""

    score: float
    most: float
    open: bool


@dataclass
class Grades:
    """What one student's notebook got, by the names of its cells.

    `most` is what all cells of the notebook can give.
    """

    most: float
    late_penalty: float = 0.0
    cells: dict[str, Given] = field(default_factory=dict)
    comments: dict[str, str] = field(default_factory=dict)

    @property
    def score(self) -> float:
        """The points of all cells, less the late penalty."""
        return sum(each.score for each in self.cells.values()) - self.late_penalty
