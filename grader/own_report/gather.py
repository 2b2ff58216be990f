"""Everything that the report shows of each lab, read from the student's folders.

Nothing here measures, and nothing is left out: what is missing or unreadable is reported as such.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from grader.cases.case import Case
from grader.figures import LABS
from grader.judging.lab_folder import examined
from grader.own_report.figures import FigureRow
from grader.with_nbgrader.pages.student_text import student_html
from labs.common import limits
from labs.common.files import read_bounded
from labs.common.html import inline
from labs.course import answers, guide, report_cell
from labs.recording.file import Recording


@dataclass(frozen=True)
class OwnText:
    """A text by the student: what it is about, and the text as clean HTML."""

    about: str
    html: str


@dataclass(frozen=True, eq=False)
class Lab:
    """One lab of the student: its figures, texts, and what is missing, a sentence each.

    `here` says whether there is a folder of it.
    """

    name: str
    here: bool
    rows: tuple[FigureRow, ...] = ()
    texts: tuple[OwnText, ...] = ()
    missing: tuple[str, ...] = field(default=())

    @property
    def title(self) -> str:
        """The lab's name for a heading: `03 System call`."""
        number, _, words = self.name.partition("-")
        return f"{number} {words.replace('-', ' ').capitalize()}"

    @property
    def begun(self) -> bool:
        """Whether there is anything of this lab to show."""
        return bool(self.texts) or any(row.handed_in for row in self.rows)

    @property
    def recordings(self) -> tuple[Recording, ...]:
        """The recordings of its figures, each once."""
        found = {
            id(row.case.recording): row.case.recording for row in self.rows if row.case is not None
        }
        return tuple(found.values())


def labs_in(folder: Path) -> list[Lab]:
    """Every lab that has figures, in the order taught; `folder` holds the lab folders."""
    return [_lab(folder / name, name) for name in LABS]


def _lab(folder: Path, name: str) -> Lab:
    if not folder.is_dir():
        return Lab(name, here=False)
    verdicts, cases = examined(folder, name)
    rows = tuple(
        FigureRow(spec, verdict, case if isinstance(case := cases.get(spec.id), Case) else None)
        for spec, verdict in zip(LABS[name], verdicts, strict=True)
    )
    missing = [f"{row.spec.asked} ({row.spec.id})" for row in rows if not row.handed_in]
    answered, troubles = _answers(folder, name)
    written, more = _report(folder, name)
    return Lab(name, True, rows, (*answered, *written), (*missing, *troubles, *more))


def _answers(folder: Path, name: str) -> tuple[list[OwnText], list[str]]:
    """The newest version of each answer; and what is missing."""
    try:
        known = answers.read(folder)
    except (answers.BadAnswers, OSError) as error:
        return [], [f"the answers cannot be read: {error}"]
    asked = {step.name: step.do for step in guide.of_lab(name).steps if step.kind == "answer"}
    texts = [
        OwnText(asked.get(answer, answer), _plain(versions[-1].text))
        for answer, versions in known.items()
    ]
    return texts, [f"an answer: {do}" for answer, do in asked.items() if answer not in known]


def _report(folder: Path, name: str) -> tuple[list[OwnText], list[str]]:
    """The texts in the notebook that the student has written; and what is missing."""
    notebook = report_cell.notebook_in(folder)
    if notebook is None:
        return [], [f"the notebook {name}.ipynb, with the report"]
    try:
        content = read_bounded(notebook, limits.MOST_NOTEBOOK_BYTES)
    except OSError as error:
        return [], [f"the notebook cannot be read: {error.strerror or error}"]
    texts, empty = report_cell.texts(content), report_cell.empty(content, name)
    written = [
        OwnText(_about_cell(cell), student_html(text[: limits.MOST_ANSWER], {}))
        for cell, text in texts.items()
        if cell not in empty
    ]
    return written, [f"the text of the cell {cell} is not written yet" for cell in empty]


def _about_cell(cell: str) -> str:
    return "The report in the notebook" if cell == "report" else f"The cell {cell} of the notebook"


def _plain(text: str) -> str:
    """A text without markup, as HTML."""
    return inline("<pre>{{ text }}</pre>", text=text)
