"""How far somebody has come, over all labs, and how far off the guesses were."""

from __future__ import annotations

import json
import re
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from labs.commands import cli
from labs.course import (
    answers,
    figures,
    guide,
    lab_names,
    predicted_and_found,
    predictions,
    progress,
    published,
)
from labs.course.figures import Figure
from labs.course.predicted_and_found import Compared
from labs.course.predictions import Prediction
from labs.hand_in import hand_in as packing
from labs.notebook.way_through_labs import ShownProgress
from support.given_samples import recording_of
from support.paths import FIXTURES

FIRST, SECOND = lab_names.labs()[:2]
TENTH = "10-page-fault"


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of the labs in which nothing is done."""
    for lab in lab_names.labs():
        (tmp_path / lab).mkdir()
    return tmp_path


def do(copy: Path, lab: str, steps: int) -> None:
    """Leave behind what the first steps of a lab leave."""
    for step in guide.of_lab(lab).steps[:steps]:
        if step.kind == "prediction":
            predictions.put(copy / lab, step.name, Prediction(1, "ns"))
        elif step.kind == "recording":
            (copy / lab / "recordings").mkdir(exist_ok=True)
            honest = FIXTURES / "honest" / lab / "recordings" / f"{step.name}.csv"
            saved = honest.read_bytes() if step.variant or step.no_faults else b""
            (copy / lab / "recordings" / f"{step.name}.csv").write_bytes(saved)
        elif step.kind == "figure":
            figures.put(copy / lab, Figure(step.name, 2, "ns", None))
        elif step.kind == "answer":
            answers.put(copy / lab, step.name, "my own words")
        elif step.kind == "report":
            save_notebook(copy / lab, "A fenced pair costs 20 ns.")
        else:
            hand_in(copy / lab)


def save_notebook(folder: Path, report: str) -> None:
    """Save a notebook with this report."""
    metadata = {"nbgrader": {"grade_id": "report", "solution": True}}
    cell = {"cell_type": "markdown", "metadata": metadata, "source": report}
    (folder / f"{folder.name}.ipynb").write_text(json.dumps({"cells": [cell]}))


def hand_in(folder: Path, said: str = "Points: 4 of 4") -> None:
    """Leave the archive and the receipt that handing in leaves, without the check."""
    notebooks = answers.notebooks_in(folder, folder.name)
    files = packing.contents(folder, folder.name, notebooks)
    packing.write(folder, folder.name, files, said)


def test_every_lab_of_the_kit_is_told_in_order(copy: Path) -> None:
    seen = progress.of_labs(copy)
    assert [each.lab for each in seen] == sorted(each.lab for each in seen)
    assert all(each.here and each.done == 0 and not each.finished for each in seen)
    assert progress.what_next(seen) == f"{FIRST}: {guide.of_lab(FIRST).steps[0].do}"


def test_a_lab_that_is_begun_comes_before_one_that_is_not(copy: Path) -> None:
    do(copy, SECOND, 2)
    seen = progress.of_labs(copy)
    assert progress.what_next(seen) == f"{SECOND}: {guide.of_lab(SECOND).steps[2].do}"
    assert progress.what_next(seen, FIRST).startswith(FIRST)
    row = next(row for row in progress.table(seen).rows if row[0] == SECOND)
    assert row[1] == f"2 of {sum(not step.further for step in guide.of_lab(SECOND).steps)}"


def test_a_lab_that_is_done_asks_for_the_one_after_it(copy: Path) -> None:
    do(copy, FIRST, 99)
    seen = progress.of_labs(copy)
    assert seen[0].finished
    assert progress.table(seen).rows[0][2] == "✓ all done; handed in with 4 of 4 points"
    assert progress.what_next(seen).startswith(SECOND)


@pytest.mark.parametrize(
    ("recording", "done"), [("naive", True), ("clocks", False), ("fenced", False), ("", False)]
)
def test_a_step_with_a_variant_is_done_by_a_recording_of_it(
    copy: Path, recording: str, done: bool
) -> None:
    (step,) = (each for each in guide.of_lab(SECOND).steps if each.variant)
    folder = FIXTURES / "honest" / SECOND / "recordings"
    (copy / SECOND / "recordings").mkdir()
    (copy / SECOND / "recordings" / f"{step.name}.csv").write_bytes(
        (folder / f"{recording}.csv").read_bytes() if recording else b"# no recording\n"
    )
    assert progress.is_done(step, copy / SECOND) is done


@pytest.mark.parametrize(
    ("faults", "done"), [(0, True), (1, True), (36, False), (720, False), (None, False)]
)
def test_pages_are_brought_only_if_no_page_fault_is_left(
    copy: Path, faults: int | None, done: bool
) -> None:
    (step,) = (each for each in guide.of_lab(TENTH).steps if each.no_faults)
    counts = {"touched": 720, "faults": faults, "later_faults": 0}
    stated = {f"variant.own.{key}": str(n) for key, n in counts.items() if n is not None}
    run = recording_of([5] * 60, [12] * 60, variant="own")
    run = replace(run, conditions={**run.conditions, **stated})
    (copy / TENTH / "recordings").mkdir()
    run.write(copy / TENTH / "recordings" / f"{step.name}.csv")
    assert progress.is_done(step, copy / TENTH) is done


def test_when_all_is_done_nothing_is_next(copy: Path) -> None:
    for lab in lab_names.labs():
        do(copy, lab, 99)
    assert progress.what_next(progress.of_labs(copy)) == ""


def test_a_broken_file_of_one_lab_does_not_hide_the_others(copy: Path) -> None:
    do(copy, SECOND, 1)
    (copy / FIRST / "predictions.json").write_text("{")
    seen = progress.of_labs(copy)
    assert "not valid JSON" in seen[0].trouble
    assert "not valid JSON" in progress.table(seen).rows[0][2]
    assert progress.what_next(seen).startswith(SECOND)


@pytest.mark.parametrize("change", ["figure", "report", "nothing graded"])
def test_all_is_done_only_while_all_of_it_is_handed_in(copy: Path, change: str) -> None:
    folder = copy / SECOND
    do(copy, SECOND, 99)
    assert progress.of_lab(folder, SECOND).finished
    if change == "figure":
        name = next(iter(figures.read(folder)))
        figures.put(folder, Figure(name, 5, "ns", None))
    elif change == "report":
        save_notebook(folder, "A fenced pair costs 21 ns.")
    else:
        for name, each in figures.read(folder).items():
            assert isinstance(each, Figure)
            figures.put(folder, Figure(name, each.value, each.unit, None, "2099-01-01"))
        answers.put(folder, "wrong", "a later thought")
    seen = progress.of_lab(folder, SECOND)
    assert seen.finished == (change == "nothing graded")
    assert ("changed since" in seen.heading() + "\n".join(seen.lines())) == (not seen.finished)
    hand_in(folder)
    assert progress.of_lab(folder, SECOND).finished


def _figures_to_hand_in(lab: str) -> list[str]:
    return [step.name for step in guide.of_lab(lab).steps if step.kind == "figure"]


def test_a_lab_that_is_handed_in_with_a_failed_figure_is_not_done(copy: Path) -> None:
    lab, (right, wrong) = next(
        (lab, ids[:2]) for lab in lab_names.labs() if len(ids := _figures_to_hand_in(lab)) > 1
    )
    do(copy, lab, 99)
    folder = copy / lab
    said = f"Points: 3 of 4\n{right}: passed. It is.\n{wrong}: failed. It holds the clock: see why."
    hand_in(folder, said)
    seen = progress.of_lab(folder, lab)
    assert seen.not_passed == (wrong,)
    assert not seen.finished and wrong in seen.heading() and right not in seen.heading()
    lines = dict(zip((step.name for step, _ in seen.steps), seen.lines(), strict=True))
    assert lines[wrong].startswith("○") and lines[right].startswith("✓")
    row = progress.table((seen,)).rows[0]
    assert "all done" not in row[2] and wrong in row[2]
    assert wrong in progress.what_next((seen,))
    hand_in(folder)
    assert progress.of_lab(folder, lab).finished


@pytest.mark.parametrize("report", ["", "  ", "Write your answer here."])
def test_a_report_that_nobody_wrote_is_no_report(copy: Path, report: str) -> None:
    save_notebook(copy / SECOND, report)
    assert not answers.is_written(copy / SECOND)
    save_notebook(copy / SECOND, "It costs 20 ns.")
    assert answers.is_written(copy / SECOND)


@pytest.mark.parametrize("bad", ["not a zip", "a zip of something else"])
def test_an_archive_that_cannot_be_read_hands_nothing_in(copy: Path, bad: str) -> None:
    do(copy, SECOND, 99)
    (made,) = (copy / "handed-in").glob("*.zip")
    if bad == "not a zip":
        made.write_text("PK")
    else:
        with zipfile.ZipFile(made, "w") as other:
            other.writestr("elsewhere/figures.json", "{}")
    seen = progress.of_lab(copy / SECOND, SECOND)
    assert seen.next is not None and seen.next.kind == "hand-in"


def test_a_folder_of_an_earlier_version_of_the_kit_is_still_read(copy: Path) -> None:
    """It has no answers.json, and its predictions note nothing late."""
    folder = copy / SECOND
    step = guide.of_lab(SECOND).steps[0]
    stated = {step.name: [{"value": 20, "unit": "ns", "because": "", "sure": None, "when": ""}]}
    (folder / "predictions.json").write_text(json.dumps(stated))
    seen = progress.of_lab(folder, SECOND)
    assert (seen.trouble, seen.done, seen.handed_in) == ("", 1, "")


def test_progress_leads_to_recordings_and_to_the_next_lab(copy: Path) -> None:
    do(copy, FIRST, 99)
    shown = ShownProgress(progress.of_lab(copy / FIRST, FIRST), copy / FIRST)
    page = shown._repr_html_()
    recording = next(s.name for s in guide.of_lab(FIRST).steps if s.kind == "recording")
    assert f'<a href="recordings/{recording}.csv">' in page
    assert "Next lab" not in page, "its notebook is not there"
    save_notebook(copy / SECOND, "")
    assert f'<a href="../{SECOND}/{SECOND}.ipynb">{SECOND}</a>' in shown._repr_html_()
    assert f"Next lab: {SECOND}" in repr(shown)
    before = ShownProgress(progress.of_lab(copy / SECOND, SECOND), copy / SECOND)
    assert "<a " not in before._repr_html_()


# ------------------------------------------------------------------------------- the command


def test_in_the_folder_of_a_lab_the_command_says_what_the_notebook_says(
    copy: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    do(copy, SECOND, 3)
    monkeypatch.chdir(copy / SECOND)
    assert cli.main(["progress"]) == 0
    said = capsys.readouterr().out
    seen = progress.of_lab(copy / SECOND, SECOND)
    for line in (*seen.lines(), f"{SECOND}: {seen.heading()}", f"{SECOND} (this one)"):
        assert line in said
    assert f"\nNext: {SECOND}: " in said
    assert "28.5 cycles" not in said, "the map has no place among the steps of a lab"


def test_the_command_prints_a_line_a_lab_and_what_is_next(
    copy: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    do(copy, FIRST, 1)
    assert cli.main(["progress", str(copy)]) == 0
    seen = capsys.readouterr().out
    assert all(lab in seen for lab in lab_names.labs())
    assert "28.5 cycles" in seen, "the map"
    assert f"\nNext: {FIRST}: {guide.of_lab(FIRST).steps[1].do}\n" in seen


def test_the_command_prints_json(copy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    do(copy, FIRST, 99)
    assert cli.main(["progress", str(copy), "--json"]) == 0
    seen = json.loads(capsys.readouterr().out)
    assert [each["lab"] for each in seen["labs"]] == list(lab_names.labs())
    assert seen["labs"][0]["next"] is None
    assert seen["next"].startswith(SECOND)
    assert seen["guesses"], "the first lab asks for a prediction of what it measures"


@pytest.mark.parametrize("below", ["", FIRST])
def test_the_command_finds_the_labs_around_it(
    below: str, copy: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(copy / below)
    assert cli.main(["progress"]) == 0
    assert FIRST in capsys.readouterr().out
    assert cli.main(["progress", str(copy / FIRST)]) == 0


def test_of_labs_that_are_not_here_the_command_claims_nothing(
    copy: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for lab in lab_names.labs()[1:]:
        (copy / lab).rmdir()
    do(copy, FIRST, 99)
    assert cli.main(["progress", str(copy)]) == 0
    assert "\nYou have done all labs here.\n" in capsys.readouterr().out


def test_without_labs_the_command_says_how_to_get_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["progress", str(tmp_path)]) == 1
    assert "`labs start`" in capsys.readouterr().err


# -------------------------------------------------------------------------------- calibration


def guesses(*offs: float, sure: float | None = None) -> tuple[Compared, ...]:
    """Guesses of 100 ns, one a day, where `offs` times as much was found."""
    return tuple(
        Compared(
            "01-lab",
            f"figure-{day}",
            Prediction(100, "ns", "", sure, f"2026-03-{day:02}T09:00:00+00:00"),
            1,
            Figure(f"figure-{day}", 100 * off, "ns", None),
        )
        for day, off in enumerate(offs, start=1)
    )


def test_without_a_measured_guess_there_is_nothing_to_say() -> None:
    assert predicted_and_found.calibration(()) == ()
    unmeasured = Compared("01-lab", "a", Prediction(1, "ns"), 1, None)
    other_unit = Compared("01-lab", "b", Prediction(1, "ns"), 1, Figure("b", 2, "times", None))
    nothing = Compared("01-lab", "c", Prediction(0, "ns"), 1, Figure("c", 2, "ns", None))
    assert predicted_and_found.calibration((unmeasured, other_unit, nothing)) == ()


def test_guesses_are_averaged_as_factors() -> None:
    (seen,) = predicted_and_found.calibration(guesses(4, 1 / 4, 1, 1))
    assert seen == ("Your last 4 guesses were off by a factor of 2 on average, the worst by 4.")


def test_only_the_last_six_count_and_the_six_before_are_set_beside_them() -> None:
    last, before = predicted_and_found.calibration(guesses(*[9] * 3, *[3] * 6, *[2] * 6)[::-1])
    assert last.startswith("Your last 6 guesses were off by a factor of 2 on average, ")
    assert before == "The 6 guesses before were off by a factor of 3."


def test_how_sure_one_was_stands_beside_how_often_one_was_right() -> None:
    seen = predicted_and_found.calibration(guesses(1.5, 10, 0.6, 0.1, sure=0.75))
    assert seen[1] == "You were 75 % sure on average; 2 of 4 came within a factor of 2."


def test_the_map_has_a_story_for_each_lab_and_its_question() -> None:
    told = progress.map_of_labs()
    assert [row[0] for row in told.rows] == [lab[:2] for lab in lab_names.labs()]
    assert set(lab_names.stories()) == set(lab_names.labs())
    assert all(cell and len(cell.split()) <= 20 for row in told.rows for cell in row)
    assert all(row[1].endswith("?") for row in told.rows)


@pytest.mark.parametrize("lab", lab_names.labs())
def test_a_number_that_people_got_wrong_is_one_that_a_report_printed(lab: str) -> None:
    wrong, _ = lab_names.stories()[lab]
    reports = re.findall(r"\b[A-E]\b", "".join(re.findall(r"\((.*reports?.*)\)", wrong)))
    printed = {
        (figure.value, figure.unit.partition("/")[0])
        for each in reports
        for figure in published.figures(report=each)
    }
    numbers = re.findall(r"([\d,.]+) (ns|µs|cycles)", wrong)
    assert bool(numbers) <= bool(reports)
    for number, unit in numbers:
        assert (float(number.replace(",", "")), unit.replace("µ", "u")) in printed, number
