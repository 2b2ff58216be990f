"""The example lab of docs/adding-a-lab.md: what the pages say, as steps in their order.

A page says where each of its blocks goes, in the paragraph above the block:

    Write `PATH`:
    In `PATH`, below the line `LINE`, add:
    In `PATH`, below the line that begins with `BEGINNING`, add:

Lines that are indented as code are commands. One of them names the notebook, which is in
`example_notebook.md` and not on the page.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from support.paths import REPOSITORY

PAGES = ("adding-a-lab.md",)
LAB = "20-signal"

_FENCE = re.compile(r"(`{3,})(\w*)")
_WRITE = re.compile(r"Write `([^`]+)`:")
_ADD = re.compile(r"In `([^`]+)`, below the line (?:that begins with )?`([^`]+)`, add:")
_COMMAND = "    "


class BadPage(ValueError):
    """A page does not say where a block goes, or names a line that is not there once."""


@dataclass(frozen=True)
class Write:
    """A file to write; `path` is that in the repository."""

    path: str
    text: str


@dataclass(frozen=True)
class Add:
    """Lines to add to a file, below the one that begins with `below`."""

    path: str
    below: str
    text: str


@dataclass(frozen=True)
class Type:
    """A command to type at the top of the repository."""

    command: str


Step = Write | Add | Type


def all_steps() -> list[Step]:
    """The steps of all pages. Raises BadPage."""
    texts = ((REPOSITORY / "docs" / page).read_text(encoding="utf-8") for page in PAGES)
    return [step for text in texts for step in steps(text)]


def steps(page: str) -> Iterator[Step]:
    """The steps of one page. Raises BadPage."""
    lines = iter(page.splitlines())
    above = ""
    for line in lines:
        fence = _FENCE.fullmatch(line)
        if fence:
            block = []
            for inside in lines:
                if inside == fence[1]:
                    break
                block.append(inside)
            yield _of_block(above, "\n".join(block) + "\n")
        elif line.startswith(_COMMAND):
            yield Type(line.strip())
        above = line if line.strip() else above


def _of_block(above: str, text: str) -> Step:
    if write := _WRITE.fullmatch(above):
        return Write(write[1], text)
    if add := _ADD.fullmatch(above):
        return Add(add[1], add[2], text)
    raise BadPage(f"the line above a block does not say where it goes: {above!r}")


def carry_out(step: Write | Add, tree: Path) -> None:
    """Write a file below `tree`, or add to one. Raises BadPage."""
    path = tree / step.path
    if isinstance(step, Write):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(step.text, encoding="utf-8")
        return
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    places = [number for number, line in enumerate(lines) if line.strip().startswith(step.below)]
    if len(places) != 1:
        raise BadPage(f"{step.path} has {len(places)} lines {step.below!r}, and must have one")
    lines.insert(places[0] + 1, step.text)
    path.write_text("".join(lines), encoding="utf-8")
