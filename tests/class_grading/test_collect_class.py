"""A class is collected from what Canvas and Moodle hand out, whole and only once."""

from __future__ import annotations

import contextlib
import csv
import datetime
import hashlib
import io
import json
import os
import re
import shutil
import stat
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from nbgrader.api import Gradebook
from nbgrader.coursedir import CourseDirectory
from traitlets.config import Config

from grader.class_grading import class_roster, collect_class
from grader.class_grading.collect_class import Collect, Did, Report, as_text, lab_of
from grader.class_grading.upload_names import Layout, by_pattern
from grader.class_grading.uploaded_archives import Item, NotTaken
from grader.submissions import safe_files
from grader.with_nbgrader import nbgrader_exchange
from grader.with_nbgrader.careful_course import read_time
from grader.with_nbgrader.settings import configure
from grader.with_nbgrader.student_folders import RECORD
from labs.files import UNFINISHED
from labs.hand_in import hand_in
from support.platform_archives import (
    Files,
    Upload,
    canvas_zip,
    handed_in,
    moodle_zip,
    zipped,
)

LAB, OTHER = "01-small", "02-other"
WHEN = datetime.datetime(2026, 3, 4, 5, 6, 7)


def lab_files(text: str) -> dict[str, bytes]:
    """A submission; `text` makes it different from others."""
    entry = {"value": 1.0, "unit": "ns", "recording": "recordings/run.csv"}
    return {
        f"{LAB}.ipynb": f'{{"cells": [], "of": "{text}"}}'.encode(),
        "figures.json": json.dumps({"cost": entry}).encode(),
        "recordings/run.csv": text.encode() * 100,
    }


def one(name: str, number: int, text: str = "") -> Upload:
    return Upload(name, number, handed_in(LAB, lab_files(text or name)))


class Class:
    """A course folder, and its collects."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.downloads = folder / "course", folder / "downloads"
        self.downloads.mkdir()
        self.course = CourseDirectory(root=str(self.folder))
        self.duedate: datetime.datetime | None = None

    def collect(
        self,
        path: Path,
        layout: Layout | None = None,
        known: class_roster.Roster | None = None,
        dry: bool = False,
    ) -> Report:
        with class_roster.opened_source(path) as items:
            collect = Collect(self.course, LAB, [LAB, OTHER], self.duedate, dry)
            report = collect.run(path.name, items, layout, known)
        if not dry:
            collect_class.write_receipts(self.course, LAB, report.not_collected)
        return report

    def file(self, name: str) -> Path:
        return self.downloads / name

    def submitted(self, student: str) -> Path:
        return self.folder / "submitted" / student / LAB

    def text(self, student: str, name: str = "recordings/run.csv") -> str:
        """The first of the repeated words of a recording."""
        return (self.submitted(student) / name).read_text()[:3]

    def record(self, student: str) -> dict[str, object]:
        found: dict[str, object] = json.loads((self.submitted(student) / RECORD).read_text())
        return found

    def earlier(self, student: str) -> list[str]:
        folder = self.folder / "submitted" / ".earlier" / student / LAB
        return [
            (each / "recordings" / "run.csv").read_text()[:3] for each in sorted(folder.glob("*"))
        ]

    def everything(self) -> dict[str, tuple[int, bytes]]:
        """Every file of the course with its content and inode: a rewritten file has another."""
        return {
            str(path.relative_to(self.folder)): (path.stat().st_ino, path.read_bytes())
            for path in sorted(self.folder.rglob("*"))
            if path.is_file()
        }


@pytest.fixture
def course(tmp_path: Path) -> Class:
    return Class(tmp_path)


def did(report: Report) -> dict[str, Did]:
    return {line.student: line.did for line in report.lines}


def refused(report: Report) -> dict[str, str]:
    return {each.name: each.why for each in report.not_collected}


def test_a_class_from_canvas(course: Class) -> None:
    ada = one("Lovelace, Ada", 77, "ada")
    eve = Upload("O'Neil, Eve", 78, {**lab_files("eve"), "run.csv": b"eve" * 100}, late=True)
    del eve.files["recordings/run.csv"]  # type: ignore[attr-defined]
    report = course.collect(canvas_zip(course.file("c.zip"), [ada, eve]))
    assert (report.layout, did(report)) == ("Canvas", {"77": Did.NEW, "78": Did.NEW})
    assert (course.text("77"), course.text("78")) == ("ada", "eve")
    assert read_time(course.submitted("77")) == WHEN
    assert read_time(course.submitted("78")) is None
    assert (course.record("77")["late"], course.record("78")["late"]) == (False, True)
    assert [line.late for line in report.lines] == [False, True]
    # nbgrader's penalties go by the due date, whatever Canvas says.
    course.duedate = WHEN - datetime.timedelta(hours=1)
    course.collect(canvas_zip(course.file("c.zip"), [ada, eve]))
    assert (course.record("77")["late"], course.record("78")["late"]) == (True, True)


@pytest.mark.parametrize("name", ["10.00\u202fAM.png", "a\xa0b.txt", "می\u200cخواهم.txt"])
def test_a_file_name_with_an_unseen_letter_of_honest_people_is_taken(
    course: Class, name: str
) -> None:
    files = {**lab_files("ada"), name: b"1"}
    report = course.collect(canvas_zip(course.file("c.zip"), [Upload("Ada", 77, files)]))
    assert did(report) == {"77": Did.NEW} and not report.not_collected


@pytest.mark.parametrize("folders", [True, False])
@pytest.mark.parametrize("since_4_1", [True, False])
def test_a_class_from_moodle(course: Class, folders: bool, since_4_1: bool) -> None:
    uploads = [one("Ada Lovelace", 12, "ada"), one("Eve O'Neil", 13, "eve")]
    path = moodle_zip(course.file("m.zip"), uploads, folders=folders, since_4_1=since_4_1)
    report = course.collect(path)
    assert report.layout == "Moodle"
    assert did(report) == {"ada-lovelace-12": Did.NEW, "eve-oneil-13": Did.NEW}
    assert course.text("ada-lovelace-12") == "ada"
    # The same archive, unpacked by the instructor.
    unpacked = course.file("unpacked")
    with zipfile.ZipFile(path) as packed:
        packed.extractall(unpacked)
    before = course.everything()
    assert set(did(course.collect(unpacked)).values()) == {Did.SAME}
    assert course.everything() == before


def test_a_class_from_folders_and_zip_files(course: Class) -> None:
    """As nbgrader's zip_collect leaves them, or as an instructor lays them out."""
    top = course.file("class")
    layouts: dict[str, Files] = {
        "ada/" + LAB: lab_files("ada"),
        "bob": lab_files("bob"),
        "cid": handed_in(LAB, lab_files("cid")),
        "dan": {"deep.zip": zipped(handed_in(LAB, lab_files("dan")))},
    }
    for place, files in layouts.items():
        for name, content in files.items():
            path = top / place / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
    (top / "eve.zip").write_bytes(zipped(lab_files("eve")))
    (top / ".DS_Store").write_text("x")
    report = course.collect(top)
    assert refused(report) == {}
    assert [course.text(student) for student in sorted(did(report))] == [
        "ada", "bob", "cid", "dan", "eve",
    ]  # fmt: skip
    # The same in a zip file, and with one more folder around all.
    for name, before in (("class.zip", ""), ("wrapped.zip", "class/")):
        files = {
            f"{before}{path.relative_to(top)}": path.read_bytes()
            for path in top.rglob("*")
            if path.is_file()
        }
        course.file(name).write_bytes(zipped(files))
        assert set(did(course.collect(course.file(name))).values()) == {Did.SAME}


def test_the_folder_of_all_labs_of_the_only_student(course: Class) -> None:
    """The lab as it is in the folder counts, and not what was handed in before."""
    top = course.file("class") / "ada"
    files = {f"{LAB}/{name}": content for name, content in lab_files("now").items()}
    files |= {f"{OTHER}/{name}": content for name, content in lab_files("oth").items()}
    files |= {f"handed-in/{name}": each for name, each in handed_in(LAB, lab_files("old")).items()}
    files |= {"notes/a/1.txt": b"x", "notes/a/2.txt": b"x"}
    for name, content in files.items():
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_bytes(content)
    report = course.collect(course.file("class"))
    assert (did(report), course.text("ada")) == ({"ada": Did.NEW}, "now")
    assert report.lines[0].remarks == ("notes: it lies outside of the lab's folder",)


def test_one_students_archive_is_no_class(course: Class) -> None:
    (name, content), *_ = handed_in(LAB, lab_files("ada")).items()
    course.file(name).write_bytes(content)
    why = "it is a lab; put each student's files into a folder with the student's id"
    assert refused(course.collect(course.file(name))) == {LAB: why}
    # Several in a folder: nobody knows whose they are.
    assert refused(course.collect(course.downloads)) == {
        name: "its name does not say which student it is of"
    }
    assert not list(course.folder.glob("submitted/*"))


@pytest.mark.parametrize(
    "path",
    [
        f"ada_LATE_77_12_{LAB}-20260304T050607Z.zip",
        f"ada_77_12_{LAB}.ipynb",
        f"Ada_1_assignsubmission_file_/{LAB}-20260304T050607Z-1.zip",
        f"ada+{LAB}+2026-03-04 05:06:07 UTC/figures.json",
        f"ada/{LAB}/figures.json",
    ],
)
def test_the_lab_is_found_by_the_names(path: str) -> None:
    items = [Item(tuple(path.split("/")), 1, lambda: io.BytesIO())]
    assert lab_of(items, [LAB, OTHER], None) == LAB
    assert lab_of(items, [LAB, OTHER], OTHER) == OTHER
    nothing = [Item(("bob.zip",), 1, lambda: io.BytesIO())]
    assert lab_of(nothing, [LAB], None) == LAB
    with pytest.raises(NotTaken, match=f"name the lab with --lab; .*: {LAB}, {OTHER}"):
        lab_of(nothing, [LAB, OTHER], None)


def test_the_due_date_is_that_of_the_gradebook(course: Class) -> None:
    course.folder.mkdir()
    configure(Config(), course.folder)
    assert nbgrader_exchange.due_date(course.course, LAB) is None
    assert not (course.folder / "gradebook.db").exists()
    with Gradebook(course.course.db_url) as gradebook:
        gradebook.update_or_create_assignment(LAB, duedate=WHEN)
    assert nbgrader_exchange.due_date(course.course, LAB) == WHEN
    assert nbgrader_exchange.due_date(course.course, OTHER) is None


def test_a_copy_of_the_exchange_and_a_pattern(course: Class) -> None:
    top = course.file("inbound")
    for name, text in (
        (f"ada+{LAB}+2026-03-04 05:06:07.123456 UTC+cmFu", "old"),
        (f"ada+{LAB}+2026-03-05 05:06:07.123456 UTC+cmFu", "new"),
        (f"ada+{OTHER}+2026-03-06 05:06:07.123456 UTC+cmFu", "oth"),
    ):
        for file, content in lab_files(text).items():
            (top / name / file).parent.mkdir(parents=True, exist_ok=True)
            (top / name / file).write_bytes(content)
    report = course.collect(top)
    assert (course.text("ada"), course.earlier("ada"), report.of_other_labs) == ("new", ["old"], 3)
    assert str(course.record("ada")["when"]).startswith("2026-03-05T05:06:07")
    flat = course.file("blackboard.zip")
    attempt = f"ps1_bob_attempt_2026-01-30-15-00-00_{LAB}"
    flat.write_bytes(zipped({f"{attempt}.ipynb": lab_files("bob")[f"{LAB}.ipynb"]}))
    pattern = by_pattern(
        r".*_(?P<student_id>\w+)_attempt_(?P<timestamp>[\d-]+)_(?P<file_id>[\w-]+)"
    )
    assert did(course.collect(flat, pattern)) == {"bob": Did.NEW}
    assert read_time(course.submitted("bob")) == datetime.datetime(2026, 1, 30, 15)


def test_what_labs_hand_in_makes_is_collected(course: Class, tmp_path: Path) -> None:
    lab = tmp_path / "labs" / LAB
    for name, content in lab_files("ada").items():
        (lab / name).parent.mkdir(parents=True, exist_ok=True)
        (lab / name).write_bytes(content)
    made = hand_in.write(lab, LAB, hand_in.contents(lab, LAB, [lab / f"{LAB}.ipynb"]), "checked")
    upload = Upload("Ada", 77, {made.archive.name: made.archive.read_bytes()})
    report = course.collect(canvas_zip(course.file("c.zip"), [upload]))
    assert did(report) == {"77": Did.NEW}
    receipt = (course.folder / "receipts" / LAB / "77.txt").read_text()
    assert f"SHA-256 {made.sha256}" in receipt


def test_a_second_run_changes_nothing_and_a_newer_download_only_adds(course: Class) -> None:
    first = canvas_zip(course.file("1.zip"), [one("A", 1, "old"), one("B", 2, "bob")])
    course.collect(first)
    before = course.everything()
    assert set(did(course.collect(first)).values()) == {Did.SAME}
    assert course.everything() == before
    newer = Upload(
        "A",
        1,
        handed_in(LAB, lab_files("new"), "20260305T000000Z"),
        late=True,
        first_attachment=900,
    )
    second = canvas_zip(course.file("2.zip"), [newer, one("C", 3, "cid")])
    assert did(course.collect(second)) == {"1": Did.NEWER, "3": Did.NEW}
    assert (course.text("1"), course.earlier("1"), course.text("2")) == ("new", ["old"], "bob")
    assert course.record("1")["late"] is True
    before = course.everything()
    # The first download again, and the second one: what counts does not go back and forth.
    for path in (first, second, first):
        assert set(did(course.collect(path)).values()) == {Did.SAME}
    assert {k: v for k, v in course.everything().items() if "receipts" not in k} == {
        k: v for k, v in before.items() if "receipts" not in k
    }


def test_an_older_download_that_comes_later_is_kept_as_earlier(course: Class) -> None:
    newer = Upload("A", 1, handed_in(LAB, lab_files("new")), first_attachment=900)
    course.collect(canvas_zip(course.file("2.zip"), [newer]))
    report = course.collect(canvas_zip(course.file("1.zip"), [one("A", 1, "old")]))
    assert did(report) == {"1": Did.EARLIER}
    assert (course.text("1"), course.earlier("1")) == ("new", ["old"])


def test_of_several_archives_of_one_student_the_newest_counts(course: Class) -> None:
    files = {
        **handed_in(LAB, lab_files("new"), "20260305T000000Z"),
        **handed_in(LAB, lab_files("old"), "20260304T000000Z"),
        **handed_in(OTHER, lab_files("oth"), "20260306T000000Z"),
    }
    path = moodle_zip(course.file("m.zip"), [Upload("A", 1, files)])
    report = course.collect(path)
    assert (did(report), report.lines[0].earlier) == ({"a-1": Did.NEW}, 1)
    assert (course.text("a-1"), course.earlier("a-1")) == ("new", ["old"])
    before = course.everything()
    assert did(course.collect(path)) == {"a-1": Did.SAME}
    assert course.everything() == before


def test_late_by_the_due_date_of_the_gradebook(course: Class) -> None:
    course.duedate = WHEN - datetime.timedelta(hours=1)
    path = moodle_zip(course.file("m.zip"), [one("A", 1)])
    assert [line.late for line in course.collect(path).lines] == [True]
    # The date was moved; nothing else changes.
    course.duedate = WHEN + datetime.timedelta(hours=1)
    report = course.collect(path)
    assert did(report) == {"a-1": Did.SAME}
    assert course.record("a-1")["late"] is False
    said = " ".join(as_text(report).split())
    due = f"{course.duedate:%Y-%m-%d %H:%M} UTC"
    assert re.search(
        rf"due date has moved since the last collect, due {due}.*: a-1 \(in time\)", said
    )
    assert "has moved" not in as_text(course.collect(path))


def test_who_hands_in_the_same_again_is_as_late_as_before(course: Class) -> None:
    course.collect(canvas_zip(course.file("1.zip"), [one("A", 1), one("B", 2)]))
    bare = Upload("B", 2, {"x.zip": zipped(lab_files("B"))}, late=True, first_attachment=900)
    again = Upload("A", 1, one("A", 1).files, late=True, first_attachment=900)
    report = course.collect(canvas_zip(course.file("2.zip"), [again, bare]))
    assert did(report) == {"1": Did.SAME, "2": Did.SAME}
    assert [course.record(student)["late"] for student in "12"] == [False, False]
    # The same upload is late now, because the date was moved.
    late = Upload("A", 1, one("A", 1).files, late=True)
    course.collect(canvas_zip(course.file("3.zip"), [late]))
    assert course.record("1")["late"] is True


def test_a_submission_that_somebody_removed_comes_back(course: Class) -> None:
    course.collect(canvas_zip(course.file("1.zip"), [one("A", 1, "old")]))
    newer = Upload("A", 1, handed_in(LAB, lab_files("new")), first_attachment=900)
    course.collect(canvas_zip(course.file("2.zip"), [newer]))
    shutil.rmtree(course.submitted("1").parent)
    assert did(course.collect(course.file("1.zip"))) == {"1": Did.NEW}
    assert (course.text("1"), course.earlier("1")) == ("old", [])
    assert did(course.collect(course.file("2.zip"))) == {"1": Did.NEWER}
    assert (course.text("1"), course.earlier("1")) == ("new", ["old"])


def test_a_time_in_the_future_is_not_believed(course: Class) -> None:
    files = handed_in(LAB, lab_files("ada"), "29990101T000000Z")
    report = course.collect(moodle_zip(course.file("m.zip"), [Upload("A", 1, files)]))
    assert "lies in the future" in report.lines[0].remarks[0]
    assert read_time(course.submitted("a-1")) is None


def test_files_that_canvas_numbered_get_their_names_back(course: Class) -> None:
    files = lab_files("ada")
    uploads = {
        "figures-1.json": files["figures.json"],
        f"{LAB}-2.ipynb": files[f"{LAB}.ipynb"],
        "run-3.csv": files["recordings/run.csv"],
    }
    course.collect(canvas_zip(course.file("c.zip"), [Upload("A", 1, uploads)]))
    assert course.text("1") == "ada"
    assert {path.name for path in course.submitted("1").glob("*.*")} >= {
        "figures.json",
        f"{LAB}.ipynb",
    }


def test_one_id_for_another_person_is_refused_in_a_later_run_too(course: Class) -> None:
    path = canvas_zip(course.file("1.zip"), [one("A", 1)])
    course.collect(path, known=class_roster.Roster([class_roster.Student("ada", "1", "")]))
    path = canvas_zip(course.file("2.zip"), [one("B", 2)])
    report = course.collect(path, known=class_roster.Roster([class_roster.Student("ada", "2", "")]))
    why = "what was collected under this id is of Canvas 1, and this is of Canvas 2"
    assert refused(report) == {"ada (b_2)": why}


def test_nobody_is_collected_under_a_second_id(course: Class) -> None:
    """With a roster after a collect without one, each student would have two grades."""
    path = canvas_zip(course.file("c.zip"), [one("A", 1), one("B", 2)])
    known = class_roster.Roster(
        [class_roster.Student("ada", "1", ""), class_roster.Student("ben", "2", "")]
    )
    course.collect(path)
    shutil.rmtree(course.submitted("2"))
    report = course.collect(path, known=known)
    assert (did(report), report.absent) == ({"ben": Did.NEW}, [])
    assert refused(report) == {
        "ada (a_1)": "it was collected as 1 before. To collect it with other ids, first remove "
        f"submitted/1/{LAB}; otherwise use the roster of that collect"
    }
    assert refused(course.collect(path)).keys() == {"b_2"}
    assert did(course.collect(path, known=known)) == {"ben": Did.SAME}


def test_two_people_of_one_name_are_two_students(course: Class) -> None:
    course.collect(moodle_zip(course.file("1.zip"), [one("A B", 1)]))
    report = course.collect(moodle_zip(course.file("2.zip"), [one("A B", 1), one("A B", 2)]))
    assert did(report) == {"a-b-1": Did.SAME, "a-b-2": Did.NEW}


def test_a_roster_names_who_handed_in_nothing(course: Class) -> None:
    known = class_roster.Roster(
        [class_roster.Student(name, str(n), "") for n, name in enumerate("abc")]
    )
    report = course.collect(
        canvas_zip(course.file("c.zip"), [one("B", 1), one("X", 9)]), None, known
    )
    assert (did(report), report.absent) == ({"b": Did.NEW}, ["a", "c"])
    assert refused(report) == {"x_9": "the roster does not have x (9)"}


def test_the_test_student_of_canvas_is_not_missed(course: Class) -> None:
    listed = course.file("gradebook.csv")
    listed.write_text(
        'Student,ID,SIS Login ID,Section\nA,1,a,OS\nB,2,b,OS\n"Student, Test",9,0af9,OS\n'
    )
    report = course.collect(
        canvas_zip(course.file("c.zip"), [one("A", 1)]), None, class_roster.read_roster(listed)
    )
    assert (did(report), report.absent) == ({"a": Did.NEW}, ["b"])


def test_a_dry_run_writes_nothing_and_says_the_same(course: Class) -> None:
    path = canvas_zip(
        course.file("c.zip"), [one("A" * 90, 1), one("B", 2), Upload("C", 3, {"x.7z": b"7z"})]
    )
    dry = course.collect(path, dry=True)
    assert not course.folder.exists()
    real = course.collect(path)
    assert [(line.student, line.did) for line in dry.lines] == [
        (line.student, line.did) for line in real.lines
    ]
    assert dry.not_collected == real.not_collected
    before = course.everything()
    course.collect(path, dry=True)
    assert course.everything() == before
    for report in (dry, real):
        text = collect_class.as_text(report)
        assert max(map(len, text.splitlines())) <= 80
        assert "x.7z is no zip file; `labs hand-in` makes one" in " ".join(text.split())
    assert "would be collected" in collect_class.as_text(dry)


def test_a_dry_run_counts_the_files_of_the_student_before_and_after(course: Class) -> None:
    files = {**lab_files("ada"), "old.pyc": b"-", "__pycache__/a.txt": b"-"}
    path = canvas_zip(course.file("c.zip"), [Upload("A", 1, handed_in(LAB, files))])
    reports = [course.collect(path, dry=dry) for dry in (True, False, True)]
    assert [each.files for report in reports for each in report.lines] == [
        len(lab_files("ada"))
    ] * 3


def test_receipts_name_every_file_by_its_hash(course: Class) -> None:
    path = canvas_zip(course.file("c.zip"), [one("A", 1, "ada"), Upload("=B", 2, {"=x": b""})])
    course.collect(path)
    newer = Upload("A", 1, handed_in(LAB, lab_files("new")), first_attachment=900)
    course.collect(canvas_zip(course.file("2.zip"), [newer, Upload("=B", 2, {"=x": b""})]))
    receipt = (course.folder / "receipts" / LAB / "1.txt").read_text()
    for name, content in lab_files("new").items():
        assert f"{hashlib.sha256(content).hexdigest()}  {name}" in receipt
    assert "Other submissions, kept and not graded:" in receipt
    for path in (course.folder / "receipts").rglob("*.*"):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    with (course.folder / "receipts" / f"{LAB}.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["version"] for row in rows} == {"counts", "kept 1", "not collected"}
    counted = {row["file"]: row["SHA-256"] for row in rows if row["version"] == "counts"}
    for name, content in lab_files("new").items():
        assert counted[name] == hashlib.sha256(content).hexdigest()
    assert not [cell for row in rows for cell in row.values() if cell[:1] in set("=+-@")]


def test_what_a_killed_run_left_of_a_receipt_is_removed(course: Class) -> None:
    path = canvas_zip(course.file("c.zip"), [one("A", 1)])
    course.collect(path)
    before = course.everything()
    folder = course.folder / "receipts"
    (folder / LAB / f".1.txt.8h72l8jd{UNFINISHED}").write_text("a part")
    (folder / f".{LAB}.csv.ws4o6xw5{UNFINISHED}").write_text("a part")
    course.collect(path)
    assert course.everything() == before


def test_another_collect_of_the_lab_is_waited_for(course: Class) -> None:
    path = canvas_zip(course.file("c.zip"), [one("A", 1)])
    with nbgrader_exchange.Collected(course.course, LAB).alone(), pytest.raises(BlockingIOError):
        course.collect(path)
    assert did(course.collect(path)) == {"1": Did.NEW}


def _one_more(course: Class) -> tuple[Path, list[str]]:
    newer = Upload("A", 1, handed_in(LAB, lab_files("new")), first_attachment=900)
    return canvas_zip(course.file("2.zip"), [newer, one("B", 2, "bob")]), ["old"]


def _several(course: Class) -> tuple[Path, list[str]]:
    files = handed_in(LAB, lab_files("mid")) | handed_in(LAB, lab_files("new"), "20260305T000000Z")
    newer = Upload("A", 1, files, first_attachment=900)
    return canvas_zip(course.file("2.zip"), [newer, one("B", 2, "bob")]), ["old", "mid"]


@pytest.mark.parametrize("step", range(1, 7))
@pytest.mark.parametrize("make", [_one_more, _several])
def test_whatever_ends_a_run_the_next_one_repairs_it(
    make: Callable[[Class], tuple[Path, list[str]]],
    course: Class,
    step: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As `kill -9` between two renames: an error that nothing catches, at each rename in turn."""
    course.collect(canvas_zip(course.file("1.zip"), [one("A", 1, "old")]))
    path, earlier = make(course)
    done = 0
    rename: Callable[..., Path] = Path.rename

    class Killed(BaseException):
        pass

    def dying(self: Path, target: Path) -> Path:
        nonlocal done
        done += 1
        if done == step:
            raise Killed
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", dying)
    with contextlib.suppress(Killed):
        course.collect(path)
    monkeypatch.setattr(Path, "rename", rename)
    course.collect(path)
    assert (course.text("1"), course.text("2"), course.earlier("1")) == ("new", "bob", earlier)
    left = [path.name for path in (course.folder / "submitted").iterdir()]
    assert sorted(left) == [".earlier", "1", "2"]


def test_a_full_disk_ends_the_run_and_what_was_collected_is_whole(
    course: Class, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = canvas_zip(course.file("c.zip"), [one(name, n) for n, name in enumerate("ABC", 1)])
    real = safe_files.copy

    def full(*arguments: object, **named: object) -> object:
        if len(list(course.folder.glob("submitted/*"))) >= 2:
            raise OSError(28, os.strerror(28))
        return real(*arguments, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(nbgrader_exchange, "copy", full)
    with pytest.raises(OSError, match="No space"):
        course.collect(path)
    monkeypatch.setattr(nbgrader_exchange, "copy", real)
    report = course.collect(path)
    assert sorted(did(report)) == ["1", "2", "3"]
    assert Did.SAME in did(report).values()
    shutil.rmtree(course.folder / "submitted" / "1")
    assert did(course.collect(path))["1"] is Did.NEW
