"""The evidence of the made-up class: measured here, and right by the grader's own check."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.demonstration import MeasuredEvidence, demonstrable
from grader.figures import LABS
from grader.figures.verdict import Outcome
from grader.judging.lab_folder import check_folder
from labs.course import figures


@pytest.mark.parametrize("lab", LABS)
def test_what_needs_other_c_or_another_figure_is_left_out(lab: str) -> None:
    taken = demonstrable(lab)
    assert taken or all(spec.own or spec.of for spec in LABS[lab])
    ids = {spec.id for spec in taken}
    for spec in LABS[lab]:
        needs = spec.own or bool(spec.demonstrates) or not set(spec.of) <= ids
        assert (spec.id in ids) is not needs


@pytest.mark.parametrize("lab", ["01-timer-overhead", "03-system-call"])
def test_each_student_measures_and_the_figures_follow_from_the_recordings(
    lab: str, tmp_path: Path
) -> None:
    MeasuredEvidence(samples=300, processes=5)(lab, tmp_path)
    handed_in = figures.read(tmp_path)
    assert handed_in and set(handed_in) <= {spec.id for spec in demonstrable(lab)}
    verdicts = {verdict.figure: verdict for verdict in check_folder(tmp_path, lab)}
    for name in handed_in:
        verdict = verdicts[name]
        # A busy machine can make an interval wide; no machine makes the figure another one.
        assert verdict.outcome is not Outcome.NOT_GRADED
        codes = {finding.code for finding in verdict.findings}
        assert not codes & {"figure-not-from-recording", "other-recording", "no-recording"}
        assert verdict.flags == ()
