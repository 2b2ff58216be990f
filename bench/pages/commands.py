"""Which lines of a page are commands, and which of these `python -m bench pages` does not type."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from support.paths import REPOSITORY

#: A block with its language, or lines that are indented as code.
_BLOCK = re.compile(r"^```([^\n]*)\n(.*?)^```$|^((?:    \S[^\n]*\n)+)", re.DOTALL | re.MULTILINE)
_PROGRAMS = (
    r"labs|grader|nbgrader|jupyter|make|conda|docker|cd|source|python3?|pip|taskset|gcc|strace|sudo"
    r"|mkdir|cp|clang-format|sha256sum|\.venv/bin/[\w-]+"
)
#: Variables of the shell may come first. A name before `=`, `:` or `(` is a line of a program.
_COMMAND = re.compile(rf"(?:[A-Z_]+=(?:\"[^\"]*\"|\S+) )*(?:{_PROGRAMS})(?: (?![=:(])|$)")

#: What nobody types here, and why.
NOT_TYPED = {
    **dict.fromkeys(
        (
            "grader live 01-timer-overhead --rehearse 30",
            "grader live 01-timer-overhead --share",
            "grader live 01-timer-overhead --share --keep monday",
        ),
        "it serves until Control-C; tests/live starts and asks it",
    ),
    "make test": "it runs every test for a quarter of an hour; developers run it for each change",
    "make quick": "it runs most of the tests; developers run it for each change",
    "make coverage": "it runs the tests of `make quick` once more",
    "make bench": "it runs every benchmark, and this is one of them",
    "sudo install -d -m 1777 /usr/local/share/nbgrader/exchange": "it changes the machine; "
    "test_doctor_exchange.py compares the advice of `labs doctor`",
}
#: Another benchmark, which this one does not run.
_BENCHMARK = re.compile(r"(?:[A-Z_]+=\S+ )*python -m bench \w+")


class Block(NamedTuple):
    """A block that names no language: its lines without the comments behind them.

    In a fenced one, and not in an indented one, every line is a command.
    """

    fenced: bool
    lines: list[str]


class Command(NamedTuple):
    """A command as a page has it, and the page, as a path in the repository."""

    page: str
    text: str


def pages() -> list[str]:
    """The paths of all pages for people, in the repository."""
    top = [REPOSITORY / "README.md", REPOSITORY / "CONTRIBUTING.md"]
    every = [*top, *sorted((REPOSITORY / "docs").rglob("*.md"))]
    return [path.relative_to(REPOSITORY).as_posix() for path in every]


def of_page(page: str) -> list[Command]:
    """The commands of a page of the repository, one after the other."""
    text = Path(REPOSITORY, page).read_text(encoding="utf-8")
    return [Command(page, command) for command in of_text(text)]


def of_text(text: str) -> Iterator[str]:
    """The commands in the blocks of a text, without the comments behind them."""
    for block in blocks(text):
        yield from filter(_COMMAND.match, block.lines)


def blocks(text: str) -> Iterator[Block]:
    """The blocks of a text that name no language."""
    for language, fenced, indented in _BLOCK.findall(text):
        if not language:
            lines = (fenced or indented).splitlines()
            shown = [re.split(r"\s+# ", line.strip())[0] for line in lines if line.strip()]
            yield Block(not indented, shown)


def why_not_typed(command: str) -> str:
    """The reason why a command is not typed; empty where it is."""
    if _BENCHMARK.match(command):
        return "another benchmark: name it, as in the command"
    return NOT_TYPED.get(command, "")
