"""The line in a cell's output that says how far a run is."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import IPython.display
import pytest

from labs import messages
from labs.notebook import measuring
from labs.notebook.measuring import ProgressLine
from labs.notebook.session import Session
from labs.run.measure import Progress
from testing.short_runs import LAB, quick


class Notebook:
    """What a notebook would show: the words of the line, in the order in which they came."""

    def __init__(self) -> None:
        self.words: list[str] = []
        self.threads: set[threading.Thread] = set()

    def display(self, *bundles: object, **options: Any) -> Notebook:
        self.words += [each["text/plain"] for each in bundles if isinstance(each, dict)]
        self.threads.add(threading.current_thread())
        return self

    update = display


@pytest.fixture
def notebook(monkeypatch: pytest.MonkeyPatch) -> Notebook:
    shown = Notebook()
    monkeypatch.setattr(messages, "in_notebook", lambda: True)
    monkeypatch.setattr(IPython.display, "display", shown.display)
    return shown


def test_a_run_that_lasts_says_how_far_it_is_and_then_no_more(
    notebook: Notebook, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(measuring, "AFTER_S", 0.0)
    monkeypatch.setattr(measuring, "EVERY_S", 0.0)
    with ProgressLine("own") as line:
        line.show()
        line.heard(Progress(0, 1_000))
        line.show()
        line.heard(Progress(250, 1_000))
        line.show()
        line.heard(Progress(1_000, 1_000))
        line.show()
    assert notebook.words == [
        "own: building, 0 s",
        "own: running, no sample yet, 0 s",
        "own: 25%, 250 of 1,000 samples with the warm-up, 0 s",
        "own: all 1,000 samples are taken, now the run looks at what the C does, 0 s",
        "",
    ]


def test_a_run_that_adds_processes_shows_no_share_of_a_total_that_grows() -> None:
    for narrower, why in (
        (True, "adding processes for a narrower interval"),
        (False, "adding processes, because the core was shared"),
    ):
        line = ProgressLine("own", narrower=narrower)
        line.heard(Progress(900, 1_000))
        assert "90%" in line.words(1.0)
        line.heard(Progress(1_400, 1_500))
        assert line.words(9.0) == f"own: 1,400 samples with the warm-up, {why}, 9 s"


def test_the_line_changes_only_every_few_seconds(
    notebook: Notebook, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(measuring, "AFTER_S", 0.0)
    monkeypatch.setattr(measuring, "EVERY_S", 3_600.0)
    with ProgressLine("own") as line:
        for _ in range(3):
            line.show()
    assert notebook.words == ["own: building, 0 s", ""]


def test_a_short_run_shows_no_line(notebook: Notebook) -> None:
    with ProgressLine("own") as line:
        line.heard(Progress(1, 2))
        line.show()
    assert notebook.words == []


def test_outside_a_notebook_nothing_is_shown(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(measuring, "AFTER_S", 0.0)
    with ProgressLine("own") as line:
        line.show()
    assert capsys.readouterr().out == ""


def test_every_run_of_a_lab_has_a_line_in_the_thread_of_its_cell(
    notebook: Notebook, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(measuring, "AFTER_S", 0.0)
    quick(Session(LAB, tmp_path), samples=400)
    assert notebook.words[0].startswith("fenced: ")
    assert notebook.words[-1] == ""
    assert notebook.threads == {threading.current_thread()}
