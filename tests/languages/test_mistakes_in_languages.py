"""What a broken C kernel does wrong, and what is wrong with published figures, in each language."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from labs.commands import cli
from labs.course import mistakes_in_reports
from labs.languages import chosen
from labs.languages.po_file import languages
from labs.languages.words import of_language_named
from labs.notebook.broken_pair import Pair
from labs.notebook.run import Run
from labs.recording.file import read
from labs.run import broken
from testing.languages import of_plots
from testing.languages.left import left_in_english
from testing.paths import FIXTURES

PAIR = FIXTURES / "honest" / "03-system-call" / "recordings"
NAME = "gettimeofday_for_trap"
NAMES = frozenset(("gettimeofday-trap", "gettimeofday-vdso", "system_call", "invalid"))


def pair() -> Pair:
    """A broken C kernel and its twin, from saved recordings."""
    wrong, right = (
        Run.of(read(PAIR / f"{half}-{NAME}.csv"), ("gettimeofday-trap", "invalid"))
        for half in ("broken", "repaired")
    )
    return Pair(broken.find(NAME), wrong, right)


@pytest.mark.parametrize("language", languages())
def test_every_mistake_is_translated_as_a_whole(language: str) -> None:
    """If this fails: `python -m testing.languages`, then translate what it prints."""
    known = of_language_named(language).catalogue.sentences
    mistakes = [each.mistake for each in broken.all_of_them()]
    assert not [each for each in mistakes if each not in known]
    assert not [each for each in mistakes_in_reports.reasons() if each not in known]
    assert len(mistakes) > 50


def test_a_new_mistake_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = "Wrong on purpose: the moon is full.\n * Repaired: system_call --variant getppid"
    (tmp_path / "new.c").write_text(f"/*\n * {said}\n */\n")
    monkeypatch.setattr(broken, "folder", lambda: tmp_path)
    found = {each.english for each in of_plots.mistakes()}
    assert "the moon is full." in found


@pytest.mark.parametrize("language", languages())
def test_a_pair_says_nothing_in_english(language: str, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = pair()
    english = [shown.kernel.mistake, shown.difference()]
    english += [each for run in (shown.broken, shown.repaired) for each in shown.sentences(run)]
    assert not [part for text in english for part in left_in_english(text, language, NAMES)]
    monkeypatch.setenv(chosen.VARIABLE, language)
    mistake = of_language_named(language)(shown.kernel.mistake)
    assert repr(shown).splitlines()[0].endswith(f": {mistake}")
    assert mistake in shown.as_html() and shown.kernel.mistake not in shown.as_html()
    assert shown.as_json()["mistake"] == shown.kernel.mistake


def test_the_list_is_in_the_language_and_its_json_is_english(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(chosen.VARIABLE, "de")
    monkeypatch.setenv("COLUMNS", "400")
    assert cli.main(["broken"]) == 0
    assert "Ein Mutex macht keine Übergabe" in capsys.readouterr().out
    assert cli.main(["broken", "--json"]) == 0
    (mutex,) = (
        each for each in json.loads(capsys.readouterr().out) if each["name"] == "bare_mutex"
    )
    assert mutex["mistake"].startswith("a mutex makes no handoff")
