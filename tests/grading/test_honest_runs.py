"""Honest submissions get full marks: from a busy machine, an emulated one, and odd counters.

Saved under fixtures/honest_runs by `python -m bench.honest`; each folder is named after its lab and
the circumstances that it was measured under.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.cases.verdict import Outcome
from grader.figures import LABS
from grader.judging.lab_folder import check_folder
from labs.course import figures
from testing.paths import FIXTURES

FOLDER = FIXTURES / "honest_runs"
SAVED = sorted(FOLDER.iterdir())


def test_there_are_as_many_as_promised_and_of_every_lab() -> None:
    assert len(list(FOLDER.glob("*/recordings/*.csv"))) >= 60
    assert {lab for lab in LABS if any(each.name.startswith(lab) for each in SAVED)} == set(LABS)


@pytest.mark.parametrize("folder", SAVED, ids=[each.name for each in SAVED])
def test_every_figure_passes_with_all_points(folder: Path) -> None:
    lab = next(lab for lab in LABS if folder.name.startswith(lab))
    handed_in = figures.read(folder)
    verdicts = [each for each in check_folder(folder, lab) if each.figure in handed_in]
    assert verdicts
    for verdict in verdicts:
        assert verdict.outcome is Outcome.PASSED, verdict
        assert verdict.points == verdict.max_points
