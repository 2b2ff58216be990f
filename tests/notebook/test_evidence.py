"""A new run takes no evidence from a figure, and after a failed one nothing old looks new."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from grader.check_folders import Shown, check
from grader.figures.verdict import Verdict
from grader.judging.lab_folder import check_folder
from grader.judging.presentation import as_html, as_text
from labs.c_kernels.toolchain import source_hash
from labs.commands.cli import main
from labs.course import figures, predictions
from labs.messages import Refused
from labs.notebook.run import Run
from labs.notebook.session import Session
from labs.recording.file import read
from support.short_runs import LAB, quick

FIGURE = "timer-overhead-fenced"
SAVED = Path(__file__).parents[1] / "fixtures" / "fenced.csv"


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a run that was handed in, and is right and praised."""
    folder = tmp_path_factory.mktemp("lab") / LAB
    (folder / "recordings").mkdir(parents=True)
    shutil.copy(SAVED, folder / "recordings" / "fenced.csv")
    return folder


@pytest.fixture
def folder(measured: Path, tmp_path: Path) -> Path:
    folder = tmp_path / LAB
    shutil.copytree(measured, folder)
    run = _saved_run(folder)
    figures.put(folder, figures.Figure(FIGURE, run.value, "ns", "recordings/fenced.csv"))
    return folder


def _saved_run(folder: Path) -> Run:
    recording = read(folder / "recordings" / "fenced.csv")
    return Run.of(recording, ("fenced",), "ns", "recordings/fenced.csv")


def _verdict(folder: Path) -> Verdict:
    return next(each for each in check_folder(folder, LAB) if each.figure == FIGURE)


def test_a_run_that_takes_the_name_of_evidence_leaves_the_figure_its_own_run(folder: Path) -> None:
    before = (folder / "recordings" / "fenced.csv").read_bytes()
    (folder / "recordings" / "fenced.c").write_text("int earlier;\n", encoding="utf-8")
    assert _verdict(folder).praise
    run = quick(Session(LAB, folder), cpu=0)
    assert (folder / "recordings" / "fenced.csv").read_bytes() == run.recording.as_bytes()
    assert (folder / "recordings" / "fenced-earlier.csv").read_bytes() == before
    assert (folder / "recordings" / "fenced-earlier.c").read_text("utf-8") == "int earlier;\n"
    verdict = _verdict(folder)
    assert verdict.points == verdict.max_points
    assert verdict.recording == "recordings/fenced-earlier.csv"
    assert not verdict.praise
    assert "the newer one, recordings/fenced.csv, is not judged" in as_text(verdict)
    assert "recordings/fenced.csv, is not judged" in as_html(verdict)


def test_handed_in_again_the_figure_is_of_the_newest_run(folder: Path) -> None:
    lab = Session(LAB, folder)
    for _ in range(2):
        run = quick(lab)
        lab.figure(FIGURE, run.value, "ns", run)
    there = sorted(path.name for path in (folder / "recordings").iterdir())
    assert there == ["fenced-earlier.csv", "fenced.csv"]  # of unused ones, only the last is kept
    verdict = _verdict(folder)
    assert (verdict.recording, verdict.note) == ("recordings/fenced.csv", "")


def test_two_figures_keep_two_earlier_runs(folder: Path) -> None:
    for figure in ("timer-step", "timer-overhead-monotonic"):
        assert figures.make_room(folder, "fenced") is not None
        shutil.copy(SAVED, folder / "recordings" / "fenced.csv")
        figures.put(folder, figures.Figure(figure, 1, "ticks", "recordings/fenced.csv"))
    assert figures.make_room(folder, "fenced") == "fenced-earlier-3"
    assert set(figures.evidence(folder)) == {
        f"recordings/fenced-earlier{number}.csv" for number in ("", "-2", "-3")
    }


def test_a_recording_without_a_figure_is_replaced(folder: Path) -> None:
    (folder / figures.FILE_NAME).unlink()
    assert figures.make_room(folder, "fenced") is None
    assert figures.make_room(folder, "nothing-there") is None


def test_a_run_is_not_saved_into_another_folder(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "recordings").rename(tmp_path / "elsewhere")
    (folder / "recordings").symlink_to(tmp_path / "elsewhere")
    before = {each: each.read_bytes() for each in (tmp_path / "elsewhere").iterdir()}
    session = Session(LAB, folder)
    run = quick(session, samples=400)
    assert run.recording_path is None and len(run.recording) and session.runs["fenced"] is run
    assert "is a link to another folder" in capsys.readouterr().out
    assert not figures.note_failure(folder, "fenced", "it failed")
    assert {each: each.read_bytes() for each in (tmp_path / "elsewhere").iterdir()} == before


@pytest.mark.parametrize("text", ["{", '{"a": {"value": 1, "value": 2, "unit": "ns"}}'])
def test_evidence_that_cannot_be_kept_is_not_written_over(
    text: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = (folder / "recordings" / "fenced.csv").read_bytes()
    whole = json.loads((folder / figures.FILE_NAME).read_text("utf-8"))
    if text != "{":  # one entry that cannot be read, beside the one that names the recording
        text = json.dumps(whole)[:-1] + ", " + text[1:]
    (folder / figures.FILE_NAME).write_text(text, encoding="utf-8")
    run = quick(Session(LAB, folder), samples=400)
    assert run.recording_path is None
    assert "Save this run under another name" in capsys.readouterr().out
    assert (folder / "recordings" / "fenced.csv").read_bytes() == before
    assert (folder / figures.FILE_NAME).read_text("utf-8") == text


def test_after_a_failed_run_the_earlier_one_says_what_it_is(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lab = Session(LAB, folder)
    lab.runs["fenced"] = run = _saved_run(folder)
    shown = (run, run.in_unit("ticks"), run["fenced"], run.plot(), run.plot_line(), run.compare())
    assert not any("earlier run" in repr(each) for each in shown)
    with pytest.raises(Refused):
        quick(lab, flags="-no-such-option")
    shown = (run, run.in_unit("ticks"), run["fenced"], run.plot(), run.plot_line(), run.compare())
    assert all("This is the earlier run" in repr(each) for each in shown)
    assert all("This is the earlier run" in each._repr_html_() for each in shown)
    lab.figure(FIGURE, run.value, "ns", run)
    assert figures.EARLIER_RUN in capsys.readouterr().out
    verdict = _verdict(folder)
    assert (verdict.note, verdict.praise) == (figures.EARLIER_RUN, "")
    assert verdict.points == verdict.max_points


def test_a_run_that_succeeds_is_the_newest_again(folder: Path) -> None:
    lab = Session(LAB, folder)
    for options in ({"samples": -1}, {"flags": "-no-such-option"}):
        with pytest.raises(Refused):
            quick(lab, **options)
        assert figures.failed_later(folder, "recordings/fenced.csv")
    run = quick(lab, samples=400)
    assert not figures.failed_later(folder, "recordings/fenced.csv")
    assert "earlier run" not in repr(run)


def test_a_failed_run_of_another_name_says_nothing_of_this_one(folder: Path) -> None:
    lab = Session(LAB, folder)
    lab.runs["fenced"] = run = _saved_run(folder)
    with pytest.raises(Refused):
        quick(lab, "monotonic", flags="-no-such-option")
    assert "earlier run" not in repr(run)
    assert _verdict(folder).praise


def test_in_a_terminal_evidence_is_kept_too(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    words = ["measure", "timer_overhead", "--variant", "fenced", "--samples", "400"]
    assert main([*words, "--save", "recordings/fenced.csv"]) == 0
    assert "is now fenced-earlier.csv" in capsys.readouterr().err
    assert _verdict(folder).recording == "recordings/fenced-earlier.csv"


OWN = """#include "own_pair.h"
TICKLAB_INLINE uint64_t own_interval(long k)
{
    uint64_t link = 1, begin = counter_begin();
    ADDITIONS(link, k);
    return counter_end() - begin;
}
MEASURE_OWN_PAIR(own_interval)
"""


@pytest.mark.parametrize("by", ["terminal", "notebook"])
def test_own_c_in_a_file_is_saved_and_kept_with_its_recording(
    by: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The C of the earlier run must be kept, and not the one that takes its name."""
    monkeypatch.chdir(tmp_path)
    lab, saved = Session(LAB, tmp_path), tmp_path / "recordings" / "own.c"
    saved.parent.mkdir()
    texts = [OWN, f"/* once more */\n{OWN}"]
    for text in texts:
        Path("mine.c").write_text(text, encoding="utf-8")
        if by == "notebook":
            lab.measure("mine.c", samples=200, processes=2, flags="-O0", save="own")
        else:
            words = ["measure", "mine.c", "--samples", "200", "--processes", "2", "--flags=-O0"]
            assert main([*words, "--save", "recordings/own.csv"]) == 0
        assert saved.read_text("utf-8") == text
        figures.put(tmp_path, figures.Figure("timer-own-addition", 1, "ns", "recordings/own.csv"))
    figures.put(tmp_path, figures.Figure("timer-step", 1, "ticks", "recordings/own-earlier.csv"))
    assert saved.with_name("own-earlier.c").read_text("utf-8") == texts[0]
    for name, text in zip(("own-earlier", "own"), texts, strict=True):
        recording = read(tmp_path / "recordings" / f"{name}.csv")
        assert recording.conditions["source.sha256"] == source_hash(text)


def test_a_check_draws_the_prediction_beside_the_figure(folder: Path) -> None:
    assert "your prediction" not in _checked(folder)
    predictions.put(folder, FIGURE, predictions.Prediction(0.03, "us"))
    page = _checked(folder)
    assert "your prediction 30 ns" in page and "your recording" in page
    (folder / "predictions.json").write_text("{", encoding="utf-8")
    assert "your recording" in _checked(folder)


def _checked(folder: Path) -> str:
    shown = check(FIGURE, folder)
    assert isinstance(shown, Shown)
    return shown._repr_html_()
