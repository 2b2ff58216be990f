"""The C of a student must be there to be praised, and `labs measure` puts it there."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from grader.figures.verdict import Level, Outcome, Verdict
from grader.judging.lab_folder import check_folder
from labs.c_kernels.catalogue import C_PLUS_PLUS
from labs.c_kernels.toolchain import source_hash
from labs.commands import cli
from labs.course import figures
from labs.hand_in.hand_in import contents
from labs.recording.file import read
from support.paths import FIXTURES

OWN = {
    "01-timer-overhead": "timer-own-addition",
    "02-first-iteration": "first-call-own",
    "03-system-call": "system-call-read0",
    "04-procedure-call": "call-own",
    "05-task-creation": "creation-own",
    "06-process-and-thread-switch": "switch-own-hand-over",
    "07-switch-footprint": "footprint-own",
}
PROCEDURE = """#include "own_procedure.h"
static __attribute__((noinline)) long successor(long x)
{
    return x + 1;
}
MEASURE_OWN_PROCEDURE(successor)
"""
QUICKLY = ["--samples", "40", "--processes", "1"]


def verdict_of(folder: Path, lab: str) -> Verdict:
    return next(each for each in check_folder(folder, lab) if each.figure == OWN[lab])


def copied(lab: str, to: Path) -> Path:
    shutil.copytree(FIXTURES / "honest" / lab, to)
    return to / "recordings" / "own.c"


@pytest.mark.parametrize("lab", OWN)
def test_without_its_c_no_point_is_earned_for_what_the_c_did(lab: str, tmp_path: Path) -> None:
    source = copied(lab, tmp_path / "lab")
    whole = verdict_of(tmp_path / "lab", lab)
    assert whole.outcome is Outcome.PASSED
    source.unlink()
    verdict = verdict_of(tmp_path / "lab", lab)
    assert [each.code for each in verdict.findings] == ["no-c-to-read"]
    assert verdict.levels[Level.VALIDITY][0] == 0.0 < whole.levels[Level.VALIDITY][0]
    assert verdict.praise == ""
    assert "there is no own.c with this hash" in verdict.findings[0].evidence


@pytest.mark.parametrize("ending", C_PLUS_PLUS)
def test_c_plus_plus_beside_the_recording_is_found_packed_and_kept(
    ending: str, tmp_path: Path
) -> None:
    lab = "04-procedure-call"
    source = copied(lab, tmp_path / lab)
    text = source.read_bytes()
    source.rename(source.with_suffix(ending))
    # An older C of this name is not what was measured.
    source.write_bytes(text + b"/* older */")
    assert verdict_of(tmp_path / lab, lab).outcome is Outcome.PASSED
    assert {"recordings/own.c", f"recordings/own{ending}"} <= set(contents(tmp_path / lab, lab, []))
    assert figures.make_room(tmp_path / lab, "own") == "own-earlier"
    assert (source.parent / f"own-earlier{ending}").read_bytes() == text
    assert verdict_of(tmp_path / lab, lab).outcome is Outcome.PASSED


@pytest.mark.parametrize(
    ("change", "full"),
    [
        (lambda text: text + b"/* as handed in */\n", False),
        (lambda text: text.replace(b"    ", b"\t"), False),
        (lambda text: text.replace(b"\n", b"\r\n"), True),
        (lambda text: b"\xef\xbb\xbf" + text, True),
        (lambda text: text.decode().replace("\n", "\r\n").encode("utf-16"), True),
    ],
    ids=["a comment", "tabs", "line ends", "a byte-order mark", "UTF-16"],
)
def test_c_changed_after_the_run_is_other_c(change: object, full: bool, tmp_path: Path) -> None:
    lab = "04-procedure-call"
    source = copied(lab, tmp_path / "lab")
    assert callable(change)
    source.write_bytes(change(source.read_bytes()))
    expected = Outcome.PASSED if full else Outcome.FAILED
    assert verdict_of(tmp_path / "lab", lab).outcome is expected


def test_c_that_nobody_can_read_is_told_as_such(tmp_path: Path) -> None:
    lab = "04-procedure-call"
    source = copied(lab, tmp_path / "lab")
    text = source.read_text(encoding="utf-8")
    recording = source.with_suffix(".csv")
    endless = text + "; (void) " * 10_000
    source.write_text(endless, encoding="utf-8")
    stated = recording.read_text(encoding="utf-8")
    recording.write_text(stated.replace(source_hash(text), source_hash(endless)), encoding="utf-8")
    verdict = verdict_of(tmp_path / "lab", lab)
    assert [each.code for each in verdict.findings] == ["no-c-to-read"]
    assert "more nested or unfinished code" in verdict.findings[0].evidence


def test_measure_puts_the_c_beside_the_recording(tmp_path: Path) -> None:
    source, saved = tmp_path / "mine.c", tmp_path / "recordings" / "own.csv"
    saved.parent.mkdir()
    source.write_text(PROCEDURE, encoding="utf-8")
    words = ["measure", str(source), *QUICKLY, "--save", str(saved)]
    assert cli.main(words) == 0
    beside = saved.with_suffix(".c")
    stated = read(saved).conditions["source.sha256"]
    assert source_hash(beside.read_text(encoding="utf-8")) == stated
    source.write_text(PROCEDURE + "/* again */\n", encoding="utf-8")
    assert cli.main(words) == 0  # another version of the same C, with a recording of its own
    assert "again" in beside.read_text(encoding="utf-8")


def test_measure_never_replaces_c_that_no_recording_was_made_from(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, other = tmp_path / "mine.c", tmp_path / "own.c"
    source.write_text(PROCEDURE, encoding="utf-8")
    other.write_text("/* the work of an evening */\n", encoding="utf-8")
    words = ["measure", str(source), *QUICKLY, "--save", str(tmp_path / "own.csv")]
    assert cli.main(words) == 2
    assert "own.c holds other C; choose another name" in capsys.readouterr().err
    assert "evening" in other.read_text(encoding="utf-8")
    words[-1] = str(tmp_path / "mine.csv")  # its own C is beside it already
    assert cli.main(words) == 0
    assert source.read_text(encoding="utf-8") == PROCEDURE


def test_measure_makes_no_folder_by_surprise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    quick = ["measure", "timer_overhead", *QUICKLY, "--save"]
    for save, said in (
        ("recordings/fenced.csv", "make it: mkdir -p recordings\n"),
        ("my runs/a/b.csv", "there is no folder my runs/a; make it: mkdir -p 'my runs/a'\n"),
        ("", "is a folder"),
    ):
        assert cli.main([*quick, save]) == 2
        printed = capsys.readouterr()
        assert said in printed.err and not printed.out
    assert list(tmp_path.iterdir()) == []
    # README has this line: it works in the folder of a lab.
    lab = tmp_path / "01-timer-overhead"
    lab.mkdir()
    monkeypatch.chdir(lab)
    assert cli.main([*quick, "recordings/fenced.csv"]) == 0
    assert (lab / "recordings" / "fenced.csv").is_file()
