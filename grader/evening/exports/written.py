"""What came of an export, for a reader."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

_MOST_NAMES = 10


@dataclass(frozen=True)
class Written:
    """The path that was written, how many grades (or `what`) it has, and notes, each a sentence."""

    path: Path
    grades: int
    notes: tuple[str, ...] = ()
    what: str = "grade"

    def as_text(self) -> str:
        """A line about the file, and one for each note."""
        grades = f"{self.grades:,} {self.what}{'' if self.grades == 1 else 's'}"
        return "\n".join([f"{self.path}: {grades}", *self.notes])


def some(names: Sequence[str]) -> str:
    """The names, or the first of them and how many more there are."""
    shown = ", ".join(names[:_MOST_NAMES])
    more = len(names) - _MOST_NAMES
    return f"{shown} and {more:,} more" if more > 0 else shown
