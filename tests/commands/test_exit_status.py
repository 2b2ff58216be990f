"""How a command ends whose output nobody reads, or that cannot be written."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from labs.commands.command_line import NOBODY_READS, status_of
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
