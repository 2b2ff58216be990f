"""The page of feedback: what a student reads first, what it holds, and that nothing in it acts."""

from __future__ import annotations

import copy
import json
import logging
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import nbgrader.api
import pytest
from nbgrader.api import Gradebook
from traitlets import TraitError

from bench.labs import jupyterlab
from bench.labs.accessible import violations
from grader.figures import figures_of
from grader.judging.worker import NotGraded
from grader.with_nbgrader.feedback import FeedbackExporter, grades_of
from grader.with_nbgrader.pages.feedback_page import Given, Grades, feedback_page, page_of
from grader.with_nbgrader.replay import Replay
from grader.with_nbgrader.settings import alembic_version
from grader.with_nbgrader.verdict_cells import write_verdicts
from support.paths import FIXTURES, REPOSITORY

LAB = "01-timer-overhead"
MOST_BYTES = 150_000
HOSTILE = '<script>alert(1)</script><img src=x onerror="alert(1)"><b onclick=alert(1)>bold</b>'


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The notebook of lab 01 with the verdicts on an honest run, as autograding leaves it."""
    folder = tmp_path_factory.mktemp("honest") / LAB
    shutil.copytree(FIXTURES / "honest" / LAB, folder)
    path = REPOSITORY / f"build/released/{LAB}/{LAB}.ipynb"
    notebook = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    resources = {
        "metadata": {"path": str(folder)},
        "nbgrader": {"notebook": LAB, "student": "ada", "assignment": LAB},
    }
    return Replay().preprocess(notebook, resources)[0]


@pytest.fixture
def notebook(judged: Any) -> Any:
    """A copy that a test may change."""
    return copy.deepcopy(judged)


def given(notebook: Any, **others: Given) -> Grades:
    """Full points for every figure, and for the report what a test says."""
    marks = [cell.metadata.get("nbgrader", {}) for cell in notebook.cells]
    full = {
        each["grade_id"]: Given(each["points"], each["points"], open=False)
        for each in marks
        if each.get("grade")
    }
    return Grades(22.0, 0.0, {**full, "report": Given(0.0, 4.0, open=True), **others})


def cell_named(notebook: Any, name: str) -> Any:
    return next(each for each in notebook.cells if each.get("id") == name)


def test_figures_come_first_then_the_report_then_the_notebook_collapsed(notebook: Any) -> None:
    page = feedback_page(notebook, LAB, given(notebook))
    figures = [f'<section class="figure" id="figure-{spec.id}">' for spec in figures_of(LAB)]
    order = [*figures, 'id="answer-report"', '<details class="notebook">', 'id="cell-prediction"']
    places = [page.index(each) for each in order]
    assert places == sorted(places)
    for spec, begin, end in zip(figures_of(LAB), places, places[1:], strict=False):
        part = page[begin:end]
        assert spec.asked[1:] in part
        assert f"Score: {float(spec.max_points)} / {float(spec.max_points)}" in part
        assert "Accepted: " in part and "data:image/svg+xml," in part
    assert "Not graded by the check; a person reads it." in page
    assert "Score: 18.0 / 22.0" in page and "(nobody has read it yet)" in page
    top = page[page.index("<h1>") : page.index("<h2>")]  # a score that is not final says so there
    assert "so far: 4.0 points wait for a person" in top
    assert "Late submission penalty" not in page


def test_what_a_person_gave_is_shown_as_nbgrader_shows_it(notebook: Any) -> None:
    grades = given(notebook, report=Given(2.5, 4.0, open=False))
    grades.late_penalty = 1.25
    grades.comments = {
        "report": "Which *machine*?",
        "prediction": "No response.",
        "strace": "No response.",
    }
    page = feedback_page(notebook, LAB, grades)
    assert "Score: 19.25 / 22.0" in page
    assert "Late submission penalty (Score: -1.25)" in page
    report = page[page.index('id="answer-report"') :]
    assert "Score: 2.5 / 4.0" in report and "nobody has read it" not in page
    assert "Not graded by the check; a person has read it." in report
    assert "Which <em>machine</em>?" in report
    before = page[: page.index('<details class="notebook">')]
    assert before.count("No response.") == 1
    assert 'href="#cell-prediction"' in before and 'href="#cell-strace"' in before


def test_what_a_grader_writes_below_the_rubric_is_a_paragraph(notebook: Any) -> None:
    grades = given(notebook, report=Given(3.5, 4.0, open=False))
    rubric = "- Value: 1 of 1. It is right.\n- Limit: 0.5 of 1. It is vague."
    grades.comments = {"report": f"{rubric}\n26 ticks is the step.\n- mine\ngoes on"}
    page = feedback_page(notebook, LAB, grades)
    assert "<p>26 ticks is the step." in page
    assert "mine\ngoes on" in page


def test_a_figure_that_a_person_must_look_at_says_so(notebook: Any) -> None:
    cell = cell_named(notebook, "check-timer-step")
    cell.metadata["ticklab"]["outcome"] = "not graded"
    page = feedback_page(notebook, LAB, given(notebook, **{"timer-step": Given(0.0, 2.0, True)}))
    part = page[page.index('id="figure-timer-step"') :].split("</section>")[0]
    assert "not graded by the check" in part and "a person has yet to look at it" in part
    assert "passed</strong>" not in part


def test_a_figure_that_nothing_could_judge_keeps_its_title(notebook: Any) -> None:
    log = logging.getLogger(__name__)
    fault = NotGraded("the check ended early", "")
    write_verdicts(notebook, LAB, fault, {}, "grader.judging.presentation", log)
    page = feedback_page(notebook, LAB, given(notebook))
    assert all(spec.asked[1:] in page for spec in figures_of(LAB))


def test_a_figure_that_was_not_handed_in_has_not_failed(notebook: Any) -> None:
    cell = cell_named(notebook, "check-timer-step")
    cell.metadata["ticklab"].update(outcome="failed", points=0.0, findings=["no-figure"])
    page = feedback_page(notebook, LAB, given(notebook, **{"timer-step": Given(0.0, 2.0, False)}))
    part = page[page.index('id="figure-timer-step"') :].split("</section>")[0]
    assert "○</span> not handed in</strong>" in part and "failed" not in part
    cell.metadata["ticklab"].update(findings=["unit-slip"])
    page = feedback_page(notebook, LAB, given(notebook, **{"timer-step": Given(0.0, 2.0, False)}))
    part = page[page.index('id="figure-timer-step"') :].split("</section>")[0]
    assert "✗</span> failed</strong>" in part


def test_what_was_left_out_is_shown_before_the_notebook(notebook: Any) -> None:
    note = nbformat.v4.new_markdown_cell("**Left out** of it: a cell")  # type: ignore[no-untyped-call]
    notebook.cells.insert(0, note)
    seen = "<strong>Left out</strong> of it"
    notebook.metadata["ticklab"] = {"set_aside": ["a cell"]}
    page = feedback_page(notebook, LAB, given(notebook))
    assert page.index(seen) < page.index('<details class="notebook">')


def test_what_can_be_mended_comes_first_and_is_open_and_what_passed_takes_a_line(
    notebook: Any,
) -> None:
    last = figures_of(LAB)[-1].id
    marks = [each.metadata.get("nbgrader", {}).get("grade_id") for each in notebook.cells]
    cell = notebook.cells[marks.index(last)]
    cell.metadata["ticklab"] |= {"outcome": "failed", "points": 3.0, "findings": ["unit-slip"]}
    page = feedback_page(notebook, LAB, given(notebook))
    found = re.findall(r'id="figure-([^"]*)">\s*<details( open)?><summary>', page)
    assert found[0] == (last, " open")
    assert [opened for _, opened in found[1:]] == [""] * (len(figures_of(LAB)) - 1)


def test_five_figures_with_their_plots_are_small(notebook: Any) -> None:
    page = feedback_page(notebook, LAB, given(notebook))
    # A plot of each recording, and each value beside what is accepted.
    assert page.count("data:image/svg+xml,") == 10
    assert len(page.encode()) <= MOST_BYTES


def test_the_graded_copy_adds_little_to_the_notebook_that_was_handed_in(notebook: Any) -> None:
    path = REPOSITORY / f"build/released/{LAB}/{LAB}.ipynb"
    text = nbformat.writes(notebook)  # type: ignore[no-untyped-call]
    assert len(text.encode()) - path.stat().st_size <= 100_000


def test_nothing_in_it_acts_whoever_wrote_it(notebook: Any) -> None:
    cell_named(notebook, "report").source = HOSTILE
    for name in ("prediction", "own-pair"):
        cell = cell_named(notebook, name)
        cell.source = HOSTILE
        cell.outputs = [
            {"output_type": "display_data", "metadata": {}, "data": {"text/html": HOSTILE}},
            {"output_type": "stream", "name": "stdout", "text": HOSTILE},
        ]
    executed = cell_named(notebook, "check-timer-step")
    del executed.metadata["ticklab"]
    executed.outputs = cell_named(notebook, "prediction").outputs
    grades = given(notebook)
    grades.comments = {"report": HOSTILE, "prediction": HOSTILE}
    page = feedback_page(notebook, LAB, grades)
    assert "alert(1)" in page  # as text
    tags = re.findall(r"<[a-z][^>]*>", page)
    assert not [tag for tag in tags if re.match(r"<(script|iframe|object|embed|link|form)", tag)]
    assert not [tag for tag in tags if re.search(r"\son[a-z]+\s*=|javascript:", tag)]
    assert "<b>bold</b>" in page
    assert "<script>" not in page


def test_every_answer_is_on_the_page_whatever_it_holds(notebook: Any) -> None:
    for number, cell in enumerate(notebook.cells):
        if cell.metadata.get("nbgrader", {}).get("solution"):
            cell.source = f"answer {number} & </details></main>"
    page = feedback_page(notebook, LAB, given(notebook))
    assert page.count("</main>") == 1
    answers = [c for c in notebook.cells if c.metadata.get("nbgrader", {}).get("solution")]
    assert len(re.findall(r"answer \d+ &amp; ", page)) == len(answers)


@pytest.mark.skipif(jupyterlab.CHROMIUM is None, reason="chromium is not installed")
def test_it_can_be_read_on_a_phone_in_the_dark_and_by_a_screen_reader(
    notebook: Any, tmp_path: Path
) -> None:
    cell_named(notebook, "report").source = f"| wide |\n|---|\n| {'W' * 400} |\n\n$x^2$"
    file = tmp_path / "page.html"
    # axe-core is a script, which the page itself forbids.
    with jupyterlab.chromium() as browser:
        for scheme in ("light", "dark"):
            context = browser.new_context(
                viewport={"width": 390, "height": 800}, color_scheme=scheme, bypass_csp=True
            )
            page = context.new_page()
            file.write_text(feedback_page(notebook, LAB, given(notebook)), encoding="utf-8")
            page.goto(file.as_uri())
            page.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
            assert page.evaluate("document.documentElement.scrollWidth") == 390
            assert violations(page.locator("body")) == []
            context.close()


def test_grades_are_those_that_nbgrader_reads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(nbgrader.api, "get_alembic_version", alembic_version)
    with Gradebook(f"sqlite:///{tmp_path / 'gradebook.db'}") as gradebook:
        gradebook.add_assignment("lab")
        gradebook.add_notebook("lab", "lab")
        gradebook.add_grade_cell("cost", "lab", "lab", max_score=4, cell_type="code")
        gradebook.add_grade_cell("report", "lab", "lab", max_score=2.5, cell_type="markdown")
        gradebook.add_task_cell("task", "lab", "lab", max_score=1, cell_type="markdown")
        gradebook.add_solution_cell("answer", "lab", "lab")
        for number, student in enumerate(("ada", "bob", "cid")):
            gradebook.add_student(student)
            submission = gradebook.add_submission("lab", student)
            notebook = submission.notebooks[0]
            notebook.late_submission_penalty = None if number == 0 else 0.5 * number
            for grade in notebook.grades:
                grade.auto_score = None if grade.name == "task" else 1.5
                grade.manual_score = number if grade.name == "report" else None
                grade.extra_credit = 0.25 if number == 2 else None
                grade.needs_manual_grade = number == 0
            notebook.comments[0].auto_comment = "No response."
            notebook.comments[-1].manual_comment = "mine" if number == 1 else None
        gradebook.add_student("did-not-hand-in")
        gradebook.db.commit()
        every = grades_of(gradebook, "lab", "lab")
        assert sorted(every) == ["ada", "bob", "cid"]
        for student, grades in every.items():
            theirs = gradebook.find_submission_notebook("lab", "lab", student)
            assert grades.score == theirs.score - (theirs.late_submission_penalty or 0)
            assert grades.most == theirs.max_score == 7.5
            assert grades.cells == {
                each.name: Given(each.score, each.max_score, each.needs_manual_grade)
                for each in theirs.grades
            }
            comments = {each.name: each.comment for each in theirs.comments}
            assert grades.comments == {name: text for name, text in comments.items() if text}
            assert grades_of(gradebook, "lab", "lab", student) == {student: grades}
        assert grades_of(gradebook, "lab", "lab", "did-not-hand-in") == {}
        assert grades_of(gradebook, "lab", "other") == {}


@pytest.fixture(scope="module")
def with_finding() -> Any:
    """The notebook of lab 01 after grading, with a finding on one figure."""
    marks = {"grade_id": "timer-step", "grade": True, "solution": False, "points": 2}
    verdict = {
        "outcome": "failed", "points": 1.0, "max_points": 2.0, "reason": "r",
        "findings": ["unit-slip", "../../x", "<b>"],
    }  # fmt: skip
    html = {"output_type": "display_data", "data": {"text/html": "<p>said</p>"}, "metadata": {}}
    cell = {
        "cell_type": "code", "id": "a", "source": "check()", "outputs": [html],
        "metadata": {"nbgrader": marks, "ticklab": verdict},
    }  # fmt: skip
    return {"cells": [cell], "metadata": {}}


def test_a_finding_links_to_its_page_where_the_course_has_published_the_docs(
    with_finding: Any,
) -> None:
    grades = Grades(1.0, 2.0, {})
    page = feedback_page(with_finding, LAB, grades, "https://example.org/ticklab")
    addresses = re.findall(r'href="(https?:[^"]*)"', page)
    assert addresses == ["https://example.org/ticklab/pitfalls/unit-slip.html"]
    assert 'href="http' not in feedback_page(with_finding, LAB, grades)


@pytest.mark.parametrize("address", ["javascript:alert(1)", "example.org", "https://a b"])
def test_the_address_of_the_docs_must_be_one_that_a_browser_opens(address: str) -> None:
    with pytest.raises(TraitError, match=r"FeedbackExporter\.site must begin with https"):
        exporter(address)
    assert exporter("https://example.org/ticklab/").site == "https://example.org/ticklab"


def exporter(site: str) -> FeedbackExporter:
    return FeedbackExporter(site=site)  # type: ignore[no-untyped-call]


ODD: tuple[Any, ...] = (None, "x", 3, [], [None], ["x"], {}, {"a": None}, {"text": 3})


def odd_ones(found: Any, depth: int = 5) -> Iterator[tuple[Any, Any, Any]]:
    """Every place in it, as the object, its key, and something odd to put there."""
    keys = found if isinstance(found, dict) else range(len(found) if isinstance(found, list) else 0)
    for key in list(keys)[: 50 * depth]:
        for odd in ODD:
            yield found, key, odd
        yield from odd_ones(found[key], depth - 1)


def test_a_damaged_notebook_is_named_or_still_shown(
    notebook: Any, with_finding: Any, tmp_path: Path
) -> None:
    path, grades = tmp_path / "lab.ipynb", given(notebook)
    report = json.loads(json.dumps(cell_named(notebook, "report")))
    report |= {"attachments": {"a.png": {"image/png": ""}}}
    text = {"output_type": "stream", "name": "stdout", "text": "said"}
    code = {"cell_type": "code", "id": "b", "source": "1", "outputs": [text], "metadata": {}}
    page = {"cells": [*copy.deepcopy(with_finding)["cells"], report, code], "metadata": {}}
    refused = shown = 0
    for inside, key, odd in odd_ones(page):
        before, inside[key] = inside[key], odd
        path.write_text(json.dumps(page))
        inside[key] = before
        try:
            assert "</html>" in page_of(path, LAB, grades)
            shown += 1
        except ValueError as error:
            assert f"{path} is no graded notebook: " in str(error)
            assert str(error).endswith(f". Grade it again: grader autograde {LAB} --force")
            refused += 1
    assert refused > 50 and shown > 50
