"""A way through all pages that show the work of a class, one after the other, in one browser."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from nbgrader.api import Gradebook
from playwright.sync_api import Error as PlaywrightError
from playwright.sync_api import Locator, Page

from bench.exchange.recorded_browser import Recorded
from bench.exchange.score_in_sight import Honest, Score, troubles_with
from support.served_formgrader import TOKEN

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


#: nbgrader's programs say when they have filled a page; feedback has none.
_FILLED = """() => typeof formgrader !== 'undefined'
  ? formgrader.grades.loaded && formgrader.comments.loaded && MathJax.loaded &&
    !$(':animated').length  // the program scrolls to the first score
  : typeof models === 'undefined' || Boolean(models && models.loaded)"""
#: In an address of the formgrader, to which an answer may link.
_CRAFTED = '";alert("crafted");"<img src=x onerror=alert(1)>'
PATIENCE_MS = 60_000

Places = Callable[[Graded, Page], Iterable[tuple[str, Locator, Score]]]


@dataclass
class Tour:
    """The pages of one lab's class; `what` says of each student what is hostile of them."""

    course: Path
    lab: str
    address: str
    browser: Recorded
    what: dict[str, str]
    save: Path | None

    def __post_init__(self) -> None:
        self.students = graded(self.course, self.lab)
        self.honest_student = next(name for name, kind in self.what.items() if kind == "honest")
        self.page, self.other = self.browser.page(), self.browser.page()
        #: A page whose answers are changed has no cache. So it is not used for the others.
        self.spoiled = self.browser.page()
        self.page.goto(f"{self.address}/formgrader/manage_assignments?token={TOKEN}")

    def open(self, page: Page, address: str) -> None:
        """Opens an address and waits until it is filled."""
        page.bring_to_front()  # a page behind another one is drawn late
        response = page.goto(address, timeout=PATIENCE_MS)
        if response is not None and response.status >= 400:
            raise AssertionError(f"HTTP {response.status}")
        page.wait_for_function(_FILLED, timeout=PATIENCE_MS)

    def feedback(self, student: str) -> str:
        """The address of a page of feedback."""
        return (self.course / "feedback" / student / self.lab / f"{self.lab}.html").as_uri()

    def listed(self, *parts: str) -> str:
        """The address of a page of the formgrader."""
        return "/".join((self.address, "formgrader", *(quote(part, safe="") for part in parts)))

    def submission(self, student: str) -> str:
        """The address of the page on which a notebook is graded by hand."""
        return self.listed("submissions", self.students[student].submission, "")

    def look(
        self,
        name: str,
        student: str,
        address: str,
        honest: Honest,
        places: Places,
        page: Page | None = None,
    ) -> list[str]:
        """What is wrong with one page: the events, and each score that is not seen."""
        found: list[str] = []
        page = page or self.page
        try:
            self.open(page, address)
            own = self.students[student]
            # The places on both pages have the same names, in the same order.
            there = {box: place for box, place, _ in places(own, honest.page)}
            for box, place, score in places(own, page):
                found.append(troubles_with(box, place, honest, there[box], score))
        except (AssertionError, PlaywrightError) as error:
            found.append(str(error).partition("\n")[0][:200])
        self._keep(name, student, page)
        found += self.browser.taken()
        return [f"{name} of {self._whose(student)}: {each}" for each in found if each]

    def _whose(self, student: str) -> str:
        return f"{student[:30]} ({self.what.get(student, '?')})"

    def _keep(self, name: str, student: str, page: Page | None = None) -> None:
        if self.save is not None:
            self.save.mkdir(parents=True, exist_ok=True)
            file = f"{name} {student}"[:80].replace("/", "_").replace(" ", "-")
            page = page or self.page
            # What a student wrote, where a page has it.
            page.evaluate(
                "document.querySelector('.nbgrader_cell .rendered_html')?.scrollIntoView()"
            )
            page.screenshot(path=self.save / f"{file}.png")

    def of_each_student(self) -> Iterator[str]:
        """The four pages of each student."""
        row: Places = _in_own_row
        kinds: dict[str, tuple[Callable[[str], str], Places]] = {
            "feedback": (self.feedback, Graded.in_feedback),
            "submission": (self.submission, Graded.in_formgrader),
            "student": (lambda student: self.listed("manage_students", student), row),
            "notebooks": (lambda student: self.listed("manage_students", student, self.lab), row),
        }
        for name, (address, places) in kinds.items():
            self.open(self.other, address(self.honest_student))
            honest = Honest(self.other)
            for student in self.students:
                yield from self.look(name, student, address(student), honest, places)

    def of_the_class(self) -> Iterator[str]:
        """The lists, in which each student has a row, and those without."""
        for name, parts in {
            "list to grade": ("gradebook", self.lab, self.lab),
            "list of submissions": ("manage_submissions", self.lab),
            "list of students": ("manage_students",),
        }.items():
            self.open(self.other, self.listed(*parts))
            self.open(self.page, self.listed(*parts))
            honest = Honest(self.other)
            rows, same = _rows(self.page), _rows(self.other)[self._key(self.honest_student, name)]
            for student, own in self.students.items():
                row = rows.get(self._key(student, name))
                if row is None:
                    yield f"{name}: no row of {self._whose(student)}"
                    continue
                places = zip(own.in_row(row), own.in_row(same), strict=True)
                for (column, box, score), (_, there, _) in places:
                    if trouble := troubles_with(column, box, honest, there, score):
                        yield f"{name}, row of {self._whose(student)}: {trouble}"
            self._keep(name, "")
            yield from (f"{name}: {event}" for event in self.browser.taken())
        for parts in (("manage_assignments",), ("gradebook",), ("gradebook", self.lab)):
            self.open(self.page, self.listed(*parts))
            self._keep(" ".join(parts), "")
            yield from (f"{' '.join(parts)}: {event}" for event in self.browser.taken())

    def _key(self, student: str, name: str) -> str:
        return self.students[student].submission if name == "list to grade" else student

    def of_crafted_addresses(self) -> Iterator[str]:
        """Addresses of the formgrader that hold a program, to which an answer may link."""
        pages = ("manage_students", "manage_submissions", "gradebook")
        for parts in [(one, _CRAFTED) for one in pages] + [
            ("manage_students", _CRAFTED, self.lab),
            ("manage_students", self.honest_student, _CRAFTED),
            ("gradebook", self.lab, _CRAFTED),
        ]:
            # What there is at such an address may be an error; it may not run.
            self.page.goto(self.listed(*parts), timeout=PATIENCE_MS)
            self.page.wait_for_load_state("networkidle")
            for event in self.browser.taken():
                if event.startswith("a dialog"):
                    yield f"crafted address {' '.join(parts)}: {event}"


def _in_own_row(own: Graded, page: Page) -> Iterator[tuple[str, Locator, Score]]:
    # The other rows are labs without a submission.
    return own.in_row(page.locator("#main-table td.name > a").locator("../.."))


def _rows(page: Page) -> dict[str, Locator]:
    """The rows of a list by the id of their submission or, where there is none, of the student."""
    rows = page.locator("#main-table tr")
    keys = rows.evaluate_all(
        """rows => rows.map(row => {
          const [to] = row.querySelectorAll('td.name a[href*="/submissions/"]');
          const name = row.querySelector('td.student-id, td.id');
          return to ? to.pathname.split('/').pop() : name ? name.textContent : '';
        })"""
    )
    return {key: rows.nth(number) for number, key in enumerate(keys)}
