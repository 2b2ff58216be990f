"""A class is never collected as one student: what can be read in two ways is asked."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import pytest
from nbgrader.coursedir import CourseDirectory

from grader.class_grading import class_roster, collect_class
from grader.class_grading.collect_class import Collect, Report
from grader.class_grading.upload_names import by_pattern
from grader.class_grading.uploaded_archives import NotTaken
from support.platform_archives import Upload, canvas_zip, handed_in, moodle_zip, zipped

LAB, OTHER = "01-small", "02-other"
Tree = Mapping[str, bytes]
STRAY = {"class/grades.csv": b"id,grade\n"}


def lab_files(text: str) -> dict[str, bytes]:
    return {f"{LAB}.ipynb": b"{}", "figures.json": b"{}", "recordings/run.csv": text.encode()}


def in_folder(folder: str, files: Tree) -> dict[str, bytes]:
    return {f"{folder}/{name}": content for name, content in files.items()}


def work(path: str, lab: str = LAB) -> dict[str, bytes]:
    """The folder of a lab below the folder of a student, whose name is in its files."""
    return in_folder(f"{path}/{lab}", lab_files(path.rpartition("/")[2]))


def archive(path: str, when: str = "20260304T050607Z") -> dict[str, bytes]:
    """An archive of `labs hand-in` in the folder of a student."""
    return in_folder(path, handed_in(LAB, lab_files(path.rpartition("/")[2] + when), when))


def collect(
    folder: Path,
    tree: Tree,
    names: str | None = None,
    known: class_roster.Roster | None = None,
    *,
    as_zip: bool = True,
) -> Report:
    """Collects these files, which are a zip file or in a folder, into a course."""
    path = folder / "downloaded"
    if as_zip:
        path = folder / "downloaded.zip"
        path.write_bytes(zipped(tree))
    else:
        for name, content in tree.items():
            (path / name).parent.mkdir(parents=True, exist_ok=True)
            (path / name).write_bytes(content)
    course = CourseDirectory(root=str(folder / "course"))
    with class_roster.opened_source(path) as items:
        run = Collect(course, LAB, [LAB, OTHER])
        return run.run(path.name, items, by_pattern(names) if names else None, known)


def students(report: Report) -> list[str]:
    return [line.student for line in report.lines]


def asked(report: Report) -> dict[str, str]:
    return {each.name: each.why for each in report.not_collected}


def collected(folder: Path, student: str) -> str:
    return (folder / "course/submitted" / student / LAB / "recordings/run.csv").read_text()


ONE = "class is one student with "
APART = "If ada and bob are two students in the folder class, add the option "
#: What is in a source, and words of the question.
IN_DOUBT: dict[str, tuple[Tree, list[str]]] = {
    **{
        f"a class and {name}": (
            {**work("class/ada"), **work("class/bob"), f"class/{name}": b"x"},
            [f"{ONE}the folders ada and bob", APART],
        )
        for name in ("grades.csv", "README", "grades.xlsx", "submission_metadata.yml")
    },
    "the notebook of the instructor": (
        {**work("class/ada"), **work("class/bob"), f"class/{LAB}.ipynb": b"{}"},
        [f"{ONE}the folders ada and bob", APART],
    ),
    "the released lab": (
        {**work("class"), **work("class/ada"), **work("class/bob")},
        [f"{ONE}the folders ada and bob", APART],
    ),
    "one student": (
        work("class/ada"),
        [f"{ONE}the folder ada", "If ada is one student in the folder class, add the option "],
    ),
    "one student and a file": (
        {**archive("class/ada"), **STRAY},
        [f"{ONE}the folder ada", "If ada is one student in the folder class, add the option "],
    ),
    "one student and the released lab": (
        {**work("class"), **work("class/ada")},
        [f"{ONE}the folder ada", "If ada is one student in the folder class, add the option "],
    ),
    "one student of two, who handed in nothing that is read": (
        {**work("class/ada"), "class/bob/essay.docx": b"x"},
        [f"{ONE}the folders ada and bob", APART],
    ),
    "one student with a folder": (
        {f"class/ada/work/{LAB}.ipynb": b"{}"},
        [
            f"{ONE}the folder ada",
            "If ada is one student with the folder work, add the option ",
            "If work is one student in the folder class/ada, add the option ",
        ],
    ),
    "another lab": (
        {**work("class/ada"), **work("class/bob", OTHER), **STRAY},
        [f"{ONE}the folders ada and bob", APART],
    ),
    "archives of labs hand-in in folders": (
        {**archive("class/ada"), **archive("class/bob", "20260305T000000Z"), **STRAY},
        [f"{ONE}the folders ada and bob", APART],
    ),
    "archives of students": (
        {
            "class/ada.zip": zipped(lab_files("ada")),
            "class/bob.zip": zipped(lab_files("bob")),
            **STRAY,
        },
        [f"{ONE}the archives ada.zip and bob.zip", APART],
    ),
    "a folder and an archive": (
        {"class/ada.zip": zipped(lab_files("ada")), **work("class/bob"), **STRAY},
        [f"{ONE}the folders and archives ada.zip and bob", APART],
    ),
    "a folder and an archive that is not opened": (
        {"class/ada.tar.gz": b"\x1f\x8b", **work("class/bob")},
        [
            f"{ONE}the folders and archives ada.tar.gz and bob",
            "If ada and bob are two students in the folder class, "
            "unpack ada.tar.gz, and collect again",
        ],
    ),
    "two archives of labs hand-in": (
        {**archive("class"), **archive("class", "20260305T000000Z"), **STRAY},
        [
            f"{ONE}the archives {LAB}-20260304T050607Z.zip and {LAB}-20260305T000000Z.zip, "
            "add the option ",
            "in the folder class are of two students, put each into a folder with the student's id",
        ],
    ),
    "two levels": (
        {**work("outer/class/ada"), **work("outer/class/bob")},
        [
            "can be read in three ways",
            "If outer is one student with the folder class, add the option ",
            f"{ONE}the folders ada and bob, add the option ",
            "If ada and bob are two students in the folder outer/class, add the option ",
        ],
    ),
    "files next to the class": (
        {**work("class/ada"), **work("class/bob"), "grades.csv": b"x", "notes/a.txt": b"x"},
        [f"{ONE}the folders ada and bob", APART],
    ),
    "students in the folder of the lab": (
        {**in_folder(f"class/{LAB}/ada", lab_files("ada")), **work(f"class/{LAB}/bob")},
        [
            f"{ONE}the folders ada and bob",
            f"If ada and bob are two students in the folder class/{LAB}, add the option ",
        ],
    ),
    "archives in the folder of the lab": (
        {f"class/{LAB}/{name}.zip": zipped(lab_files(name)) for name in ("ada", "bob")},
        [f"{ONE}the archives ada.zip and bob.zip", f"in the folder class/{LAB}, add the option "],
    ),
    "one student in the folder of the lab": (
        archive(f"class/{LAB}/ada"),
        [f"{ONE}the folder ada", f"If ada is one student in the folder class/{LAB}, add the "],
    ),
    "an archive of the class": (
        {"class.zip": zipped({**work("ada"), **work("bob"), "grades.csv": b"x"})},
        [
            "class.zip: nothing of it was collected, because",
            f"{ONE}the folders ada and bob, add the option ",
            "If ada and bob are two students in the archive class.zip, "
            "collect class.zip by itself",
        ],
    ),
    "an archive of a class of one": (
        {"class.zip": zipped(work("ada"))},
        [
            f"{ONE}the folder ada, add the option ",
            "If ada is one student in the archive class.zip, collect class.zip by itself",
        ],
    ),
    "archives in an archive": (
        {
            "class.zip": zipped(
                {"ada.zip": zipped(lab_files("ada")), "bob.zip": zipped(lab_files("bob")), "x": b""}
            )
        },
        [
            f"{ONE}the archives ada.zip and bob.zip, add the option ",
            "If ada and bob are two students in the archive class.zip, "
            "collect class.zip by itself",
        ],
    ),
}  # fmt: skip


@pytest.mark.parametrize("as_zip", [True, False])
@pytest.mark.parametrize("name", IN_DOUBT)
def test_what_can_be_read_in_two_ways_is_asked(name: str, as_zip: bool, tmp_path: Path) -> None:
    tree, words = IN_DOUBT[name]
    report = collect(tmp_path, tree, as_zip=as_zip)
    assert students(report) == []
    assert not report.complete
    assert not list((tmp_path / "course").glob("submitted/*"))
    (question,) = (why for why in asked(report).values() if "can be read in" in why)
    for each in words:
        assert re.search(each, question), question


def answers(report: Report) -> list[str]:
    """The patterns of the question, the outermost reading first."""
    (question,) = (why for why in asked(report).values() if "can be read in" in why)
    return re.findall(r"--names '([^']+)'", question)


@pytest.mark.parametrize("as_zip", [True, False])
@pytest.mark.parametrize(
    "name",
    [
        "a class and grades.csv",
        "the notebook of the instructor",
        "archives of labs hand-in in folders",
        "archives of students",
        "students in the folder of the lab",
        "archives in the folder of the lab",
        "a folder and an archive",
        "two levels",
        "files next to the class",
    ],
)
def test_a_person_says_that_they_are_two_students(name: str, as_zip: bool, tmp_path: Path) -> None:
    tree, _ = IN_DOUBT[name]
    *_, apart = answers(collect(tmp_path, tree, as_zip=as_zip))
    report = collect(tmp_path, tree, apart, as_zip=as_zip)
    assert students(report) == ["ada", "bob"]
    assert [collected(tmp_path, each)[:3] for each in ("ada", "bob")] == ["ada", "bob"]


@pytest.mark.parametrize("which", [0, 1])
def test_a_person_says_who_the_one_student_is(which: int, tmp_path: Path) -> None:
    tree = work("class/ada")
    report = collect(tmp_path, tree, answers(collect(tmp_path, tree))[which])
    assert (students(report), report.complete) == ([["class"], ["ada"]][which], True)
    assert collected(tmp_path, students(report)[0]) == "ada"


def test_one_student_who_handed_in_twice(tmp_path: Path) -> None:
    tree = {**archive("ada", "20260305T000000Z"), **archive("ada")}
    (one,) = answers(collect(tmp_path, tree))
    report = collect(tmp_path, tree, one)
    assert (students(report), report.lines[0].earlier, report.complete) == (["ada"], 1, True)
    assert collected(tmp_path, "ada") == "ada20260305T000000Z"


def test_two_sources_of_two_students_are_not_merged(tmp_path: Path) -> None:
    """`class` is no student who handed in again."""
    for student in ("ada", "bob"):
        report = collect(tmp_path, archive(f"class/{student}"))
        assert f"{ONE}the folder {student}, " in asked(report)["class"]
    assert not list((tmp_path / "course").glob("submitted/*"))


def test_one_student_with_two_folders_must_say_which_one_counts(tmp_path: Path) -> None:
    """Two submissions are no one submission, whoever says so."""
    tree, _ = IN_DOUBT["a class and grades.csv"]
    one, _ = answers(collect(tmp_path, tree))
    why = f"it holds the lab in several folders: ada/{LAB}, bob/{LAB}; leave the one that counts"
    assert asked(collect(tmp_path, tree, one)) == {"class": why}
    upload = Upload("A", 1, {"x.zip": zipped({**work("ada"), **work("bob")})})
    path = moodle_zip(tmp_path / "m.zip", [upload])
    with class_roster.opened_source(path) as items:
        report = Collect(CourseDirectory(root=str(tmp_path / "course")), LAB, [LAB]).run("m", items)
    assert asked(report) == {"A_1": f"x.zip: {why}"}


def test_the_groups_of_a_class_are_no_students(tmp_path: Path) -> None:
    tree = {**work("class/a/ada"), **work("class/a/bob"), **work("class/b/cid")}
    report = collect(tmp_path, tree)
    assert students(report) == []
    whys = asked(report)
    assert "a is one student with the folders ada and bob" in whys["a"]
    assert "b is one student with the folder cid" in whys["b"]
    assert "If cid is one student in the folder class/b, add the option " in whys["b"]
    pattern = re.findall(r"--names '([^']+)'", whys["a"])[-1]
    report = collect(tmp_path, tree, pattern)
    assert (students(report), report.complete) == (["ada", "bob", "cid"], True)


def test_a_folder_of_students_next_to_students_is_asked_and_nobody_else(tmp_path: Path) -> None:
    tree = {
        **work("class/ada"),
        **archive("class/bob"),
        **work("class/late/cid"),
        **work("class/late/dan"),
    }
    report = collect(tmp_path, tree)
    assert students(report) == ["ada", "bob"]
    assert asked(report) == {
        "late": "nothing of it was collected, because it can be read in two ways.\n"
        "If late is one student with the folders cid and dan, "
        "leave only the one that counts of the folders cid and dan, and collect again\n"
        "If cid and dan are two students in the folder class/late, "
        "collect the folder class/late by itself"
    }
    report = collect(tmp_path / "course", {**work("late/cid"), **work("late/dan")})
    assert (students(report), report.complete) == (["cid", "dan"], True)


@pytest.mark.parametrize("students_of", [["ada"], ["ada", "bob"]])
def test_a_lab_at_the_top_is_no_student_but_may_hold_some(
    students_of: list[str], tmp_path: Path
) -> None:
    trees = [in_folder(f"{LAB}/{each}", lab_files(each)) for each in students_of]
    tree = {name: content for each in trees for name, content in each.items()}
    tree |= {f"{LAB}/grades.csv": b"x"}
    why = asked(collect(tmp_path, tree))[LAB]
    who = "ada in it is one student" if len(trees) == 1 else "ada and bob in it are two students"
    assert why.startswith(f"it is a lab.\nIf {who}, add the option --names '")
    (pattern,) = re.findall(r"--names '([^']+)'", why)
    assert students(collect(tmp_path, tree, pattern)) == students_of
    why = asked(collect(tmp_path, in_folder(LAB, lab_files("x"))))[LAB]
    assert why == "it is a lab; put each student's files into a folder with the student's id"


def test_many_names_are_not_all_listed(tmp_path: Path) -> None:
    tree = {f"class/s{n}/{LAB}.ipynb": b"{}" for n in range(30)} | STRAY
    (why,) = asked(collect(tmp_path, tree)).values()
    assert "class is one student with the folders s0, s1, s10 and 27 more" in why
    assert "If s0, s1, s10 and 27 more are 30 students in the folder class" in why


def test_a_class_of_more_files_than_one_student_may_have_is_asked(tmp_path: Path) -> None:
    tree = {f"class/s{n}/{LAB}/{k}.ipynb": b"{}" for n in range(45) for k in range(50)}
    (why,) = asked(collect(tmp_path, tree | STRAY)).values()
    assert "are 45 students in the folder class" in why


def test_names_in_a_question_control_no_terminal(tmp_path: Path) -> None:
    tree = {**work("class/a\x1b[2J'b"), **work("class/c\nd"), **STRAY}
    (why,) = asked(collect(tmp_path, tree)).values()
    assert all(line.isprintable() for line in why.splitlines())


def test_a_pattern_that_finds_two_students_takes_neither(tmp_path: Path) -> None:
    pattern = r".*_(?P<student_id>\w+)_attempt_(?P<timestamp>[\d-]+)_(?P<file_id>.+)"
    time = "attempt_2026-01-30-15-00-00"
    honest = {f"ps1_{name}_{time}_{LAB}.ipynb": b"{}" for name in ("ada", "eve")}
    pretending = f"ps1_eve_{time}_ada_{time}_{LAB}.ipynb"
    report = collect(tmp_path, {**honest, pretending: b'{"cells": []}'}, pattern)
    assert sorted(students(report)) == ["ada", "eve"]
    assert [*asked(report).values()] == ["your pattern finds two students in its name: ada or eve"]


def test_a_roster_tells_which_student_a_pattern_means(tmp_path: Path) -> None:
    pattern = r".*_(?P<student_id>\w+)_attempt_(?P<file_id>.+)"
    known = class_roster.Roster([class_roster.Student("bit_diddle", "bit_diddle", "")])
    name = f"ps1_bit_diddle_attempt_{LAB}.ipynb"
    assert students(collect(tmp_path, {name: b"{}"}, pattern, known)) == ["bit_diddle"]


def test_a_roster_decides(tmp_path: Path) -> None:
    tree, _ = IN_DOUBT["a class and grades.csv"]
    known = class_roster.Roster(
        [class_roster.Student(each, each, "") for each in ("ada", "bob", "cid")]
    )
    report = collect(tmp_path, tree, known=known)
    assert (students(report), report.absent) == (["ada", "bob"], ["cid"])
    assert (report.strays, report.complete) == (["grades.csv"], True)
    known = class_roster.Roster([class_roster.Student("team", "class", "")])
    report = collect(tmp_path / "course", work("class/ada"), known=known)
    assert "class is one student with the folder ada" in asked(report)["team (class)"]


@pytest.mark.parametrize(
    ("name", "is_stray"),
    [
        *((name, True) for name in ("README", "grades.xlsx", "a.pdf", "submission_metadata.yml")),
        *((name, False) for name in ("figures.json", "x.ipynb", "x.7z", "bob/essay.docx")),
    ],
)
def test_only_a_file_without_work_is_passed_over(name: str, is_stray: bool, tmp_path: Path) -> None:
    """It is named once; a folder may be a student who handed in something else."""
    report = collect(tmp_path, {**work("ada"), **work("cid"), name: b"x"})
    assert students(report) == ["ada", "cid"]
    assert (report.strays, report.complete) == (([name], True) if is_stray else ([], False))
    assert collect_class.as_text(report).count(name.partition("/")[0]) == 1
    (tmp_path / "alone").mkdir()
    alone = collect(tmp_path / "alone", {name: b"x"})
    assert (alone.complete, alone.strays) == (False, [])


def test_a_student_cannot_make_others_doubtful(tmp_path: Path) -> None:
    others = [f"class/s{n}/my work/{LAB}.ipynb" for n in range(3)]
    report = collect(
        tmp_path, {**work("class/eve/a"), **work("class/eve/b"), **dict.fromkeys(others, b"{}")}
    )
    assert students(report) == ["s0", "s1", "s2"]
    assert set(asked(report)) == {"eve"}


@pytest.mark.parametrize("suffix", [".tar", ".tar.gz", ".7z"])
def test_another_archive_of_the_class_is_refused(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"class{suffix}"
    path.write_bytes(b"x")
    with (
        pytest.raises(NotTaken, match="is no zip file; unpack it, and collect the folder"),
        class_roster.opened_source(path),
    ):
        pass


#: What is certain, and the students of it.
CERTAIN: dict[str, tuple[Tree, list[str]]] = {
    "a class": ({**work("ada"), **work("bob")}, ["ada", "bob"]),
    "a class in a folder": ({**work("class/ada"), **work("class/bob")}, ["ada", "bob"]),
    "the lab's files in their folders": (
        {**in_folder("class/ada", lab_files("ada")), **in_folder("class/bob", lab_files("bob"))},
        ["ada", "bob"],
    ),
    "archives in a folder": (
        {"class/ada.zip": zipped(lab_files("ada")), "class/bob.zip": zipped(work("bob"))},
        ["ada", "bob"],
    ),
    "one student with the lab's folder": (work("ada"), ["ada"]),
    "one student with the lab's files": (in_folder("ada", lab_files("ada")), ["ada"]),
    "one student with an archive": (archive("ada"), ["ada"]),
    "one student with a zip file named like the lab": (
        {f"ada/{LAB}.zip": zipped(lab_files("ada"))},
        ["ada"],
    ),
    "one student's zip file": ({"ada.zip": zipped(lab_files("ada"))}, ["ada"]),
    "one student's zip file of her folder": ({"ada.zip": zipped(work("ada"))}, ["ada"]),
    "one student's folder twice": (work("ada/ada"), ["ada"]),
    "one student with all labs": (
        {
            **work("ada"),
            **work("ada", OTHER),
            **archive("ada/handed-in"),
            "ada/notes/1.txt": b"x",
            "ada/.git/config": b"x",
        },
        ["ada"],
    ),
    "a student who handed in twice": (
        {**archive("ada"), **archive("ada", "20260305T000000Z"), **archive("bob")},
        ["ada", "bob"],
    ),
    "folders of their own": (
        {f"ada/my work/{LAB}.ipynb": b"{}", f"bob/timer/{LAB}.ipynb": b"{}"},
        ["ada", "bob"],
    ),
    "one more folder": (
        {**work("ada"), f"bob/timer/{LAB}.ipynb": b"{}", "bob/notes/1.txt": b"x"},
        ["ada", "bob"],
    ),
    "a copy": ({**work("ada"), **work("bob"), **work("bob/old")}, ["ada", "bob"]),
    "a folder and an archive of one name": (
        {**work("ada"), "bob/bob/figures.json": b"{}", "bob/bob.zip": zipped(lab_files("bob"))},
        ["ada", "bob"],
    ),
    "files of operating systems": (
        {**work("class/ada"), **work("class/bob"), "class/.DS_Store": b"", "__MACOSX/._x": b""},
        ["ada", "bob"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("as_zip", [True, False])
@pytest.mark.parametrize("name", CERTAIN)
def test_what_is_certain_is_not_asked(name: str, as_zip: bool, tmp_path: Path) -> None:
    tree, expected = CERTAIN[name]
    report = collect(tmp_path, tree, as_zip=as_zip)
    assert asked(report) == {}
    assert (students(report), report.complete) == (expected, True)


def test_who_is_named_by_a_platform_is_never_asked(tmp_path: Path) -> None:
    files = {"x.zip": zipped({**in_folder("a", lab_files("a")), "b/notes.txt": b"x"})}
    course = CourseDirectory(root=str(tmp_path / "course"))
    for path in (
        canvas_zip(tmp_path / "c.zip", [Upload("A", 1, files)]),
        moodle_zip(tmp_path / "m.zip", [Upload("B", 2, files)]),
    ):
        with class_roster.opened_source(path) as items:
            report = Collect(course, LAB, [LAB]).run(path.name, items)
        assert (len(report.lines), report.complete) == (1, True)
