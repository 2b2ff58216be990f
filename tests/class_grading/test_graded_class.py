"""What is read of a graded class: verdicts from the notebooks, numbers from students' files."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from grader.class_grading.class_statistics import findings_of_class
from grader.class_grading.graded_class import (
    GradedClass,
    GradedSubmission,
    NoReport,
    course_in,
    read_class,
)
from grader.figures.verdict import Outcome
from grader.pitfalls import CATALOGUE, pitfall_named
from labs.recording.run_conditions import UNKNOWN, kind_in_head
from support.graded_course import ARM, LAB, GradedCourse, not_handed_in, verdict

FENCED, STEP = "timer-overhead-fenced", "timer-step"


def read(course: GradedCourse) -> GradedClass:
    return read_class(course_in(course.folder), LAB)


def only(course: GradedCourse) -> GradedSubmission:
    (submission,) = read(course).submissions
    return submission


def test_verdicts_numbers_and_machine_are_those_of_the_submission(tmp_path: Path) -> None:
    course = GradedCourse(tmp_path)
    verdicts = [verdict(FENCED), verdict(STEP, Outcome.FAILED, "step-assumed-one", points=3.0)]
    course.add("ada", verdicts, {FENCED: (0.02, "µs"), STEP: (1, "ticks")})
    first, second = only(course).figures
    assert (first.in_words, first.value, first.unit) == ("passed", 20.0, "ns")
    assert first.machine == "x86-64, AMD, virtual"
    assert (second.in_words, second.unit) == ("partly right", "ticks")
    assert second.findings == ("step-assumed-one",)


def test_a_missing_figure_is_not_a_failed_one(tmp_path: Path) -> None:
    course = GradedCourse(tmp_path)
    course.add("ada", [not_handed_in(FENCED)])
    (found,) = only(course).figures
    assert found.in_words == "not handed in"
    assert found.value is None
    assert not findings_of_class(read(course))


def test_only_a_guess_before_the_recording_counts(tmp_path: Path) -> None:
    course = GradedCourse(tmp_path)
    folder = course.add(
        "ada", [verdict(FENCED)], {FENCED: (20, "ns")}, predictions={FENCED: (0.01, "us")}
    )
    (guess,) = only(course).guesses
    assert (guess.figure, guess.factor) == (FENCED, 2.0)
    stated = json.loads((folder / "predictions.json").read_text())
    stated[FENCED][0]["late"] = True
    (folder / "predictions.json").write_text(json.dumps(stated))
    assert only(course).guesses == ()


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "[" * 100_000, '{"cells": 1}', '{"cells": [1, {"metadata": 2}]}']
)
def test_an_unreadable_notebook_is_named_and_the_others_are_read(tmp_path: Path, text: str) -> None:
    course = GradedCourse(tmp_path)
    course.add("ada", [verdict(FENCED)])
    folder = course.add("bob", [verdict(FENCED)])
    (folder / f"{LAB}.ipynb").write_text(text)
    found = read(course)
    assert [each.student for each in found.submissions] == ["ada"]
    assert [each.student for each in found.unread] == ["bob"]
    assert found.unread[0].trouble


@pytest.mark.parametrize(
    "name", [f"{LAB}.ipynb", "figures.json", "recordings", "recordings/run.csv"]
)
def test_no_link_is_followed(tmp_path: Path, name: str) -> None:
    course = GradedCourse(tmp_path / "course")
    folder = course.add("bob", [verdict(FENCED)], {FENCED: (20, "ns")})
    elsewhere = tmp_path / "elsewhere"
    (folder / name).rename(elsewhere)
    (folder / name).symlink_to(elsewhere)
    found = read(course)
    if name.endswith("ipynb"):
        assert not found.submissions and found.unread[0].student == "bob"
        return
    (figure,) = found.submissions[0].figures
    assert figure.machine == UNKNOWN
    assert (figure.value is None) == (name == "figures.json")


def test_a_pipe_for_a_recording_stops_nobody(tmp_path: Path) -> None:
    course = GradedCourse(tmp_path)
    folder = course.add("bob", [verdict(FENCED)], {FENCED: (20, "ns")})
    (folder / "recordings" / "run.csv").unlink()
    os.mkfifo(folder / "recordings" / "run.csv")
    assert only(course).figures[0].machine == UNKNOWN


def test_who_handed_in_and_waits_is_listed(tmp_path: Path) -> None:
    course = GradedCourse(tmp_path)
    with pytest.raises(NoReport, match="`grader autograde 01-timer-overhead"):
        read(course)
    course.add("ada", [verdict(FENCED)])
    course.hand_in("zoe")
    course.hand_in("=1+1")
    course.hand_in("two\nlines")
    assert (read(course).waiting, read(course).refused) == (("zoe",), 2)
    with pytest.raises(NoReport, match="no course folder"):
        course_in(tmp_path / "autograded")


def test_a_kind_of_machine_holds_no_word_of_the_recording() -> None:
    assert kind_in_head(b"# machine.cpu: <b>Mallory</b>\n# os: Linux me\n") == UNKNOWN
    assert kind_in_head(b"\xff\xfe\x00# os: Linux x86_64") == UNKNOWN
    head = "".join(f"# {key}: {value}\n" for key, value in ARM.items())
    assert kind_in_head(head.encode()) == "Arm, not virtual"
    late = head + "# process.0: {}\n# machine.cpu: Intel\n"
    assert kind_in_head(late.encode()) == "Arm, not virtual"
    assert kind_in_head(b"# os: Linux 5.15-microsoft-standard-WSL2 x86_64\n") == "x86-64, WSL"


def test_of_findings_in_as_many_submissions_that_on_more_figures_comes_first(
    tmp_path: Path,
) -> None:
    course = GradedCourse(tmp_path)
    course.add("ada", [verdict(FENCED, Outcome.FAILED, "in-one")])
    course.add("bob", [verdict(each, Outcome.FAILED, "of-two") for each in (FENCED, STEP)])
    assert [each.code for each in findings_of_class(read(course))] == ["of-two", "in-one"]


def test_findings_count_submissions_and_say_the_words_of_the_catalogue(tmp_path: Path) -> None:
    course = GradedCourse(tmp_path)
    slip = [verdict(each, Outcome.FAILED, "unit-slip") for each in (FENCED, STEP)]
    course.add("ada", slip)
    course.add("bob", [verdict(FENCED), verdict(STEP, Outcome.FAILED, "unit-slip", "of-old")])
    course.add("zoe", [verdict(FENCED)])
    first, second = findings_of_class(read(course))
    assert (first.code, first.count, first.of) == ("unit-slip", 2, 3)
    assert first.by_figure == ((STEP, 2), (FENCED, 1))
    entry = pitfall_named("unit-slip")
    assert first.words.startswith("2 of 3 submissions show this: ")
    assert all(text in first.words for text in (entry.symptom, entry.misconception))
    assert first.words.endswith(entry.experiment)
    assert (second.code, second.words) == ("of-old", "")
    assert len({each.code for each in CATALOGUE} & {first.code, second.code}) == 1
