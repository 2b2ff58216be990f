"""What the commands `labs` and `grader` answer without a subcommand."""

from __future__ import annotations

import json
import sys

import pytest

import grader.commands.cli
import labs.commands.cli
from labs.version import __version__
from support.programs import call

CLIS = (labs.commands.cli, grader.commands.cli)
#: What takes a quarter of a second or more to import, and has no part in a version.
HEAVY = {
    "matplotlib", "numpy", "nbgrader", "nbformat", "pydantic", "IPython", "tree_sitter", "psutil",
    "asyncio", "jinja2",
}  # fmt: skip
#: Prints, as JSON, what a command printed and which modules were imported meanwhile.
SPY = """
import contextlib, io, json, sys
before, out = set(sys.modules), io.StringIO()
from {cli} import main
with contextlib.redirect_stdout(out):
    try:
        assert not main(sys.argv[1:])
    except SystemExit as ended:
        assert not ended.code
print(json.dumps([out.getvalue(), sorted(set(sys.modules) - before)]))
"""


@pytest.mark.parametrize("cli", CLIS, ids=lambda cli: cli.__name__)
def test_the_version_is_answered_without_what_measures_or_grades(cli: object) -> None:
    name = cli.__name__  # type: ignore[attr-defined]
    printed, imported = spied(name, "--version")
    assert printed == f"ticklab {__version__}\n"
    ours = [module for module in imported if module.startswith(("labs", "grader"))]
    assert len(ours) < 14 and len(imported) < 100, imported


def test_a_list_is_answered_without_what_measures() -> None:
    for words in ((), ("--labs",), ("--broken",)):
        printed, imported = spied("labs.commands.cli", "list", *words)
        assert printed.count("\n") > 8, words
        assert len(imported) < 150, imported


def spied(cli: str, *words: str) -> tuple[str, list[str]]:
    """What the command printed, and the modules that it imported: none of the HEAVY ones."""
    path = f"import sys; sys.path[:0] = {sys.path!r}\n"
    done = call(sys.executable, "-I", "-c", path + SPY.format(cli=cli), *words, check=True)
    printed, imported = json.loads(done.stdout)
    assert not HEAVY & {module.partition(".")[0] for module in imported}
    return printed, imported


@pytest.mark.parametrize("cli", CLIS, ids=lambda cli: cli.__name__)
def test_a_command_alone_prints_its_help_as_git_does(
    cli: object, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main([]) == 1  # type: ignore[attr-defined]
    alone = capsys.readouterr()
    with pytest.raises(SystemExit) as ended:
        cli.main(["--help"])  # type: ignore[attr-defined]
    assert not ended.value.code
    assert alone.out == capsys.readouterr().out and not alone.err
    assert "examples:" in alone.out


@pytest.mark.parametrize("cli", CLIS, ids=lambda cli: cli.__name__)
def test_every_example_of_the_help_is_a_command_that_there_is(
    cli: object, capsys: pytest.CaptureFixture[str]
) -> None:
    cli.main([])  # type: ignore[attr-defined]
    text = capsys.readouterr().out
    commands, _, examples = text.partition("examples:")
    words = [line.split()[1] for line in examples.strip().splitlines()]
    assert 2 <= len(words) <= 4
    for word in words:
        assert word == "COMMAND" or f"\n    {word} " in commands


@pytest.mark.parametrize("cli", CLIS, ids=lambda cli: cli.__name__)
def test_an_unknown_subcommand_is_told_which_there_are(
    cli: object, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.main(["colect"])  # type: ignore[attr-defined]
    assert ended.value.code == 2
    error = capsys.readouterr().err
    assert "colect" in error and ("did you mean collect?" in error or "doctor" in error)
