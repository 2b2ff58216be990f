"""The page of feedback: a student's figures first, then what a person reads, then the notebook.

It is one file that loads nothing and runs nothing. Figures, points and sentences come from the
verdicts that replay wrote into the graded notebook, scores and comments from the gradebook.
"""

from __future__ import annotations

import functools
import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from grader.figures.verdict import EVIDENCE_CELL, MARKS, NOT_HANDED_IN, Outcome, outcome_in_words
from grader.submissions.safe_files import read_regular
from grader.with_nbgrader.pages.student_text import released_html, student_html
from grader.with_nbgrader.student_folders import RECORD
from labs.files import read_head
from labs.html import SVG, filled, image_address, page_style
from labs.limits import MOST_FOLDER_BYTES


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

    @property
    def stamp(self) -> str:
        """Changes with any point or comment; a page has the one of the grades it shows."""
        stated = [self.most, self.late_penalty, self.comments]
        stated.append({name: [each.score, each.open] for name, each in self.cells.items()})
        return hashlib.sha256(json.dumps(stated, sort_keys=True).encode()).hexdigest()[:32]


#: The stamp stands among the first bytes of a page.
_STAMP, _MOST_HEAD = re.compile(rb'<meta name="grades" content="(\w+)">'), 2_000


def is_outdated(page: Path, grades: Grades | None) -> bool:
    """Whether the page at `page` shows other grades than these. One without a stamp is not ours."""
    try:
        stamp = _STAMP.search(read_head(page, _MOST_HEAD))
    except OSError:
        return False
    return grades is not None and stamp is not None and stamp[1].decode() != grades.stamp


_PAGE = Path(__file__).with_name("feedback_page.html.jinja")
#: Nothing is loaded, nothing runs.
POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"
#: Under this key, replay writes the verdict into the cell of a figure.
_VERDICT = "ticklab"
#: The code of a pitfall, which is also the name of its page.
_CODE = re.compile(r"[a-z]+(-[a-z]+)*$")
#: So many characters of the output of a cell are shown.
_MOST_OUTPUT = 5_000
#: Released cells are the same for all students.
_KEPT_CELLS = 1_000
#: A line that a rubric wrote (`student_pages.js`), and below it a line of the grader.
_BELOW_A_LIST = re.compile(r"^(- .*: [\d.]+ of [\d.]+\..*)\n(?=\S)(?![-*+] )", re.MULTILINE)


def feedback_page(notebook: Mapping[str, Any], lab: str, grades: Grades, site: str = "") -> str:
    """The page for a graded notebook (format 4, each text as one string or as a list of lines).

    If the address of the docs is known, `site`, findings link to their pages there.
    """
    cells = [Cell(cell, number, grades) for number, cell in enumerate(notebook["cells"])]
    aside = (notebook.get("metadata") or {}).get(_VERDICT) or {}
    # Rebuilding puts a first cell that says so in plain words.
    note, cells = (cells[0], cells[1:]) if aside.get("set_aside") and cells else (None, cells)
    for cell, after in pairwise(cells):
        cell.evidence = after.outputs_html if after.is_evidence else ""
    return filled(
        _PAGE,
        policy=POLICY,
        style=page_style(),
        lab=lab,
        note=note.page if note else "",
        grades=grades,
        site=site,
        figures=[cell for cell in cells if cell.is_test],
        answers=[cell for cell in cells if cell.is_read_by_a_person],
        comments=list(_comments(cells)),
        cells=[cell for cell in cells if not cell.is_evidence],
    )


class Cell:
    """A cell of the graded notebook, with what the gradebook says of it, as the page shows it.

    It is a figure, an answer that a person reads (with the `evidence` that the grader sees below
    it), or another cell.
    """

    evidence = ""

    def __init__(self, cell: Mapping[str, Any], number: int, grades: Grades) -> None:
        self.cell = cell
        metadata = cell.get("metadata") or {}
        marks = metadata.get("nbgrader") or {}
        self.is_code = cell.get("cell_type") == "code"
        self.name = str(marks.get("grade_id") or "")
        self.is_solution = bool(marks.get("solution") or marks.get("task"))
        self.is_grade = bool(marks.get("grade") or marks.get("task"))
        self.verdict: Mapping[str, Any] = metadata.get(_VERDICT) or {}
        self.source = _text(cell.get("source"))
        self.id = self.name or f"cell-{number}"
        most = float(marks.get("points") or 0)
        self.given = grades.cells.get(self.name, Given(0.0, most, open=False))
        self.comment_text = grades.comments.get(self.name, "") if self.is_solution else ""

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> NoReturn:
            """Python asks this if a property below raises an AttributeError, of a cell that is
            damaged; the template would take that for an attribute that is not there."""
            raise TypeError(f"{name} of cell {self.id} cannot be read")

    @property
    def is_test(self) -> bool:
        """Whether the check gives the points, and not a person."""
        return self.is_grade and not self.is_solution

    @property
    def is_read_by_a_person(self) -> bool:
        return self.is_grade and self.is_solution

    @property
    def is_evidence(self) -> bool:
        return str(self.cell.get("id", "")).startswith(EVIDENCE_CELL)

    @functools.cached_property
    def page(self) -> str:
        """The HTML of a text. A task is the instructor's, and its answer is not in it."""
        pictures = self.cell.get("attachments") or {}
        marks = (self.cell.get("metadata") or {}).get("nbgrader") or {}
        if marks.get("solution"):
            return student_html(self.source, pictures)
        return released_html(self.source, pictures) if pictures else _released(self.source)

    def _data(self, kind: str) -> Iterator[str]:
        for output in self.cell.get("outputs") or ():
            if kind in (output.get("data") or {}):
                yield _text(output["data"][kind])

    @functools.cached_property
    def outputs_html(self) -> str:
        """What our own steps wrote, which is HTML without anything active."""
        return next(self._data("text/html"), "")

    @functools.cached_property
    def plot(self) -> str:
        """The address of an image with the plot; "" if there is none."""
        svg = next(self._data(SVG), "")
        return image_address(svg) if svg else ""

    @functools.cached_property
    def output_text(self) -> str:
        """The text of other outputs, such as those of cells that an instructor has executed."""
        texts = [_text(each.get("text")) for each in self.cell.get("outputs") or ()]
        return "".join([*texts, *self._data("text/plain")])[:_MOST_OUTPUT]

    @property
    def comment(self) -> str:
        """The comment as HTML."""
        return _comment(self.comment_text) if self.comment_text else ""

    @functools.cached_property
    def outcome(self) -> tuple[str, str]:
        """The outcome of the check in words, and its sign."""
        stated = self.verdict
        if stated.get("outcome") not in (Outcome.PASSED.value, Outcome.FAILED.value):
            return "not graded by the check", MARKS[Outcome.NOT_GRADED.value]
        points, most, codes = (stated.get(key) for key in ("points", "max_points", "findings"))
        words = outcome_in_words(Outcome(stated["outcome"]), points or 0, most or 0, codes or ())
        return words, MARKS[words]

    @property
    def place(self) -> int:
        """What can still be mended comes first, then what is not there, then what is right."""
        return {NOT_HANDED_IN: 1, Outcome.PASSED.value: 2}.get(self.outcome[0], 0)

    @property
    def asked(self) -> str:
        """What the figure is, as the lab asks for it."""
        return str(self.verdict.get("asked") or self.name)

    @property
    def codes(self) -> list[str]:
        """The codes of the findings on a figure, which are also the names of their pages."""
        return [code for code in map(str, self.verdict.get("findings") or ()) if _CODE.match(code)]

    @property
    def label(self) -> str:
        """What is above the cell in the notebook."""
        if self.is_test:
            return "Figure"
        return "Your answer" if self.is_solution else "Program" if self.is_code else ""

    @property
    def above(self) -> str:
        """Where the page has shown the cell before, as a figure or as an answer; else ""."""
        kind = "figure" if self.is_test else "answer" if self.is_read_by_a_person else ""
        return kind and f"{kind}-{self.name}"


def _comments(cells: list[Cell]) -> Iterator[tuple[str, list[str]]]:
    """Each comment on answers of the notebook, with the names of these answers."""
    names: dict[str, list[str]] = {}
    for cell in cells:
        if cell.comment_text and not cell.is_read_by_a_person:
            names.setdefault(cell.comment_text, []).append(cell.name)
    for comment, of in names.items():
        yield _comment(comment), of


@functools.lru_cache(_KEPT_CELLS)
def _released(source: str) -> str:
    return released_html(source, {})


@functools.lru_cache(_KEPT_CELLS)
def _comment(text: str) -> str:
    """A comment as HTML; anybody who may grade can write it, so we clean it like an answer.

    What the grader writes below the lines of the rubric is a paragraph of its own.
    """
    return student_html(_BELOW_A_LIST.sub(r"\1\n\n", text), {})


def _text(lines: object) -> str:
    """A text of a notebook, which may be a list of lines."""
    return "".join(map(str, lines)) if isinstance(lines, list) else str(lines or "")


# The files of one student's feedback, made from the folder of the graded notebook.
#
# Nothing here loads nbgrader: a process that makes pages starts in half the time without.

#: What lies next to a page: when the work was handed in, and what the release of feedback needs.
KEPT = ("timestamp.txt", "submission_secret.txt", RECORD)
_MOST_KEPT_BYTES = 1_000_000


def page_of(path: Path, lab: str, grades: Grades, site: str = "") -> str:
    """The page for the graded notebook at `path`. Raises OSError and ValueError if it is none.

    `site` is the address of the docs, or empty.
    """
    raw = read_regular(path, MOST_FOLDER_BYTES)
    try:
        page = feedback_page(json.loads(raw), lab, grades, site)
    except (KeyError, TypeError, AttributeError, RecursionError, ValueError) as error:
        again = f"Grade it again: grader autograde {lab} --force"
        raise ValueError(f"{path} is no graded notebook: {error!r}. {again}") from error
    # JSON may hold halves of characters, which no file can.
    return page.encode("utf-8", "replace").decode("utf-8")


def keep_beside(source: Path, destination: Path) -> None:
    """Copies what lies next to a page; the evidence stays with the graded notebook.

    Raises OSError if `destination` cannot be written.
    """
    destination.mkdir(parents=True, exist_ok=True)
    for name in KEPT:
        try:
            content = read_regular(source / name, _MOST_KEPT_BYTES)
        except OSError:  # no such file, or none that a person may read; release says what it misses
            continue
        if len(content) <= _MOST_KEPT_BYTES:
            (destination / name).write_bytes(content)
