"""The report on a class: what stands on the page, and what must not stand there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from grader.class_grading.class_report import page_of, strips_drawing
from grader.class_grading.class_statistics import (
    WORDS,
    Frequent,
    conclusions_of_class,
    guesses_of_class,
    most_often,
    outcomes_of_class,
    spreads_of_class,
    to_look_at,
    without_quotes,
)
from grader.class_grading.graded_class import GradedClass, course_in, read_class
from grader.commands.cli import main
from grader.figures.verdict import Outcome
from labs.plots.scale import BLUE, VERMILLION
from support.graded_course import AMD_GUEST, ARM, LAB, GradedCourse, not_handed_in, verdict

FENCED, STEP, OWN = "timer-overhead-fenced", "timer-step", "timer-own-addition"
PASSED, FAILED, OPEN = Outcome.PASSED, Outcome.FAILED, Outcome.NOT_GRADED
EVIL = "<script>alert(1)</script>"


def read(course: GradedCourse, lab: str = LAB) -> GradedClass:
    return read_class(course_in(course.folder), lab)


def test_each_outcome_is_counted_once(tmp_path: Path) -> None:
    course = GradedCourse(tmp_path)
    course.add("a", [verdict(FENCED)])
    course.add("b", [verdict(FENCED, FAILED, "unit-slip", points=3.0)])
    course.add("c", [verdict(FENCED, FAILED, "unit-slip")])
    course.add("d", [not_handed_in(FENCED)])
    course.add("e", [verdict(FENCED, OPEN, points=0.0, reason="no memory")])
    (row,) = outcomes_of_class(read(course))
    assert dict(zip(WORDS, row.counts, strict=True)) == dict.fromkeys(WORDS, 1)
    assert row.passed == 0.25  # who waits for a person has not failed


def test_numbers_are_separated_by_machine_and_by_outcome(tmp_path: Path) -> None:
    course = GradedCourse(tmp_path)
    for number in range(3):
        course.add(f"a{number}", [verdict(FENCED)], {FENCED: (20 + number, "ns")})
    course.add("b", [verdict(FENCED)], {FENCED: (0.01, "us")}, machine=ARM)
    course.add("c", [verdict(FENCED, FAILED)], {FENCED: (20_000, "ns")}, machine=ARM)
    course.add("d", [verdict(FENCED)], {FENCED: (50, "cycles")})
    course.add("e", [verdict(FENCED, FAILED)], {FENCED: (1e300, "s")})
    (spread,) = spreads_of_class(read(course))
    found = {kind.machine: (kind.accepted, kind.others) for kind in spread.kinds}
    assert found == {
        "x86-64, AMD, virtual": ((20.0, 21.0, 22.0), ()),
        "Arm, not virtual": ((10.0,), (20_000.0,)),
    }
    assert spread.left_out == 2
    assert spread.kinds[0].summary == ("21", "20.5 to 21.5", "20 to 22")


def test_the_axis_is_that_of_accepted_numbers_and_the_rest_is_counted(tmp_path: Path) -> None:
    course = GradedCourse(tmp_path)
    for number in range(10):
        course.add(f"a{number}", [verdict(FENCED)], {FENCED: (20 + number, "ns")})
    course.add("b", [verdict(FENCED, FAILED)], {FENCED: (20_000, "ns")})
    course.add("c", [verdict(FENCED, FAILED)], {FENCED: (25, "ns")})
    (spread,) = spreads_of_class(read(course))
    plot = strips_drawing(spread)
    assert plot is not None
    up, down = (
        re.search(f"d='([^']*)' fill='{colour}'", plot.svg) for colour in (BLUE, VERMILLION)
    )
    assert up is not None and up[1].count("M") == 10
    assert down is not None and down[1].count("M") == 1
    assert "median 24.5; 12 handed in, 1 outside" in plot.svg
    assert ": median 24.5 ns." in plot.description
    assert any(row[3].startswith("24.5 (") for row in plot.table.rows)


@pytest.mark.parametrize("values", [(0,), (-5, 5), (1e-14, 1e14), (7, 7), (0, 0)])
def test_odd_numbers_have_a_plot_too(tmp_path: Path, values: tuple[float, ...]) -> None:
    course = GradedCourse(tmp_path)
    for number, value in enumerate(values):
        course.add(f"a{number}", [verdict(FENCED)], {FENCED: (value, "ns")})
    (spread,) = spreads_of_class(read(course))
    plot = strips_drawing(spread)
    assert plot is not None
    assert "nan" not in plot.svg and "inf" not in plot.svg
    assert f"; {len(values)} handed in<" in plot.svg


def test_guesses_count_only_to_a_figure_that_passed(tmp_path: Path) -> None:
    course = GradedCourse(tmp_path)
    for number, guess in enumerate((1, 4, 18, 500)):
        course.add(
            f"a{number}", [verdict(FENCED)], {FENCED: (20, "ns")},
            predictions={FENCED: (guess, "ns")},
        )  # fmt: skip
    course.add(
        "b", [verdict(FENCED, FAILED)], {FENCED: (20_000, "ns")}, predictions={FENCED: (20, "ns")}
    )
    (found,) = guesses_of_class(read(course))
    assert (found.count, found.low, found.near, found.high) == (4, 2, 1, 1)
    assert "Most guesses" not in found.sentence  # two of four are not most
    course.add("c", [verdict(FENCED)], {FENCED: (20, "ns")}, predictions={FENCED: (2, "ns")})
    (found,) = guesses_of_class(read(course))
    assert found.sentence.endswith("Most guesses were too low.")


def test_conclusions_show_what_was_chosen_after_how_many_tries(tmp_path: Path) -> None:
    lab, figure = "04-procedure-call", "call-inlined"
    course = GradedCourse(tmp_path, lab)
    for student, number, outcome, tries in (
        ("a", 1, PASSED, 1), ("b", 1, PASSED, 3), ("c", 2, FAILED, 1)
    ):  # fmt: skip
        course.add(student, [verdict(figure, outcome, tries=tries)], {figure: (number, "choice")})
    graded = read(course, lab)
    (found,) = conclusions_of_class(graded)
    assert [(each.count, each.right) for each in found.chosen[:2]] == [(2, 2), (1, 0)]
    assert found.tries == ((1, 1, 2), (3, 1, 1))
    assert not spreads_of_class(graded)


def test_with_pseudonyms_no_name_is_anywhere_on_the_page(tmp_path: Path) -> None:
    course = GradedCourse(tmp_path)
    flags = ("the recording has the same samples as recordings/lovelace.csv",)
    notes = ["the notebook was found under the name `Ada's.ipynb`", "ada 2.txt: not a regular file"]
    course.add("ada-lovelace", [verdict(FENCED, flags=flags)], set_aside=notes)
    course.add("grace.hopper", [verdict(FENCED, OPEN, reason="recordings/grace.csv is odd")])
    (course.add("marie", [verdict(FENCED)]) / f"{LAB}.ipynb").write_text("{")
    course.hand_in("zuse")
    course.hand_in("=cmd")
    assert main(["report", LAB, "--course", str(course.folder)]) == 0
    page = (course.folder / "report" / LAB / "report.html").read_text()
    for name in ("ada", "lovelace", "grace", "hopper", "marie", "zuse", "=cmd"):
        assert name not in page.lower().replace("readable", "").replace("made", "")
    known = (course.folder / "pseudonyms.csv").read_text().splitlines()[1:]
    assert len(known) == 4
    assert "1 folder was refused for the name" in page
    assert all(line.split(",")[0] in page for line in known)


def test_with_names_the_page_shows_them_and_is_private(tmp_path: Path) -> None:
    course = GradedCourse(tmp_path / "course")
    course.add("ada", [verdict(FENCED, flags=("recordings/x.csv is odd",))])
    to = tmp_path / "elsewhere"
    assert main(["report", LAB, "--course", str(course.folder), "--to", str(to), "--names"]) == 0
    page = (to / "report.html").read_text()
    assert "ada" in page and "recordings/x.csv is odd" in page
    assert (to / "report.html").stat().st_mode & 0o777 == 0o600
    assert not (course.folder / "pseudonyms.csv").exists()


def test_what_our_notes_say_is_kept_without_what_students_chose() -> None:
    known, names = {f"`{OWN}`", "cpu.pinning"}, {"ada"}
    for note in (
        f"locked cell `{OWN}`: deleted",
        "cpu.pinning differ from others",
        "another student's submission in this course holds the same run",
        "the check took more than 3.5 s of processor time",
        "the notebook is not valid JSON (line 600, column 5): this text has no closing quote",
    ):
        assert without_quotes(note, known, names) == note
    assert without_quotes("added cell `ada`: not part", known, names) == "added cell …: not part"
    assert without_quotes("of Ada and adam", known, names) == "of … and adam"


def test_a_word_that_the_whole_class_shares_is_no_name(tmp_path: Path) -> None:
    course = GradedCourse(tmp_path)
    flag = "another student's submission in this course holds the same run"
    for number in range(5):
        course.add(f"student-{number}", [verdict(FENCED, flags=(flag,))])
    graded = read(course)
    (note,) = to_look_at(graded, {student: student for student in graded.students}).flags
    assert note.text == flag
    assert len(note.students) == 5


def test_nothing_on_the_page_is_active(tmp_path: Path) -> None:
    course = GradedCourse(tmp_path)
    course.add(
        EVIL.replace("/", ""),
        [
            verdict(FENCED, FAILED, EVIL, flags=(EVIL,), reason=EVIL),
            verdict(EVIL, OPEN, reason=EVIL),
        ],
        {FENCED: (20, "ns"), STEP: (1, EVIL)},
        machine={**AMD_GUEST, "machine.cpu": EVIL, "os": EVIL},
        set_aside=[EVIL],
    )
    course.add("ada", [verdict(FENCED, FAILED, EVIL, flags=(EVIL,))], set_aside=[EVIL])
    graded = read(course)
    for pseudonyms in (None, dict.fromkeys(graded.students, EVIL)):
        page = page_of(graded, pseudonyms, EVIL)
        assert "<script" not in page
        assert not re.search(r"\s(src|href|on\w+)\s*=", re.sub(r"&lt;.*?&gt;", "", page))
        assert "default-src 'none'" in page.replace("&#39;", "'")


def test_errors_say_what_to_do(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", LAB, "--course", str(tmp_path)]) == 1
    assert "name it with --course" in capsys.readouterr().err
    course = GradedCourse(tmp_path / "course")
    assert main(["report", LAB, "--course", str(course.folder)]) == 1
    assert "grader autograde" in capsys.readouterr().err
    assert main(["report", "../" + LAB, "--course", str(course.folder)]) == 1
    assert "is no name of a lab" in capsys.readouterr().err
    course.add("ada", [verdict(FENCED)])
    (course.folder / "pseudonyms.csv").write_text("?")
    assert main(["report", LAB, "--course", str(course.folder)]) == 1
    assert "move it away" in capsys.readouterr().err


def test_beside_a_figure_stands_what_most_students_have_there_and_not_in_the_class() -> None:
    found = (
        Frequent("one-process", 9, 40, (("a", 2), ("b", 7))),
        Frequent("unit-slip", 5, 40, (("a", 5),)),
    )
    assert most_often(found) == {"a": "unit-slip", "b": "one-process"}
