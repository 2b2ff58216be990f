"""Whose file it is, by names made as the programs' documentation and source say."""

from __future__ import annotations

import datetime
import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from grader.class_grading import class_roster
from grader.class_grading.class_roster import sort_by_student
from grader.class_grading.grade_exports import _who
from grader.class_grading.upload_names import (
    CANVAS,
    EXCHANGE,
    MOODLE,
    STUDENTS,
    Layout,
    Named,
    by_pattern,
    hand_in_archive,
    layout_of,
)
from grader.class_grading.uploaded_archives import Item, NotTaken
from support.paths import REPOSITORY
from support.platform_archives import Upload, moodle_names

LAB = "01-timer-overhead"
ARCHIVE = f"{LAB}-20260304T050607Z.zip"
WHEN = datetime.datetime(2026, 3, 4, 5, 6, 7)


def read(layout: Layout, path: str) -> Named | None:
    """What a path means, if it means one thing."""
    found = layout.read(tuple(path.split("/")))
    assert len(found) <= 1
    return found[0] if found else None


def test_names_of_canvas() -> None:
    for name, number, late, file, order in (
        (f"lovelaceada_77_1234_{ARCHIVE}", "77", False, ARCHIVE, 1234),
        (f"lovelaceada_LATE_77_1234_{ARCHIVE}", "77", True, ARCHIVE, 1234),
        ("o_neilanne_7_8_figures-1.json", "7", False, "figures-1.json", 8),
        ("王小明_77_12_figures.json", "77", False, "figures.json", 12),
        ("anon_aB3dE_1234_figures.json", "aB3dE", False, "figures.json", 1234),
        ("LATE_anon_aB3dE_1234_figures.json", "aB3dE", True, "figures.json", 1234),
        ("lovelaceada_LATE_77_text.html", "77", True, "text.html", None),
        ("lovelace--ada-late_77_12_figures.json", "77", True, "figures.json", 12),
        ("lovelaceada(LATE)_77_12_figures.json", "77", True, "figures.json", 12),
        ("late_5_6_x.zip", "5", False, "x.zip", 6),
    ):
        named = read(CANVAS, name)
        assert named is not None, name
        assert (named.number, named.late, named.path, named.order) == (number, late, (file,), order)


def test_what_canvas_does_not_write() -> None:
    for name in ("figures.json", "ada_77.zip", "ada_x_1_figures.json", "LATE"):
        assert read(CANVAS, name) is None


def test_names_of_moodle() -> None:
    for path, name, number, below in (
        (f"Ada Lovelace_123_assignsubmission_file_/{ARCHIVE}", "Ada Lovelace", "123", (ARCHIVE,)),
        (f"Ada Lovelace_123_assignsubmission_file/{ARCHIVE}", "Ada Lovelace", "123", (ARCHIVE,)),
        (f"Ada Lovelace_123_assignsubmission_file_{ARCHIVE}", "Ada Lovelace", "123", (ARCHIVE,)),
        ("Participant_9_assignsubmission_file/a/b.csv", "Participant", "9", ("a", "b.csv")),
        (
            "Ada_9_assignsubmission_onlinetext/onlinetext.html",
            "Ada", "9", ("onlinetext", "onlinetext.html"),
        ),
        # The student's own part of the name says nothing about whose it is.
        (
            "Eve_9_assignsubmission_file_Ada_1_assignsubmission_file_x.zip",
            "Eve", "9", ("Ada_1_assignsubmission_file_x.zip",),
        ),
    ):  # fmt: skip
        named = read(MOODLE, path)
        assert named is not None, path
        assert (named.name, named.number, named.path) == (name, number, below)


def test_an_id_by_moodle_has_name_and_number() -> None:
    for name, expected in (
        ("Ada Lovelace", "ada-lovelace-12"),
        ("=José  O'Neil, B.", "josé-oneil-b-12"),
        ("***", "12"),
    ):
        named = read(MOODLE, f"{name}_12_assignsubmission_file_/x.zip")
        assert named is not None
        assert MOODLE.id_of(named) == expected


def test_a_student_of_moodle_has_the_same_id_in_the_worksheet() -> None:
    """`grader export --moodle --worksheet` has the name as it is, and not that of a folder."""
    header = ["Identifier", "Full name", "Grade"]
    for name in ("Ada Lovelace", "Eve O'Neil", 'Ana_Maria  de:la "Cruz"', "王小明"):
        files = moodle_names(Upload(name, 12, {"x.zip": b""}))
        named = read(MOODLE, next(iter(files)))
        assert named is not None
        assert MOODLE.id_of(named) in _who(header, ["Participant 12", name, ""]).logins
        known = class_roster.Roster([class_roster.Student("her", "", name)])
        assert known.student_of(named, MOODLE) == ("her", "")


def test_names_of_the_exchange_and_of_students() -> None:
    named = read(EXCHANGE, f"ada+{LAB}+2026-03-04 05:06:07 UTC+cmFuZG9t/figures.json")
    assert named is not None
    assert (named.number, named.lab, named.when, named.path) == (
        "ada",
        LAB,
        WHEN,
        ("figures.json",),
    )
    assert read(EXCHANGE, f"ada+{LAB}+yesterday/figures.json") is None
    named = read(STUDENTS, "ada.ZIP")
    assert named is not None
    assert named.number == "ada"
    assert read(STUDENTS, ARCHIVE) is None
    assert read(STUDENTS, "notes.txt") is None


def test_a_pattern_as_nbgrader_has_it() -> None:
    page = (REPOSITORY / "docs/instructors/grading/collecting.md").read_text(encoding="utf-8")
    documented = re.search(r"--names '([^']+)'", page)
    assert documented is not None
    # nbgrader's patterns give the name of the file without its suffix.
    for pattern in (documented[1], documented[1].replace("_id>.+)", r"_id>\w+)")):
        layout = by_pattern(pattern)
        named = read(layout, "down/ps1_bitdiddle_attempt_2026-01-30-15-00-00_figures.json")
        assert named is not None
        assert (named.number, named.path) == ("bitdiddle", ("figures.json",))
        assert named.when == datetime.datetime(2026, 1, 30, 15)
    for wrong, what in ((r"(?P<student_id>.*)", "no group"), ("(", "no regular expression")):
        with pytest.raises(ValueError, match=what):
            by_pattern(wrong)


def test_a_file_cannot_be_named_into_another_students_place() -> None:
    page = (REPOSITORY / "docs/instructors/grading/collecting.md").read_text(encoding="utf-8")
    documented = re.search(r"--names '([^']+)'", page)
    assert documented is not None
    time = "attempt_2026-01-30-15-00-00"
    for pattern, name in (
        (documented[1], f"ps1_eve_{time}_ada_{time}_figures.json"),
        (documented[1].replace(r"\w+", r"\w+?"), f"ps1_eve_{time}_ada_{time}_figures.json"),
        (r"(?P<student_id>.+)-(?P<file_id>.+)", "eve-ada-figures.json"),
        (r"(?P<file_id>.+)@(?P<student_id>[a-z@]+)", "figures.json@ada@eve"),
        (r"(?P<file_id>.+)_by_(?P<student_id>.+)\.json", "figures_by_ada_by_eve.json"),
    ):
        readings = by_pattern(pattern).read((name,))
        assert len({each.number for each in readings}) == 2, pattern
    turned = by_pattern(r"[*+]+(?P<student_id>[a-z]{2,4})_(?P<file_id>\w*?\.?j?s+on)")
    assert [each.number for each in turned.read(("*+ada_figures.json",))] == ["ada"]


def test_the_archive_of_labs_hand_in_states_lab_and_time() -> None:
    for name in (ARCHIVE, f"{ARCHIVE[:-4]}-2.zip", f"{ARCHIVE[:-4]} (1).zip"):
        assert hand_in_archive(name) == (LAB, WHEN)
    assert hand_in_archive(f"{LAB}-20261304T050607Z.zip") is None


def test_the_layout_is_that_of_most_files() -> None:
    moodle = [(f"A B_{n}_assignsubmission_file_", "x_1_2_f.zip") for n in range(3)]
    canvas = [(f"ab_{n}_9_x.zip",) for n in range(3)]
    assert layout_of(moodle) is MOODLE
    assert layout_of(canvas) is CANVAS
    # One student of Moodle's flat archives cannot make it one of Canvas by the name of a file.
    assert layout_of([(f"A_{n}_assignsubmission_file_x_1_2_f.zip",) for n in range(3)]) is MOODLE
    assert layout_of([("ada", LAB, "figures.json"), ("bob.zip",)]) is STUDENTS


def item(path: str) -> Item:
    return Item(tuple(path.split("/")), 1, lambda: (_ for _ in ()).throw(OSError()))


def sorted_names(
    layout: Layout,
    *paths: str,
    known: class_roster.Roster | None = None,
    taken: tuple[str, ...] = (),
) -> tuple[dict[str, list[str]], dict[str, str]]:
    """The students with their files, and what is not collected."""
    found = sort_by_student(
        [item(path) for path in paths], layout, LAB, known, dict.fromkeys(taken, "")
    )
    students = {
        student: ["/".join(each.path) for given in group.given.values() for each in given]
        for student, group in found.students.items()
    }
    return students, {each.name: each.why for each in found.not_collected}


def test_two_students_with_one_id_are_both_refused() -> None:
    students, refused = sorted_names(CANVAS, "ada_77_1_a.zip", "eve_77_2_a.zip", "bob_8_3_a.zip")
    assert students == {"8": ["a.zip"]}
    assert refused == {
        "ada_77": "its student id 77 is also that of eve_77",
        "eve_77": "its student id 77 is also that of ada_77",
    }


def test_ids_that_differ_only_in_case_are_refused() -> None:
    students, refused = sorted_names(STUDENTS, "Ada/x", "ada/x", "Bob/x", "eve/x", taken=("bob",))
    assert students == {"eve": ["x"]}
    assert set(refused) == {"Ada", "ada", "Bob"}
    assert refused["Bob"] == "its student id is like that of bob, who is in the course"


def test_a_name_that_ends_in_a_number_is_no_way_into_another_students_work() -> None:
    """Mallory, who is 123, is called `mallory_77` in Canvas."""
    students, refused = sorted_names(CANVAS, "ada_77_1_a.zip", "mallory_77_123_456_a.zip")
    assert students == {"77": ["a.zip"], "123": ["a.zip"]}
    assert refused == {}
    known = class_roster.Roster([class_roster.Student("mallory", "123", "")])
    students, _ = sorted_names(CANVAS, "mallory_77_123_456_a.zip", known=known)
    assert students == {"mallory": ["a.zip"]}
    # A file whose name begins with a number is the usual case.
    found = sort_by_student([item("bob_8_9_3_solution.zip")], CANVAS, LAB, None, {})
    assert [each.path for each in found.students["8"].given[None]] == [("3_solution.zip",)]
    assert found.students["8"].doubts == ["bob_8_9_3_solution.zip can also be a file of 9"]


def test_who_is_refused_has_the_id_of_the_roster_too() -> None:
    known = class_roster.Roster(
        [class_roster.Student("ada", "77", ""), class_roster.Student("bob", "78", "")]
    )
    _, refused = sorted_names(CANVAS, "ada_77_1_a.zip", "b_78_2_a.zip", known=known, taken=("BOB",))
    assert set(refused) == {"bob (b_78)"}


def test_a_folder_without_a_file_is_listed() -> None:
    items = [item(path) for path in ("ada/x", "wrapper.txt/y")]
    empty = ("ada", "bob", "bob/inner", "__MACOSX")
    items += [replace(item(path), is_folder=True) for path in empty]
    found = sort_by_student(items, STUDENTS, LAB, None, {})
    assert set(found.students) == {"ada", "wrapper.txt"}
    assert [(each.name, each.why) for each in found.not_collected] == [
        ("bob", "its folder is empty")
    ]


@pytest.mark.parametrize("as_zip", [True, False])
@pytest.mark.parametrize("inner", ["", "class/"])
def test_an_empty_folder_is_found_in_a_folder_and_in_a_zip_file(
    as_zip: bool, inner: str, tmp_path: Path
) -> None:
    for name in ("ada", "bob", "cyd"):
        (tmp_path / "all" / inner / name).mkdir(parents=True)
    for name in ("ada", "cyd"):
        (tmp_path / "all" / inner / name / "figures.json").write_text("{}")
    where = tmp_path / "all"
    if as_zip:
        where = Path(shutil.make_archive(str(tmp_path / "all"), "zip", where))
    with class_roster.opened_source(where) as items:
        found = sort_by_student(
            class_roster.laid_out(items, None, LAB, [LAB])[0], STUDENTS, LAB, None, {}
        )
    assert set(found.students) == {"ada", "cyd"}
    assert [each.name for each in found.not_collected] == ["bob"]


def test_unknown_names_are_listed() -> None:
    students, refused = sorted_names(
        CANVAS, "ada_77_1_a.zip", "notes.zip", "__MACOSX/._x", f"d/{ARCHIVE}"
    )
    assert students == {"77": ["a.zip"]}
    assert refused == {
        "notes.zip": "its name is not one of Canvas",
        f"d/{ARCHIVE}": "its name does not say which student it is of",
    }


def test_a_student_id_that_nbgrader_cannot_hold_is_refused() -> None:
    students, refused = sorted_names(STUDENTS, "=cmd/x", "ada/x", "a*b.zip")
    assert students == {"ada": ["x"]}
    assert set(refused) == {"=cmd", "a*b.zip"}


ROSTERS = {
    "own": "student;id;name\nada;77;Ada Lovelace\nbob;78\n\n",
    "canvas": "Student,ID,SIS User ID,SIS Login ID,Section\n"
    '    Points Possible,,,,\n"Lovelace, Ada",77,s1,ada,A\n"B, Bob",78,s2,bob,A\n',
    "moodle": "Identifier,Full name,Email address,Status\n"
    "Participant 77,Ada Lovelace,ada,Submitted\nParticipant 78,Bob,bob,\n",
}


@pytest.mark.parametrize("kind", ROSTERS)
def test_a_roster_gives_the_ids(kind: str, tmp_path: Path) -> None:
    file = tmp_path / "roster.csv"
    file.write_text("\ufeff" + ROSTERS[kind])
    known = class_roster.read_roster(file)
    names = ["lovelaceada_77_1_a.zip", "bbob_78_2_a.zip", "eve_5_3_a.zip"]
    if kind != "canvas":
        names = [f"{each}_assignsubmission_file/a.zip" for each in ("Ada Lovelace_77", "Bob_78")]
        names.append("eve_5_assignsubmission_file/a.zip")
    students, refused = sorted_names(MOODLE if kind != "canvas" else CANVAS, *names, known=known)
    assert students == {"ada": ["a.zip"], "bob": ["a.zip"]}
    assert refused == {"eve_5": "the roster does not have eve (5)"}


def test_a_name_is_a_first_and_a_last_one() -> None:
    for called, names in (
        ("Lovelace, Ada", ("Ada", "Lovelace")),
        ("Guido van Rossum", ("Guido", "van Rossum")),
        ("Bob", ("", "Bob")),
        ("B,", ("", "B")),
        ("", ("", "")),
        ("A\x1b[2J, B", ("B", "A?[2J")),
    ):
        assert class_roster.Student("x", "1", "", called).names == names


def test_a_roster_may_have_names_only() -> None:
    people = [("ada", "Ada Lovelace"), ("jo1", "Jo Li"), ("jo2", "jo  li")]
    known = class_roster.Roster([class_roster.Student(each, "", name) for each, name in people])
    students, refused = sorted_names(
        MOODLE,
        *(
            f"{name}_{n}_assignsubmission_file_/x"
            for n, name in enumerate(("ADA Lovelace", "Jo Li"))
        ),
        known=known,
    )
    assert students == {"ada": ["x"]}
    assert refused == {
        "Jo Li_1": "the roster has 2 students with the name of Jo Li (1). Find out which one it "
        "is, and use a list with the columns student and id: in it, 1 is the id"
    }


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("name,mail\na,b\n", "has no columns"),
        ("student,id\nada,1\nbob,1\n", "line 3: 1 appears twice"),
        ("student,id\nada,1\nada,2\n", "line 3: ada appears twice"),
        ("student,id\n=cmd,1\n", "line 2: the student's name begins with ="),
        ("student,id\n", "names no student"),
        ("", "has no columns"),
        ("student,id\nada,\xff\n".encode("latin-1"), "not UTF-8"),
    ],
)
def test_a_wrong_roster_is_refused(text: str | bytes, why: str, tmp_path: Path) -> None:
    file = tmp_path / "roster.csv"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(NotTaken, match=why):
        class_roster.read_roster(file)


TIME = "attempt_2026-01-30-15-00-00"


def test_names_of_other_systems() -> None:
    for system, paths, numbers, below in (
        ("Blackboard", [f"ps1_ada_{TIME}_x.zip", f"ps1_bob_{TIME}_x.zip"], "ada bob", "x.zip"),
        ("Blackboard", [f"Lab_01_a_b_{TIME}_x", f"Lab_01_c_{TIME}_x"], "a_b c", "x"),
        # What a student has named comes last, and says nothing about whose it is.
        ("Blackboard", [f"p_eve_{TIME}_p_ada_{TIME}_x", f"p_bob_{TIME}_x"], "eve bob", None),
        ("Sakai", ["Lovelace, Ada (Countess)(ada)/Submission attachment(s)/x"], "ada", "x"),
        ("Sakai", ["Ng, X(ng)_Submission attachment(s)_x"], "ng", "x"),
        ("Sakai", ["E(eve)/Submission attachment(s)/A(b)/Submission attachment(s)/x"], "eve", None),
        ("ILIAS", ["Submissions/Lovelace_Ada_ada_7/x"], "7", "x"),
        ("ILIAS", ["Abgaben/_______a_b_8/Verspatete Abgabe - x"], "8", "x"),
        ("ILIAS", ["Submissions/Team 12/Lovelace_Ada_ada_7/x"], "12", "Lovelace_Ada_ada_7/x"),
        ("Brightspace", ["12-67 - Lovelace, Ada - Nov 1, 2026 1234 PM/x"], "12-67", "x"),
        ("Brightspace", ["12-67 - ada Ada B - 05 March 2026 612 AM - x"], "12-67", "x"),
        ("Brightspace", ["1-6 - E - May 1, 2026 1:02 PM/2-6 - A - May 1, 2026 1 PM"], "1-6", None),
        ("Moodle", ["Team A_57_assignsubmission_file/x"], "57", "x"),
        ("Moodle", ["Default group_assignsubmission_file/x"], "", "x"),
    ):  # fmt: skip
        names = [tuple(path.split("/")) for path in paths]
        layout = layout_of(names)
        assert layout.name == system
        found = [named for parts in names for named in layout.read(parts)]
        assert [each.number for each in found] == numbers.split(" ")
        assert below is None or {"/".join(each.path) for each in found} == {below}


def test_times_in_names_put_attempts_in_order() -> None:
    times = ("Oct 31, 2025 1159 PM", "1 November 2025 1201 AM", "Nov 1, 2025 1:00 PM")
    orders = []
    for time in times:
        parts = (f"1-2 - A B - {time}", "x")
        orders += [named.order for named in layout_of([parts]).read(parts)]
    assert orders == [20251031235900, 20251101000100, 20251101130000]


def people(*rows: tuple[str, str, str], system: str = "", team: str = "") -> class_roster.Roster:
    """A list of ids, numbers and names."""
    return class_roster.Roster(
        [class_roster.Student(who, number, name, name, team=team) for who, number, name in rows],
        system,
    )


CLASS = (("ada", "57", "Ada Lovelace"), ("bob", "58", "Bob Ng"), ("eve", "59", "Eve Li"))


def test_like_is_matched_with_like() -> None:
    for known, paths, students in (
        # Numbers of Canvas mean nothing in Moodle, and the other way round, nor in a folder.
        (people(*CLASS, system="Canvas"), ["Bob Ng_57_assignsubmission_file/x"], {"bob"}),
        (people(*CLASS, system="Moodle"), ["evil_57_1_x", "ngbob_57_2_x"], {"bob"}),
        (people(("57", "57", ""), system="Moodle"), ["57/x"], set()),
        (people(*CLASS, system="Canvas"), ["eve/x"], {"eve"}),
        # A team's number is another one's number of a participant.
        (people(*CLASS, system="Moodle"), ["Team A_57_assignsubmission_file/x"], set()),
        (people(*CLASS), ["Team A_57_assignsubmission_file/x"], set()),
        (
            people(*CLASS, system="Moodle", team="Team A & B"),
            ["Team A  B_58_assignsubmission_file/x"],
            {"team-a-b"},
        ),
        (people(*CLASS, team="Team 12"), ["Submissions/Team 12/Ng_Bob_bob_7/x"], {"team-12"}),
        (people(*CLASS, team="A"), ["1-2 - A - Eve Li - May 1, 2026 102 PM/x"], {"a"}),
        # The list of another assignment: nobody is filed under another one's name.
        (
            people(*CLASS, system="Moodle"),
            ["Eve Li_57_assignsubmission_file/x", "Ada Lovelace_58_assignsubmission_file/x"],
            set(),
        ),
        # An id that a person has mistyped is another one's.
        (
            people(*CLASS, ("max", "60", "Max Ox")),
            [f"{n}_assignsubmission_file/x" for n in ("Eve Li_57", "Bob Ng_58", "Max Ox_60")],
            {"bob", "max"},
        ),
        # ILIAS and Brightspace have a login in their names.
        (people(*CLASS), ["Submissions/Ng_Bob_bob_77/x"], {"bob"}),
        (people(*CLASS), ["1-2 - bob Bob Ng - May 1, 2026 102 PM/x"], {"bob"}),
        (people(*CLASS), ["1-2 - Ada Ng - May 1, 2026 102 PM/x"], set()),
    ):
        names = [tuple(path.split("/")) for path in paths]
        found, refused = sorted_names(layout_of(names), *paths, known=known)
        assert set(found) == students
        assert len(refused) == len(paths) - len(students)


def test_a_name_that_disagrees_is_listed_where_most_others_agree() -> None:
    known = people(*CLASS, system="Moodle")
    paths = ["Ada King_57", "Bob Ng_58", "Eve Li_59"]
    items = [item(f"{path}_assignsubmission_file/x") for path in paths]
    found = sort_by_student(items, MOODLE, LAB, known, {})
    assert set(found.students) == {"ada", "bob", "eve"}
    assert found.students["ada"].doubts == [
        "the roster has 57 for Ada Lovelace, not for Ada King (57)"
    ]
    assert not found.students["bob"].doubts


def test_the_number_of_a_participant_stays_when_the_name_changes() -> None:
    for before, now, students in (
        # Blind marking that was revealed, also in another language, and the other way round.
        (["Participant_57"], ["Ada_57"], {"participant-57"}),
        (["Kandidat_57", "Kandidat_58"], ["Ada_57", "Bob_58"], {"kandidat-57", "kandidat-58"}),
        (["Ada_57", "Bob_58"], ["Kandidat_57", "Kandidat_58"], {"ada-57", "bob-58"}),
        # A changed name, where the others have theirs.
        (["Ada_5", "Bob_6", "Eve_7"], ["Liz_5", "Bob_6", "Eve_7"], {"ada-5", "bob-6", "eve-7"}),
        # Another assignment: each number is another one's.
        (["Ada_57", "Bob_58"], ["Bob_57", "Ada_58"], set()),
        (["Ada_57"], ["Eve_57"], set()),
    ):  # fmt: skip
        taken = {MOODLE.id_of(Named("", n, (), name)): f"{name}_{n}" for name, n in
                 (each.split("_") for each in before)}  # fmt: skip
        items = [item(f"{each}_assignsubmission_file/x") for each in now]
        found = sort_by_student(items, MOODLE, LAB, None, taken)
        assert set(found.students) == students
        assert len(found.not_collected) == len(now) - len(students)


def test_what_a_system_adds_itself_is_no_error() -> None:
    for paths, students, refused in (
        (
            [f"p_ada_{TIME}.txt", f"p_ada_{TIME}_x.zip", f"p_eve_{TIME}.txt"],
            {"ada"},
            {"p_eve": "it has no file, only what Blackboard itself has written"},
        ),
        (
            ["A(ada)/Submission attachment(s)/x", "A(ada)/timestamp.txt", "E(eve)/timestamp.txt",
             "grades.csv"],
            {"ada"},
            {"E(eve)": "it has no file, only what Sakai itself has written"},
        ),
        (["1-2 - A - May 1, 2026 102 PM/x", "index.html"], {"a-1-2"}, {}),
        (["Submissions/A_B_c_7/x", "Lab.xlsx"], {"7"}, {}),
    ):  # fmt: skip
        layout = layout_of([tuple(path.split("/")) for path in paths])
        found = sort_by_student([item(path) for path in paths], layout, LAB, None, {})
        assert set(found.students) == students
        assert {each.name: each.why for each in found.not_collected} == refused


def test_gradescope_without_readable_metadata_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "submission_1").mkdir()
    (tmp_path / "submission_1" / "figures.json").write_text("{}")
    for text in ("a: [", "- 1", "submission_1: {':submitters': 5}"):
        (tmp_path / "submission_metadata.yml").write_text(text)
        with (
            class_roster.opened_source(tmp_path) as items,
            pytest.raises(NotTaken, match="cannot be read, so nobody knows whose"),
        ):
            class_roster.laid_out(items, None, LAB, [LAB])
    bomb = "".join(f"  a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 20))
    known = "submission_1: {':submitters': [{':name': *a19, ':email': A@x.org, ':sid': '1'}]}"
    known = f"submission_0:\n  a0: &a0 x\n{bomb}{known}"
    (tmp_path / "submission_metadata.yml").write_text(known)
    with class_roster.opened_source(tmp_path) as items:
        inner, layout, _ = class_roster.laid_out(items, None, LAB, [LAB])
        assert set(sort_by_student(inner, layout, LAB, None, {}).students) == {"a@x.org"}
