"""The commands in README and docs are those that the programs take, and the cheap ones are run.

Running each command would take minutes: others parse, by the parser that the program itself uses.
`python -m bench pages` types them all; test_docs_typed.py says which it leaves out.
"""

from __future__ import annotations

import importlib
import os
import pkgutil
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

import grader.commands
import grader.commands.cli
import labs.commands
import labs.commands.cli
from testing.paths import FIXTURES, REPOSITORY

DOCS = REPOSITORY / "docs"
#: The pages whose blocks hold nothing but commands, text of programs, and files.
OURS = sorted([*(DOCS / "instructors").rglob("*.md"), *(DOCS / "students").rglob("*.md")])
OTHERS = [REPOSITORY / "README.md", *sorted(DOCS.glob("*.md"))]

#: A block with its language, or with a directive of the site such as `{include}`.
FENCE = re.compile(r"^```([^\n`]*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
PROGRAMS = {"labs": labs.commands, "grader": grader.commands}


class Command(NamedTuple):
    """A command as a page has it, and the page."""

    page: str
    text: str


def fenced(page: Path) -> Iterator[str]:
    """The commands in the fenced blocks without a language, one a line."""
    text = page.read_text(encoding="utf-8")
    for language, block in FENCE.findall(text):
        if not language:
            yield from filter(None, block.splitlines())


def lines_for_programs(page: Path) -> Iterator[str]:
    """The commands `labs` and `grader` in blocks of both kinds, without a comment behind them."""
    text = page.read_text(encoding="utf-8")
    blocks = [block for language, block in FENCE.findall(text) if not language]
    lines = [line for block in blocks for line in block.splitlines()]
    for line in (*lines, *re.findall(r"^ {4,}(\S.*)$", text, re.MULTILINE)):
        # before it: variables of the shell, or another program that starts this one
        found = re.match(r"(?:[\w=\"'. /-]*\s)?((?:labs|grader) [a-z-][^#]*)", line)
        if found:
            yield found[1].strip()


def names_for_programs(page: Path) -> Iterator[str]:
    """The commands `labs` and `grader` within a line: often only a name, or a name and options."""
    text = page.read_text(encoding="utf-8")
    yield from re.findall(r"`((?:labs|grader) [a-z-][^`\n]*)`", text)


OURS_FENCED = [Command(page.name, text) for page in OURS for text in fenced(page)]
IN_BLOCKS = sorted(
    {Command(page.name, text) for page in (*OURS, *OTHERS) for text in lines_for_programs(page)}
)
WITHIN_LINES = sorted(
    {Command(page.name, text) for page in (*OURS, *OTHERS) for text in names_for_programs(page)}
)


@pytest.fixture
def parse_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """The programs parse their words, and then do nothing."""
    for package in PROGRAMS.values():
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            loaded = importlib.import_module(module.name)
            for name in list(vars(loaded)):
                if name == "run" or name.startswith("run_"):
                    monkeypatch.setattr(loaded, name, lambda _: 0)


def status(words: list[str]) -> int:
    """The exit status of `labs` or `grader` with these words, in this process."""
    main = labs.commands.cli.main if words[0] == "labs" else grader.commands.cli.main
    try:
        return main(words[1:])
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 1


@pytest.mark.usefixtures("parse_only")
def test_each_command_of_ours_is_one_that_the_program_takes() -> None:
    assert len(IN_BLOCKS) > 60
    refused = [each for each in IN_BLOCKS if status(shlex.split(each.text)) != 0]
    assert refused == []


@pytest.mark.usefixtures("parse_only")
def test_each_command_that_a_sentence_names_exists_with_its_options(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert len(WITHIN_LINES) > 40
    wrong = []
    for each in WITHIN_LINES:
        program, name, *_ = each.text.split()
        exists = status([program, name, "--help"]) == 0
        options = re.findall(r"(?<=\s)--[a-z-]+", each.text)
        taken = capsys.readouterr().out
        if not exists or [one for one in options if one not in taken]:
            wrong.append(each)
    assert wrong == []


@pytest.mark.usefixtures("parse_only")
def test_a_command_that_no_program_takes_is_found() -> None:
    assert status(["labs", "hand-out"]) != 0
    assert status(["grader", "export", "01-timer-overhead", "--cvs", "grades.csv"]) != 0


def has(text: str) -> bool:
    """Whether a page of ours has this command."""
    return any(each.text == text for each in OURS_FENCED)


def test_the_commands_of_a_first_evening_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    for text in ("labs --version", "labs start --no-lab", "labs progress"):
        assert has(text)
        assert status(shlex.split(text)) == 0
    assert "Next: 00-start-here" in capsys.readouterr().out
    lab = tmp_path / "ticklab-labs" / "01-timer-overhead"
    assert (lab / "01-timer-overhead.ipynb").is_file()
    shutil.copytree(FIXTURES / "honest" / lab.name, lab, dirs_exist_ok=True)
    monkeypatch.chdir(lab)
    assert has("grader check .")
    assert status(["grader", "check", "."]) == 0
    assert "18 of 18 points" in capsys.readouterr().out


def test_the_line_that_finds_the_cache_prints_it(tmp_path: Path) -> None:
    (text,) = [each.text for each in OURS_FENCED if each.text.startswith("python -c ")]
    words = [sys.executable, *shlex.split(text)[1:]]
    environment = {**os.environ, "TICKLAB_CACHE": str(tmp_path), "PYTHONPATH": str(REPOSITORY)}
    done = subprocess.run(words, capture_output=True, text=True, env=environment, check=True)
    assert done.stdout.strip() == str(tmp_path)


@pytest.mark.skipif(
    not hasattr(os, "sched_getaffinity") or not {0, 1} <= os.sched_getaffinity(0),
    reason="needs the CPUs 0 and 1",
)
def test_a_cpuset_of_one_cpu_refuses_as_the_page_says(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = (DOCS / "instructors" / "hub-and-laptops.md").read_text(encoding="utf-8")
    texts = [each.text for each in OURS_FENCED if each.text.startswith("taskset -c 1 labs measure")]
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {1})
    try:
        ends = [status(shlex.split(text)[3:]) for text in texts]
    finally:
        os.sched_setaffinity(0, before)
    assert ends == [2, 3]
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 2
    assert all(line in page for line in said)
