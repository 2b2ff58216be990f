"""The formgrader's lists of a large class hold what nbgrader's own lists hold."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import nbformat
import pytest
from nbgrader.api import Gradebook
from nbgrader.apps.api import NbGraderAPI
from nbgrader.server_extensions.formgrader.handlers import SubmissionNavigationHandler
from nbgrader.utils import parse_utc
from sqlalchemy import event
from sqlalchemy.engine import Engine
from tornado.web import Finish

from grader.with_nbgrader import careful_course, verdict_cells
from grader.with_nbgrader.course import CONFIG
from grader.with_nbgrader.pages import formgrader
from grader.with_nbgrader.pages.formgrader import LargeGradebook
from support.formgrader import formgrader_api
from support.large_class import COLLECTED_ONLY, add_graded, enlarge

LAB, FIRST = "01-small", "student-model"
STUDENTS = COLLECTED_ONLY + 5
UNGRADED, UNKNOWN, NO_FOLDER = "student-00001", "nobody", "student-00003"

CALLS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("get_assignments", ()),
    ("get_notebooks", (LAB,)),
    *(("get_submitted_students", (lab,)) for lab in (LAB, "02-new", "*")),
    ("get_submissions", (LAB,)),
    ("get_submissions", ("02-new",)),
    ("get_notebook_submissions", (LAB, LAB)),
    ("get_notebook_submissions", (LAB, "another")),
    ("get_notebook_submission_indices", (LAB, LAB)),
    ("get_students", ()),
    *(
        (name, (*before, student, *behind))
        for student in (FIRST, "student-00000", UNGRADED, NO_FOLDER, UNKNOWN)
        for name, before, behind in (
            ("get_submission", (LAB,), ()),
            ("get_student", (), ()),
            ("get_student_submissions", (), ()),
            ("get_student_notebook_submissions", (), (LAB,)),
        )
    ),
)


def fill(course: Path) -> None:
    """A lab with each kind of cell, one graded submission of it, and a class of its copies."""
    (course / "source" / LAB).mkdir(parents=True)
    (course / "source" / "02-new").mkdir()
    (course / "nbgrader_config.py").write_text(CONFIG)
    add_graded(course, (LAB, "another"), FIRST, "{}")
    enlarge(course, LAB, FIRST, STUDENTS)
    (course / "autograded" / NO_FOLDER).rename(course / "aside")
    # What a folder of submissions may hold besides.
    submitted = course / "submitted"
    (submitted / "loop").symlink_to("loop")
    (submitted / "file").write_text("")
    (submitted / "nothing").mkdir()
    (submitted / ".hidden" / LAB).mkdir(parents=True)
    (submitted / "only-hidden" / ".earlier").mkdir(parents=True)
    (submitted / "student-00900" / "02-new").mkdir(parents=True)
    (submitted / "no-folder").mkdir()
    (submitted / "no-folder" / LAB).write_text("")


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NbGraderAPI]:
    course = tmp_path_factory.mktemp("large")
    fill(course)
    with pytest.MonkeyPatch.context() as patch, formgrader_api(course, patch) as made:
        yield made


def answer(api: NbGraderAPI, name: str, arguments: tuple[str, ...]) -> Any:
    """What the call gives, or the exception that it ends with."""
    try:
        return rounded(getattr(api, name)(*arguments))
    except Exception as error:
        return repr(error)


def rounded(found: Any) -> Any:
    """The same with sums rounded: nbgrader adds the points in another order."""
    if isinstance(found, dict):
        return {key: rounded(value) for key, value in found.items()}
    if isinstance(found, list):
        return [rounded(each) for each in found]
    return round(found, 9) if isinstance(found, float) else found


def stock(patch: pytest.MonkeyPatch) -> None:
    """From now on the course is one of nbgrader's own."""
    for module in (careful_course, formgrader):
        patch.setattr(module, "is_ours", lambda _: False)


def test_each_list_is_the_one_that_nbgrader_gives(
    api: NbGraderAPI, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert type(api.gradebook) is LargeGradebook
    ours = [answer(api, *call) for call in CALLS]
    stock(monkeypatch)
    assert type(api.gradebook) is Gradebook
    for call, found in zip(CALLS, ours, strict=True):
        assert found == answer(api, *call), call
    (listed,) = (
        found for (name, _), found in zip(CALLS, ours, strict=True) if name == "get_students"
    )
    assert len({each["score"] for each in listed}) > 5


def test_next_and_previous_step_through_the_submissions_of_nbgrader(
    api: NbGraderAPI, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Gradebook(api.coursedir.db_url) as gradebook:
        handler: Any = SimpleNamespace(gradebook=gradebook, api=api)
        (one,) = (
            each
            for each in gradebook.notebook_submissions(LAB, LAB)
            if each.student.id == "student-00006"
        )

        def ids() -> list[list[str]]:
            navigation = SubmissionNavigationHandler
            return [
                navigation._get_submission_ids(handler, LAB, LAB),
                navigation._get_incorrect_submission_ids(handler, LAB, LAB, one),
            ]

        ours = ids()
        stock(monkeypatch)
        assert ours == ids()
        assert one.id in ours[1] and not one.failed_tests and len(ours[1]) < len(ours[0])


def test_the_next_report_is_the_next_one_that_waits_and_has_a_notebook(api: NbGraderAPI) -> None:
    waiting = sorted(
        each["id"] for each in api.get_notebook_submissions(LAB, LAB) if each["needs_manual_grade"]
    )
    graded = next(
        each["id"]
        for each in api.get_notebook_submissions(LAB, LAB)
        if not each["needs_manual_grade"]
    )
    after_it = [each for each in waiting if each > graded]
    assert next_waiting(api, LAB, waiting[0]) == waiting[1]
    assert next_waiting(api, LAB, waiting[-1]) == waiting[0]
    assert next_waiting(api, LAB, graded) == (after_it or waiting)[0]
    assert next_waiting(api, "another", waiting[0]) is None  # none of them is on the disk


def next_waiting(api: NbGraderAPI, notebook_id: str, own: str) -> object:
    """What the page of the submission `own` is told."""
    said: list[str] = []
    handler = SimpleNamespace(api=api, get_argument=lambda *_: "", finish=said.append)
    with pytest.raises(Finish):
        cast(Any, SubmissionNavigationHandler)._next(
            handler, LAB, notebook_id, SimpleNamespace(id=own)
        )
    return json.loads(said[0])


@pytest.mark.parametrize("name", ["get_submissions", "get_students"])
def test_a_larger_class_needs_no_more_queries(
    api: NbGraderAPI, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    arguments = (LAB,) if name == "get_submissions" else ()
    few = asked(lambda: getattr(api, name)(*arguments))
    enlarge(Path(api.coursedir.root), LAB, FIRST, 40, begin=asked_names(api))
    assert asked(lambda: getattr(api, name)(*arguments)) == few


def asked_names(api: NbGraderAPI) -> int:
    """A number above those of all students."""
    return 1 + max(int(each["id"][-5:]) for each in api.get_students() if each["id"] != FIRST)


def asked(act: Callable[[], object]) -> int:
    """How many statements the gradebook was asked."""
    seen: list[str] = []

    def note(_: object, __: object, statement: str, *___: object) -> None:
        seen.append(statement)

    event.listen(Engine, "before_cursor_execute", note)
    try:
        act()
    finally:
        event.remove(Engine, "before_cursor_execute", note)
    return len(seen)


def test_a_plain_time_is_read_as_nbgrader_reads_it() -> None:
    for text in (
        "2026-09-01 11:00:00 UTC",
        "2026-02-28 23:59:59.000001 UTC",
        "1970-01-01 00:00:00 UTC",
    ):
        assert careful_course.time_of(text) == parse_utc(text)


@pytest.mark.parametrize("text", ["2026-02-30 11:00:00 UTC", "2026-09-01 24:00:00 UTC"])
def test_a_day_that_is_not_is_no_time(text: str) -> None:
    with pytest.raises(ValueError, match="no time"):
        careful_course.time_of(text)


def notebook(flags: list[str], answer: str = "") -> Any:
    """A graded notebook with one figure and one answer, as nbformat reads it."""
    graded = {"ticklab": {"figure": "cost", "flags": flags}}
    cells = [
        {"id": "a", "cell_type": "markdown", "metadata": {}, "source": answer},
        {**{"id": "f", "cell_type": "code", "metadata": graded, "source": ""},
         "outputs": [], "execution_count": None},
    ]  # fmt: skip
    made = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    return nbformat.reads(json.dumps(made), as_version=4)  # type: ignore[no-untyped-call]


@pytest.mark.parametrize("more", [0, 20_000])
def test_a_list_shows_the_flags_of_a_notebook_and_nothing_that_a_student_wrote_as_one(
    tmp_path: Path, more: int
) -> None:
    forged = '\n "metadata": {"ticklab": {"flags": ["cost: forged"]}}}'
    path = tmp_path / "one.ipynb"
    for flags in (["the same samples"], []):
        made = notebook(flags, forged)
        verdict_cells.keep_flags(made)
        made.metadata["other"] = "x" * more
        nbformat.write(made, path)  # type: ignore[no-untyped-call]
        found = {"flags": [f"cost: {each}" for each in flags], "set_aside": []}
        assert verdict_cells.notes_of(path) == found


@pytest.mark.parametrize("raw", [None, b"", b'\n "metadata": [', b'\n "metadata": [1]}', b"\xff"])
def test_a_notebook_that_cannot_be_read_has_no_notes(tmp_path: Path, raw: bytes | None) -> None:
    if raw is not None:
        (tmp_path / "one.ipynb").write_bytes(raw)
    assert not any(verdict_cells.notes_of(tmp_path / "one.ipynb").values())
