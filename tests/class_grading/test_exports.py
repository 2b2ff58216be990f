"""`grader export`: the files that Canvas, Moodle, Gradescope and spreadsheets take."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import os
import re
import shutil
import signal
import sqlite3
import stat
import sys
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from nbgrader.api import Gradebook
from nbgrader.plugins import CsvExportPlugin
from traitlets.config import Config

from grader.class_grading import grade_exports
from grader.class_grading.grade_exports import guarded
from grader.class_grading.gradebook_grades import Graded, Part, Sheet
from grader.commands import cli
from grader.with_nbgrader.course import CONFIG
from grader.with_nbgrader.settings import configure
from grader.with_nbgrader.student_folders import RECORD
from support import forked
from support.programs import call

LAB = "01-small"
#: Student, e-mail address, first and last name, and points of `cost` and `report`. None: it waits.
CLASS: dict[str, tuple[str, str, str, tuple[float, float | None] | None]] = {
    "ada": ("ada@uni.example", "Ada", "Lovelace", (4.0, 5.0)),
    "bob": ("", "=HYPERLINK(1)", "@SUM(1)", (1.3333333, 2.0)),
    "cyd": ("CYD@uni.example", "Cyd", "One, Two", (3.0, None)),
    "dan": ("dan@uni.example", "Dan", "Absent", None),
    "eve": ("eve@uni.example", "Eve", "Late", (4.0, 4.5)),
}
REASON = "-1 ns <b>follows</b> from recordings/run.csv."
#: What a person wrote to the report of Ada.
COMMENT = "- Value: 1 of 1.\n- Limit: <i>none</i>."

Export = Callable[..., Path]


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("course")
    (folder / "nbgrader_config.py").write_text(CONFIG)
    configure(Config())
    with Gradebook(f"sqlite:///{folder / 'gradebook.db'}") as gradebook:
        gradebook.add_assignment(LAB)
        gradebook.add_notebook(LAB, LAB)
        gradebook.add_grade_cell("report", LAB, LAB, max_score=5, cell_type="markdown")
        gradebook.add_solution_cell("report", LAB, LAB)
        gradebook.add_grade_cell("cost", LAB, LAB, max_score=4, cell_type="code")
        for student, (email, first, last, points) in CLASS.items():
            gradebook.add_student(student, email=email, first_name=first, last_name=last)
            if points is not None:
                _enter(gradebook, student, points)
    graded = folder / "autograded" / "ada" / LAB
    graded.mkdir(parents=True)
    verdict = {"figure": "cost", "reason": REASON}
    (graded / f"{LAB}.ipynb").write_text(
        json.dumps({"cells": [{"metadata": {}}, {"metadata": {"ticklab": verdict}}]})
    )
    return folder


def _enter(gradebook: Gradebook, student: str, points: tuple[float, float | None]) -> None:
    gradebook.add_submission(LAB, student)
    for name, score in zip(("cost", "report"), points, strict=True):
        grade = gradebook.find_grade(name, LAB, LAB, student)
        grade.auto_score = score if name == "cost" else None
        grade.manual_score = score if name == "report" else None
        grade.needs_manual_grade = score is None
    if student in ("ada", "eve"):
        comment = gradebook.find_comment("report", LAB, LAB, student)
        comment.manual_comment = COMMENT if student == "ada" else None
        comment.auto_comment = "No response."  # of less weight than what a person wrote
    if student == "eve":
        book = gradebook.find_submission_notebook(LAB, LAB, student)
        book.late_submission_penalty = 1.5
    gradebook.db.commit()


@pytest.fixture
def export(course: Path, tmp_path: Path) -> Export:
    """Exports, and returns what was written."""

    def run(kind: str, *more: object) -> Path:
        path = tmp_path / (kind if kind == "gradescope" else f"{kind}.csv")
        words = ["export", LAB, "--course", str(course), f"--{kind}"]
        words += [str(path.with_suffix("")), *map(str, more)]  # a table gets its ending
        assert cli.main(words) == 0
        return path

    return run


def rows_of(path: Path) -> list[list[str]]:
    return list(csv.reader(io.StringIO(path.read_text(encoding="utf-8"), newline="")))


def written(rows: list[list[str]], folder: Path, separator: str = ",") -> Path:
    """A file as another system exports it, with a byte order mark."""
    path = folder / "exported.csv"
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        csv.writer(file, delimiter=separator).writerows(rows)
    return path


def test_the_plain_file_begins_with_the_columns_of_nbgrader(
    course: Path, export: Export, tmp_path: Path
) -> None:
    header, *rows = rows_of(export("csv"))
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as gradebook:
        CsvExportPlugin(to=str(tmp_path / "theirs.csv")).export(gradebook)
    their_header, *theirs = rows_of(tmp_path / "theirs.csv")
    assert header[:11] == their_header
    by_student = {row[3]: row for row in rows}
    assert set(by_student) == set(CLASS)
    for student in ("ada", "dan", "eve"):  # nbgrader does not quote the names of the others
        [their] = [row for row in theirs if row[3] == student]
        ours = by_student[student]
        assert ours[:7] == their[:7]
        assert [float(cell) for cell in ours[7:11]] == pytest.approx([float(c) for c in their[7:]])
    assert header[11:] == ["waits_for_a_person", "cost", "report"]
    assert by_student["cyd"][4] == "One, Two" and by_student["cyd"][11:] == ["yes", "3", ""]
    assert by_student["dan"][11:] == ["", "", ""]


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        ("csv", {"'=HYPERLINK(1)", "'@SUM(1)"}),
        ("canvas", {"'@SUM(1), =HYPERLINK(1)"}),
        ("moodle", {"'=HYPERLINK(1)", "'@SUM(1)"}),
    ],
)
def test_no_cell_is_a_formula(kind: str, names: set[str], export: Export) -> None:
    cells = {cell for row in rows_of(export(kind)) for cell in row}
    assert names <= cells
    assert not [cell for cell in cells if cell[:1] in ("=", "+", "-", "@")]


def test_what_a_spreadsheet_would_compute_is_guarded() -> None:
    for text in (
    "=1", "+A1", "-1+2", "@A", "\t=1", "\r\n-x", "-2;3",
    "\uff1d1", "\uff0bA1", "\uff0d1", "\uff20A",
    ):  # fmt: skip
        assert guarded(text).startswith("'") and "\t" not in guarded(text)


def test_a_cell_after_a_semicolon_is_guarded_too() -> None:
    for text in ("a;=1", "a; @A", "1;\uff1dA1", "1; \uff20A", "a;b;+A1", "=1;=2"):
        cells = [cell.strip() for cell in guarded(text).split(";")]
        assert not [cell for cell in cells if cell[:1] in "=+-@\uff1d\uff20"], text


def test_other_text_and_numbers_stay() -> None:
    for text in ("-", "a;-5;b", "-5", "+3,25", "", "a=1", "'=1", "a@b.example", "1-2"):
        assert guarded(text) == text


CANVAS = [
    ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "Notes", f"{LAB} (77)",
     "Final Score"],
    ["    Points Possible", "", "", "", "", "", "9.0", "(read only)"],
    ["Lovelace, Ada", "1001", "", "ada", "OS, Monday", "x", "", "0"],
    ["Bob", "1002", "", "Bob", "OS, Monday", "", "2.0", "0"],
    ["Cyd", "1003", "", "cyd@uni.example", "OS, Monday", "", "", "0"],
    ["Dan", "1004", "", "dan", "OS, Monday", "", "", "0"],
    ["Student, Test", "1009", "", "0af9", "OS, Monday", "", "", ""],
]  # fmt: skip


@pytest.mark.parametrize("separator", [",", ";"])
def test_canvas_gets_back_its_own_columns_with_the_points(
    separator: str, export: Export, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    theirs = written(CANVAS, tmp_path, separator)
    header, possible, *rows = rows_of(export("canvas", "--gradebook", theirs))
    assert header == [*CANVAS[0][:5], f"{LAB} (77)"]
    assert possible == ["    Points Possible", "", "", "", "", "9.0"]
    assert rows == [[*CANVAS[2][:5], "9"], [*CANVAS[3][:5], "3.33"]]
    printed = capsys.readouterr().out
    assert "2 grades" in printed and "left out: eve" in printed
    assert "wait for a person: 1, left out" in printed and "points possible" not in printed


def test_canvas_gets_unfinished_grades_only_on_request(export: Export, tmp_path: Path) -> None:
    theirs = written(CANVAS, tmp_path)
    rows = rows_of(export("canvas", "--gradebook", theirs, "--unfinished"))
    assert [row[1] for row in rows[2:]] == ["1001", "1002", "1003"]


def test_canvas_is_told_of_a_lab_that_it_does_not_have_or_counts_otherwise(
    export: Export, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = [[*row[:6], *row[7:]] for row in CANVAS]
    rows = rows_of(export("canvas", "--gradebook", written(other, tmp_path)))
    assert rows[0][-1] == LAB and rows[1][-1] == "9"
    assert "makes a new one" in capsys.readouterr().out
    counted = [CANVAS[0], [*CANVAS[1][:6], "100", ""], *CANVAS[2:]]
    rows = rows_of(export("canvas", "--gradebook", written(counted, tmp_path)))
    assert rows[1][-1] == "100"
    assert "has 100 points possible, and the lab has 9" in capsys.readouterr().out


def test_a_student_who_fits_two_rows_gets_no_grade(
    export: Export, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    twice = [*CANVAS, ["Impostor", "1010", "ADA", "imp", "OS, Monday", "", "", ""]]
    rows = rows_of(export("canvas", "--gradebook", written(twice, tmp_path)))
    assert [row[1] for row in rows[2:]] == ["1002"]
    assert "In doubt, because they fit several rows: ada." in capsys.readouterr().out


def graded(*students: Graded) -> Sheet:
    """A sheet in which all of them have two points."""
    two = (Part("cost", 2.0, 4.0),)
    return Sheet(LAB, 9.0, None, tuple(replace(s, handed_in=True, parts=two) for s in students))


def test_a_number_is_only_looked_for_in_its_own_system(tmp_path: Path) -> None:
    """The local id of one student is the id that Canvas has for another one."""
    theirs = written(
        [["Student", "ID", "SIS User ID", "SIS Login ID", "Section", LAB],
         ["Lovelace, Ada", "1001", "1002", "ada", "A", ""],
         ["Ng, Bob", "1002", "1003", "bob", "A", ""],
         ["Li, Eve", "1003", "1001", "eve", "A", ""]],
        tmp_path,
    )  # fmt: skip
    local, canvas = Graded("1002"), Graded("1003", system="Canvas", number="1003")
    known = Graded("bob", lms_id="1002")
    for students, ids in (
        ((local, canvas, known), ["1001", "1002", "1003"]),
        ((Graded("1001", system="Moodle", number="1001"),), []),
        ((Graded("1001", "Bob", "Ng"),), []),
    ):
        path = tmp_path / "up.csv"
        grade_exports.write_canvas(graded(*students), path, theirs)
        assert [row[1] for row in rows_of(path)[2:]] == ids


def test_the_worksheet_of_another_assignment_gets_no_grades(tmp_path: Path) -> None:
    ada = Graded("ada-lovelace-11", system="Moodle", number="11", called="ada lovelace")
    eve = Graded("eve-late-15", system="Moodle", number="15", called="eve late")
    other = [MOODLE[0], ["Participant 11", *MOODLE[3][1:]], ["Participant 15", *MOODLE[1][1:]]]
    renamed = [*MOODLE[:2], ["Participant 15", "Eve Soon", *MOODLE[3][2:]],
               ["Participant 12", *MOODLE[2][1:]]]  # fmt: skip
    for rows, said, count in (
        (other, "another name at their number: ada-lovelace-11, eve-late-15. Is it", 0),
        (MOODLE, "", 2),
        (renamed, "another name at their number: eve-late-15", 1),
    ):
        theirs, up = written(rows, tmp_path), tmp_path / "up.csv"
        done = grade_exports.write_moodle(graded(ada, eve), up, lambda _: {}, theirs)
        assert done.grades == count and said in done.as_text()
    three = graded(ada, eve, Graded("bob-12", system="Moodle", number="12", called="bob"))
    done = grade_exports.write_moodle(three, up, lambda _: {}, written(renamed, tmp_path))
    assert done.grades == 3 and "another name: eve-late-15." in done.as_text()


def test_canvas_may_split_names_and_write_decimals_with_a_comma(
    export: Export, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    split = [["LastName", "FirstName", *CANVAS[0][1:]], ["    Points Possible", "", *CANVAS[1][1:]]]
    split += [[*f"{row[0]}, ".split(", ")[:2], *row[1:]] for row in CANVAS[2:]]
    for possible, noted in (("9,0", False), ("9,50", True), ("100", True)):
        split[1][7] = possible
        rows = rows_of(export("canvas", "--gradebook", written(split, tmp_path, ";")))
        assert rows[0][:3] == ["LastName", "FirstName", "ID"] and rows[1][-1] == possible
        assert [row[2] for row in rows[2:]] == ["1001", "1002"]
        said = capsys.readouterr().out
        assert ("points possible, and the lab has 9" in said) is noted


def test_the_lab_may_have_another_name_in_canvas(
    export: Export, course: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = [[*CANVAS[0][:6], "Lab 1: clocks (77)", "Final Score"], *CANVAS[1:]]
    theirs = written(other, tmp_path)
    for name in ("Lab 1: clocks", "Lab 1: clocks (77)"):
        rows = rows_of(export("canvas", "--gradebook", theirs, "--assignment", name))
        assert rows[0][-1] == "Lab 1: clocks (77)" and rows[1][-1] == "9.0"
    assert rows_of(export("canvas", "--assignment", "Lab 1"))[0][-1] == "Lab 1"
    capsys.readouterr()
    export("canvas", "--gradebook", theirs)
    assert "add --assignment NAME" in capsys.readouterr().out
    words = ["export", LAB, "--course", str(course), "--canvas", str(tmp_path / "up")]
    assert cli.main([*words, "--gradebook", str(theirs), "--assignment", "Lab 2"]) == 1
    assert "has no assignment Lab 2; it has: Lab 1: clocks (77)" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("table", "column"), [("student", "lms_user_id"), ("grade", "extra_credit")]
)
def test_a_gradebook_of_an_older_nbgrader_is_answered_with_its_upgrade(
    table: str, column: str, course: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mine = shutil.copytree(course, tmp_path / "course")
    with contextlib.closing(sqlite3.connect(mine / "gradebook.db")) as database:
        database.execute(f"ALTER TABLE {table} DROP COLUMN {column}")
        database.commit()
    assert cli.main(["export", LAB, "--course", str(mine), "--csv", str(tmp_path / "x")]) == 1
    said = capsys.readouterr().err
    assert "an older nbgrader. In the course folder, run: nbgrader db upgrade" in said
    assert "SELECT" not in said


@pytest.mark.slow
def test_the_upgrade_that_is_advised_works_in_a_course(
    course: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mine = shutil.copytree(course, tmp_path / "course")
    with contextlib.closing(sqlite3.connect(mine / "gradebook.db")) as database:
        database.execute("ALTER TABLE student DROP COLUMN lms_user_id")
        database.execute("UPDATE alembic_version SET version_num = '167914646830'")
        database.commit()
    words = ["export", LAB, "--course", str(mine), "--csv", str(tmp_path / "x")]
    assert cli.main(words) == 1
    done = forked.run(mine, os.environ, "db", "upgrade")
    assert done.returncode == 0, done.stderr
    assert len([*mine.glob("gradebook.db.2*")]) == 1
    assert cli.main(words) == 0
    assert "4 grades" in capsys.readouterr().out


def test_each_member_of_a_team_gets_its_grade(
    course: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Ada's work is that of a team: Dan has none of his own, and Bob has."""
    mine = shutil.copytree(course, tmp_path / "course")
    (mine / "submitted" / "ada" / LAB).mkdir(parents=True)
    members = [{"student": who, "name": f"{who} x"} for who in ("dan", "bob", "fay")]
    record = mine / "submitted" / "ada" / LAB / RECORD
    record.write_text(json.dumps({"members": members}))
    words = ["export", LAB, "--course", str(mine), "--csv", str(tmp_path / "x.csv")]
    assert cli.main(words) == 0
    said = capsys.readouterr().out
    assert "work of their own, and not their team's grade: bob (ada)." in said
    scores = {row[3]: row[9] for row in rows_of(tmp_path / "x.csv")[1:]}
    assert (scores["dan"], scores["fay"], scores["bob"]) == ("9", "9", "3.3333333")
    assert "ada" not in scores


MOODLE = [
    ["Identifier", "Full name", "Email address", "Status", "Grade", "Maximum Grade",
     "Grade can be changed", "Last modified (grade)", "Feedback comments"],
    ["Participant 11", "Ada Lovelace", "ADA@uni.example", "Submitted", "", "9.00", "Yes", "-", ""],
    ["Participant 12", "Bob", "other@uni.example", "Submitted", "1.00", "9.00", "Yes", "-", "old"],
    ["Participant 15", "Eve Late", "eve@uni.example", "Submitted", "", "5.00", "Yes", "-", ""],
]  # fmt: skip


def test_moodle_gets_its_worksheet_back_with_grades_and_reasons(
    export: Export, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    theirs = written(MOODLE, tmp_path)
    header, ada, bob, eve = rows_of(export("moodle", "--worksheet", theirs))
    assert header == MOODLE[0]
    assert (ada[:4], ada[4], ada[5:8]) == (MOODLE[1][:4], "9", MOODLE[1][5:8])
    assert bob == MOODLE[2]
    assert eve[4] == "7"  # 4 + 4.5 - 1.5
    assert "&lt;b&gt;follows&lt;/b&gt;" in ada[8] and "<b>" not in ada[8]
    words = re.fullmatch(r'<div class="ticklab-\w+">(.*)</div>', ada[8])
    assert words is not None
    assert words[1].startswith("cost: 4 of 4 points. -1 ns") and "Handed in late" in eve[8]
    by_hand = "report: 5 of 5 points. - Value: 1 of 1.<br>- Limit: &lt;i&gt;none&lt;/i&gt;."
    assert words[1].endswith(f"<br>{by_hand}")
    assert "report: 4.5 of 5 points. No response.<br>" in eve[8]
    printed = capsys.readouterr().out
    assert "left out: bob" in printed and "above the assignment's maximum: eve" in printed


SHEET = Sheet(LAB, 9.0, None, (Graded("ada", handed_in=True, parts=(Part("cost", 2.0, 4.0),)),))
BETTER = Sheet(LAB, 9.0, None, (Graded("ada", handed_in=True, parts=(Part("cost", 3.0, 4.0),)),))


def worksheet(folder: Path, comment: str, grade: str = "") -> Path:
    head = ["Identifier", "Username", "Grade", "Last modified (grade)", "Feedback comments"]
    return written([head, ["Participant 11", "ada", grade, "-", comment]], folder)


@pytest.mark.parametrize(
    "comment",
    ["Well done.", "<p>See me &amp; bring it.</p>", '<div class="ticklab-0">cost</div>', "=1+1"],
)
def test_a_comment_of_a_person_in_moodle_stays_and_is_told(comment: str, tmp_path: Path) -> None:
    path, theirs = tmp_path / "up.csv", worksheet(tmp_path, comment, "2,0")
    done = grade_exports.write_moodle(SHEET, path, lambda _: {}, theirs)
    assert rows_of(path)[1][2:] == ["2", "-", guarded(comment)]
    assert "A person's comment in Moodle stays for: ada. --overwrite writes over it." in done.notes
    assert not [note for note in done.notes if "other points" in note or "penalty" in note]
    late = replace(SHEET, students=(replace(SHEET.students[0], penalty=1.0),))
    done = grade_exports.write_moodle(late, path, lambda _: {}, theirs)
    assert "Of these, no comment names the late penalty of: ada." in done.notes
    done = grade_exports.write_moodle(SHEET, path, lambda _: {}, theirs, overwrite=True)
    assert "cost: 2 of 4 points" in rows_of(path)[1][4] and done.notes == ()


def test_a_comment_of_an_earlier_export_is_renewed_until_a_person_changes_it(
    tmp_path: Path,
) -> None:
    path = tmp_path / "up.csv"

    def renewed(comment: str) -> str:
        theirs = worksheet(tmp_path, comment, "2.00")
        done = grade_exports.write_moodle(BETTER, path, lambda _: {"cost": "not; =so"}, theirs)
        assert "Moodle had other points, which this file changes, for: ada." in done.notes
        return rows_of(path)[1][4]

    grade_exports.write_moodle(
        SHEET, path, lambda _: {"cost": "as; =recorded"}, worksheet(tmp_path, "")
    )
    ours = rows_of(path)[1][4]
    assert "2 of 4 points" in ours and "3 of 4 points" in renewed(ours)
    edited = ours.replace("<br>", "<br />\n")
    assert "3 of 4 points" in renewed(edited)  # an editor has written it anew
    for words in ("</div>", ".</div>"):
        own = ours.replace("</div>", f" I gave you one more{words}")
        assert renewed(own) == guarded(own)


@pytest.mark.parametrize("excused", ["EX", "ex", " Ex "])
def test_who_is_excused_in_canvas_stays_excused_and_is_told(excused: str, tmp_path: Path) -> None:
    head = ["Student", "ID", "SIS Login ID", "Section", f"{LAB} (77)"]
    theirs = written([head, ["Ada", "1", "ada", "", excused]], tmp_path)
    path = tmp_path / "up.csv"
    done = grade_exports.write_canvas(SHEET, path, theirs)
    assert (done.grades, len(rows_of(path))) == (0, 2)
    assert any("Excused in Canvas (EX), so left out: ada. --overwrite" in n for n in done.notes)
    done = grade_exports.write_canvas(SHEET, path, theirs, overwrite=True)
    assert rows_of(path)[2][4] == "2" and not any("Excused" in note for note in done.notes)


@pytest.mark.slow
def test_a_page_that_is_older_than_its_grades_is_not_packed_until_it_is_made_anew(
    course: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(course, tmp_path / "course")
    for student in ("ada", "eve"):
        notebook = tmp_path / "course" / "autograded" / student / LAB / f"{LAB}.ipynb"
        notebook.parent.mkdir(parents=True, exist_ok=True)
        text = {"cell_type": "markdown", "metadata": {}, "source": "Costs"}
        notebook.write_text(json.dumps({"cells": [text], "metadata": {}}))
    where = ["--course", str(tmp_path / "course")]
    listed = tmp_path / "listed.csv"
    listed.write_text(
        "Identifier,Username,Grade,Last modified (grade)\nParticipant 1,ada,,-\n"
        "Participant 2,eve,,-\n"
    )
    pack = ["export", LAB, *where, "--worksheet", str(listed)]
    pack += ["--moodle-feedback", str(tmp_path / "up.zip")]

    def packed() -> tuple[int, str]:
        assert cli.main(pack) == 0
        with zipfile.ZipFile(tmp_path / "up.zip") as archive:
            return len(archive.namelist()), capsys.readouterr().out

    assert cli.main(["feedback", LAB, *where]) == 0
    assert packed()[0] == 2
    for change in ("points", "comment", "penalty"):
        with Gradebook(f"sqlite:///{tmp_path / 'course' / 'gradebook.db'}") as gradebook:
            if change == "points":
                gradebook.find_grade("report", LAB, LAB, "ada").manual_score = 4.0
            elif change == "comment":
                gradebook.find_comment("report", LAB, LAB, "ada").manual_comment = "Better now."
            else:
                book = gradebook.find_submission_notebook(LAB, LAB, "ada")
                book.late_submission_penalty = 1.0
            gradebook.db.commit()
        pages, said = packed()
        assert pages == 1
        assert "Older than its points or comments, so not packed, is the page of: ada. Run" in said
        assert f"grader feedback {LAB}" in said
        assert cli.main(["feedback", LAB, *where]) == 0
        assert "Feedback made: 1. Kept as it was: 1." in capsys.readouterr().out
        pages, said = packed()
        assert pages == 2 and "Older" not in said


def test_moodle_knows_participants_by_their_number(tmp_path: Path) -> None:
    two = (Part("cost", 2.0, 4.0),)
    student = Graded("9", handed_in=True, parts=two, system="Moodle", number="12")
    path = tmp_path / "upload.csv"
    theirs = written(MOODLE, tmp_path)
    done = grade_exports.write_moodle(Sheet(LAB, 9.0, None, (student,)), path, lambda _: {}, theirs)
    assert done.grades == 1 and [row[4] for row in rows_of(path)[1:]] == ["", "2", ""]


def test_moodle_gets_the_pages_of_feedback_under_its_own_names(
    course: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(course, tmp_path / "course")
    for student in ("ada", "eve", "cyd"):
        page = tmp_path / "course" / "feedback" / student / LAB / f"{LAB}.html"
        page.parent.mkdir(parents=True)
        page.write_text(f"<p>page of {student}</p>")
    listed = tmp_path / "listed.csv"
    listed.write_text(
        "Identifier,Full name,Username,Grade,Last modified (grade)\n"
        'Participant 11,"Ada_de ""Lovelace""",ada,,-\nParticipant 12,Bob,bob,,-\n'
        "Participant 13,Cyd One,cyd,,-\nParticipant 14,Eve / Late,eve,,-\n"
    )
    words = ["export", LAB, "--course", str(tmp_path / "course"), "--worksheet", str(listed)]
    assert cli.main([*words, "--moodle-feedback", str(tmp_path / "up")]) == 0
    said = capsys.readouterr().out
    assert said.startswith(f"{tmp_path / 'up.zip'}: 2 pages\n")
    assert "No feedback page yet: bob. Run: grader feedback" in said
    assert "wait for a person: 1, left out" in said
    with zipfile.ZipFile(tmp_path / "up.zip") as archive:
        pages = {name: archive.read(name).decode() for name in archive.namelist()}
    assert pages == {
        f"Ada de Lovelace_11_assignsubmission_file_{LAB}.html": "<p>page of ada</p>",
        f"Eve  Late_14_assignsubmission_file_{LAB}.html": "<p>page of eve</p>",
    }
    (tmp_path / "feedback").mkdir()
    assert cli.main([*words, "--moodle-feedback", str(tmp_path / "feedback")]) == 1
    assert "feedback is a folder; name a file, such as feedback.zip" in capsys.readouterr().err
    for name in pages:  # as Moodle reads a name: importziplib.php
        who, number, plugin, kind, file = name.split("_", 4)
        assert who and number.isdigit() and (plugin, kind) == ("assignsubmission", "file")
        assert file == f"{LAB}.html"
    assert [each.name for each in tmp_path.glob(".*")] == []


@pytest.mark.parametrize("kind", ["canvas", "moodle"])
def test_a_file_of_another_kind_is_refused(
    kind: str, course: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    option = {"canvas": "--gradebook", "moodle": "--worksheet"}[kind]
    words = ["export", LAB, "--course", str(course), f"--{kind}", str(tmp_path / "out")]
    for content in (b"a,b\n1,2\n", b"", b"\xff\xfe", b'"' + b"x" * 200_000):
        (tmp_path / "in.csv").write_bytes(content)
        assert cli.main([*words, option, str(tmp_path / "in.csv")]) == 1
        assert "in.csv" in capsys.readouterr().err
    assert cli.main([*words, option, str(tmp_path / "missing.csv")]) == 1
    said = capsys.readouterr().err
    assert (
        said
        == f"grader export: cannot read {tmp_path / 'missing.csv'}: No such file or directory\n"
    )
    assert not [*tmp_path.glob("out*")]


def test_gradescope_gets_one_result_for_each_submission(
    export: Export, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = export("gradescope", "--unfinished")
    said = capsys.readouterr().out
    assert "of their own, of bob. So the autograder cannot find their results. Add it" in said
    # `nbgrader db student add` would remove the name and the number that the gradebook has.
    assert "db student add" not in said and "nbgrader db student import FILE" in said
    results = {
        path.parent.name: json.loads(path.read_text())
        for path in folder.glob("results/*/results.json")
    }
    assert set(results) == {"ada", "bob", "cyd", "eve"}
    assert results["ada"]["score"] == 9.0 and results["eve"]["score"] == 7.0
    cost, report = results["ada"]["tests"]
    assert cost == {
        "name": "cost", "score": 4.0, "max_score": 4.0, "status": "passed", "output": REASON,
        "output_format": "text", "visibility": "after_published",
    }  # fmt: skip
    assert report["output"] == COMMENT
    assert (report["score"], results["eve"]["tests"][1]["status"]) == (5.0, "failed")
    assert "score" not in results["cyd"]["tests"][1]
    assert "not final" in results["cyd"]["output"] and "not final" not in results["ada"]["output"]


@pytest.mark.parametrize("kind", ["csv", "canvas", "moodle", "gradescope"])
def test_only_its_owner_can_read_an_export(kind: str, export: Export) -> None:
    for _ in range(2):  # an earlier one is replaced
        assert not stat.S_IMODE(export(kind).stat().st_mode) & 0o077


def test_an_export_replaces_an_earlier_one_and_nothing_else(
    export: Export, course: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    export("gradescope", "--unfinished")
    folder = export("gradescope")
    assert sorted(path.name for path in (folder / "results").iterdir()) == ["ada", "bob", "eve"]
    assert [path.name for path in tmp_path.iterdir()] == ["gradescope"]
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("mine")
    words = ["export", LAB, "--course", str(course), "--gradescope", str(tmp_path / "mine")]
    assert cli.main(words) == 1
    assert "no earlier export" in capsys.readouterr().err
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["thesis.tex"]


ADA, EVE, NOBODY = "ada@uni.example", "Eve@Uni.example", "nobody@uni.example"
#: Her grade waits for a person.
CYD = "cyd@uni.example"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("emails", "score"),
    [
        ([ADA], 9.0),
        ([EVE], 7.0),
        ([ADA, NOBODY], 9.0),
        ([ADA, ADA], 9.0),
        ([ADA, CYD], 9.0),
        ([ADA, EVE], "different grades"),
        ([NOBODY], "no grade"),
        ([CYD], "no grade"),
        ([CYD, NOBODY], "no grade"),
        ([], "no grade"),
    ],
)
def test_the_autograder_hands_out_the_result_of_who_handed_in(
    emails: list[str], score: float | str, export: Export, tmp_path: Path
) -> None:
    folder = export("gradescope")
    assert os.access(folder / "setup.sh", os.X_OK)
    (tmp_path / "root").mkdir()
    (tmp_path / "root" / "source").symlink_to(folder)
    metadata = {"users": [{"email": email, "name": "x"} for email in emails]}
    (tmp_path / "root" / "submission_metadata.json").write_text(json.dumps(metadata))
    done = call(
        folder / "run_autograder",
        env={"AUTOGRADER": str(tmp_path / "root"), "PATH": os.environ["PATH"]},
    )
    path = tmp_path / "root" / "results" / "results.json"
    if isinstance(score, str):
        assert score in done.stderr and done.returncode == 1 and not path.exists()
    else:
        assert done.returncode == 0 and json.loads(path.read_text())["score"] == score


def test_what_cannot_be_exported_is_said(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for words, said in (
        (["export", "02-none", "--csv", "x"], "has no lab 02-none"),
        (["export", LAB, "--csv", "x", "--gradebook", "y"], "--gradebook is for --canvas"),
        (["export", LAB, "--moodle-feedback", "x"], "needs --worksheet"),
        (["export", LAB, "--canvas", "x", "--worksheet", "y"], "--worksheet is for --moodle"),
        (["export", LAB, "--canvas", "x", "--visibility", "hidden"], "is for --gradescope"),
    ):
        before = sorted(course.iterdir())
        assert cli.main([*words, "--course", str(course)]) == 1
        assert said in capsys.readouterr().err and sorted(course.iterdir()) == before


def test_a_folder_without_a_gradebook_gets_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["export", LAB, "--course", str(tmp_path), "--csv", str(tmp_path / "x")]
    assert cli.main(words) == 1
    assert "no course folder" in capsys.readouterr().err
    (tmp_path / "nbgrader_config.py").write_text(CONFIG)
    assert cli.main(words) == 1
    assert "no gradebook yet" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["nbgrader_config.py"]


def killed_at(change: int, action: Callable[[], object]) -> bool:
    """Whether a process was killed that was about to change a file for the so-manieth time."""
    child = os.fork()
    if child == 0:
        left = [change]

        def about_to(event: str, arguments: tuple[object, ...]) -> None:
            writes = event == "open" and isinstance(arguments[2], int) and arguments[2] & os.O_CREAT
            if writes or event in {"os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.chmod"}:
                left[0] -= 1
                if not left[0]:
                    os.kill(os.getpid(), signal.SIGKILL)

        sys.addaudithook(about_to)
        try:
            action()
        finally:
            os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL


def contents(path: Path) -> dict[str, bytes]:
    files = [path] if path.is_file() else path.rglob("*")
    return {str(each.relative_to(path)): each.read_bytes() for each in files if each.is_file()}


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["csv", "gradescope"])
def test_an_export_that_is_killed_leaves_no_half_file(tmp_path: Path, kind: str) -> None:
    """Killed before each change of a file; afterwards there is an old export, a new one or none."""
    ada = Graded("ada", email="ada@uni.example", handed_in=True)
    sheet = Sheet(LAB, 9.0, None, (ada,))
    path = tmp_path / kind

    def write() -> None:
        if kind == "csv":
            grade_exports.write_csv(sheet, path)
        else:
            grade_exports.write_gradescope(sheet, path, lambda _: {})

    write()
    new = contents(path)
    changed = next(iter(path.rglob("results.json"))) if path.is_dir() else path
    changed.write_text("of yesterday")
    old = contents(path)
    kills = 0
    while killed_at(kills + 1, write):
        kills += 1
        found = contents(path) if path.exists() else {}
        assert found in ([old, new, {}] if kind == "gradescope" else [old, new])
    assert kills >= 3
    write()
    assert contents(path) == new
    assert [each.name for each in tmp_path.iterdir()] == [kind]
