"""The formgrader in a browser, with more students than nbgrader's lists hold in one page."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest

pytest.importorskip("playwright")

from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from nbgrader.api import Gradebook

from bench.labs import jupyterlab
from grader.with_nbgrader.course import CONFIG
from grader.with_nbgrader.verdict_cells import evidence_cell
from support.large_class import add_graded, enlarge
from support.served_formgrader import TOKEN, served_formgrader

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(jupyterlab.CHROMIUM is None, reason="chromium is not installed"),
]

LAB, FIRST = "01-timer-overhead", "student-model"
COPIES, HOSTILE = 230, "<img src=x onerror=\"document.title='ran'\">&amp;"
PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJg"
)

#: For each row of a list, in its order: what a search finds in each cell and what it is sorted by,
#: and the same as nbgrader's own row has them.
VALUES = """([view]) => {
  const table = $("#main-table").parent().DataTable();
  const text = (html) => $("<i/>").html(html).text().replace(/\\s+/g, " ").trim();
  return table.rows({order: "applied"}).indexes().toArray().map((index) => {
    const row = table.row(index).data(), own = new window[view](
      {model: row.model, el: insertRow($("<tbody/>"))});
    return own.$el.children().get().map((cell, column) => {
      const ours = table.cell(index, column), $cell = $(cell);
      const shown = $cell.children("a").length > 1
        ? $cell.children().get().map((one) => one.textContent).join(" ") : $cell.text();
      return [
        [text(ours.render("filter")), String(ours.render("sort"))],
        [($cell.attr("data-search") ?? shown).trim(), $cell.attr("data-order") ?? ""],
      ];
    });
  });
}"""


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A class whose reports wait for a person; one name would run a program if it were HTML."""
    course = tmp_path_factory.mktemp("large")
    (course / "source" / LAB).mkdir(parents=True)
    (course / "nbgrader_config.py").write_text(CONFIG)
    add_graded(course, [LAB], FIRST, nbformat.writes(graded()))  # type: ignore[no-untyped-call]
    enlarge(course, LAB, FIRST, COPIES)
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as gradebook:
        gradebook.find_student("student-00123").first_name = HOSTILE
        gradebook.db.commit()
    return course


def graded() -> Any:
    """A graded notebook: a figure with its plot, a report, and the evidence below it."""
    plot = new_output("display_data", {"image/png": PIXEL})  # type: ignore[no-untyped-call]
    cells = []
    for name, kind, is_answer in (("cost", "code", False), ("report", "markdown", True)):
        own = {"grade": True, "solution": is_answer, "grade_id": name, "points": 4, "locked": False}
        about = {"nbgrader": {**own, "task": False, "schema_version": 3}}
        make = new_markdown_cell if is_answer else new_code_cell
        cells.append(make("What was measured", metadata=about))  # type: ignore[no-untyped-call]
        if kind == "code":
            cells[-1].outputs = [plot]
    page = "<p>The evidence</p>"
    return new_notebook(cells=[*cells, evidence_cell(page, 1)])  # type: ignore[no-untyped-call]


@pytest.fixture(scope="module")
def page(course: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    own = tmp_path_factory.mktemp("jupyter")
    with served_formgrader(course, own) as address, jupyterlab.chromium() as chromium:
        page = chromium.new_context(base_url=f"{address}/formgrader/").new_page()
        page.goto(f"manage_assignments?token={TOKEN}", wait_until="commit")
        yield page


def has_buttons_that_work(page: Any) -> None:
    """In a row behind the first page of the list of submissions."""
    page.locator(".dataTables_filter input").fill("student-00200")
    row = page.locator("#main-table tr")
    answer = json.dumps({"success": True, "log": "The log."})
    with page.expect_response("**/api/submission/*/student-00200"):
        page.route("**/student-00200/autograde", lambda route: route.fulfill(body=answer))
        row.locator(".autograde a").click()
    assert "The log." in page.locator("#success-modal").text_content()
    assert row.locator(".student-name a").get_attribute("href").endswith(f"student-00200/{LAB}")
    assert row.locator(".status").text_content() == "needs manual grading"


def shows_names_on_every_page(page: Any) -> None:
    """If one asks for them once."""
    names = page.locator(".name a.name-shown:visible")
    page.get_by_role("button", name="Show All Names").click()
    assert names.count() == 50
    page.locator(".paginate_button.next a").click()
    assert names.count() == 50
    page.get_by_role("button", name="Hide All Names").click()
    assert names.count() == 0


def takes_a_new_student(page: Any) -> None:
    """Who is found at once."""
    page.get_by_text("Add new student").click()
    page.locator("#add-student-modal input.id").fill("student-new")
    with page.expect_response("**/api/student/student-new"):
        page.get_by_role("button", name="Save").click()
    page.locator(".dataTables_filter input").fill("student-new")
    assert page.locator("#main-table td.name a").text_content() == "student-new"  # no name yet
    assert page.locator("#main-table td.email").text_content() == ""
    page.locator("#main-table .edit a").click()
    page.locator("#edit-student-modal input.modal-last-name").fill("Hopper")
    with page.expect_response("**/api/student/student-new"):
        page.get_by_role("button", name="Save").click()
    page.locator(".dataTables_filter input").fill("hopper")
    assert page.locator("#main-table td.id").all_text_contents() == ["student-new"]


@pytest.mark.parametrize(
    ("path", "view", "students", "cell", "then"),
    [
        ("manage_students", "StudentUI", COPIES + 1, "td.id", takes_a_new_student),
        (
            f"manage_submissions/{LAB}", "SubmissionUI", COPIES + 1, "td.student-id",
            has_buttons_that_work,
        ),
        (
            f"gradebook/{LAB}/{LAB}", "SubmittedNotebookUI", COPIES + 1 - COPIES // 50 - 1,
            "td.name", shows_names_on_every_page,
        ),
    ],
)  # fmt: skip
def test_a_long_list_has_pages_with_the_rows_and_values_of_nbgrader(
    page: Any, path: str, view: str, students: int, cell: str, then: Callable[[Any], None]
) -> None:
    page.goto(path, wait_until="commit")
    page.locator(f"#main-table {cell}").first.wait_for()
    for row in page.evaluate(VALUES, [view]):
        for ours, nbgraders in row:
            assert ours == nbgraders
    seen: list[str] = []
    while True:
        rows = page.locator(f"#main-table {cell}").all_text_contents()
        assert 0 < len(rows) <= 50
        seen += rows
        if page.locator(".paginate_button.next.disabled").count():
            break
        page.locator(".paginate_button.next a").click()
    assert len(seen) == len(set(seen)) == students
    search = page.locator(".dataTables_filter input")
    search.fill("onerror")
    assert page.locator("#main-table tr").count() == 1
    assert page.title() == "nbgrader formgrade" and not page.locator("#main-table img").count()
    search.fill("")
    assert f"of {students} entries" in page.locator(".dataTables_info").text_content()
    then(page)


def test_a_report_is_graded_by_its_rubric_and_the_next_one_opens(page: Any, course: Path) -> None:
    def waiting() -> list[str]:
        with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as gradebook:
            listed = gradebook.notebook_submission_dicts(LAB, LAB)
            return sorted(each["id"] for each in listed if each["needs_manual_grade"])

    own, following, *_ = waiting()
    page.goto(f"submissions/{own}/", wait_until="commit")
    page.wait_for_function("() => window.formgrader?.comments?.loaded && formgrader.grades.loaded")
    assert page.locator(".ticklab-plots img").count() == 1
    # A plot of 680 pixels in a third of the page has words that nobody can read.
    assert page.locator(".ticklab-plots a").bounding_box()["width"] > 0.7 * 680
    # By keys: a click misses if what is above moves between the button's way down and its way up.
    criteria = page.locator(".ticklab-rubric fieldset")
    for number in range(3):
        criteria.nth(number).get_by_role("radio").first.press("Space")
    assert page.locator("#report").input_value() == ""
    with page.expect_response("**/api/comment/*"), page.expect_response("**/api/grade/*"):
        criteria.nth(3).get_by_role("radio").nth(1).press("Space")
    assert page.locator("#report").input_value() == "3.5"
    page.keyboard.press("Alt+KeyN")
    page.wait_for_url(f"**/submissions/{following}/**", wait_until="commit")
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as gradebook:
        notebook = gradebook.find_submission_notebook_by_id(own)
        (report,) = (each for each in notebook.grades if each.name == "report")
        (comment,) = (each for each in notebook.comments if each.name == "report")
        assert report.manual_score == 3.5
        assert comment.manual_comment.count("\n- ") == 3
    page.goto(f"submissions/{own}/", wait_until="commit")
    page.wait_for_function(
        "() => document.querySelectorAll('.ticklab-rubric :checked').length == 4"
    )
