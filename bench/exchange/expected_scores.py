"""The scores that the gradebook has, and where each is on the pages that show it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nbgrader.api import Gradebook
from playwright.sync_api import Locator, Page

from bench.exchange.seen_scores import Score

#: The columns of the lists, and what the gradebook calls their scores.
COLUMNS = {
    "score": "score",
    "code-score": "code_score",
    "written-score": "written_score",
    "task-score": "task_score",
}


@dataclass(frozen=True)
class Graded:
    """A student's notebook in the gradebook: its id, its columns, and its cells in any order."""

    student: str
    submission: str
    columns: dict[str, tuple[float, float]]
    cells: dict[str, tuple[float, float, Score]]

    def in_feedback(self, page: Page) -> Iterator[tuple[str, Locator, Score]]:
        """The name, the place and the text of each score on a page of feedback."""
        own, most = self.columns["score"]
        yield "the total", page.locator("main > p.total > .score"), _in_feedback(own, most)
        for cell, (own, most, _) in self.cells.items():
            text = _in_feedback(own, most)
            places = [f"figure-{cell}", f"answer-{cell}"]
            headings = ", ".join(
                f'section[id="{place}"] :is(p, summary) > .score' for place in places
            )
            yield cell, page.locator(headings), text

    def in_formgrader(self, page: Page) -> Iterator[tuple[str, Locator, Score]]:
        """The same for the formgrader's page of this notebook."""
        for cell, (*_, score) in self.cells.items():
            place = f'.nbgrader_cell > .panel-heading input.score[id="{cell}"]'
            yield cell, page.locator(place), score

    def in_row(self, row: Locator) -> Iterator[tuple[str, Locator, Score]]:
        """The same for a row of a list, which has some of the columns."""
        for name, (own, most) in self.columns.items():
            place = row.locator(f"td.{name}")
            if name == "score" or place.count():
                yield f"the {name}", place, Score(f"{round(own, 2):g} / {round(most, 2):g}")


def _in_feedback(own: float, most: float) -> Score:
    return Score(f"{round(float(own), 2)} / {round(float(most), 2)}")


def graded(course: Path, lab: str) -> dict[str, Graded]:
    """Every student's notebook of `lab`."""
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as gradebook:
        return {
            notebook.student.id: _graded(notebook)
            for notebook in gradebook.notebook_submissions(lab, lab)
        }


def _graded(notebook: Any) -> Graded:
    columns = {
        column: (float(getattr(notebook, name)), float(getattr(notebook, f"max_{name}")))
        for column, name in COLUMNS.items()
    }
    cells = {
        grade.name: (
            float(grade.score),
            float(grade.max_score),
            Score("", grade.auto_score, grade.manual_score, bool(grade.needs_manual_grade)),
        )
        for grade in notebook.grades
    }
    return Graded(notebook.student.id, notebook.id, columns, cells)
