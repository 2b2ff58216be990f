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
from labs.languages.words import of_reader, words
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
        number, _, topic = self.name.partition("-")
        return f"{number} {words(topic.replace('-', ' ').capitalize())}"

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
    missing = [f"{words(row.spec.asked)} ({row.spec.id})" for row in rows if not row.handed_in]
    answered, troubles = _answers(folder, name)
    written, more = _report(folder, name)
    return Lab(name, True, rows, (*answered, *written), (*missing, *troubles, *more))


def _answers(folder: Path, name: str) -> tuple[list[OwnText], list[str]]:
    """The newest version of each answer; and what is missing."""
    try:
        known = answers.read(folder)
    except (answers.BadAnswers, OSError) as error:
        return [], [of_reader().heading(f"the answers cannot be read: {error}")]
    asked = {step.name: step.do for step in guide.of_lab(name).steps if step.kind == "answer"}
    texts = [
        OwnText(words(asked.get(answer, answer)), _plain(versions[-1].text))
        for answer, versions in known.items()
    ]
    missing = [words(do) for answer, do in asked.items() if answer not in known]
    return texts, [words("an answer: {what}").format(what=do) for do in missing]


def _report(folder: Path, name: str) -> tuple[list[OwnText], list[str]]:
    """The texts in the notebook that the student has written; and what is missing."""
    notebook = report_cell.notebook_in(folder)
    if notebook is None:
        return [], [words("the notebook {file}, with the report").format(file=f"{name}.ipynb")]
    try:
        content = read_bounded(notebook, limits.MOST_NOTEBOOK_BYTES)
    except OSError as error:
        why = error.strerror or error
        return [], [of_reader().heading(f"the notebook cannot be read: {why}")]
    texts, empty = report_cell.texts(content), report_cell.empty(content, name)
    written = [
        OwnText(_about_cell(cell), student_html(text[: limits.MOST_ANSWER], {}))
        for cell, text in texts.items()
        if cell not in empty
    ]
    shown = of_reader().heading
    return written, [shown(f"the text of the cell {name} is not written yet") for name in empty]


def _about_cell(cell: str) -> str:
    if cell == "report":
        return words("The report in the notebook")
    return words("The cell {name} of the notebook").format(name=cell)


def _plain(text: str) -> str:
    """A text without markup, as HTML."""
    return inline("<pre>{{ text }}</pre>", text=text)
