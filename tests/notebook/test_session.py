"""What a notebook holds as `lab`: predictions, runs, figures, hints; refusals in plain words."""

from __future__ import annotations

import ast
import errno
import inspect
import re
from pathlib import Path
from typing import Any

import pytest

from grader import check
from labs import files
from labs.c_kernels import toolchain
from labs.course import figures, predictions
from labs.messages import Refused
from labs.notebook import session
from labs.notebook.run import Run
from labs.notebook.session import MeasureOptions, Session
from labs.recording import file
from labs.recording.file import read
from labs.run.variants import plan_of
from support.short_runs import LAB, quick

SAVED = Path(__file__).parents[1] / "fixtures" / "fenced.csv"


@pytest.fixture
def lab(tmp_path: Path) -> Session:
    folder = tmp_path / LAB
    folder.mkdir()
    return Session(LAB, folder)


def test_start_shows_the_machine_and_what_it_cannot_show(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    session.start(LAB, folder=tmp_path)
    assert "OS kernel" in capsys.readouterr().out


@pytest.mark.usefixtures("given_times")
def test_a_figure_is_judged_where_it_is_handed_in(
    lab: Session, capsys: pytest.CaptureFixture[str]
) -> None:
    """One message of one colour: what the grader says, and below it what was stored."""
    run = quick(lab)
    capsys.readouterr()
    lab.figure("timer-overhead-fenced", run.value, "ns", run)
    assert "Figure stored" in capsys.readouterr().out, "without a check, it is only stored"
    lab.check = check
    lab.figure("timer-overhead-fenced", 1000 * run.value, "ns", run)
    told = capsys.readouterr().out
    assert "[unit-slip]" in told.splitlines()[1] and "Done" not in told
    assert "Figure stored: timer-overhead-fenced = " in told and "recordings/fenced.csv" in told
    lab.figure("timer-overhead-fenced", run.value, "ns", run)
    told = capsys.readouterr().out
    assert told.startswith(f"{check('timer-overhead-fenced', lab.folder)!r}\n")
    lab.figure("timer-of-another-lab", run.value, "ns", run)
    assert "This lab asks for no figure" in capsys.readouterr().out


def test_every_version_of_a_prediction_is_kept(
    lab: Session, capsys: pytest.CaptureFixture[str]
) -> None:
    lab.predict("timer-overhead-fenced", 20, "ns", because="two reads", sure=0.7)
    lab.predict("timer-overhead-fenced", 0.05, "µs")
    first, second = predictions.read(lab.folder)["timer-overhead-fenced"]
    assert (first.value, first.unit, first.because, first.sure) == (20, "ns", "two reads", 0.7)
    assert (second.value, second.unit, second.sure) == (0.05, "us", None)
    assert first.when
    assert "Prediction stored: timer-overhead-fenced = 20 ns" in capsys.readouterr().out


def test_a_prediction_in_a_unit_of_nothing_is_stored_and_the_unit_told(
    lab: Session, capsys: pytest.CaptureFixture[str]
) -> None:
    lab.predict("timer-overhead-fenced", 20, "nano")
    assert (
        "No result can be compared with this prediction: unit 'nano' is not known"
        in capsys.readouterr().out
    )
    for unit in ("nanoseconds", "µs", "s"):
        lab.predict("timer-overhead-fenced", 20, unit)
        assert "compared" not in capsys.readouterr().out
    for unit in ("times", "cycles"):
        lab.predict("timer-overhead-fenced", 20, unit)
        assert f"The figure is in ns, and a prediction in {unit} cannot" in capsys.readouterr().out
    lab.predict("timer-overhead-fenced", 20, "ratio")
    assert "and a prediction in times cannot" in capsys.readouterr().out


def test_a_run_is_saved_and_tells_its_figure(lab: Session) -> None:
    run = quick(lab, save="mine")
    assert run.recording_path == "recordings/mine.csv"
    assert lab.runs["mine"] is run
    assert len(file.read(lab.folder / "recordings/mine.csv")) == len(run.recording)
    low, high = run.interval
    assert low <= run.value <= high
    assert run.unit == "ns"
    assert run.step > 0
    assert run.in_unit("us").value == pytest.approx(run.value / 1000)
    assert "timer_overhead fenced" in repr(run)
    assert "recordings/mine.csv" in run._repr_html_()


def test_runs_in_turns_are_saved_by_their_names(lab: Session) -> None:
    pair = {
        "clock": ("timer_overhead", "fenced"),
        "calls": ("system_call", ["getppid", "invalid"]),
    }
    clock, calls = lab.measure_in_turns(pair, samples=300, processes=3, unit="ticks")
    assert (lab.runs["clock"], lab.runs["calls"]) == (clock, calls)
    assert clock.recording_path == "recordings/clock.csv" and clock.unit == "ticks"
    kept = file.read(lab.folder / "recordings/calls.csv")
    assert len(kept) == len(calls.recording)
    assert [result.variant for result in calls.results] == ["getppid", "invalid"]
    assert "timer_overhead" in kept.conditions["in_turns_with"]


@pytest.mark.parametrize("runs", [{}, {"one": "system_call"}, {"one": ("system_call",)}])
def test_what_is_no_run_takes_no_turn(lab: Session, runs: Any) -> None:
    with pytest.raises(Refused, match="name a C kernel and its variants"):
        lab.measure_in_turns(runs)


def test_without_a_name_a_recording_is_called_after_its_variant(lab: Session) -> None:
    assert quick(lab).recording_path == "recordings/fenced.csv"


def test_several_variants_keep_the_order_asked_for(lab: Session) -> None:
    run = quick(lab, "process-cpu, fenced", save="pair")
    assert [result.variant for result in run.results] == ["process-cpu", "fenced"]
    assert run["fenced"].value == run.result("fenced").estimate.value  # type: ignore[union-attr]
    assert run.value > run["fenced"].value
    assert "process-cpu" in run.compare().meaning
    with pytest.raises(Refused, match="no variant 'absent'"):
        run.plot("absent")


def test_a_prediction_is_drawn_where_it_belongs(lab: Session) -> None:
    lab.predict("timer-overhead-fenced", 12345, "ns")
    assert "Your prediction, 12" in quick(lab).plot().meaning


def test_a_prediction_may_be_named_by_the_end_of_its_figure(lab: Session) -> None:
    for named in ("call-args0", "overhead-args0", "args1", "all-args1"):
        predictions.put(lab.folder, named, predictions.Prediction(len(named), "ns"))
    drawn = lab.marks("procedure_call", ("args0", "args1", "args2"))
    assert {variant: mark.value for variant, mark in drawn.items()} == {"args0": 10, "args1": 5}


def test_a_prediction_may_be_of_what_its_guide_says(tmp_path: Path) -> None:
    lab = Session("05-task-creation", tmp_path)
    for n, named in enumerate(("creation-fork-wait", "creation-thread", "creation-fork-64mb")):
        predictions.put(tmp_path, named, predictions.Prediction(n, "us"))
    asked = ("fork-wait", "vfork-wait", "pthread-wait", "fork-wait-16mb", "fork-wait-64mb")
    drawn = lab.marks("task_creation", asked)
    assert {variant: mark.value for variant, mark in drawn.items()} == {
        "fork-wait": 0,
        "pthread-wait": 1,
        "fork-wait-64mb": 2,
    }
    assert lab.marks("own_creation", ("pthread-wait", "fork-wait-64mb")) == {}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"samples": 0}, "samples 0"),
        ({"samples": 10**9}, "samples 1000000000"),
        ({"cpu": 4096}, "cpu 4096"),
        ({"variant": "absent"}, "no such variant"),
        ({"flags": "-O2 '"}, "flags"),
        ({"flags": "--no-such-flag"}, "no-such-flag"),
        ({"save": "../elsewhere"}, "cannot name a recording"),
        ({"unit": "furlong"}, "furlong"),
    ],
)
def test_what_cannot_be_measured_is_refused_in_plain_words(
    lab: Session, options: dict[str, Any], words: str
) -> None:
    with pytest.raises(Refused) as refused:
        quick(lab, **options)
    assert words in str(refused.value)
    assert "Traceback" not in str(refused.value)


@pytest.mark.parametrize(
    ("option", "words"),
    [
        ("sample", "did you mean samples"),
        ("variants", r"did you mean variant\?"),
        ("furlong", "there is kernel, variant, samples, cpu"),
    ],
)
def test_an_unknown_option_is_an_error_that_names_the_known_ones(
    lab: Session, option: str, words: str
) -> None:
    with pytest.raises(Refused, match=f"lab.measure has no option '{option}'.*{words}"):
        quick(lab, **{option: 3})  # type: ignore[arg-type]
    with pytest.raises(Refused, match=r"lab\.measure_in_turns has no option 'save'"):
        lab.measure_in_turns(
            {"one": ("timer_overhead", "fenced")},
            save="two",  # type: ignore[call-arg]
        )


def test_the_help_of_measure_lists_every_option_with_its_default() -> None:
    documented = dict(re.findall(r"^ +(\w+)=(\S+)  ", str(Session.measure.__doc__), re.MULTILINE))
    options = inspect.signature(Session.measure).parameters.values()
    defaults = {each.name: each.default for each in options if each.kind is each.KEYWORD_ONLY}
    assert {name: ast.literal_eval(value) for name, value in documented.items()} == defaults
    assert set(MeasureOptions.__annotations__) == set(defaults)
    of_plan = {name: each for name, each in defaults.items() if name not in ("save", "unit")}
    assert plan_of("timer_overhead", **of_plan) == plan_of("timer_overhead")


def test_an_unknown_c_kernel_is_refused_naming_what_there_is(lab: Session) -> None:
    with pytest.raises(Refused, match="timer_overhead"):
        lab.measure("absent")


def test_without_a_compiler_it_says_how_to_get_one(
    lab: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CC", "no-such-compiler")
    with pytest.raises(Refused, match="no C compiler"):
        quick(lab)


def test_a_full_disk_does_not_cost_the_run(
    lab: Session, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(contents: object) -> None:
        raise files.CannotWrite(errno.ENOSPC, "the disk is full: free some space, then save again")

    monkeypatch.setattr(file, "write_together", full)
    run = quick(lab)
    assert run.value > 0
    assert run.recording_path is None
    assert "the disk is full" in capsys.readouterr().out
    with pytest.raises(Refused, match="not saved"):
        lab.figure("timer-overhead-fenced", run.value, "ns", run)


def test_a_figure_is_stored_with_its_evidence(
    lab: Session, capsys: pytest.CaptureFixture[str]
) -> None:
    run = quick(lab)
    lab.figure("timer-overhead-fenced", run.value, run.unit, run)
    stored = figures.read(lab.folder)["timer-overhead-fenced"]
    assert isinstance(stored, figures.Figure)
    assert (stored.value, stored.recording) == (run.value, "recordings/fenced.csv")
    assert "recordings/fenced.csv" in capsys.readouterr().out
    lab.figure("timer-step", 2, "ticks", "recordings/fenced.csv")
    lab.figure("timer-guess", 2, "ns")
    assert len(figures.read(lab.folder)) == 3


def test_a_figure_without_its_recording_is_refused(lab: Session) -> None:
    with pytest.raises(Refused, match=r"no recordings/absent\.csv"):
        lab.figure("timer-step", 2, "ticks", "recordings/absent.csv")
    with pytest.raises(Refused):
        lab.figure("timer-step", float("inf"), "ticks")


def test_a_run_in_the_place_of_a_unit_is_told_from_one_in_its_own_place(tmp_path: Path) -> None:
    lab = Session("07-switch-footprint", tmp_path)
    run = Run.of(read(SAVED), ("fenced",), "ns", "recordings/fenced.csv")
    for what, write in {
        "footprint-indirect": 'lab.conclude("footprint-indirect", value, unit); it needs no run',
        "footprint-cause": 'lab.conclude("footprint-cause", number); it needs no run',
    }.items():
        with pytest.raises(Refused) as refused:
            lab.conclude(what, 1, run)  # type: ignore[arg-type]
        assert "the third place is a unit, not a Run" in str(refused.value)
        assert write in str(refused.value)
    with pytest.raises(Refused, match="the fourth place is the run"):
        lab.figure("footprint-own", 1, run)  # type: ignore[arg-type]
    with pytest.raises(Refused, match="only says which number or value") as refused:
        lab.figure("footprint-cause", 1, "choice", lab.compare(run, run))  # type: ignore[arg-type]
    assert "Pass a run that you compared" in str(refused.value)


def test_the_measured_region_is_shown_with_its_file(
    lab: Session, capsys: pytest.CaptureFixture[str]
) -> None:
    lab.show_c("timer_overhead")
    shown = capsys.readouterr().out
    assert "timer_overhead.c" in shown
    assert "const uint64_t begin" in shown


def test_each_hint_shows_one_step_more(lab: Session, capsys: pytest.CaptureFixture[str]) -> None:
    for shown in (1, 2, 3, 3):
        lab.hint("fence")
        words = capsys.readouterr().out
        assert f"hint {shown} of 3" in words
        assert words.count("\n") == shown + 1
    with pytest.raises(Refused, match="fence"):
        lab.hint("absent")


def test_progress_names_what_comes_next(lab: Session, capsys: pytest.CaptureFixture[str]) -> None:
    lab.progress()
    before = capsys.readouterr().out
    lab.predict("timer-overhead-fenced", 20, "ns")
    capsys.readouterr()
    lab.progress()
    after = capsys.readouterr().out
    assert "0 of " in before and "next: Predict" in before
    assert "1 of " in after and "✓ done: Predict" in after
    assert "(this one)" not in after, "this folder stands alone"


def test_a_ratio_is_predicted_without_a_unit(lab: Session) -> None:
    lab.predict("timer-ratio-process-cpu", 10)
    (stored,) = predictions.read(lab.folder)["timer-ratio-process-cpu"]
    assert (stored.value, stored.unit) == (10, "times")


def test_progress_tells_of_other_labs_that_are_begun(
    lab: Session, capsys: pytest.CaptureFixture[str]
) -> None:
    other = lab.folder.parent / "02-first-iteration"
    other.mkdir()
    lab.progress()
    assert "(this one)" not in capsys.readouterr().out, "nothing is done in the other one"
    predictions.put(other, "first-iteration-call", predictions.Prediction(90, "ns"))
    lab.progress()
    shown = capsys.readouterr().out
    assert "Labs that you have begun" in shown and f"{LAB} (this one)" in shown
    assert f"{other.name} " in shown and "00-start-here" not in shown


def test_progress_refuses_a_file_that_it_cannot_read(lab: Session) -> None:
    (lab.folder / predictions.FILE_NAME).write_text("{ my notes")
    with pytest.raises(Refused, match="not valid JSON"):
        lab.progress()


def test_the_wrap_up_lays_prediction_beside_result_and_counts_the_guesses_of_all_labs(
    lab: Session, capsys: pytest.CaptureFixture[str]
) -> None:
    lab.wrap_up()
    assert "no predictions yet" in capsys.readouterr().out
    lab.predict("timer-overhead-fenced", 10, "ns", sure=0.9)
    figures.put(lab.folder, figures.Figure("timer-overhead-fenced", 0.02, "us", None))
    other = Session("03-system-call", lab.folder.parent / "03-system-call")
    other.folder.mkdir()
    other.predict("system-call-getppid", 100, "ns")
    capsys.readouterr()
    lab.wrap_up()
    shown = capsys.readouterr().out
    assert "2 times as much" in shown
    assert "90 %" in shown
    other.wrap_up()
    shown = capsys.readouterr().out
    assert "no figure yet" in shown
    assert "0.02" not in shown, "the table of another lab"
    assert "Your one guess so far came within a factor of 2" in shown


def test_what_the_lab_names_is_there() -> None:
    assert "timer_overhead" in toolchain.c_kernel_names()
