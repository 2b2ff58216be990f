"""A warning that would answer "What is wrong here?" is shown with the explanation, not before."""

from __future__ import annotations

from pathlib import Path

import pytest

from labs.course import guide
from labs.notebook.run import Run
from labs.notebook.session import Session
from labs.recording.file import read
from labs.results.run_warnings import RunWarning
from labs.views.switches import switches
from testing.paths import FIXTURES

CASES = [(lab, each) for lab in guide.labs() for each in guide.of_lab(lab).held_back]


def cause_of(run: Run, code: str) -> RunWarning:
    (found,) = (each for each in run.warnings if each.code == code)
    return found


@pytest.mark.parametrize(("lab", "held"), CASES)
def test_the_cause_comes_after_the_students_own_words(
    lab: str, held: guide.HeldBack, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    session = Session(lab, tmp_path)
    run = Run.of(read(FIXTURES / "honest" / lab / "recordings" / f"{held.run}.csv"))
    likely = cause_of(run, held.warning).likely_cause
    assert likely in repr(run), "a run of another name keeps its warnings"

    session.keep(held.run, run)
    view = switches(run)  # this table also shows runs that claim no switches
    for shown in (repr(run), run._repr_html_(), run.plot()._repr_html_(), repr(view)):
        assert likely not in shown
    assert f'lab.answer("{held.until}", ...)' in repr(run)
    session.answer(held.until, "")
    assert likely not in capsys.readouterr().out

    session.answer(held.until, "The work is not there.")
    assert likely in capsys.readouterr().out
    assert likely in repr(run)
    assert likely in repr(switches(run))
    assert "lab.answer" not in repr(run)


def test_there_are_cases_and_each_question_is_asked() -> None:
    assert len(CASES) >= 2
