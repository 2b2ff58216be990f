"""A class graded by `grader autograde` and by `nbgrader autograde`: the same in every byte."""

from __future__ import annotations

import datetime
import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from nbgrader.api import Gradebook

from grader.class_grading.autograde_class import Options, Summary, autograde
from grader.commands import cli
from support.formgrader import formgrader_api
from support.small_course import LAB
from support.small_exchange import EARLY, LATE, ExchangeCourse

#: Due between the two times at which students hand in; penalties as the course's own plugin sets.
DUE = datetime.datetime(2025, 1, 15)
SETTINGS = """
import sys
sys.path.insert(0, str(pathlib.Path(__file__).parent))
c.AssignLatePenalties.plugin_class = "small_penalty.Penalty"
"""
PENALTY = """
from nbgrader.plugins import BasePlugin
class Penalty(BasePlugin):
    def late_submission_penalty(self, student_id, score, total_seconds_late):
        if student_id == "penalty-fails":
            raise RuntimeError("no penalty for this one")
        return min(score, 1.25) if student_id != "too-much" else 100.0
"""
FIGURES: dict[str, Any] = {
    "whole": {"cost": {"points": 4.0}, "step": {"points": 2.0}},
    "other-scale": {"cost": {"points": 30.0, "of": 40.0}, "step": {"points": 2.0}},
    "without-figures": {},
    "open": {"cost": "open", "step": {"points": 2.0}},
    "crash": {"crash": True},
    "fault": {"fault": True},
    "too-many-points": {"cost": {"points": 1e308}, "step": {"points": -7}},
    "no-number": {"cost": {"points": float("nan"), "runs": ["z"]}, "step": {"points": 1.0}},
    "copy-1": {"cost": {"points": 4.0, "runs": ["a", "b"]}, "step": {"points": 1.0, "runs": ["c"]}},
    "copy-2": {"cost": {"points": 4.0, "runs": ["b"]}, "step": {"points": 2.0, "runs": ["d"]}},
    "copy-3": {"cost": "open", "step": {"points": 2.0, "runs": ["d", "z"]}},
    "late": {"cost": {"points": 4.0}, "step": {"points": 2.0}},
    "too-much": {"cost": {"points": 0.5}, "step": {"points": 0.0}},
    "extended": {"cost": {"points": 4.0}, "step": {"points": 2.0}},
}
LATECOMERS = ("late", "too-much", "extended", "copy-2")
REFUSED = ("li*nk", "denied-name\n")


def handed_in(course: ExchangeCourse) -> None:
    """Fills `submitted`: every kind of figures, then notebooks and files that are not as asked."""
    for student, figures in FIGURES.items():
        submit(course, student, course.answered(), figures)
    for student, notebook in odd_notebooks(course).items():
        submit(course, student, notebook, {"cost": {"points": 3.0}})
    renamed = submit(course, "renamed", course.answered())
    (renamed / f"{LAB}.ipynb").rename(renamed / "my copy.ipynb")
    files = submit(course, "odd-files", course.answered())
    (files / "recordings" / "link.csv").symlink_to("/etc/passwd")
    os.mkfifo(files / "pipe")
    (files / "data.csv").write_text("mine, and not the course's")
    (files / "notes").mkdir()
    (files / "notes" / "mine.txt").write_text("kept")
    (submit(course, "no-time", course.answered()) / "timestamp.txt").write_text("yesterday")
    (submit(course, "never", course.answered()) / "timestamp.txt").unlink()
    for student in REFUSED:
        submit(course, student, course.answered())
    (course.folder / "submitted" / "a-link").symlink_to("whole")


def odd_notebooks(course: ExchangeCourse) -> dict[str, Any]:
    whole = json.dumps(course.answered())
    doubled = course.answered()
    doubled["cells"] += doubled["cells"][-1:]
    return {
        "untouched": course.released(),
        "cut-off": whole[: len(whole) // 2],
        "no-notebook": None,
        "html": whole.replace("answer to report", "<script>alert(1)</script> \\u2028 é \\ud800"),
        "doubled": doubled,
    }


def submit(course: ExchangeCourse, student: str, notebook: Any, figures: Any = None) -> Path:
    folder = course.submit(student, notebook, figures or {"cost": {"points": 1.0}})
    (folder / "recordings").mkdir()
    (folder / "recordings" / "run.csv").write_text(f"evidence of {student!a}")
    (folder / "timestamp.txt").write_text(LATE if student in LATECOMERS else EARLY)
    return folder


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> ExchangeCourse:
    course = ExchangeCourse(tmp_path_factory.mktemp("evening"))
    config = course.folder / "nbgrader_config.py"
    config.write_text(config.read_text() + SETTINGS)
    (course.folder / "small_penalty.py").write_text(PENALTY)
    with pytest.MonkeyPatch.context() as patch, formgrader_api(course.folder, patch) as api:
        assert api.generate_assignment(LAB)["success"]
    with Gradebook(f"sqlite:///{course.folder / 'gradebook.db'}") as gradebook:
        gradebook.update_or_create_assignment(LAB, duedate=DUE)
        gradebook.add_student("extended")
        gradebook.add_submission(LAB, "extended").extension = datetime.timedelta(days=30)
        gradebook.db.commit()
    return course


def by_us(course: ExchangeCourse) -> Summary:
    return autograde(course.folder, LAB, Options(workers=2), lambda _: lambda count: None)


def by_nbgrader(course: ExchangeCourse) -> str:
    with pytest.MonkeyPatch.context() as patch, formgrader_api(course.folder, patch) as api:
        return str(api.autograde(LAB, "*", force=False)["log"])


def rows(course: ExchangeCourse) -> dict[str, Any]:
    """Everything that the gradebook has of each submission, without ids."""
    found = {}
    with Gradebook(f"sqlite:///{course.folder / 'gradebook.db'}") as gradebook:
        for submission in gradebook.assignment_submissions(LAB):
            for notebook in submission.notebooks:
                found[submission.student.id] = {
                    "time": submission.timestamp,
                    "penalty": notebook.late_submission_penalty,
                    "score": notebook.score,
                    "flagged": notebook.flagged,
                    "grades": sorted(
                        (one.name, one.auto_score, one.manual_score, one.needs_manual_grade)
                        for one in notebook.grades
                    ),
                    "comments": sorted(
                        (one.name, one.auto_comment, one.manual_comment)
                        for one in notebook.comments
                    ),
                }
    return found


def folders(course: ExchangeCourse) -> dict[str, Any]:
    """Every file and folder below `autograded`, with its permissions and its content."""
    found: dict[str, Any] = {}
    for top, names, files in os.walk(course.folder / "autograded"):
        for name in [*names, *files]:
            path = Path(top) / name
            content = path.read_bytes() if path.is_file() else b""
            key = str(path.relative_to(course.folder))
            found[key] = (oct(path.lstat().st_mode), content)
    return found


Both = tuple[ExchangeCourse, ExchangeCourse, Summary, str]


@pytest.fixture(scope="module")
def both(made: ExchangeCourse, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Both]:
    ours = made.copied_to(tmp_path_factory.mktemp("ours") / "class")
    theirs = made.copied_to(tmp_path_factory.mktemp("theirs") / "class")
    for course in (ours, theirs):  # a pipe cannot be copied
        handed_in(course)
    said = by_nbgrader(theirs)
    yield ours, theirs, by_us(ours), said


def test_the_gradebooks_are_equal(both: Both) -> None:
    ours, theirs, _, _ = both
    assert rows(ours) == rows(theirs)
    assert rows(ours)["late"]["penalty"] == 1.25 and rows(ours)["extended"]["penalty"] is None
    assert len(rows(ours)) == len(FIGURES) + 5 + 4


def test_the_folders_are_equal(both: Both) -> None:
    ours, theirs, _, _ = both
    assert folders(ours) == folders(theirs)
    whole = json.loads((ours.folder / "autograded/copy-3" / LAB / f"{LAB}.ipynb").read_text())
    assert "holds the same run" in json.dumps(whole["cells"])


def test_the_summary_names_whom_to_look_at(both: Both) -> None:
    _, _, summary, _ = both
    assert summary.submissions == len(FIGURES) + 5 + 4 and not summary.failed
    assert set(summary.not_graded) == {"open", "crash", "fault", "no-number", "copy-3"}
    assert set(summary.flagged) == {"copy-2", "copy-3", "no-number"}
    assert {"cut-off", "no-notebook", "renamed", "odd-files", "doubled"} <= set(summary.set_aside)
    assert len(summary.refused) == len(REFUSED) + 1
    text = summary.as_text()
    assert "23 submissions graded" in text and "a person must grade (5): copy-3" in text


def test_points_given_by_hand_stay_and_a_person_looks_again(both: Both) -> None:
    ours, theirs, _, _ = both
    for course in (ours, theirs):
        with Gradebook(f"sqlite:///{course.folder / 'gradebook.db'}") as gradebook:
            for cell, points in (("report", 4.5), ("cost", 1.0)):
                grade = gradebook.find_grade(cell, LAB, LAB, "late")
                grade.manual_score, grade.needs_manual_grade = points, False
            gradebook.find_comment("report", LAB, LAB, "late").manual_comment = "well said"
            gradebook.db.commit()
        # A result without its notebook is made again; all others are skipped.
        (course.folder / "autograded" / "late" / LAB / f"{LAB}.ipynb").unlink()
    by_nbgrader(theirs)
    again = by_us(ours)
    assert (again.submissions, again.skipped) == (1, len(FIGURES) + 5 + 4 - 1)
    assert rows(ours) == rows(theirs)
    assert folders(ours) == folders(theirs)
    assert rows(ours)["late"]["grades"][0] == ("cost", 4.0, 1.0, True)


@pytest.mark.parametrize("due", [datetime.datetime(2040, 1, 15), None])
def test_a_due_date_that_moved_is_told_and_penalties_follow_it(
    due: datetime.datetime | None,
    both: Both,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    _, course, _, _ = both
    monkeypatch.setenv("TZ", "Europe/Prague")
    time.tzset()
    by_us(course)
    before = rows(course)
    _move(course, due)
    words = ["export", LAB, "--course", str(course.folder), "--csv", str(tmp_path / "up")]
    moved = sorted(set(LATECOMERS) - {"extended"})
    assert cli.main(words) == 0
    said = capsys.readouterr().out
    assert ("Due 2040-01-15 00:00 UTC (2040-01-15 01:00 CET)." in said) == (due is not None)
    told = f"and so has their late penalty: {', '.join(moved)}. Run `grader autograde"
    assert told in said and told in by_nbgrader(course)
    summary = by_us(course)
    assert (summary.submissions, summary.penalties) == (0, moved)
    assert f"Late penalties that changed, by this due date (3): {moved[0]}" in summary.as_text()
    assert not any(row["penalty"] for row in rows(course).values())
    assert "late penalty" not in by_nbgrader(course)
    capsys.readouterr()
    assert cli.main(words) == 0
    out, err = capsys.readouterr()
    assert "late penalty" not in out and not err
    _move(course, DUE)
    assert by_us(course).penalties == moved
    assert rows(course) == before
    monkeypatch.undo()
    time.tzset()


def _move(course: ExchangeCourse, due: datetime.datetime | None) -> None:
    with Gradebook(f"sqlite:///{course.folder / 'gradebook.db'}") as gradebook:
        gradebook.find_assignment(LAB).duedate = due
        gradebook.db.commit()
