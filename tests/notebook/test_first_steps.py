"""What a beginner does wrong in a notebook, and the message that it gets."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from IPython.core.interactiveshell import InteractiveShell

from grader import check, check_folders
from grader.commands import cli
from labs.course import figures, guide, predictions
from labs.messages import ARGUMENTS, Option, Refused, advice
from labs.notebook import ckernel_magic, measuring, unready_cells
from labs.notebook.run import Run
from labs.notebook.session import DEFAULTS, Session
from labs.recording import file, run_conditions
from labs.run.measure import Kept
from support.paths import REPOSITORY
from support.short_runs import LAB, quick

FENCED = "timer-overhead-fenced"

#: An own pair of readings with nothing between them.
EMPTY = """#include "own_pair.h"

TICKLAB_INLINE uint64_t own_interval(long k)
{
    const uint64_t begin = counter_begin();
    (void)k;
    return counter_end() - begin;
}
MEASURE_OWN_PAIR(own_interval)
"""


@pytest.fixture
def lab(tmp_path: Path) -> Session:
    return Session(LAB, tmp_path)


@pytest.fixture
def shell() -> Iterator[Any]:
    yield InteractiveShell.instance()
    InteractiveShell.clear_instance()


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return quick(Session(LAB, tmp_path_factory.mktemp("lab")), save="fenced")


def saved(lab: Session, run: Run, name: str = "fenced") -> None:
    run.recording.write(lab.folder / "recordings" / f"{name}.csv")


def test_a_cell_that_was_skipped_is_named_by_what_it_makes(
    shell: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    unready_cells.register_missing_names()
    shell.run_cell("fenced = 1")
    ran = shell.run_cell("naive.plot()")
    printed = capsys.readouterr().out
    assert isinstance(ran.error_in_exec, NameError), "the notebook has to stop there"
    assert "there is no 'naive' yet" in printed
    assert "Run All Above Selected Cell" in printed
    assert "Did you mean" not in printed
    shell.run_cell("fencd")
    assert "Did you mean fenced?" in capsys.readouterr().out


def test_a_name_that_a_module_misses_is_no_matter_of_cells(
    shell: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    unready_cells.register_missing_names()
    (tmp_path / "short_of_a_name.py").write_text("def call():\n    return absent\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    shell.run_cell("import short_of_a_name; short_of_a_name.call()")
    printed = capsys.readouterr().out
    assert "absent" in printed and "there is no 'absent' yet" not in printed


@pytest.mark.parametrize(
    ("cell", "heading", "sentence"),
    [
        ("run.cost", "this run has no `cost`", "It has `value`, `unit`, `interval`, `parts`."),
        ("run.valu", "this run has no `valu`", "Did you mean `value`?"),
        ("run.result().cost", "this result has no `cost`", "It has `unit`."),
        ("run.value.value", "a number has no `value`", "leave out `.value`"),
        ("min(run.value)", "this is one number, and Python needs a list", "stands for itself"),
        ("print('shown').value", "None has no `value`", "`run = lab.measure(...)`"),
    ],
)
def test_an_attribute_that_a_result_lacks_is_explained(
    shell: Any, run: Run, capsys: pytest.CaptureFixture[str], cell: str, heading: str, sentence: str
) -> None:
    unready_cells.register_missing_names()
    shell.user_ns["run"] = run
    ran = shell.run_cell(cell)
    printed = " ".join(capsys.readouterr().out.split())
    assert isinstance(ran.error_in_exec, AttributeError | TypeError), "the notebook stops there"
    assert heading in printed and sentence in printed


def test_an_attribute_of_what_is_not_the_kits_is_pythons_matter(
    shell: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    unready_cells.register_missing_names()
    shell.run_cell("'text'.cost")
    printed = capsys.readouterr().out
    assert "'str' object has no attribute 'cost'" in printed and "Problem" not in printed


def test_a_slip_in_a_figure_id_is_told_and_the_figure_kept(
    lab: Session, run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    saved(lab, run)
    with pytest.raises(Refused, match=f"did you mean {FENCED}\\?"):
        lab.predict("timer-overhad-fenced", 20, "ns")
    assert predictions.read(lab.folder) == {}
    lab.figure("timer-overhad-fenced", run.value, run.unit, run)
    assert f"did you mean {FENCED}?" in capsys.readouterr().out
    lab.conclude("elsewhere", 1)
    assert f"there is {FENCED}, timer-" in capsys.readouterr().out
    assert set(figures.read(lab.folder)) == {"timer-overhad-fenced", "elsewhere"}
    lab.figure(FENCED, run.value, run.unit, run)
    assert "asks for no figure" not in capsys.readouterr().out


def test_a_lab_without_a_guide_asks_for_whatever_is_handed_in(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Session("my-own-lab", tmp_path).conclude("anything", 2)
    assert "asks for no figure" not in capsys.readouterr().out


def test_a_conclusion_keeps_the_run_that_shows_it(tmp_path: Path) -> None:
    folder = tmp_path / "04-procedure-call"
    honest = REPOSITORY / "tests/fixtures/honest" / folder.name
    shutil.copytree(honest / "recordings", folder / "recordings")
    recording = file.read(folder / "recordings/o0.csv")
    o0 = Run.of(recording, recording_path="recordings/o0.csv")
    lab = Session("04-procedure-call", folder)
    lab.conclude("call-five-and-six", 3, run=o0)
    kept = figures.read(folder)["call-five-and-six"]
    assert isinstance(kept, figures.Figure)
    assert (kept.value, kept.unit, kept.recording) == (3, "choice", "recordings/o0.csv")
    with pytest.raises(Refused, match="has no conclusion 4"):
        lab.conclude("call-five-and-six", 4, run=o0)
    lab.conclude("call-five-and-six", 2)
    kept = figures.read(folder)["call-five-and-six"]
    assert isinstance(kept, figures.Figure) and kept.recording is None


def test_a_comparison_is_no_evidence_and_its_runs_are_named(tmp_path: Path) -> None:
    run = Run.of(
        file.read(REPOSITORY / "tests/fixtures/honest/05-task-creation/recordings/kinds.csv")
    )
    lab = Session("05-task-creation", tmp_path)
    found = lab.compare(run["vfork-wait"], run["fork-wait"], times=0.5)
    with pytest.raises(Refused, match="one with vfork-wait or fork-wait"):
        lab.figure("creation-cause", 1, "choice", found)  # type: ignore[arg-type]


def test_a_run_that_was_measured_again_is_no_evidence_any_more(lab: Session, run: Run) -> None:
    saved(lab, run)
    lab.figure(FENCED, run.value, run.unit, run)
    again = quick(lab, save="fenced")
    with pytest.raises(Refused, match=r'the newest run, `lab\.runs\["fenced"\]`'):
        lab.figure(FENCED, run.value, run.unit, run)
    lab.figure(FENCED, again.value, again.unit, lab.runs["fenced"].in_unit("ticks"))


def test_evidence_may_be_named_as_it_was_saved(lab: Session, run: Run) -> None:
    saved(lab, run)
    for name in ("fenced", "fenced.csv", "recordings/fenced.csv"):
        lab.figure(FENCED, 1, "ns", name)
        stored = figures.read(lab.folder)[FENCED]
        assert isinstance(stored, figures.Figure)
        assert stored.recording == "recordings/fenced.csv"
    with pytest.raises(Refused, match=r"no recordings/naive\.csv(.|\n)*There is fenced"):
        lab.figure(FENCED, 1, "ns", "naive")


@pytest.mark.parametrize("value", [16.4, None])
def test_a_figure_without_a_unit_shows_how_it_is_written(
    lab: Session, run: Run, value: float | None
) -> None:
    saved(lab, run)
    given: Any = run if value is None else value
    with pytest.raises(Refused, match=r"run\.value, run\.unit, run\)"):
        lab.figure(FENCED, given)
    with pytest.raises(Refused, match=r'lab\.predict\("timer-overhead-fenced", 20, "ns"\)'):
        lab.predict(FENCED, 20)
    assert not (lab.folder / predictions.FILE_NAME).exists()


def test_a_hint_without_a_topic_names_those_there_are(lab: Session) -> None:
    with pytest.raises(Refused) as refused:
        lab.hint()
    for topic in guide.of_lab(LAB).hints:
        assert f'lab.hint("{topic}")' in str(refused.value)


def test_the_stop_button_is_answered_in_words(
    lab: Session, shell: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(measuring, "measure_in_turns_now", interrupted)
    with pytest.raises(Refused, match=r"was stopped(.|\n)*nothing of this run is saved"):
        quick(lab)


def stopped_after(monkeypatch: pytest.MonkeyPatch, run: Run, planned: int) -> None:
    """Let the stop button end each run after the processes of `run`."""
    stated = run_conditions.cut_short_conditions(3, planned, run_conditions.CANCELLED)
    made = replace(run.recording, conditions={**run.recording.conditions, **stated})

    def interrupted(plans: object, heard: object, rule: object, show: object, kept: Kept) -> None:
        kept((made,))
        raise KeyboardInterrupt

    monkeypatch.setattr(measuring, "measure_in_turns_now", interrupted)


def test_the_stop_button_keeps_the_processes_that_have_finished(
    lab: Session, shell: Any, monkeypatch: pytest.MonkeyPatch, run: Run
) -> None:
    whole = len(run.recording.processes)
    stopped_after(monkeypatch, run, whole + 4)
    with pytest.raises(Refused) as refused:
        quick(lab, save="short")
    text = str(refused.value)
    assert f"was stopped after {whole} of {whole + 4} processes" in text
    assert '`lab.runs["short"]`' in text and run.results[0].sentence() in text
    kept = lab.runs["short"]
    assert not kept.later.failure
    assert f"cancelled after {whole} of {whole + 4} processes" in repr(kept)
    assert run_conditions.cut_short(file.read(lab.folder / "recordings/short.csv")) is not None


def test_outside_a_notebook_an_interrupt_saves_them_and_is_not_swallowed(
    lab: Session, monkeypatch: pytest.MonkeyPatch, run: Run
) -> None:
    stopped_after(monkeypatch, run, 100)
    with pytest.raises(KeyboardInterrupt):
        quick(lab, save="short")
    assert lab.runs["short"].recording_path == "recordings/short.csv"


@pytest.mark.parametrize(
    ("line", "difference", "words"),
    [
        ("begin = counter_begin();", "begin - end", "less than 0 ticks"),
        ('printf("hello\\n");', "end - begin", "'hello' on standard output"),
        ("*(volatile int *)(k - k) = 1;", "end - begin", "SIGSEGV: .*pointer that was never set"),
    ],
)
def test_a_mistake_in_c_is_told_by_what_it_does(
    lab: Session, line: str, difference: str, words: str
) -> None:
    text = f"""#include "own_pair.h"

TICKLAB_INLINE uint64_t own_interval(long k)
{{
    uint64_t link = 1, begin = 0, end = 0;
    {line}
    ADDITIONS(link, k);
    end = counter_end();
    return {difference};
}}
MEASURE_OWN_PAIR(own_interval)
"""
    with pytest.raises(Refused, match=words):
        ckernel_magic.measure_cell(lab, "own --samples 100 --processes 1 --flags=-O0", text)


def test_a_check_of_no_figure_names_those_of_the_lab(tmp_path: Path) -> None:
    folder = tmp_path / LAB
    folder.mkdir()
    with pytest.raises(Refused, match="did you mean timer-overhead-fenced"):
        check("timer-overhead-fence", folder)
    with pytest.raises(Refused) as refused:
        check("something else", folder)
    assert "timer-step" in str(refused.value)
    assert "creation-thread" not in str(refused.value), "figures of other labs"


def test_a_check_of_everything_says_what_the_command_says(
    lab: Session, run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    saved(lab, run)
    lab.figure(FENCED, run.value, run.unit, run)
    capsys.readouterr()
    cli.main(["check", str(lab.folder)])
    shown = check(folder=lab.folder)
    assert repr(shown) + "\n" == capsys.readouterr().out
    assert "01-timer-overhead: 4 of 18 points" in shown._repr_html_()


def test_what_is_not_handed_in_is_short_and_no_failure(tmp_path: Path) -> None:
    folder = tmp_path / LAB
    folder.mkdir()
    shown = check("timer-step", folder)
    assert repr(shown).splitlines() == [
        "○ timer-step: not handed in, 0 of 2 points",
        "  Run the cell that hands it in, or add the entry to figures.json.",
    ]
    page = shown._repr_html_()
    assert "#808080" in page and "#D55E00" not in page
    assert "Likely" not in page
    with pytest.raises(Refused, match="is not a lab folder"):
        check(folder=tmp_path)


def test_a_folder_for_practice_is_checked_for_what_is_there(
    lab: Session, run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    practice = Session("00-start-here", tmp_path / "00-start-here")
    practice.folder.mkdir()
    assert cli.main(["check", str(practice.folder)]) == check_folders.SOMETHING_NOT_GRADED
    assert "there is no figure in" in capsys.readouterr().err
    saved(practice, run)
    practice.figure(FENCED, run.value, run.unit, run)
    capsys.readouterr()
    cli.main(["check", str(practice.folder)])
    printed = capsys.readouterr().out
    assert FENCED in printed and "nothing counts" in printed
    assert "timer-step" not in printed, "of a figure that this lab does not ask for"
    saved(lab, run)
    lab.figure(FENCED, run.value, run.unit, run)
    cli.main(["check", "--lab", LAB, str(lab.folder)])
    printed = capsys.readouterr().out
    assert "timer-step: not handed in" in printed and "nothing counts" not in printed


def test_what_to_try_is_told_as_it_is_written_there(lab: Session) -> None:
    few = lab.measure("timer_overhead", "fenced", samples=50, processes=1, save="few")
    for seen in (few, few.in_unit("us")):
        tries = [warning.try_this for warning in seen.warnings]
        assert "processes=10" in tries
        assert not any("--" in words for words in tries)
    cell = ckernel_magic.measure_cell(lab, "own --samples 50 --processes 1", EMPTY)
    assert "--processes 10" in [warning.try_this for warning in cell.warnings]


def test_options_have_their_name_in_python() -> None:
    for option, in_a_command, in_a_notebook in (
        (Option("samples", 40_000), "--samples 40000", "samples=40000"),
        (Option("processes"), "--processes", "processes"),
        (Option("batch", ("K1", "K2", "...")), "--batch K1,K2,...", "batches=[K1, K2, ...]"),
        (Option("batch", (8, 16)), "--batch 8,16", "batches=[8, 16]"),
        (Option("batch", ...), "--batch", "batches=..."),
        (Option("unit", "cycles"), "--unit cycles", 'unit="cycles"'),
        (Option("peer-cpu", 1), "--peer-cpu 1", "peer_cpu=1"),
        (Option("within", 5.0), "--within 5", "within=5"),
    ):
        printed = advice("try {option}, or not", option=option)
        assert str(printed) == printed.worded(python=False) == f"try {in_a_command}, or not"
        assert printed.worded(python=True) == f"try {in_a_notebook}, or not"


def test_options_side_by_side_are_used_together() -> None:
    printed = advice(
        "{options}, which takes longer", options=(Option("within", 5), Option("at-most", 60))
    )
    assert str(printed) == "--within 5 --at-most 60, which takes longer"
    assert printed.worded(python=True) == "within=5, at_most=60, which takes longer"


def test_every_argument_that_advice_names_is_one_of_measure() -> None:
    assert set(ARGUMENTS.values()) <= set(DEFAULTS)


def test_a_run_without_a_figure_says_what_to_do(lab: Session) -> None:
    few = lab.measure("timer_overhead", "fenced", samples=5, processes=1)
    with pytest.raises(Refused, match=r"raise samples(.|\n)*run the measuring cell again"):
        few.value  # noqa: B018


def test_a_slip_in_a_variant_is_answered_by_those_there_are(lab: Session) -> None:
    with pytest.raises(Refused, match=r"no such variant: fencd(.|\n)*It has .*fenced.*unfenced"):
        quick(lab, "fencd, unfenced")
    with pytest.raises(Refused, match="samples 0"):
        quick(lab, "fenced", samples=0)


def test_a_slip_in_the_name_of_a_mistake_is_answered_by_the_one_meant(lab: Session) -> None:
    with pytest.raises(Refused, match="did you mean running_mean"):
        lab.broken("running_men")
