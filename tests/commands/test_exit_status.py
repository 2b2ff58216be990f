"""How a command ends whose output nobody reads, or that cannot be written."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from labs.c_kernels.new_kernel import source_of_new
from labs.c_kernels.toolchain import build, c_kernel_source
from labs.commands.cli import main
from labs.commands.command_line import NOBODY_READS, status_of
from labs.recording.file import read
from labs.terminal import say

COMMANDS = [
    ("labs.commands.cli", "--help"),
    ("labs.commands.cli", "broken"),
    ("labs.commands.cli", "broken", "twenty_samples"),
    ("labs.commands.cli", "measure", "timer_overhead", "--samples", "50", "--processes", "1"),
    ("grader.commands.cli", "--help"),
    ("grader.commands.cli", "check"),
]


@pytest.fixture
def lab(tmp_path: Path) -> Path:
    """A lab's folder, with nothing handed in."""
    folder = tmp_path / "01-timer-overhead"
    folder.mkdir()
    return folder


def run(words: tuple[str, ...], folder: Path, output: int) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", *words],
        stdout=output, stderr=subprocess.PIPE, text=True, cwd=folder, check=False, timeout=120,
        env={key: value for key, value in os.environ.items() if key != "PYTHONUNBUFFERED"},
    )  # fmt: skip


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_a_closed_pipe_ends_a_command_without_a_word(words: tuple[str, ...], lab: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = run(words, lab, writer)
    finally:
        os.close(writer)
    assert (done.stderr, done.returncode) == ("", 141)


def test_a_closed_pipe_is_no_error_of_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    """A command that reports every OSError, as many do, must not report this one."""

    def command() -> int:
        try:
            say("a line")
        except OSError:
            return 2
        return 0

    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(os.dup(writer), "w") as closed:
        os.close(writer)
        monkeypatch.setattr(sys, "stdout", closed)
        assert status_of(command) == NOBODY_READS


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device here that is always full")
@pytest.mark.parametrize(
    "words", [("labs.commands.cli", "broken"), ("grader.commands.cli", "check")], ids=" ".join
)
def test_a_full_disk_is_told_in_one_line(words: tuple[str, ...], lab: Path) -> None:
    with Path("/dev/full").open("wb") as full:
        done = run(words, lab, full.fileno())
    assert done.stderr == "cannot write the output: No space left on device\n"
    assert done.returncode == 1


def test_a_command_whose_output_is_closed_from_the_beginning_says_nothing(lab: Path) -> None:
    words = [sys.executable, "-m", "labs.commands.cli", "progress"]
    done = subprocess.run(
        ["sh", "-c", '"$@" >&-', "sh", *words],
        stderr=subprocess.PIPE, text=True, cwd=lab, check=False, timeout=120,
    )  # fmt: skip
    assert (done.stderr, done.returncode) == ("", 0)


SHORT = ["measure", "timer_overhead", "--samples", "50", "--processes", "2"]


def test_where_no_program_may_start_the_remedy_is_another_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As on a disk that is mounted with noexec."""
    monkeypatch.setenv("TICKLAB_CACHE", str(tmp_path / "cache"))
    binary = build(c_kernel_source("timer_overhead"))
    binary.path.chmod(0o600)
    assert main(SHORT) == 1
    said = capsys.readouterr().err
    assert "starts no program" in said and "export TICKLAB_CACHE=" in said


@pytest.fixture
def full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder on a disk that fills up while a recording is written; C has room elsewhere."""
    folder = tmp_path / "full"
    folder.mkdir()
    real = os.fsync

    def fsync(file: int) -> None:
        name = Path(f"/proc/self/fd/{file}").readlink()
        if name.parent == folder and ".csv." in name.name:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        real(file)

    monkeypatch.setattr(os, "fsync", fsync)
    return folder


OWN = ["measure", "mine.c", "--samples", "50", "--processes", "2"]
COMPARED = ["compare", "timer_overhead:fenced", "timer_overhead:unfenced", *SHORT[2:]]


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
@pytest.mark.parametrize(
    ("words", "save", "files"),
    [
        (SHORT, "run.csv", ["run.csv"]),
        (OWN, "run.csv", ["run.c", "run.csv"]),
        (COMPARED, "", ["both.csv"]),
    ],
    ids=["measure", "own C", "compare"],
)
def test_a_run_that_finds_its_disk_full_is_kept_whole(
    words: list[str], save: str, files: list[str], full: Path, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
    given_times: dict[str, int],  # a comparison needs two figures, whatever else the machine does
) -> None:  # fmt: skip
    (tmp_path / "mine.c").write_text(source_of_new("mine"))
    monkeypatch.chdir(tmp_path)
    for name in files:
        (full / name).write_text("of an earlier run" if name.endswith(".csv") else "")
    if "mine.c" in words:
        (full / "run.c").unlink()
    before = sorted(path.name for path in full.iterdir())
    assert main([*words, "--save", str(full / save)]) == 1
    said = capsys.readouterr()
    assert "timer_overhead" in said.out or "mine" in said.out
    assert "the disk is full" in said.err
    assert sorted(path.name for path in full.iterdir()) == before
    assert (full / files[-1]).read_text() == "of an earlier run"
    moves = said.err.partition("When there is space: ")[2].strip()
    subprocess.run(moves, shell=True, check=True)
    assert sorted(path.name for path in full.iterdir()) == files
    assert len(read(full / files[-1])) > 0
    if "mine.c" in words:
        assert (full / "run.c").read_bytes() == (tmp_path / "mine.c").read_bytes()


def test_a_run_that_finds_no_room_at_all_is_printed(
    full: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    build(c_kernel_source("timer_overhead"))

    def no_room(*_: object, **__: object) -> str:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(tempfile, "mkdtemp", no_room)
    assert main([*SHORT, "--save", str(full / "run.csv")]) == 1
    said = capsys.readouterr()
    assert "timer_overhead fenced" in said.out
    assert "the disk is full" in said.err and "kept" not in said.err
