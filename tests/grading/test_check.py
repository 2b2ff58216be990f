"""One verdict a figure: levels, points, and which finding takes which points."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from grader import check as check_in_notebook
from grader.cases.verdict import Level, Outcome, Verdict
from grader.commands.cli import main
from grader.figures import LABS, figure_named, figures_of
from grader.judging import lab_folder as evidence
from grader.judging.check import check
from grader.judging.presentation import as_html, as_text
from grader.notebook import Shown
from labs.course import figures
from labs.course.figures import Figure
from labs.recording.file import BadRecording, Recording, parse, read
from labs.results.result import result_of
from testing.paths import FIXTURES
from testing.submitted_figures import (
    CYCLE_TICKS,
    FENCED,
    MONOTONIC,
    PROCESS_CPU,
    UNFENCED,
    Clocked,
    figure,
    recording,
)

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


@pytest.mark.parametrize(
    ("digits", "unit", "per_ns"),
    [
        (3, "ns", 1),
        (2, "ns", 1),
        (5, "us", 1e-3),
        (5, "µs", 1e-3),
        (4, "ticks", 2.6),
        (3, "s", 1e-9),
    ],
)
def test_rounded_or_in_another_declared_unit_it_passes(
    fenced: Recording, digits: int, unit: str, per_ns: float
) -> None:
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


@pytest.mark.parametrize(
    ("factor", "code"),
    [
        (1000, "unit-slip"),
        (0.001, "unit-slip"),
        (1e6, "unit-slip"),
        (2.6, "ticks-for-nanoseconds"),
        (1 / 2.6, "ticks-for-nanoseconds"),
        (2, "half-or-double"),
        (0.5, "half-or-double"),
        (1 / CYCLE_TICKS, "cycles-for-ticks"),
    ],
)
def test_a_slip_is_named_and_costs_interpretation_only(
    fenced: Recording, factor: float, code: str
) -> None:
    verdict = judged("timer-overhead-fenced", overhead_ns(fenced) * factor, "ns", fenced)
    assert codes(verdict) == [code]
    assert (verdict.points, verdict.outcome) == (3, Outcome.FAILED)
    assert verdict.levels[Level.INTERPRETATION] == (0, 1)


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


@pytest.mark.parametrize("step", [1, 2, 8, 26, 108])
def test_honest_figures_of_coarse_and_fine_counters_pass(step: int) -> None:
    run = recording({"fenced": replace(FENCED, step=step)}, samples=4000)
    value = overhead_ns(run)
    assert judged("timer-overhead-fenced", value, "ns", run).outcome is Outcome.PASSED
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


def test_what_cannot_be_a_lab_folder_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", str(tmp_path)]) == 2
    assert "is not a lab folder" in capsys.readouterr().err
    assert main(["check", str(tmp_path / "nowhere")]) == 2


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b"null", b"\xff\xfe", b'{"timer-step": NaN}', b"[" * 100_000, b"1e999"],
)
def test_a_broken_figures_file_is_told_at_every_figure(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "figures.json").write_bytes(content)
    for verdict in evidence.check_folder(tmp_path, "01-timer-overhead"):
        assert verdict.points == 0 and codes(verdict) in (["figure-unreadable"], ["no-figure"])


@pytest.mark.parametrize(
    "entry",
    [
        3,
        {},
        by_hand("12"),
        by_hand(True),
        by_hand(10**400),
        by_hand(1, 7),
        by_hand(1) | {"recording": "../../etc/passwd"},
        by_hand(1) | {"recording": "/etc/passwd"},
        by_hand(1) | {"recording": ["recordings/run.csv"]},
    ],
)
def test_a_bad_entry_is_told_and_does_not_hide_the_others(
    tmp_path: Path, fenced: Recording, entry: object
) -> None:
    figures = {"timer-overhead-fenced": entry, "timer-step": by_hand(2, "ticks")}
    folder = lab_folder(tmp_path / "lab", fenced, figures)
    first, second, *_ = evidence.check_folder(folder, "01-timer-overhead")
    assert codes(first) == ["figure-unreadable"]
    assert second.outcome is Outcome.PASSED


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
    assert "waited for needs fork-wait." in finding.evidence
    other = recording({"vfork": FENCED}, kernel="task_creation")
    (finding,) = judged("creation-fork-wait", 100, "us", other).findings
    assert "without the wait" not in finding.evidence
    half = recording({"fork-wait": FENCED}, kernel="task_creation")
    (finding,) = judged("creation-cause", 1, "choice", half).findings
    assert "also needs vfork-wait." in finding.evidence


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
