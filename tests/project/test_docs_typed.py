"""Every command of every page is typed by a benchmark, or there is a reason why not.

`python -m bench pages` follows the pages; those on adding a lab are for `bench adding_a_lab`.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from bench.pages import commands, written
from bench.pages.followed import PAGES
from labs.run import variants
from testing import example_lab
from testing.paths import REPOSITORY

FOLLOWED = {page.path for page in PAGES}
TYPED = FOLLOWED | {f"docs/{page}" for page in example_lab.PAGES}
EVERY = [each for page in commands.pages() for each in commands.of_page(page)]
#: Lines among commands that are none: what the reader does.
BETWEEN = {"(write figures.json)"}


def test_pages_are_there_once() -> None:
    assert len(FOLLOWED) == len(PAGES) > 12
    assert not TYPED - set(commands.pages())


def test_every_command_is_typed_or_has_a_reason() -> None:
    assert len(EVERY) > 150
    typed = {each.text for each in EVERY if each.page in TYPED}
    neither = {
        each for each in EVERY if each.text not in typed and not commands.why_not_typed(each.text)
    }
    assert neither == set()


def test_no_reason_is_left_of_a_command_that_went() -> None:
    texts = {each.text for each in EVERY}
    assert set(commands.NOT_TYPED) <= texts


def test_a_page_has_the_commands_whose_status_it_announces() -> None:
    for page in PAGES:
        texts = {each.text for each in commands.of_page(page.path)}
        assert page.ends.keys() <= texts
        assert page.later is None or page.later[0] in texts


@pytest.mark.parametrize("page", commands.pages())
def test_no_line_between_commands_is_overlooked(page: str) -> None:
    text = (REPOSITORY / page).read_text(encoding="utf-8")
    for block in commands.blocks(text):
        of_block = list(commands.of_text("".join(f"    {line}\n" for line in block.lines)))
        if block.fenced or of_block:
            assert set(block.lines) - set(of_block) <= BETWEEN


def test_a_line_of_a_program_is_no_command() -> None:
    lines = ("grader = 5", "make(it)", "python: 3", "source=1", "labsome text", "make", "make docs")
    block = "".join(f"    {line}\n" for line in lines)
    assert list(commands.of_text(block)) == ["make", "make docs"]
    assert list(commands.of_text('    CC="gcc -g" labs list  # all\n')) == ['CC="gcc -g" labs list']
    assert list(commands.of_text("```python\nmake docs\n```\n")) == []


def test_make_has_the_targets_of_the_pages() -> None:
    rules = (REPOSITORY / "Makefile").read_text(encoding="utf-8")
    named = {each.text.split()[1] for each in EVERY if each.text.startswith("make ")}
    assert {"lab", "docs"} <= named
    targets = re.findall(r"^([a-z]+(?: [a-z]+)*):", rules, re.MULTILINE)
    assert named <= {target for line in targets for target in line.split()}


@pytest.mark.parametrize(
    ("command", "listed"),
    [
        ("labs measure my_function.c", ["own", "loop"]),
        ("labs measure my_function.c --variant own,longer", ["own", "longer", "loop"]),
    ],
)
def test_the_c_that_the_reader_is_told_to_write_can_be_built(
    tmp_path: Path, command: str, listed: list[str]
) -> None:
    written.before("docs/own-function.md", command, tmp_path)
    assert [each.name for each in variants.of_kernel(str(tmp_path / "my_function.c"))] == listed
