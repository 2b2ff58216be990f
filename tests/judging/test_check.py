"""A figure is judged by its recording: right ones pass, wrong ones are told why."""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from grader import check as check_in_notebook
from grader.check_folders import Shown
from grader.commands.cli import main
from grader.evidence import caveats, sources, task_counts
from grader.figures import LABS, figure_named, figures_of
from grader.figures.case import Case, make_case, make_relation
from grader.figures.verdict import Level, Outcome, Verdict
from grader.judging import flags
from grader.judging import lab_folder as evidence
from grader.judging.check import check
from grader.judging.lab_folder import check_folder
from grader.judging.presentation import as_html, as_text
from labs import paths
from labs.c_kernels import toolchain
from labs.course import figures
from labs.course.figures import Figure
from labs.recording import run_conditions
from labs.recording.file import BadRecording, Recording, parse, read
from labs.results.result import result_of
from labs.results.results_compared import compared
from support.paths import FIXTURES
from support.submitted_figures import (
    CYCLE_TICKS,
    FENCED,
    MONOTONIC,
    PROCESS_CPU,
    UNFENCED,
    Clocked,
    figure,
    recording,
    switching,
)

# One verdict a figure: levels, points, and which finding takes which points.


OWN_PAIR = """#include "own_pair.h"
TICKLAB_INLINE uint64_t own_interval(long k)
{
    uint64_t link = 1, begin = counter_begin();
    ADDITIONS(link, k);
    return counter_end() - begin;
}
MEASURE_OWN_PAIR(own_interval)
"""


def judged(figure_id: str, value: float, unit: str, run: Recording) -> Verdict:
    spec = figure_named(figure_id)
    return check(spec, figure(figure_id, value, unit), run, OWN_PAIR if spec.own else None)


def codes(verdict: Verdict) -> list[str]:
    return [finding.code for finding in verdict.findings]


def overhead_ns(run: Recording, variant: str = "fenced") -> float:
    estimate = result_of(run, variant).estimate
    assert estimate is not None
    return estimate.value


@pytest.fixture(scope="module")
def fenced() -> Recording:
    return recording({"fenced": FENCED})


def test_the_figure_that_its_recording_gives_passes_with_all_points(fenced: Recording) -> None:
    verdict = judged("timer-overhead-fenced", overhead_ns(fenced), "ns", fenced)
    assert verdict.outcome is Outcome.PASSED
    assert (verdict.points, verdict.max_points, codes(verdict)) == (4, 4, [])
    assert verdict.praise and verdict.look_next


def test_rounded_or_in_another_declared_unit_it_passes(fenced: Recording) -> None:
    for digits, unit, per_ns in (
        (3, "ns", 1),
        (2, "ns", 1),
        (5, "us", 1e-3),
        (5, "µs", 1e-3),
        (4, "ticks", 2.6),
        (3, "s", 1e-9),
    ):
        value = float(f"{overhead_ns(fenced) * per_ns:.{digits}g}")
        assert judged("timer-overhead-fenced", value, unit, fenced).outcome is Outcome.PASSED


def test_in_core_cycles_it_passes(fenced: Recording) -> None:
    value = overhead_ns(fenced) * 2.6 / CYCLE_TICKS
    assert judged("timer-overhead-fenced", value, "cycles", fenced).outcome is Outcome.PASSED


def test_the_empty_sample_is_an_overhead_too(fenced: Recording) -> None:
    line = result_of(fenced).line
    assert line is not None and line.empty is not None
    value = line.empty.into("ns", line.clock).value
    assert judged("timer-overhead-fenced", value, "ns", fenced).outcome is Outcome.PASSED
    longer = np.where(fenced.batch == 0, 1.18 * fenced.ticks, fenced.ticks).astype(np.int64)
    two = judged("timer-overhead-fenced", value, "ns", replace(fenced, ticks=longer))
    for verdict, ranges in ((two, 2), (judged("timer-overhead-fenced", value, "ns", fenced), 1)):
        assert len(verdict.accepted.split(" or ")) == ranges
        assert ("and the mean at k = 0" in verdict.reason) == (ranges == 2)


def test_a_slip_is_named_and_costs_interpretation_only(fenced: Recording) -> None:
    for factor, code in (
        (1000, "unit-slip"),
        (0.001, "unit-slip"),
        (1e6, "unit-slip"),
        (2.6, "ticks-for-nanoseconds"),
        (1 / 2.6, "ticks-for-nanoseconds"),
        (2, "half-or-double"),
        (0.5, "half-or-double"),
        (1 / CYCLE_TICKS, "cycles-for-ticks"),
    ):
        verdict = judged("timer-overhead-fenced", overhead_ns(fenced) * factor, "ns", fenced)
        assert codes(verdict) == [code]
        assert (verdict.points, verdict.outcome) == (3, Outcome.FAILED), factor
        assert verdict.levels[Level.INTERPRETATION] == (0, 1), factor


def test_a_figure_from_elsewhere_keeps_only_what_the_recording_is_worth(
    fenced: Recording,
) -> None:
    verdict = judged("timer-overhead-fenced", overhead_ns(fenced) * 1.37 * 4.4, "ns", fenced)
    assert codes(verdict) == ["figure-not-from-recording"]
    assert verdict.points == 2


def test_one_part_in_five_off_does_not_pass(fenced: Recording) -> None:
    verdict = judged("timer-overhead-fenced", overhead_ns(fenced) * 1.2, "ns", fenced)
    assert codes(verdict) == ["figure-not-from-recording"]


def test_unfenced_readings_enclose_no_work(fenced: Recording) -> None:
    run = recording({"fenced": UNFENCED})
    verdict = judged("timer-overhead-fenced", 23 / 2.6, "ns", run)
    assert codes(verdict) == ["clock-read-too-early"]
    assert verdict.levels[Level.VALIDITY] == (0, 1)


def test_own_addition_of_one_core_cycle_passes_and_of_a_tenth_does_not() -> None:
    good = recording({"own": FENCED}, kernel="own_pair")
    assert judged("timer-own-addition", 1.0, "cycles", good).outcome is Outcome.PASSED
    bad = recording({"own": Clocked(23, CYCLE_TICKS / 10)}, kernel="own_pair")
    assert codes(judged("timer-own-addition", 0.1, "cycles", bad)) == ["clock-read-too-early"]


def test_honest_figures_of_coarse_and_fine_counters_pass() -> None:
    for step in (1, 2, 8, 26, 108):
        run = recording({"fenced": replace(FENCED, step=step)}, samples=4000)
        value = overhead_ns(run)
        assert judged("timer-overhead-fenced", value, "ns", run).outcome is Outcome.PASSED, step
        assert judged("timer-step", step, "ticks", run).outcome is Outcome.PASSED


@pytest.mark.parametrize("samples", [200, 600, 5000])
def test_honest_figures_of_few_and_many_samples_pass(samples: int) -> None:
    run = recording({"fenced": FENCED}, samples=samples, noise=8, spikes=0.02)
    assert judged("timer-overhead-fenced", overhead_ns(run), "ns", run).outcome is Outcome.PASSED


def test_step_taken_for_one() -> None:
    run = recording({"fenced": replace(FENCED, step=26)})
    assert codes(judged("timer-step", 1, "ticks", run)) == ["step-assumed-one"]


def test_step_in_the_unit_of_the_run_and_called_ticks() -> None:
    run = recording({"fenced": replace(FENCED, step=26)})
    in_ns = 26 / (run.clock("fenced").frequency_hz / 1e9)
    assert judged("timer-step", in_ns, "ns", run).outcome is Outcome.PASSED
    assert codes(judged("timer-step", in_ns, "ticks", run)) == ["ticks-for-nanoseconds"]
    assert codes(judged("timer-step", 26, "ns", run)) == ["ticks-for-nanoseconds"]


def test_ratio_the_right_way_up_upside_down_and_of_unlike_units() -> None:
    run = recording({"process-cpu": PROCESS_CPU, "fenced": FENCED})
    ratio = overhead_ns(run, "process-cpu") / overhead_ns(run)
    name = "timer-ratio-process-cpu"
    assert judged(name, ratio, "times", run).outcome is Outcome.PASSED
    assert codes(judged(name, 1 / ratio, "times", run)) == ["ratio-upside-down"]
    assert codes(judged(name, ratio / 2.6, "times", run)) == ["ratio-of-unlike-units"]
    assert codes(judged(name, ratio, "ns", run)) == ["unit-unknown"]


def test_work_cold_samples_and_minimum_are_told_apart() -> None:
    run = recording({"fenced": FENCED}, spikes=0.01, samples=5000, noise=6)
    line = result_of(run).line
    assert line is not None
    at_64 = line.location[0] / 2.6
    assert codes(judged("timer-overhead-fenced", at_64, "ns", run)) == ["work-counted-as-timer"]
    empty = run.ticks[(run.batch == 0) & (run.sample >= 0)]
    mean = float(empty.mean()) / 2.6
    assert codes(judged("timer-overhead-fenced", mean, "ns", run)) == ["cold-samples-in-mean"]
    least = float(empty.min()) / 2.6
    assert codes(judged("timer-overhead-fenced", least, "ns", run)) == ["minimum-taken"]


def test_few_samples_and_one_process_cost_sufficiency() -> None:
    few = recording({"fenced": FENCED}, samples=60, processes=3)
    found = judged("timer-overhead-fenced", overhead_ns(few), "ns", few)
    assert codes(found) == ["too-few-samples"]
    one = recording({"fenced": FENCED}, processes=1)
    found = judged("timer-overhead-fenced", overhead_ns(one), "ns", one)
    assert codes(found) == ["one-process"]
    assert found.points == 3


def test_pinned_elsewhere_costs_validity(fenced: Recording) -> None:
    placed = {"cpu.before": "1", "cpu.after": "0"}
    run = recording({"fenced": FENCED}, extra={"cpu.asked": "1"}, each_process=placed)
    found = judged("timer-overhead-fenced", overhead_ns(run), "ns", run)
    assert codes(found) == ["affinity-not-obtained"]
    placed = {"cpu.before": "1", "cpu.after": "1"}
    run = recording({"fenced": FENCED}, extra={"cpu.asked": "1"}, each_process=placed)
    found = judged("timer-overhead-fenced", overhead_ns(run), "ns", run)
    assert found.outcome is Outcome.PASSED


def test_less_than_nothing(fenced: Recording) -> None:
    found = judged("timer-overhead-fenced", -3.9, "ns", fenced)
    assert "less-than-nothing" in codes(found)


def test_a_negative_cost_is_not_right_because_an_interval_is_wide() -> None:
    folder = FIXTURES / "honest_runs" / "06-process-and-thread-switch-no-pinning"
    given = figures.read(folder)["thread-switch-pipe"]
    assert isinstance(given, Figure) and given.recording
    run = read(folder / given.recording)
    for value, outcome in ((given.value, Outcome.PASSED), (-100.0, Outcome.FAILED)):
        found = check(figure_named(given.id), replace(given, value=value, unit="ns"), run)
        assert (found.outcome, "less-than-nothing" in codes(found)) == (outcome, value < 0)


def test_edited_samples_cost_provenance(fenced: Recording) -> None:
    text = fenced.as_bytes()
    row = fenced.rows.split(b"\n")[100]
    name, process, sample, batch, ticks = row.split(b",")
    other = b",".join([name, process, sample, batch, b"%d" % (int(ticks) + 2)])
    run = parse(text.replace(row + b"\n", other + b"\n"))
    found = judged("timer-overhead-fenced", overhead_ns(fenced), "ns", run)
    assert codes(found) == ["recording-altered"]
    assert found.points == 3


def test_without_evidence_a_figure_is_worth_nothing(fenced: Recording) -> None:
    spec = figure_named("timer-overhead-fenced")
    right = figure(spec.id, overhead_ns(fenced), "ns")
    for submitted, run, code in (
        (None, None, "no-figure"),
        (right, None, "no-recording"),
        (right, BadRecording("is empty"), "recording-unreadable"),
        (right, recording({"monotonic": MONOTONIC}), "other-recording"),
        (right, recording({"fenced": FENCED}, kernel="other"), "other-recording"),
    ):
        verdict = check(spec, submitted, run)
        assert (verdict.outcome, verdict.points) == (Outcome.FAILED, 0)
        assert codes(verdict) == [code]


def test_every_text_is_short_and_every_figure_of_a_lab_gets_one_verdict(tmp_path: Path) -> None:
    for lab in LABS:
        verdicts = evidence.check_folder(tmp_path, lab)
        assert [verdict.figure for verdict in verdicts] == [spec.id for spec in figures_of(lab)]
    from grader.pitfalls import CATALOGUE

    assert len({pitfall.code for pitfall in CATALOGUE}) == len(CATALOGUE)
    for pitfall in CATALOGUE:
        words = f"{pitfall.symptom} {pitfall.misconception} {pitfall.experiment}".split()
        assert 10 <= len(words) <= 60, pitfall.code


def lab_folder(folder: Path, run: Recording, figures: object) -> Path:
    (folder / "recordings").mkdir(parents=True)
    run.write(folder / "recordings" / "run.csv")
    (folder / "figures.json").write_text(json.dumps(figures))
    return folder


def by_hand(value: object, unit: object = "ns") -> dict[str, object]:
    return {"value": value, "unit": unit, "recording": "recordings/run.csv"}


def test_a_folder_written_by_hand_is_checked_like_any_other(
    tmp_path: Path, fenced: Recording, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = lab_folder(
        tmp_path / "mine", fenced, {"timer-overhead-fenced": by_hand(overhead_ns(fenced))}
    )
    assert main(["check", str(folder), "--json"]) == 1
    printed = json.loads(capsys.readouterr().out)
    assert [each["figure"] for each in printed] == [
        each.id for each in figures_of("01-timer-overhead")
    ]
    assert (
        printed[0]["outcome"] == "passed" and printed[0]["points"] == printed[0]["max_points"] == 4
    )
    assert printed[1]["findings"] == ["no-figure"]
    shown = check_in_notebook("timer-overhead-fenced", folder)
    assert isinstance(shown, Shown) and shown.verdict.points == 4


def test_exit_status_0_all_passed_2_not_graded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fenced: Recording
) -> None:
    run = recording({"fenced": FENCED, "monotonic": MONOTONIC, "process-cpu": PROCESS_CPU})
    ratio = overhead_ns(run, "process-cpu") / overhead_ns(run)
    own = recording({"own": FENCED}, kernel="own_pair")
    folder = lab_folder(
        tmp_path / "all",
        run,
        {
            "timer-overhead-fenced": by_hand(overhead_ns(run)),
            "timer-step": by_hand(2, "ticks"),
            "timer-overhead-monotonic": by_hand(overhead_ns(run, "monotonic")),
            "timer-ratio-process-cpu": by_hand(ratio, "times"),
            "timer-own-addition": by_hand(1.0, "cycles") | {"recording": "recordings/own.csv"},
        },
    )
    own.write(folder / "recordings" / "own.csv")
    assert main(["check", str(folder)]) == 0

    def broken(*_: object) -> Verdict:
        raise RuntimeError("a fault of ours")

    monkeypatch.setattr(evidence, "judge", broken)
    verdicts = evidence.check_folder(folder, "01-timer-overhead")
    assert {verdict.outcome for verdict in verdicts} == {Outcome.NOT_GRADED}
    assert main(["check", str(folder)]) == 2


def test_html_and_script_from_a_submission_are_escaped(tmp_path: Path, fenced: Recording) -> None:
    figures = {"timer-overhead-fenced": by_hand(16, "<script>ns")}
    folder = lab_folder(tmp_path / "lab", fenced, figures)
    verdict = evidence.check_folder(folder, "01-timer-overhead")[0]
    assert "<script>" in as_text(verdict)
    assert "<script>" not in as_html(verdict)


def test_a_run_of_the_creation_alone_is_named_as_that() -> None:
    run = recording({"fork": FENCED}, kernel="task_creation")
    (finding,) = judged("creation-fork-wait", 100, "us", run).findings
    assert "The variant fork times the creation without the wait." in finding.evidence
    assert "This figure needs fork-wait: it is " in finding.evidence
    other = recording({"vfork": FENCED}, kernel="task_creation")
    (finding,) = judged("creation-fork-wait", 100, "us", other).findings
    assert "without the wait" not in finding.evidence
    half = recording({"fork-wait": FENCED}, kernel="task_creation")
    (finding,) = judged("creation-cause", 1, "choice", half).findings
    assert "also needs vfork-wait: it is " in finding.evidence


@pytest.mark.parametrize(("kernel", "flagged"), [("own_creation", 0), ("task_creation", 1)])
def test_c_that_is_of_another_name_raises_no_suspicion(
    tmp_path: Path, kernel: str, flagged: int
) -> None:
    run = recording({"fork-wait": FENCED}, kernel=kernel, extra={"source.sha256": "0" * 64})
    figures = {"creation-fork-wait": by_hand(100, "us")}
    folder = lab_folder(tmp_path / "lab", run, figures)
    verdict = evidence.check_folder(folder, "05-task-creation")[0]
    assert sum("released C kernel" in flag for flag in verdict.flags) == flagged


def test_flags_for_a_person_cost_nothing(tmp_path: Path, fenced: Recording) -> None:
    foreign = recording({"fenced": FENCED}, extra={"source.sha256": "0" * 64})
    value = overhead_ns(foreign)
    figures = {
        "timer-overhead-fenced": by_hand(value),
        "timer-step": by_hand(2, "ticks") | {"recording": "recordings/copy.csv"},
    }
    folder = lab_folder(tmp_path / "lab", foreign, figures)
    foreign.write(folder / "recordings" / "copy.csv")
    first, second, *_ = evidence.check_folder(folder, "01-timer-overhead")
    assert first.outcome is second.outcome is Outcome.PASSED
    assert any("belongs to no released C kernel" in flag for flag in first.flags)
    assert any("the same samples as recordings/copy.csv" in flag for flag in first.flags)


# A value of something else in the lab folder is told as a fact; a stale one before all else.


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


def test_an_honest_folder_hears_nothing_of_it() -> None:
    for lab in ("03-system-call", "07-switch-footprint"):
        verdicts = check_folder(FIXTURES / "honest" / lab, lab)
        assert not [each for each in verdicts for finding in each.findings if finding], lab


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


def test_a_right_ratio_has_the_interval_that_the_comparison_shows(tmp_path: Path) -> None:
    """`lab.compare` printed 1.09 to 1.19, and the verdict 1.08 to 1.22."""
    switches, ratio = "06-process-and-thread-switch", "switch-ratio-same-mechanism"
    shutil.copytree(FIXTURES / "honest" / switches, tmp_path, dirs_exist_ok=True)
    process, threads = (
        result_of(read(tmp_path / str(handed_in.recording)), variant)
        for name, variant in (
            ("process-switch-pipe-pinned", "pipe-pinned"),
            ("thread-switch-pipe", "pipe"),
        )
        if isinstance(handed_in := figures.read(tmp_path)[name], Figure)
    )
    shown = compared(process, threads)
    figures.put(tmp_path, Figure(ratio, shown.ratio or 0.0, "times", None))
    low, high = str(shown.ratio_as_text()).split("(")[1].strip(")").split(" to ")
    assert f"(95 % interval {low} to {high})" in verdict_on(tmp_path, ratio, switches).reason


# What a verdict tells of a figure: the run's own words, and where a wrong one comes from.


HONEST = FIXTURES / "honest"
CREATED = "2026-03-01T10:00:00+00:00"
GETPPID = "system-call-getppid"


@pytest.fixture(scope="module")
def calls() -> Recording:
    return read(HONEST / "03-system-call" / "recordings" / "calls.csv")


def evidence_of(figure_id: str, given: Figure, run: Recording) -> str:
    verdict = check(figure_named(figure_id), given, run)
    assert verdict.outcome is Outcome.FAILED
    return verdict.findings[0].evidence


def judged_call(figure_id: str, value: float, unit: str, run: Recording) -> Verdict:
    return check(figure_named(figure_id), figure(figure_id, value, unit), run)


def test_the_interval_is_the_one_that_the_run_shows(calls: Recording) -> None:
    for unit, told_in in (("ns", "ns"), ("us", "ns"), ("cycles", "cycles")):
        shown = result_of(calls, "getppid", unit).estimate
        assert shown is not None, unit
        verdict = judged_call(GETPPID, shown.value, unit, calls)
        assert verdict.outcome is Outcome.PASSED, unit
        assert result_of(calls, "getppid", "ns").value_as_text() in verdict.reason, unit
        wrong = evidence_of(GETPPID, figure(GETPPID, shown.value * 1.3, unit), calls)
        assert result_of(calls, "getppid", told_in).value_as_text() in wrong


def test_the_value_of_another_variant_is_told_by_its_name(calls: Recording) -> None:
    floor = result_of(calls, "invalid", "ns").estimate
    assert floor is not None
    text = evidence_of(GETPPID, figure(GETPPID, floor.value, "ns"), calls)
    assert text.endswith("What you gave is the cost of invalid.")
    text = evidence_of(GETPPID, figure(GETPPID, floor.value * 0.77, "ns"), calls)
    assert "What you gave" not in text


def test_a_run_measured_anew_is_told_as_such() -> None:
    run = recording({"fenced": FENCED, "monotonic": MONOTONIC}, extra={"created": CREATED})
    given = figure("timer-overhead-fenced", 31.7, "ns")
    for when, anew in (("2026-03-01T09:59:00+00:00", True), ("2026-03-01T10:01:00+00:00", False)):
        text = evidence_of("timer-overhead-fenced", replace(given, when=when), run)
        assert text.endswith("hand the figure in again.") is anew


def test_a_value_where_a_conclusion_is_asked_is_told_how_to_be_given() -> None:
    run = read(HONEST / "04-procedure-call" / "recordings" / "o2.csv")
    verdict = judged_call("call-inlined", 0.2, "cycles", run)
    assert verdict.findings[0].code == "unit-unknown"
    assert verdict.findings[0].evidence.endswith("by number.")
    assert verdict.findings[0].experiment.endswith("choice.")


# Figures of switches from a machine that can bind no task to a CPU, or says so.


CONDVAR = "thread-switch-condvar"
REFUSED = "none: this system offers no pinning"


def unbound_run(
    counted: float = 2.0, said: str = REFUSED, processes: int = 10, **more: str
) -> Recording:
    """Two tasks that may have had a CPU each, on a machine that is `said` to be without pinning."""
    one = switching(counted=counted, may_use="0-1", peers="1", more={"cpu.pinning": said, **more})
    trips = {"condvar": Clocked(60.0, 10_400.0), "alone": Clocked(60.0, 1_300.0)}
    stated_conditions = {
        key: value
        for key, value in one.conditions.items()
        if key.startswith(("variant.", "cpu.", "machine.", "os", "seccomp"))
    }
    return recording(
        trips,
        kernel="thread_switch",
        samples=3000,
        processes=processes,
        noise=40.0,
        extra=stated_conditions,
    )


def case_of(found: Recording) -> Case:
    return make_case(figure_named(CONDVAR), figure(CONDVAR, 1500.0, "ns"), found)


def verdict_without_pinning(found: Recording) -> Verdict:
    estimate = result_of(found, "condvar", "ns").estimate
    assert estimate is not None
    return check(figure_named(CONDVAR), figure(CONDVAR, estimate.value, "ns"), found)


def test_what_a_machine_without_pinning_shows_is_graded_and_told_for_what_it_is() -> None:
    verdict = verdict_without_pinning(unbound_run())
    assert verdict.outcome is Outcome.PASSED, verdict
    assert verdict.points == verdict.max_points
    assert "this system offers no pinning" in verdict.reason
    assert "need not be switches on one CPU" in verdict.reason
    # Nothing praises it for what it is not.
    assert verdict.praise == caveats.UNBOUND_PRAISE.text


def test_only_a_machine_that_cannot_pin_is_excused() -> None:
    for said in (
        "left out: -DTICKLAB_NO_PINNING leaves pinning out",
        "",
        "yes",
        "the OS refuses",
    ):
        verdict = verdict_without_pinning(unbound_run(said=said))
        assert {finding.code for finding in verdict.findings} == {"two-cpus-not-one"}, said
        assert verdict.points < verdict.max_points, said


def test_a_wrong_figure_stays_wrong_without_pinning() -> None:
    found = unbound_run()
    verdict = check(figure_named(CONDVAR), figure(CONDVAR, 9_000.0, "ns"), found)
    assert verdict.outcome is Outcome.FAILED and verdict.findings
    # A round trip that is called one switch, as anywhere else.
    estimate = result_of(found, "condvar", "ns").estimate
    assert estimate is not None
    doubled = check(figure_named(CONDVAR), figure(CONDVAR, 2 * estimate.value, "ns"), found)
    assert doubled.outcome is Outcome.FAILED


def test_with_a_cpu_each_tasks_sleep_more_or_less_often() -> None:
    for counted, code in (
        (0.001, task_counts.FEWER),
        (0.9, task_counts.FEWER),
        (1.3, None),
        (2.3, None),
        (3.4, None),
    ):
        assert task_counts.code_of(case_of(unbound_run(counted))) == code


def test_a_single_cpu_is_one_cpu_with_pinning_or_without() -> None:
    found = switching(
        may_use="0", peers="0", allowed="0", more={"cpu.pinning": REFUSED, "cpus.online": "4"}
    )
    assert run_conditions.why_unbound(found) is None
    assert caveats.caveat_of_unbound(case_of(found)) == ""


def test_where_nobody_says_which_cpus_may_be_used_there_may_be_only_one() -> None:
    for online, bound in (("2", False), ("1", True)):
        found = switching(allowed="unknown", more={"cpu.pinning": REFUSED, "cpus.online": online})
        assert (run_conditions.why_unbound(found) is None) == bound


def submission(folder: Path, **recordings: Recording) -> dict[str, Verdict]:
    """The verdicts on two figures of lab 06, each by a recording of its own."""
    names = dict(zip((CONDVAR, "switch-convoy-count"), recordings, strict=True))
    for name, found in recordings.items():
        found.write(folder / "recordings" / f"{name}.csv")
    condvar = result_of(recordings[names[CONDVAR]], "condvar", "ns").estimate
    assert condvar is not None
    values = {CONDVAR: (condvar.value, "ns"), "switch-convoy-count": (0.004, "times")}
    for asked, (value, unit) in values.items():
        figures.put(folder, Figure(asked, value, unit, f"recordings/{names[asked]}.csv"))
    return {each.figure: each for each in check_folder(folder, "06-process-and-thread-switch")}


def test_another_run_of_the_same_machine_that_was_pinned_speaks_against_it(tmp_path: Path) -> None:
    pinned = switching("bare-mutex", counted=0.004)
    found = submission(tmp_path, threads=unbound_run(), naive=pinned)[CONDVAR]
    assert {finding.code for finding in found.findings} == {"two-cpus-not-one"}
    assert any("cpu.pinning differ from recordings/naive.csv" in flag for flag in found.flags)


def test_a_run_of_another_machine_says_nothing_against_it(tmp_path: Path) -> None:
    other = switching("bare-mutex", counted=0.004, more={"os": "Linux 6.1 x86_64"})
    mine = unbound_run(os="Darwin 23.0 arm64")
    found = submission(tmp_path, threads=mine, naive=other)[CONDVAR]
    assert found.outcome is Outcome.PASSED, found


@pytest.mark.parametrize(("seccomp", "flagged"), [("off", True), ("filter", False)])
def test_a_plain_linux_that_cannot_pin_is_for_a_person_to_look_at(
    seccomp: str, flagged: bool, tmp_path: Path
) -> None:
    here = {"os": "Linux 6.1 x86_64", "seccomp": seccomp}
    naive = switching("bare-mutex", counted=0.004, more={"cpu.pinning": REFUSED, **here})
    threads = unbound_run(os=here["os"], seccomp=seccomp)
    found = submission(tmp_path, threads=threads, naive=naive)[CONDVAR]
    assert found.outcome is Outcome.PASSED
    assert any("no task can be bound" in flag for flag in found.flags) == flagged


def test_what_follows_from_such_figures_says_so_as_well() -> None:
    cases = []
    for name, variant in (("process-switch-pipe-pinned", "pipe-pinned"), (CONDVAR, "condvar")):
        kernel = figure_named(name).kernel
        more = {"cpu.pinning": REFUSED}
        found = switching(variant, kernel=kernel, may_use="0-1", peers="1", more=more)
        cases.append(make_case(figure_named(name), figure(name, 1500.0, "ns"), found))
    which = figure_named("switch-which-is-dearer")
    related = make_relation(which, Figure(which.id, 3, "choice", None), tuple(cases))
    assert "need not be switches on one CPU" in caveats.caveat_of_unbound(related)


# Real runs, made under a filter that refuses to pin


RUNS = FIXTURES / "honest_runs"
MADE_WITHOUT = sorted(path.name for path in RUNS.glob("*-no-pinning"))


@pytest.mark.usefixtures("as_students_run")
@pytest.mark.parametrize("name", MADE_WITHOUT)
def test_real_runs_without_pinning_get_their_points_by_what_they_say_of_it(
    name: str, tmp_path: Path
) -> None:
    lab = name.removesuffix("-no-pinning")
    for verdict in check_folder(RUNS / name, lab):
        assert verdict.outcome is Outcome.PASSED, verdict
        assert caveats.HANDOFFS_IN_ITS_PLACE in verdict.reason
        assert verdict.flags == ()
    folder = tmp_path / lab
    shutil.copytree(RUNS / name, folder)
    for path in (folder / "recordings").glob("*.csv"):
        head, _, rows = path.read_text().partition("# cpu.pinning: ")
        path.write_text(head + rows.partition("\n")[2])
    silent = {each.figure: each for each in check_folder(folder, lab)}
    found_codes = {finding.code for each in silent.values() for finding in each.findings}
    assert found_codes == {"two-cpus-not-one"}
    assert sum(each.points for each in silent.values()) < 18


def test_there_are_such_runs() -> None:
    assert len(MADE_WITHOUT) == 2


# A recording counts as made with the kit's C kernel by the hash of its source.


FOLDERS = (paths.kernels_c(), paths.kernels_c() / "broken")
SPEC = figure_named("timer-overhead-fenced")
FOREIGN = "belongs to no released C kernel"


def _stating(known: str) -> Recording:
    run = read(FIXTURES / "fenced.csv")
    return dataclasses.replace(run, conditions={**run.conditions, "source.sha256": known})


def _flags(run: Recording) -> tuple[str, ...]:
    figure = Figure(SPEC.id, 16.0, "ns", "run.csv")
    return flags.flags_by_figure({SPEC.id: figure}, {"run.csv": run}, [SPEC]).get(SPEC.id, ())


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda each: each.name)
def test_each_c_kernel_of_the_kit_counts_as_released(folder: Path) -> None:
    for path in folder.glob("*.c"):
        run = _stating(toolchain.source_hash(path.read_text(encoding="utf-8")))
        assert sources.is_of_the_kit(run)
        assert not any(FOREIGN in flag for flag in _flags(run))


def test_any_other_hash_does_not_count() -> None:
    run = _stating("0" * 64)
    assert not sources.is_of_the_kit(run)
    assert any(FOREIGN in flag for flag in _flags(run))
    case = make_case(SPEC, Figure(SPEC.id, 16.0, "ns", "run.csv"), run, "int main(void) { }")
    assert sources.own_source(case) == "int main(void) { }"


# Honest submissions get full marks: from a busy machine, an emulated one, and odd counters.
# Saved under fixtures/honest_runs by `python -m bench.honest`; each folder is named after its
# lab and the circumstances that it was measured under.


FOLDER = FIXTURES / "honest_runs"
SAVED = sorted(FOLDER.iterdir())


def test_there_are_as_many_as_promised_and_of_every_lab() -> None:
    assert len(list(FOLDER.glob("*/recordings/*.csv"))) >= 60
    assert {lab for lab in LABS if any(each.name.startswith(lab) for each in SAVED)} == set(LABS)


@pytest.mark.parametrize("folder", SAVED, ids=[each.name for each in SAVED])
def test_every_figure_passes_with_all_points(folder: Path) -> None:
    lab = next(lab for lab in LABS if folder.name.startswith(lab))
    handed_in = figures.read(folder)
    verdicts = [each for each in check_folder(folder, lab) if each.figure in handed_in]
    assert verdicts
    for verdict in verdicts:
        assert verdict.outcome is Outcome.PASSED, verdict
        assert verdict.points == verdict.max_points


def test_the_picture_of_a_check_has_the_value_that_its_sentence_has() -> None:
    """A timer has two: where its line begins, and the empty sample."""
    run = read(FIXTURES / "honest" / "01-timer-overhead" / "recordings" / "clocks.csv")
    line = result_of(run, "fenced", "ns").line
    assert line is not None and line.empty is not None
    begins, empty = (
        each.into("ns", run.clock("fenced")).value for each in (line.overhead, line.empty)
    )
    for value, meant in ((begins * 1.04, begins), (empty * 0.96, empty)):
        verdict = judged("timer-overhead-fenced", value, "ns", run)
        assert verdict.outcome is Outcome.PASSED
        assert verdict.values["measured"][0] == pytest.approx(meant)
        said = verdict.reason.partition("which gives ")[2].partition(" ns")[0]
        assert float(said) == pytest.approx(meant, rel=0.005)
