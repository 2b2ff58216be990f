"""`labs hint` shows the hints of `lab.hint`, in the same order and with the same counts."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from labs.commands.cli import main
from labs.commands.guidance import FILE_NAME
from labs.course import guide
from labs.course.lab_names import labs
from labs.notebook.session import Session

LAB = "03-system-call"


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TICKLAB_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_the_terminal_shows_what_the_notebook_shows(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lab = Session(LAB, tmp_path)
    for _ in range(guide.RUNGS + 1):
        lab.hint("own")
        in_notebook = capsys.readouterr().out.removeprefix("Note: ")
        assert main(["hint", "03", "own"]) == 0
        in_terminal = capsys.readouterr().out.split("In a terminal, ")[0]
        assert in_terminal.replace("the command", "the cell") == in_notebook


def test_what_only_a_notebook_has_is_named_as_a_terminal_has_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["hint", "03", "own", "--rung", "2"]) == 0
    assert "In a terminal" not in capsys.readouterr().out
    for topic, command in (
        ("own", "labs broken wrong_registers"),
        ("conclude", "labs compare A B"),
        ("report", "labs show FILE --text"),
    ):
        assert main(["hint", "03", topic, "--rung", "3"]) == 0
        last = capsys.readouterr().out.splitlines()[-1]
        assert last.startswith(f"In a terminal, use `{command}` in place of ")


def test_every_call_of_a_notebook_in_a_hint_has_a_command_or_needs_the_notebook() -> None:
    of_notebook = re.compile(r"`(?:lab|views)\.(\w+)")
    named = {
        name
        for lab in labs()
        for rungs in guide.of_lab(lab).hints.values()
        for name in of_notebook.findall(" ".join(rungs))
    }
    # A prediction is kept in the notebook; the two views are tables of a lab, not needed here.
    assert named == {"broken", "compare", "predict", "caches", "walks"}


def test_each_topic_is_counted_by_itself_and_a_rung_can_be_asked_for(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["hint", "3", "own", "--rung", "2"]) == 0
    assert main(["hint", "3", "vdso"]) == 0
    capsys.readouterr()
    assert main(["hint", "3"]) == 0
    text = capsys.readouterr().out
    assert "  own       2 of 3 shown\n" in text and "  vdso      1 of 3 shown\n" in text
    assert main(["hint", "3", "own", "--rung", "1"]) == 0
    assert capsys.readouterr().out.startswith("hint 1 of 3; ")
    assert main(["hint", "3", "own", "--json"]) == 0
    stated = json.loads(capsys.readouterr().out)
    assert (stated["lab"], len(stated["hints"]), stated["of"]) == (LAB, 2, 3)


@pytest.mark.parametrize("content", ["{", "[]", '{"03-system-call own": "x"}', "null", "\xff"])
def test_a_spoilt_note_of_what_was_shown_begins_anew(
    content: str, cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cache.mkdir()
    (cache / FILE_NAME).write_text(content, encoding="latin-1")
    assert main(["hint", "3", "own"]) == 0
    assert capsys.readouterr().out.startswith("hint 1 of 3")
    assert main(["hint", "3", "own"]) == 0
    assert capsys.readouterr().out.startswith("hint 2 of 3")


def test_without_a_cache_there_are_hints_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("TICKLAB_CACHE", str(tmp_path / "file"))
    assert main(["hint", "3", "own"]) == 0
    assert capsys.readouterr().out.startswith("hint 1 of 3")


def test_another_lab_or_topic_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    for words, said in (
        (("99",), "no lab '99'; there is 00-start-here, 01-timer-overhead"),
        (("03-sytem-call",), "did you mean 03-system-call?"),
        (("03", "onw"), f"{LAB} has no hint 'onw'"),
        (("03", "conclud"), "did you mean conclude?"),
        (("00", "any"), "00-start-here has no hint 'any'"),
    ):
        assert main(["hint", *words]) == 2
        assert said in capsys.readouterr().err
