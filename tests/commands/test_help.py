"""Every command explains itself with examples that work, and all it prints fits the terminal."""

from __future__ import annotations

import importlib
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

import grader.commands.cli
import labs.commands.cli
from labs.commands import doctor
from labs.commands.arguments import COMMANDS
from labs.commands.doctor import Point
from support.hostile.case import HONEST

LABS, GRADER = labs.commands.cli, grader.commands.cli
EVERY = [("labs", name) for name in COMMANDS] + [("grader", name) for name in GRADER.MODULES]


def answered(program: str, words: list[str]) -> int:
    main = LABS.main if program == "labs" else GRADER.main
    try:
        return main(words)
    except SystemExit as ended:
        return int(ended.code or 0)


@pytest.fixture
def nothing_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands whose words are understood end with the status 77."""
    names = [f"run_{name.replace('-', '_')}" for name in COMMANDS]
    done = SimpleNamespace(**dict.fromkeys(("run", *names), lambda arguments: 77))
    monkeypatch.setattr(LABS, "importlib", SimpleNamespace(import_module=lambda name: done))
    for name, place in GRADER.MODULES.items():
        module = importlib.import_module(f"grader.commands.{place}")
        monkeypatch.setattr(module, f"run_{name}", lambda arguments: 77)


@pytest.fixture(params=[80, 120], ids="{} columns".format)
def columns(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """A terminal of this width."""
    width: int = request.param
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setattr("labs.terminal.columns", lambda stream=None: width)
    yield width


@pytest.mark.parametrize(("program", "name"), EVERY, ids=lambda word: word)
def test_every_command_has_examples_that_it_understands(
    program: str, name: str, capsys: pytest.CaptureFixture[str], request: pytest.FixtureRequest
) -> None:
    assert answered(program, [name, "--help"]) == 0
    text = capsys.readouterr().out
    examples = [line.strip() for line in text.partition("\nexamples:\n")[2].splitlines()]
    assert examples
    request.getfixturevalue("nothing_runs")
    for example in examples:
        words = shlex.split(example.partition(">>")[0])
        assert words[:2] == [program, name]
        assert answered(program, words[1:]) == 77, capsys.readouterr().err


@pytest.mark.parametrize("program", ["labs", "grader"])
def test_help_fits_the_terminal(
    program: str, columns: int, capsys: pytest.CaptureFixture[str]
) -> None:
    for words in ([], *([name, "--help"] for of, name in EVERY if of == program)):
        answered(program, words)
    lines = capsys.readouterr().out.splitlines()
    assert 70 < max(map(len, lines)) <= columns


@pytest.mark.parametrize(
    "words",
    [
        ("list",), ("list", "--labs"), ("list", "--broken"), ("list", "switch_footprint"),
        ("hint", "03", "own", "--rung", "3"), ("hint", "03"), ("progress", "{labs}/03-system-call"),
        ("check", "{labs}/03-system-call"), ("list", "zzz"), ("hint", "zzz"),
        ("measure", "zzz"), ("broken", "zzz"),
    ],
    ids=" ".join,
)  # fmt: skip
def test_what_is_printed_fits_the_terminal(
    words: tuple[str, ...], columns: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.setenv("TICKLAB_CACHE", str(tmp_path / "cache"))
    shutil.copytree(HONEST / "03-system-call", tmp_path / "labs" / "03-system-call")
    monkeypatch.chdir(tmp_path)
    program = "grader" if words[0] == "check" else "labs"
    answered(program, [word.format(labs="labs") for word in words])
    printed = capsys.readouterr()
    lines = (printed.out + printed.err).splitlines()
    assert lines and all(len(line) <= columns for line in lines)


def test_a_wider_terminal_is_used(columns: int, capsys: pytest.CaptureFixture[str]) -> None:
    answered("labs", ["list"])
    widest = max(map(len, capsys.readouterr().out.splitlines()))
    assert columns - 20 < widest <= columns


def test_the_points_of_the_doctor_fit() -> None:
    points = [
        Point("compiler", "PASS", "gcc " * 30, "install it " * 20),
        Point("counter step", "CAUTION", "26 ticks, 10 ns"),
    ]
    for columns in (60, 80, 120):
        lines = doctor.as_text(points, colour=False, columns=columns).splitlines()
        assert columns - 15 < max(map(len, lines)) <= columns
    whole = doctor.as_text(points, colour=False, columns=None)
    assert len(whole.splitlines()) == 5
