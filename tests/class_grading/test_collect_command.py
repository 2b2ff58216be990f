"""The command `grader collect`, and nbgrader's autograde of what it collected."""

from __future__ import annotations

import csv
import errno
import json
import logging
import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from nbgrader.api import Gradebook

from grader.class_grading.collect_class import Collect
from grader.commands.cli import main
from grader.with_nbgrader.student_folders import RECORD
from support.platform_archives import Upload, canvas_zip, handed_in, zipped
from support.small_course import FIGURES, LAB
from support.small_exchange import EARLY, LATE, ExchangeCourse

#: Two starts of nbgrader before the first test.
FULL = {"cost": 4.0, "step": 1.5, "report": None}


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> ExchangeCourse:
    """A course whose lab is released; nobody has handed in."""
    made = ExchangeCourse(tmp_path_factory.mktemp("collect"))
    made.generate()
    return made


@pytest.fixture(autouse=True)
def _plain_log() -> Iterator[None]:
    """nbgrader's application changes the level of the log that all of its applications share."""
    log = logging.getLogger("NbGrader")
    level = log.level
    yield
    log.setLevel(level)


def files_of(course: ExchangeCourse, answer: str) -> dict[str, bytes]:
    notebook = json.dumps(course.answered()).replace("answer to report", answer)
    return {
        f"{LAB}.ipynb": notebook.encode(),
        "figures.json": json.dumps(FIGURES).encode(),
        "recordings/run.csv": answer.encode(),
    }


def collect(course: ExchangeCourse, *words: str) -> int:
    return main(["collect", *words, "--course", str(course.folder)])


def test_what_canvas_hands_out_is_graded(
    course: ExchangeCourse, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bare = files_of(course, "bare files")
    bare["run.csv"] = bare.pop("recordings/run.csv")
    uploads = [
        Upload("Lovelace, Ada", 77, handed_in(LAB, files_of(course, "in an archive"))),
        Upload("Hopper, Grace", 78, bare, late=True),
        Upload("Mallory", 79, {"x.zip": b"PK"}),
    ]
    path = canvas_zip(tmp_path / "submissions.zip", uploads)
    assert collect(course, str(path), "--dry-run") == 1
    assert not (course.folder / "submitted").exists()
    assert not (course.folder / "receipts").exists()
    assert collect(course, str(path)) == 1
    said = capsys.readouterr().out
    assert max(map(len, said.partition("\nReceipts:")[0].splitlines())) <= 80
    for line in ("students collected  2", "late                1", "NOT collected       1"):
        assert line in said
    assert "\nLate: 78\n" in said
    assert "mallory_79: x.zip: it is no whole zip file" in said
    done = course.run("autograde", LAB)
    assert done.returncode == 0, done.stderr
    assert course.scores("77") == FULL
    assert course.scores("78") == FULL | {"report": None}
    assert "in an archive" in course.source("77", "report")
    assert "bare files" in course.source("78", "report")
    # The result says which submission it was made from, as after nbgrader's own collect.
    for student in ("77", "78"):
        graded = course.folder / "autograded" / student / LAB / RECORD
        assert graded.read_bytes() == (course.submitted(student) / RECORD).read_bytes()


def test_a_roster_names_those_who_handed_in_and_changes_no_name(
    course: ExchangeCourse, tmp_path: Path
) -> None:
    mine = course.copied_to(tmp_path)
    uploads = [
        Upload(name, n, handed_in(LAB, files_of(mine, "x"))) for name, n in (("a", 1), ("b", 2))
    ]
    path = canvas_zip(tmp_path / "submissions.zip", uploads)
    listed = tmp_path / "listed.csv"
    listed.write_text(
        "Student,ID,SIS User ID,SIS Login ID,Section\n    Points Possible,,,,\n"
        '"van Rossum, Guido",1,s1,guido,A\n"Hopper, Grace",2,s2,g@uni.example,A\nNobody,3,,no,A\n'
    )
    database = f"sqlite:///{mine.folder / 'gradebook.db'}"
    with Gradebook(database) as gradebook:
        gradebook.add_student("guido", first_name="G.")
        before = {each.id for each in gradebook.students}
    assert collect(mine, str(path), "--roster", str(listed), "--dry-run") == 0
    with Gradebook(database) as gradebook:
        assert {each.id for each in gradebook.students} == before
        assert gradebook.find_student("guido").last_name is None
    assert collect(mine, str(path), "--roster", str(listed)) == 0
    with Gradebook(database) as gradebook:
        found = {
            each.id: (each.first_name, each.last_name, each.email, each.lms_user_id)
            for each in gradebook.students
            if each.id not in before - {"guido"}
        }
    assert found == {
        "guido": ("G.", "van Rossum", None, "1"),
        "g@uni.example": ("Grace", "Hopper", "g@uni.example", "2"),
    }


#: A figure with a recording that each submission of the small exchange has.
OWN_FIGURE = {"cost": {"value": 1.0, "unit": "ns", "recording": "recordings/run.csv"}}


def test_a_poorer_submission_in_the_exchange_waits_for_a_person(
    course: ExchangeCourse, tmp_path: Path
) -> None:
    mine = course.copied_to(tmp_path)
    mine.hand_in("ada", figures=OWN_FIGURE)
    (mine.hand_in("ada", LATE, figures=OWN_FIGURE) / "recordings" / "run.csv").unlink()
    mine.hand_in("bob", figures=OWN_FIGURE)
    mine.hand_in("bob", LATE, figures=OWN_FIGURE)
    for _ in range(2):  # both at once, and after the earlier one was collected
        done = mine.run("collect", LAB, "--update")
        assert done.returncode == 1
        assert (
            f"Not collected: {mine.name_of('ada', LATE)}: it lacks what the earlier one "
            f"({EARLY[:19]}) has: the file `recordings/run.csv`. The earlier one counts until you "
            f"choose. To let the newest one count, run `grader collect exchange --lab {LAB} "
            f"--newest ada`; to keep the earlier one, run `grader collect exchange --lab {LAB} "
            "--earlier ada`"
        ) in done.stderr
        times = [mine.submitted(each) / "timestamp.txt" for each in ("ada", "bob")]
        assert [each.read_text() for each in times] == [EARLY, LATE]
    for number, (option, when) in enumerate((("--newest", LATE), ("--earlier", EARLY))):
        (tmp_path / str(number)).mkdir()
        chosen = mine.copied_to(tmp_path / str(number))
        assert collect(chosen, "exchange", option, "ada", "--dry-run") == 0
        assert collect(chosen, "exchange") == 1
        assert collect(chosen, "exchange", option, "ada") == 0
        assert collect(chosen, "exchange") == 0
        assert (chosen.submitted("ada") / "timestamp.txt").read_text() == when
    for option, when in (("--newest", LATE), ("--earlier", EARLY), ("--newest", LATE)):
        for words in ((option, "ada"), (option, "ada"), ()):  # each option undoes the other
            assert collect(chosen, "exchange", *words) == 0
        assert (chosen.submitted("ada") / "timestamp.txt").read_text() == when


def test_a_person_chooses_by_an_option(
    course: ExchangeCourse, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mine = course.copied_to(tmp_path)
    whole = {**files_of(mine, "x"), "figures.json": json.dumps(OWN_FIGURE).encode()}
    again = handed_in(LAB, {f"{LAB}.ipynb": files_of(mine, "y")[f"{LAB}.ipynb"]})
    paths = [
        canvas_zip(tmp_path / f"{n}.zip", [Upload("A", 1, files, False, "", n)])
        for n, files in enumerate((handed_in(LAB, whole), again), 7)
    ]
    assert [collect(mine, str(path)) for path in paths] == [0, 1]
    assert "To let the newest one count, collect again with --newest 1;" in " ".join(
        capsys.readouterr().out.split()
    )
    assert collect(mine, str(paths[1]), "--newest", "1", "--earlier", "1") == 2
    assert "--newest and --earlier both name 1" in capsys.readouterr().err
    assert collect(mine, str(paths[1]), "--newest", "1,2") == 2
    assert "you chose for 2, of whom the source has nothing" in capsys.readouterr().err
    assert collect(mine, str(paths[1]), "--newest", "1") == 0
    assert not (mine.submitted("1") / "figures.json").exists()


def test_the_exchange_is_collected_as_nbgrader_does(
    course: ExchangeCourse, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mine = course.copied_to(tmp_path)
    mine.hand_in("ada")
    mine.hand_in("grace")
    assert collect(mine, "exchange", "--dry-run") == 0
    said = capsys.readouterr().out
    assert "students collected  2" in said
    # Nobody has counted the files, so no number stands there; the time is known.
    assert re.search(rf"^ada +would be collected +{EARLY[:19]}$", said, re.MULTILINE)
    assert not mine.submitted("ada").exists()
    assert collect(mine, "exchange") == 0
    mine.hand_in("ada", LATE)
    assert collect(mine, "exchange", "--lab", LAB) == 0
    said = capsys.readouterr().out
    assert "newer submission replaces an earlier one  1" in said
    assert (mine.submitted("ada") / "timestamp.txt").read_text() == LATE
    receipt = (mine.folder / "receipts" / LAB / "ada.txt").read_text()
    assert f"Handed in:  {LATE[:19]}" in receipt
    assert f"{EARLY[:19]}: " in receipt
    # A folder that is no submission is refused, and the status says so.
    (mine.inbound / mine.name_of("linker")).symlink_to(mine.name_of("ada"))
    assert collect(mine, "exchange") == 1
    assert "NOT collected 1" in " ".join(capsys.readouterr().out.split())


def test_a_class_next_to_a_file_is_asked_and_the_answer_collects_it(
    course: ExchangeCourse, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mine = course.copied_to(tmp_path)
    files = {
        f"class/{student}/{LAB}/{name}": content
        for student in ("ada", "bob")
        for name, content in files_of(mine, student).items()
    }
    path = tmp_path / "class.zip"
    path.write_bytes(zipped({**files, "class/grades.csv": b"student,grade"}))
    assert collect(mine, str(path)) == 1
    said = capsys.readouterr().out
    assert "If class is one student with the folders ada and bob, add the option\n" in said
    assert "If ada and bob are two students in the folder class, add the option\n" in said
    assert not [each for each in ("class", "ada", "bob") if mine.submitted(each).exists()]
    with (mine.folder / "receipts" / f"{LAB}.csv").open(newline="") as file:
        (row,) = (row for row in csv.DictReader(file) if row["version"] == "not collected")
    assert (row["name in the source"], row["file"][:18]) == ("class", "nothing of it was ")
    *_, names = re.findall(r"^ +--names '([^']+)'$", said, re.MULTILINE)
    assert collect(mine, str(path), "--names", names) == 0
    passed_over = "Passed over, because no student's work can be in it: class/grades.csv"
    assert passed_over in capsys.readouterr().out
    for student in ("ada", "bob"):
        assert (mine.submitted(student) / "recordings/run.csv").read_text() == student
    # Without the file, it is certain.
    path.write_bytes(zipped(files))
    assert collect(mine, str(path)) == 0


def test_a_full_disk_says_what_to_do(
    course: ExchangeCourse,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Collect, "_student", full)
    path = canvas_zip(tmp_path / "c.zip", [Upload("A", 1, {"figures.json": b"{}"})])
    assert collect(course, str(path), "--lab", LAB) == 2
    assert capsys.readouterr().err == (
        "grader collect: No space left on device. What was collected is whole. "
        "Free some space, then run the same command again.\n"
    )


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["missing.zip"], "missing.zip cannot be read: No such file"),
        (["exchange", "--lab", "99-none"], f"the course has no lab 99-none; its labs are: {LAB}"),
        (["exchange", "--roster", "x.csv"], "--roster and --names are for files"),
        ([".", "--names", "("], "--names: ( is no regular expression"),
        ([".", "--roster", "missing.csv"], "missing.csv: No such file"),
        ([".", "--course", "elsewhere"], "is no course folder"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_sentence(
    words: list[str],
    why: str,
    course: ExchangeCourse,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    named = [] if "--course" in words else ["--course", str(course.folder)]
    assert main(["collect", *words, *named]) == 2
    said = capsys.readouterr().err
    assert why in said
    assert said.startswith("grader collect: ")
