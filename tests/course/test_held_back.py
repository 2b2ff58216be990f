"""A warning that would answer "What is wrong here?" is shown with the explanation, not before."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from labs import views
from labs.course import guide
from labs.html import Table
from labs.notebook.run import Run
from labs.notebook.session import Session
from labs.recording.file import read
from labs.results.run_warnings import RunWarning
from testing import simulate
from testing.paths import FIXTURES
from testing.simulate import Machine

CASES = [(lab, each) for lab in guide.labs() for each in guide.of_lab(lab).held_back]

#: By lab: a view of the run that a student opens before the question.
VIEWS: dict[str, Callable[[Run], Table]] = {
    "01-timer-overhead": lambda run: views.after_subtracting(run, 0),
    "06-process-and-thread-switch": views.switches,
}


def run_of(lab: str, held: guide.HeldBack) -> Run:
    """A run that has the warning: the honest student's, or one in which 20 ticks are missing."""
    honest = Run.of(read(FIXTURES / "honest" / lab / "recordings" / f"{held.run}.csv"))
    if any(each.code == held.warning for each in honest.warnings):
        return honest
    return Run.of(simulate.run(Machine(overhead=-20, batches=(64, 128, 256, 512)), 1))


def cause_of(run: Run, code: str) -> RunWarning:
    (found,) = (each for each in run.warnings if each.code == code)
    return found


@pytest.mark.parametrize(("lab", "held"), CASES)
def test_the_cause_comes_after_the_students_own_words(
    lab: str, held: guide.HeldBack, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    session = Session(lab, tmp_path)
    run = run_of(lab, held)
    likely = cause_of(run, held.warning).likely_cause
    assert likely in repr(run), "a run of another name keeps its warnings"

    session.keep(held.run, run)
    for shown in (repr(run), run._repr_html_(), run.plot()._repr_html_()):
        assert likely not in shown
    assert not any(likely in warning for warning in VIEWS[lab](run).warnings)
    assert f'lab.answer("{held.until}", ...)' in repr(run)
    session.answer(held.until, "")
    assert likely not in capsys.readouterr().out

    session.answer(held.until, "The work is not there.")
    assert likely in capsys.readouterr().out
    assert likely in repr(run)
    assert any(likely in warning for warning in VIEWS[lab](run).warnings)
    assert "lab.answer" not in repr(run)


def test_there_are_cases_and_each_question_is_asked() -> None:
    assert len(CASES) >= 2
