"""A value of something else in the lab folder is told as a fact; a stale one before all else."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from grader.cases.verdict import Verdict
from grader.judging.lab_folder import check_folder
from labs.course import figures
from labs.course.figures import Figure
from labs.recording.file import Recording, read
from labs.results.result import result_of
from testing.paths import FIXTURES
from testing.submitted_figures import CYCLE_TICKS, FENCED, recording

LAB, FENCED_ID = "01-timer-overhead", "timer-overhead-fenced"
EARLY, LATE = "2026-11-20T10:00:00+00:00", "2026-11-21T10:00:00+00:00"
CALLS = "03-system-call"


def saved(folder: Path, name: str, overhead: float, created: str) -> Recording:
    run = recording(
        {"fenced": replace(FENCED, overhead=overhead)}, extra={"created": created}, samples=1000
    )
    run.write(folder / "recordings" / f"{name}.csv")
    return run


def value_of(run: Recording, variant: str = "fenced", unit: str = "ns") -> float:
    estimate = result_of(run, variant, unit).estimate
    assert estimate is not None
    return estimate.value


def verdict_on(folder: Path, name: str, lab: str = LAB) -> Verdict:
    return next(each for each in check_folder(folder, lab) if each.figure == name)


def told(verdict: Verdict) -> tuple[str, str]:
    finding = verdict.findings[0]
    return finding.code, finding.evidence


@pytest.mark.parametrize(
    ("earlier", "later"), [("fenced-earlier", "fenced"), ("b", "a"), ("fenced", "fenced-again")]
)
def test_the_value_of_the_run_before_is_told_as_that(
    tmp_path: Path, earlier: str, later: str
) -> None:
    before = saved(tmp_path, earlier, 90.0, EARLY)
    saved(tmp_path, later, 42.6, LATE)
    value = float(f"{value_of(before):.4g}")
    figures.put(tmp_path, Figure(FENCED_ID, value, "ns", f"recordings/{later}.csv"))
    code, evidence = told(verdict_on(tmp_path, FENCED_ID))
    assert code == "figure-not-from-recording"
    assert f"What you gave is the value by recordings/{earlier}.csv, an earlier run." in evidence


def test_where_two_runs_give_it_neither_is_named(tmp_path: Path) -> None:
    before = saved(tmp_path, "one", 90.0, EARLY)
    saved(tmp_path, "two", 90.02, EARLY)
    saved(tmp_path, "now", 42.6, LATE)
    value = float(f"{value_of(before):.3g}")
    figures.put(tmp_path, Figure(FENCED_ID, value, "ns", "recordings/now.csv"))
    assert "What you gave" not in told(verdict_on(tmp_path, FENCED_ID))[1]


def test_a_number_that_only_lies_near_another_run_is_not_of_it(tmp_path: Path) -> None:
    before = saved(tmp_path, "one", 90.0, EARLY)
    saved(tmp_path, "now", 42.6, LATE)
    for value in (1.01 * value_of(before), float(f"{value_of(before):.1g}")):
        figures.put(tmp_path, Figure(FENCED_ID, value, "ns", "recordings/now.csv"))
        assert "What you gave" not in told(verdict_on(tmp_path, FENCED_ID))[1]


def test_the_wrong_run_is_not_laid_to_a_clock_alone(tmp_path: Path) -> None:
    # The pair of the other run costs as much more as a core cycle is shorter than a tick.
    now = value_of(saved(tmp_path, "now", 42.6, LATE), unit="ticks")
    other = saved(tmp_path, "other", 42.6 + now * (1 / CYCLE_TICKS - 1), EARLY)
    figures.put(tmp_path, Figure(FENCED_ID, value_of(other), "ns", "recordings/now.csv"))
    code, evidence = told(verdict_on(tmp_path, FENCED_ID))
    # Near what a clock makes of it, and to all its digits the other run's.
    assert code == "figure-not-from-recording"
    assert "recordings/other.csv, an earlier run." in evidence


def test_a_stale_figure_is_told_as_stale_before_anything_else(tmp_path: Path) -> None:
    run = saved(tmp_path, "now", 42.6, LATE)
    for factor in (2.0, 2.6, 1000.0, 1.3):
        value = value_of(run) * factor
        stale = Figure(FENCED_ID, value, "ns", "recordings/now.csv", when=EARLY)
        figures.put(tmp_path, stale)
        code, evidence = told(verdict_on(tmp_path, FENCED_ID))
        assert code == "figure-not-from-recording" and "hand the figure in again" in evidence
        figures.put(tmp_path, replace(stale, when="2026-11-22T10:00:00+00:00"))
        assert "hand the figure in again" not in told(verdict_on(tmp_path, FENCED_ID))[1]


def test_another_variant_and_another_figure_are_named(tmp_path: Path) -> None:
    folder = tmp_path / CALLS
    shutil.copytree(FIXTURES / "honest" / CALLS, folder)
    setuid = figures.read(folder)["system-call-setuid"]
    assert isinstance(setuid, Figure) and setuid.recording
    run = read(folder / setuid.recording)
    refused = value_of(run, "setuid-refused")
    figures.put(folder, replace(setuid, value=refused, when="2027-01-01T00:00:00+00:00"))
    verdict = verdict_on(folder, "system-call-setuid", CALLS)
    assert "What you gave is the cost of setuid-refused." in told(verdict)[1]


@pytest.mark.parametrize("lab", ["03-system-call", "07-switch-footprint"])
def test_an_honest_folder_hears_nothing_of_it(lab: str) -> None:
    verdicts = check_folder(FIXTURES / "honest" / lab, lab)
    assert not [each for each in verdicts for finding in each.findings if finding]


def test_a_ratio_of_two_figures_is_no_difference_of_them(tmp_path: Path) -> None:
    folder = tmp_path / "lab"
    lab, asked = "07-switch-footprint", "footprint-indirect"
    shutil.copytree(FIXTURES / "honest" / lab, folder)
    known = figures.read(folder)
    whole, direct = known["footprint-processes-8-256k"], known["footprint-processes-8-0"]
    assert isinstance(whole, Figure) and isinstance(direct, Figure)
    ratio = direct.value / whole.value  # the other ratio lies within the interval here
    figures.put(folder, Figure(asked, ratio, "us", None))
    code, evidence = told(verdict_on(folder, asked, lab))
    assert code == "figure-not-from-recording"
    assert evidence.endswith(
        "What you gave is footprint-processes-8-0 divided by footprint-processes-8-256k: that is a "
        "ratio, and a difference is asked for."
    )
    assert " us) or " not in evidence, "the same difference is stated once"
    figures.put(folder, Figure(asked, 1.01 * ratio, "us", None))
    assert "divided by" not in told(verdict_on(folder, asked, lab))[1]


def test_nothing_is_read_by_a_link_or_waited_for(tmp_path: Path) -> None:
    mine, theirs = tmp_path / "mine", tmp_path / "theirs"
    before = saved(theirs, "before", 90.0, EARLY)
    saved(mine, "now", 42.6, LATE)
    (mine / "recordings" / "linked.csv").symlink_to(theirs / "recordings" / "before.csv")
    os.mkfifo(mine / "recordings" / "pipe.csv")
    (mine / "recordings" / "folder.csv").mkdir()
    (mine / "recordings" / "noise.csv").write_bytes(b"\xff" * 1000)
    figures.put(mine, Figure(FENCED_ID, value_of(before), "ns", "recordings/now.csv"))
    assert "What you gave" not in told(verdict_on(mine, FENCED_ID))[1]
    (theirs / "recordings" / "now.csv").write_bytes((mine / "recordings/now.csv").read_bytes())
    whole = tmp_path / "linked"
    whole.mkdir()
    (whole / "recordings").symlink_to(theirs / "recordings")
    figures.put(whole, Figure(FENCED_ID, value_of(before), "ns", "recordings/now.csv"))
    assert all("What you gave" not in each.reason for each in check_folder(whole, LAB))


def test_a_wrong_ratio_is_told_of_which_figures_the_right_one_is(tmp_path: Path) -> None:
    """No recording is handed in with it, so only the names of the figures say what to divide."""
    switches, ratio = "06-process-and-thread-switch", "switch-ratio-same-mechanism"
    shutil.copytree(FIXTURES / "honest" / switches, tmp_path, dirs_exist_ok=True)
    figures.put(tmp_path, Figure(ratio, 0.4321, "times", None))
    code, evidence = told(verdict_on(tmp_path, ratio, switches))
    assert code == "figure-not-from-recording"
    assert "your figures process-switch-pipe-pinned and thread-switch-pipe give 1.1" in evidence
