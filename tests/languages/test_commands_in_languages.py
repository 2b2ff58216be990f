"""What a command says of a mistake is in one language, but for names and what others say."""

from __future__ import annotations

from pathlib import Path

import pytest

from labs.commands.cli import main
from labs.commands.said import in_language
from labs.languages import chosen
from labs.languages.po_file import languages
from testing.paths import FIXTURES

SAVED = str(FIXTURES / "honest" / "01-timer-overhead" / "recordings" / "fenced.csv")
#: Each of them asks for something that there is not.
WRONG = (
    ("measure", "system_cal"),
    ("measure", "system_call", "--unit", "furlong"),
    ("measure", "system_call", "--samples", "0"),
    ("measure", "system_call", "--save", "nowhere/run.csv"),
    ("measure", "nofile.c"),
    ("record", "nofile.c"),
    ("compare", "system_cal", "system_call"),
    ("show", "nofile.csv"),
    ("show", "text.csv"),
    ("show", SAVED, "--variant", "zzz"),
    ("show", SAVED, "--output", "no/where.html"),
    ("show", SAVED, "--output", "own.html"),
    ("new", "9x"),
    ("new", "system_call"),
    ("list", "nothing"),
    ("list", "system_call", "--labs"),
    ("hint", "99"),
    ("hint", "01", "fense"),
    ("hint", "02", "x"),
    ("watch", "nofolder"),
    ("watch", "."),
    ("progress", "nofolder"),
    ("progress", "."),
    ("report", "."),
    ("hand-in", "."),
    ("hand-in", "nofolder"),
    ("broken", "nothing"),
    ("start", "text.csv/labs", "--no-lab"),
    ("survey", "--compare", "nofolder", "nofolder"),
)
#: Words that each English message has some of, and no translation.
ENGLISH = frozenset(
    [
        "the",
        "of",
        "is",
        "are",
        "has",
        "have",
        "there",
        "no",
        "not",
        "it",
        "and",
        "or",
        "with",
        "which",
        "that",
        "you",
        "your",
        "did",
        "mean",
        "use",
        "give",
        "choose",
        "another",
        "folder",
        "file",
        "cannot",
    ]
)


@pytest.mark.parametrize("language", languages())
@pytest.mark.parametrize("command", WRONG, ids=" ".join)
def test_no_message_stays_english(
    command: tuple[str, ...],
    language: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("text.csv", "own.html"):
        Path(name).write_text("hello\n")
    monkeypatch.setenv("TICKLAB_CACHE", str(tmp_path / "cache"))
    assert main([*command]) != 0
    english = capsys.readouterr().err
    monkeypatch.setenv(chosen.VARIABLE, language)
    assert main([*command]) != 0
    shown = capsys.readouterr().err
    assert said(english) & ENGLISH, "else this test sees nothing"
    # Spanish has a "no" of its own.
    assert shown != english and not said(shown) & (ENGLISH - {"no"})


def said(message: str) -> set[str]:
    """The words of a message; parts of a path, and what stands in quotes, are none."""
    return {word.strip(".,;:?()").lower() for word in message.split()}


@pytest.mark.parametrize(
    ("english", "shown"),
    [
        ("x.csv: No such file or directory", "x.csv: Datei oder Ordner nicht gefunden"),
        ("x.csv, line 3: is empty", "x.csv, Zeile 3: ist leer"),
        ("no C compiler found. Unset CC, or correct it.", "kein C-Compiler gefunden. Löschen Sie"),
        ("--output no/x: there is no folder no", "--output no/x: es gibt keinen Ordner no"),
        ("no lab 'x'; there is step, report.", "kein Lab 'x'; es gibt step, report."),
        ("nobody translates: this", "nobody translates: this"),
    ],
)
def test_a_file_stands_before_what_is_wrong_with_it(
    english: str, shown: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert in_language(english) == english
    monkeypatch.setenv(chosen.VARIABLE, "de")
    assert in_language(english).startswith(shown)
