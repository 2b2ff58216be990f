"""A cell that waits for the student shows one grey line, and the notebook runs on without red."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from IPython.core.interactiveshell import InteractiveShell

from labs import messages
from labs.messages import Message
from labs.notebook import ckernel_magic, unready_cells
from labs.notebook.session import Session

STUB = '%%ckernel own --save my-own\n#error "complete this region, then run the cell again"'


class Notebook:
    """A real IPython shell; `shown` is what the last cell showed."""

    def __init__(self, shell: InteractiveShell, shown: list[Message]) -> None:
        self._shell, self._all = shell, shown
        self.shown: list[Message] = []

    def run(self, cell: str) -> bool:
        """Run a cell; whether it ended without an error."""
        self._all.clear()
        result = self._shell.run_cell(cell)  # type: ignore[no-untyped-call]
        self.shown = list(self._all)
        return bool(result.success)

    def value(self, name: str) -> Any:
        return self._shell.user_ns.get(name)


@pytest.fixture
def notebook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Notebook]:
    shell = InteractiveShell.instance()
    shown: list[Message] = []
    monkeypatch.setattr(messages, "show", lambda *things: shown.extend(things))
    shell.reset(new_session=True)  # type: ignore[no-untyped-call]
    lab = Session("01-timer-overhead", tmp_path)
    ckernel_magic.register(lab, unready_cells.register_waiting())
    shell.user_ns["lab"] = lab
    yield Notebook(shell, shown)
    shell.ast_transformers.clear()
    InteractiveShell.clear_instance()


def test_a_cell_with_blanks_is_not_run_and_says_how_many_there_are(notebook: Notebook) -> None:
    assert notebook.run('before = 1\nrun = lab.measure("timer_overhead", ..., processes=...)')
    (line,) = notebook.shown
    assert line.tone == "open"
    assert line.heading == "replace each `...` in this cell: 2 places"
    assert line.sentences == ()
    assert notebook.value("before") is None and notebook.value("run") is None


def test_what_needs_it_waits_too_until_it_is_there(notebook: Notebook) -> None:
    notebook.run("first = ... - 3")
    assert notebook.run("second = first * 2")
    assert notebook.shown[0].tone == "open"
    assert "first" in notebook.shown[0].heading
    assert notebook.run("print(f'{second}')")
    assert "first" in notebook.shown[0].heading, "the line names what is to be done first"
    assert notebook.run("first = 5")
    assert notebook.run("second = first * 2")
    assert notebook.shown == [] and notebook.value("second") == 10


def test_one_line_names_all_that_comes_first(notebook: Notebook) -> None:
    notebook.run("one = ...")
    notebook.run("two = ...")
    notebook.run("total = one + 1")
    assert notebook.run("print(total, two)")
    assert notebook.shown[0].heading == "fill in the cells above that give `one` and `two`"


@pytest.mark.parametrize(
    "cell",
    [
        "for each in (1, 2):\n    twice = each * 2\n    print(twice)\nlast = first",
        "last = first + sum([part for part in (1, 2)]) + max((1, 2), key=lambda part: -part)",
        "with open(os.devnull) as file:\n    read = file.read()\n    print(read)\nlast = first",
        "if (half := 1 / 2) > 0:\n    print(half)\nlast = first",
    ],
)
def test_a_filled_cell_does_not_wait_for_its_own_names(notebook: Notebook, cell: str) -> None:
    notebook.run("import os")
    assert notebook.run(f"first = ...\n{cell}")
    assert notebook.shown[0].heading.startswith("replace each")
    assert notebook.run(f"first = 5\n{cell}")
    assert notebook.shown == [] and notebook.value("last") is not None


def test_names_within_a_comprehension_are_not_what_another_cell_waits_for(
    notebook: Notebook,
) -> None:
    notebook.run("one = [each + ... for each in (1, 2)]")
    assert not notebook.run("print(each)"), "no cell would ever give this name"


@pytest.mark.parametrize(
    "cell",
    [
        "for _ in (1, 2):\n    first = first + 1",
        "first += 1",
        "for each in first:\n    first = each",
        "print([first for other in (1, 2)])",
    ],
)
def test_what_is_read_before_it_is_assigned_waits(notebook: Notebook, cell: str) -> None:
    notebook.run("first = ...")
    assert notebook.run(cell)
    assert notebook.shown[0].heading == "fill in the cell above that gives `first`"


def test_other_names_are_still_mistakes(notebook: Notebook) -> None:
    notebook.run("first = ...")
    assert not notebook.run("frist + 1")


def test_c_that_is_not_begun_lets_its_result_wait(notebook: Notebook) -> None:
    assert notebook.run(STUB)
    assert notebook.shown[0].tone == "open"
    assert notebook.run("my_own.value")
    assert "C above" in notebook.shown[0].heading


def test_which_dots_are_blanks() -> None:
    for cell, many in (
        ("x[..., 0]", 0),
        ("def f(): ...", 0),
        ("class C:\n    ...", 0),
        ("a = 1", 0),
        ("a = ...", 1),
        ("...", 1),
        ("f(..., b=...)", 2),
        ("f((..., 1))[...]", 2),
        ("orders[...].value", 1),
        ("a[...] = 0", 0),
        ("left = a - ...", 1),
        ("if a > ...:\n    b = [...]", 2),
    ):
        assert len(unready_cells.blanks(ast.parse(cell))) == many


def test_code_in_a_message_is_set_as_code_and_escaped() -> None:
    shown = Message("open", "replace `<b>` & go", ("Then `x = 1`.", "one ` alone")).as_html()
    assert "To do: replace <code>&lt;b&gt;</code> &amp; go" in shown
    assert "Then <code>x = 1</code>." in shown
    assert "one ` alone" in shown
    assert "<strong>" not in shown
