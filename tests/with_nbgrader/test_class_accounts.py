"""A course has an id, which its labs carry, and autograding compares the accounts of a class."""

from __future__ import annotations

import json
import logging
import os
import re
import stat
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import nbformat
import pytest
from nbconvert.exporters import NotebookExporter
from nbgrader.converters import GenerateAssignment
from nbgrader.converters.base import NbGraderException
from nbgrader.coursedir import CourseDirectory

from grader.judging.flags import MISSING, OF_ANOTHER, SHARED, AccountFlags, Stated
from grader.with_nbgrader.autograde import CourseAutograde
from grader.with_nbgrader.class_flags import account_flags, stated_in
from grader.with_nbgrader.course import NameCourse, identified, make_course
from labs.course.account import FILE_NAME, BadCourse, account_of, read_course
from support.small_course import LAB, Course, write_source

FIGURES = {
    "cost": {"points": 4.0, "value": 1, "unit": "ns", "recording": "recordings/cost.csv"},
    "step": {"points": 2.0, "value": 1, "unit": "ns", "recording": "recordings/step.csv"},
}
LATER = "2999-01-01T00:00:00+00:00"
STUDENTS = ["ada", "bob", "cyd", "dan", "eve", "fay", "gus", "hal"]


def recording(account: str | None, created: str = LATER) -> str:
    stated = "" if account is None else f"# account: {account}\n"
    return f"# ticklab recording: 1\n{stated}# created: {created}\n# ticklab: 0.1.0\n"


def hand_in(course: Course, student: str, cost: str, step: str) -> Path:
    """A submission whose two figures name these recordings, with the course's id beside them."""
    folder = course.submit(student, course.answered(), FIGURES)
    (folder / "recordings").mkdir()
    (folder / "recordings" / "cost.csv").write_text(cost)
    (folder / "recordings" / "step.csv").write_text(step)
    released = course.folder / "release" / LAB / FILE_NAME
    (folder / FILE_NAME).write_bytes(released.read_bytes())
    return folder


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Course:
    """On a hub: Bob hands in one of Ada's runs, Cyd took a line out, Dan has an old recording.

    Eve's and Fay's laptops are their own, but one of Fay's runs was made on Eve's.
    """
    course = Course(tmp_path_factory.mktemp("accounts"))
    course.generate()
    key = identified(course.folder).course
    hub = {s: recording(str(account_of(key, s, None, on_hub=True))) for s in STUDENTS}
    old = recording(None, "2026-01-02T00:00:00+00:00")
    eve, fay = (recording(str(account_of(key, "me", s))) for s in ("eve's", "fay's"))
    steps = {"bob": hub["ada"], "cyd": recording(None), "dan": old, "eve": eve, "fay": eve}
    for student in STUDENTS:
        cost = fay if student == "fay" else hub[student]
        hand_in(course, student, cost, steps.get(student, hub[student]))
    course.done = course.run("autograde", LAB)
    assert course.done.returncode == 0, course.done.stderr[-3000:]
    return course


def flags(course: Course, student: str) -> dict[str, list[str]]:
    """The flags on accounts of a student's figures, as the graded notebook has them."""
    stated = [cell["metadata"].get("ticklab") for cell in course.graded(student)["cells"]]
    return {each["figure"]: each["flags"] for each in stated if each and each["flags"]}


def test_the_released_lab_carries_the_id_of_the_course(graded: Course) -> None:
    released = read_course(graded.folder / "release" / LAB / FILE_NAME)
    assert released == identified(graded.folder)
    assert len(set(released.course)) > 4, "random"
    assert not (graded.folder / "source" / LAB / FILE_NAME).exists()


def test_flags_stand_with_the_figures_whoever_is_graded_first(graded: Course) -> None:
    assert {student: flags(graded, student) for student in STUDENTS} == {
        "ada": {},
        "bob": {"step": [OF_ANOTHER]},
        "cyd": {"step": [MISSING]},
        "dan": {},
        "eve": {"step": [SHARED]},
        "fay": {"step": [SHARED]},
        "gus": {},
        "hal": {},
    }


def test_the_log_names_both_and_the_pages_nobody(graded: Course) -> None:
    assert f"bob, step: {OF_ANOTHER} (ada)" in graded.done.stderr
    assert f"fay, step: {SHARED} (eve)" in graded.done.stderr
    page = json.dumps(graded.graded("bob"))
    assert re.search(r"\bada\b", page) is None and re.search(r"\bbob\b", page) is None


def test_a_flag_costs_no_points(graded: Course) -> None:
    for student in STUDENTS:
        assert graded.scores(student) == {"cost": 4.0, "step": 2.0, "report": None}


def test_one_student_graded_alone_is_compared_with_all(graded: Course) -> None:
    course = course_in(graded.folder)
    course.student_id = "fay"  # as the formgrader's button and `--student` set it
    found = account_flags(course).of
    assert [flag.students for flag in found["fay"]["recordings/step.csv"]] == [("eve",)]


# The id, without nbgrader


def course_in(folder: Path) -> Any:
    """What nbgrader knows of the course in `folder`."""
    return SimpleNamespace(
        root=str(folder),
        directory_structure=str(Path("{nbgrader_step}") / "{student_id}" / "{assignment_id}"),
        submitted_directory="submitted",
        assignment_id=LAB,
        format_path=lambda step, student, lab: str(folder / step / student / lab),
    )


def test_the_id_is_made_once(tmp_path: Path) -> None:
    source = write_source(tmp_path / "notebooks")
    make_course(tmp_path / "course", source)
    assert stat.S_IMODE((tmp_path / "course").stat().st_mode) == 0o700
    first = (tmp_path / "course" / FILE_NAME).read_bytes()
    make_course(tmp_path / "course", source)
    identified(tmp_path / "course")
    assert (tmp_path / "course" / FILE_NAME).read_bytes() == first
    make_course(tmp_path / "other", source)
    assert (tmp_path / "other" / FILE_NAME).read_bytes() != first
    assert [path.name for path in tmp_path.glob("*/.*")] == []


@pytest.mark.parametrize("links", [True, False])
def test_two_commands_at_once_make_one_id(
    links: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def link(new: Path, file: Path) -> None:
        if not links:
            raise PermissionError(1, "a file system without links")
        other = {"course": "5e" * 16, "since": LATER, "ticklab": "0.1.0"}
        Path(file).write_text(json.dumps(other))
        raise FileExistsError(17, "another command was first")

    monkeypatch.setattr(os, "link", link)
    found = identified(tmp_path)
    assert (found.course == "5e" * 16) is links
    assert identified(tmp_path) == found
    assert [path.name for path in tmp_path.iterdir()] == [FILE_NAME]


def test_a_bad_id_stays_as_it_is(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).write_text("mine")
    with pytest.raises(BadCourse):
        identified(tmp_path)
    converter = GenerateAssignment(coursedir=CourseDirectory(root=str(tmp_path)))
    exporter = NotebookExporter(parent=converter)  # type: ignore[no-untyped-call]
    step = NameCourse(parent=exporter)
    with pytest.raises(NbGraderException, match="The id of the course cannot be read"):
        step.preprocess(nbformat.v4.new_notebook(), {})  # type: ignore[no-untyped-call]
    assert (tmp_path / FILE_NAME).read_text() == "mine"


@pytest.mark.parametrize("content", ["mine", None])
def test_a_course_without_a_readable_id_is_graded_without_these_flags(
    content: str | None, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    if content is not None:
        (tmp_path / FILE_NAME).write_text(content)
    log = logging.getLogger("course")
    converter: Any = SimpleNamespace(coursedir=course_in(tmp_path), log=log)
    assert CourseAutograde._accounts(converter) == AccountFlags()
    assert ("Accounts of recordings were not compared" in caplog.text) is (content is not None)


def test_an_account_of_a_whole_room_is_told_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    key = identified(tmp_path).course
    for student in STUDENTS:
        folder = submission(tmp_path / "submitted" / student / LAB)
        run = recording(str(account_of(key, "os-room", "a machine of the room")))
        (folder / "recordings" / "cost.csv").write_text(run)
    converter: Any = SimpleNamespace(coursedir=course_in(tmp_path), log=logging.getLogger("course"))
    assert CourseAutograde._accounts(converter).of == {}
    assert caplog.text.count("8 students measured under accounts of one name") == 1
    assert len(caplog.records) == 1


# What students may have made of their files


def submission(folder: Path) -> Path:
    (folder / "recordings").mkdir(parents=True)
    (folder / "figures.json").write_text(json.dumps(FIGURES))
    return folder


def test_what_cannot_be_read_is_left_out(tmp_path: Path) -> None:
    secret = tmp_path / "secret.csv"
    secret.write_text(recording("of somebody else"))
    folder = submission(tmp_path / "submitted" / "ada" / LAB)
    assert stated_in(folder, tmp_path) == {}
    (folder / "recordings" / "cost.csv").symlink_to(secret)
    os.mkfifo(folder / "recordings" / "step.csv")
    assert stated_in(folder, tmp_path) == {}
    for file in (folder / "recordings").iterdir():
        file.unlink()
    (folder / "recordings" / "cost.csv").write_bytes(b"\xff" * 1000 + b"\n" * 10_000_000)
    (folder / "recordings" / "step.csv").write_text(recording("x"))
    assert stated_in(folder, tmp_path) == {
        "recordings/cost.csv": Stated(None),
        "recordings/step.csv": Stated("x", LATER, "0.1.0"),
    }
    link = tmp_path / "submitted" / "bob"
    link.symlink_to(folder.parent)
    assert stated_in(link / LAB, tmp_path) == {}
    assert stated_in(tmp_path / "nowhere", tmp_path) == {}


def test_a_course_of_strange_folders_is_compared(tmp_path: Path) -> None:
    identified(tmp_path)
    submission(tmp_path / "submitted" / "ada" / LAB)
    submission(tmp_path / "submitted" / "a\nline" / LAB)
    (tmp_path / "submitted" / "file").write_text("no folder")
    (tmp_path / "submitted" / os.fsdecode(b"\xff")).mkdir()
    assert account_flags(course_in(tmp_path)).of == {}
