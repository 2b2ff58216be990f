"""The data set of a class: what the report writes, and what notebooks show of it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from grader.class_grading.class_report import class_figures as rows_of
from grader.class_grading.graded_class import course_in, read_class
from grader.commands.cli import main
from grader.figures import LABS
from grader.figures.verdict import Outcome
from grader.judging.lab_folder import check_folder
from labs import views
from labs.course import class_figures
from labs.course.class_figures import ALL_MACHINES, FEWEST_RUNS, BadClassFigures, ClassFigure
from labs.messages import Refused
from labs.notebook.run import Run
from labs.notebook.session import Session
from labs.recording.file import read
from labs.recording.run_conditions import SEVERAL, UNKNOWN, kind_of, kind_of_all
from support.graded_course import ARM, LAB, GradedCourse, verdict
from support.paths import REPOSITORY
from support.submitted_figures import FENCED as TIMER
from support.submitted_figures import recording

FENCED, RATIO = "timer-overhead-fenced", "timer-ratio-process-cpu"
HONEST = (
    REPOSITORY / "tests/fixtures/honest_runs/01-timer-overhead-counter-1-ghz"
    "/recordings/timer-overhead-fenced.csv"
)
ROW = ClassFigure(FENCED, "timer_overhead", "fenced", "", ALL_MACHINES, "ns", 40, 10.0, 20.0, 30.0)


def graded(folder: Path, count: int = FEWEST_RUNS) -> GradedCourse:
    course = GradedCourse(folder)
    for number in range(count):
        course.add(
            f"ada-{number}", [verdict(FENCED), verdict(RATIO)],
            {FENCED: (0.02 + number / 1000, "us"), RATIO: (20, "times")},
        )  # fmt: skip
    return course


def test_a_row_sums_up_accepted_figures_by_machine(tmp_path: Path) -> None:
    course = graded(tmp_path)
    for number in range(FEWEST_RUNS):
        course.add(f"b{number}", [verdict(FENCED)], {FENCED: (10, "ns")}, machine=ARM)
    course.add("c", [verdict(FENCED, Outcome.FAILED)], {FENCED: (20_000, "ns")})
    rows = rows_of(read_class(course_in(course.folder), LAB))
    fenced = {row.machine: row for row in rows if row.figure == FENCED}
    assert {machine: row.count for machine, row in fenced.items()} == {
        ALL_MACHINES: 2 * FEWEST_RUNS,
        "x86-64, AMD, virtual": FEWEST_RUNS,
        "Arm, not virtual": FEWEST_RUNS,
    }
    assert fenced["x86-64, AMD, virtual"].median == pytest.approx(22.0)
    assert fenced[ALL_MACHINES].kernel == "timer_overhead"
    assert {row.kernel for row in rows if row.figure == RATIO} == {""}


def test_no_row_is_of_a_few_students(tmp_path: Path) -> None:
    course = graded(tmp_path, FEWEST_RUNS - 1)
    course.add("b", [verdict(FENCED)], {FENCED: (10, "ns")}, machine=ARM)
    (row,) = rows_of(read_class(course_in(course.folder), LAB))
    assert (row.machine, row.count) == (ALL_MACHINES, FEWEST_RUNS)


def test_a_run_that_several_students_handed_in_counts_once(tmp_path: Path) -> None:
    course = graded(tmp_path, FEWEST_RUNS - 1)
    for number in range(FEWEST_RUNS):
        friend = course.add(
            f"friend-{number}", [verdict(FENCED), verdict(RATIO)],
            {FENCED: (0.9, "us"), RATIO: (20, "times")}, run_of="ada-0",
        )  # fmt: skip
        # The copy states another time, and its ratio names no recording of its own.
        copied = friend / "recordings" / "run.csv"
        copied.write_text(copied.read_text().replace("# os", f"# created: {number}\n# os"))
        figures = json.loads((friend / "figures.json").read_text())
        figures[RATIO]["recording"] = None
        (friend / "figures.json").write_text(json.dumps(figures))
    assert rows_of(read_class(course_in(course.folder), LAB)) == ()
    course.add("own", [verdict(FENCED)], {FENCED: (0.024, "us")})
    rows = rows_of(read_class(course_in(course.folder), LAB))
    assert {(row.figure, row.machine) for row in rows} == {
        (FENCED, ALL_MACHINES), (FENCED, "x86-64, AMD, virtual")
    }  # fmt: skip
    assert {row.count for row in rows} == {FEWEST_RUNS}
    assert {round(row.median, 6) for row in rows} == {22.0}


def test_a_run_on_a_shared_core_is_no_value_of_the_class(tmp_path: Path) -> None:
    course = graded(tmp_path)
    for number in range(FEWEST_RUNS):
        shared = verdict(FENCED, at_most=True)
        course.add(f"shared-{number}", [shared, verdict(RATIO)],
            {FENCED: (0.9, "us"), RATIO: (20, "times")},
        )  # fmt: skip
    rows = rows_of(read_class(course_in(course.folder), LAB))
    fenced = {(row.count, round(row.median, 6)) for row in rows if row.figure == FENCED}
    assert fenced == {(FEWEST_RUNS, 22.0)}
    assert {row.count for row in rows if row.figure == RATIO} == {2 * FEWEST_RUNS}


def test_the_data_set_names_nobody_and_an_old_one_does_not_stay(tmp_path: Path) -> None:
    course = graded(tmp_path)
    assert main(["report", LAB, "--course", str(course.folder), "--names"]) == 0
    file = course.folder / "report" / LAB / "class.csv"
    assert "ada" not in file.read_text()
    assert len(class_figures.read_class(file)) == 4
    (course.folder / "autograded" / "ada-0").rename(tmp_path / "gone")
    assert main(["report", LAB, "--course", str(course.folder)]) == 0
    assert not file.exists()


def test_a_variant_that_the_student_must_choose_is_not_named(tmp_path: Path) -> None:
    hidden = [spec for specs in LABS.values() for spec in specs if spec.hides_variants]
    assert hidden
    spec = hidden[0]
    course = GradedCourse(tmp_path, spec.lab)
    for number in range(FEWEST_RUNS):
        course.add(f"a{number}", [verdict(spec.id)], {spec.id: (10 + number, spec.unit)})
    rows = rows_of(read_class(course_in(course.folder), spec.lab))
    assert {row.variant for row in rows} == {""}


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    file = tmp_path / "class.csv"
    rows = (ROW, replace(ROW, machine="x86-64, AMD, virtual", quarter=15.0))
    class_figures.write_class(file, rows)
    assert class_figures.read_class(file) == rows


@pytest.mark.parametrize(
    "change",
    [
        lambda text: "",
        lambda text: text.replace("median", "mean"),
        lambda text: text.replace("20", "nan"),
        lambda text: text.replace("20", "1" + "0" * 400),
        lambda text: text.replace("40", "many"),
        lambda text: text.replace("10", "21"),
        lambda text: text + "one,two\n",
        lambda text: text.replace("fenced", "f" * 200),
        lambda text: text.replace("fenced", "\x1b[31m"),
        lambda text: text + text.splitlines()[1] * 3000,
        lambda text: text.replace("fenced", '"'),
    ],
)
def test_a_damaged_file_is_refused_with_what_to_do(tmp_path: Path, change: object) -> None:
    file = tmp_path / "class.csv"
    class_figures.write_class(file, [ROW])
    assert callable(change)
    file.write_text(change(file.read_text()))
    with pytest.raises(BadClassFigures, match=r"ask your instructor|bytes"):
        class_figures.read_class(file)
    with pytest.raises(Refused, match="of your class cannot be read"):
        Session(LAB, tmp_path).compare_class()


@pytest.fixture
def lab(tmp_path: Path) -> Path:
    folder = GradedCourse(tmp_path).add("ada", [], {FENCED: (0.025, "µs"), RATIO: (35, "times")})
    like = "x86-64, AMD, virtual"
    class_figures.write_class(
        folder / "class.csv",
        [
            ROW,
            replace(ROW, machine=like, count=12, quarter=18.0),
            replace(ROW, figure=RATIO, unit="times", kernel="", variant=""),
            replace(ROW, figure="timer-step", unit="ticks"),
        ],
    )
    return folder


def test_a_notebook_shows_own_figures_next_to_those_of_the_class(lab: Path) -> None:
    fenced, ratio, step = Session(LAB, lab).compare_class().rows
    like = "18 to 30 (x86-64, AMD, virtual; 12)"
    assert fenced == (FENCED, "25 ns", "20 ns", "10 to 30", "in it", like)
    assert ratio[1:5] == ("35 times", "20 times", "10 to 30", "above it")
    assert step[1] == "not handed in" and step[4] == ""


@pytest.mark.parametrize("value", [0.025, 0.035, 0.005])
def test_a_figure_of_a_shared_core_is_an_upper_limit_beside_the_class(
    lab: Path, value: float
) -> None:
    """At most 25 or 35 ns may be any value of the class, and at most 5 ns lies below it."""
    figures = json.loads((lab / "figures.json").read_text())
    figures[FENCED]["value"] = value
    (lab / "figures.json").write_text(json.dumps(figures))
    for width, shared in (("2 2 2", True), ("4 4 4", False)):
        each = {"core_width": width, "core_width.after": "-9 90 190"}
        run = recording({"fenced": TIMER}, each_process=each)
        run.write(lab / "recordings" / "run.csv")
        own, place = Session(LAB, lab).compare_class().rows[0][1:5:3]
        assert own.startswith("at most ") == shared
        assert place == "below it" if value < 0.01 else place.startswith("not known") == shared
        verdict = check_folder(lab, LAB)[0]
        assert (verdict.figure, verdict.at_most) == (FENCED, shared)


def test_without_the_file_the_notebook_says_where_it_comes_from(tmp_path: Path) -> None:
    with pytest.raises(Refused, match="grader report") as refused:
        Session(LAB, tmp_path / LAB).compare_class()
    assert f"Put it into the folder {LAB}" in str(refused.value)


def shown_of(run: Run) -> tuple[list[tuple[str, ...]], str]:
    """The rows about the class in the view of published figures, and its description."""
    shown = views.among_published(run, "timer overhead", "A")
    return [row for row in shown.table.rows if row[0] == "your class"], shown.meaning


def test_the_view_of_published_figures_has_the_class(
    lab: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = Run.of(read(HONEST), ("fenced",))
    monkeypatch.chdir(tmp_path)
    assert shown_of(run)[0] == []
    monkeypatch.chdir(lab)
    like = kind_of(run.recording.conditions)
    class_figures.write_class(
        lab / "class.csv",
        [
            replace(ROW, unit="us"),
            replace(ROW, machine=like, count=12),
            replace(ROW, machine="a machine of others"),
            replace(ROW, variant="monotonic"),
            replace(ROW, flags="-O3"),
        ],
    )
    rows, meaning = shown_of(run)
    assert [(row[1], row[3]) for row in rows] == [
        ("timer_overhead fenced (40 figures)", "20,000"),
        ("timer_overhead fenced (12 figures)", "20"),
    ]
    assert "In your class, the median of 40 accepted figures" in meaning
    assert shown_of(run.in_unit("ticks"))[0] == []
    (lab / "class.csv").write_text("?")
    rows, meaning = shown_of(run)
    assert not rows and "The figures of your class cannot be read" in meaning


def test_machines_of_one_kind_have_it_and_others_have_several() -> None:
    arm = kind_of(ARM)
    assert kind_of_all([arm, arm]) == arm
    assert kind_of_all([arm, "x86-64, AMD, virtual"]) == SEVERAL
    assert kind_of_all([]) == UNKNOWN
