"""A figure computed by hand from the samples of its own recording is never accused.

The figures and recordings are those of honest runs, saved under fixtures/honest.
"""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from bench.honest.by_hand import by_hand
from grader.figures import LABS, figure_named
from grader.figures.expected import Expected
from grader.figures.spec import CHOICE, TIMES, FigureSpec, Quantity
from grader.figures.verdict import Finding, Outcome, Verdict
from grader.judging.check import check
from grader.judging.presentation import as_text
from grader.pitfalls import CATALOGUE
from support.finding_words import MOST_WORDS, words_of
from support.honest_cases import honest, honest_case, judged

NUMBERS = [spec for specs in LABS.values() for spec in specs if spec.unit != CHOICE]
#: First times have no line.
OF_SAMPLES = [
    spec
    for spec in NUMBERS
    if spec.quantity in (Quantity.COST, Quantity.OVERHEAD)
    and not spec.demonstrates
    and "first" not in spec.kernel
]
EXACT = {"timer-step", "switch-convoy-count", "switch-ratio-same-mechanism"}
UNEXPLAINED = "figure-not-from-recording"

#: Words that say where a figure was taken from, or that it was not computed from its samples.
_ACCUSES = re.compile(
    r"(another|other|earlier) (run|machine|page|computer)\b(?! fault)|published|not follow"
)
_APART = re.compile(r"Yours is ([\d.]+) % (higher|lower)\.")
_LEFT_OUT = re.compile(
    r"The kit leaves out ([\d,]+) of ([\d,]+) samples(?:: .*\d.*|, all of them .*)\."
)


def by_id(spec: FigureSpec) -> str:
    return spec.id


def right_value(spec: FigureSpec) -> float:
    expected = honest_case(spec).expected
    assert expected is not None
    return expected.value


def unexplained(spec: FigureSpec, verdict: Verdict) -> Finding | None:
    """What is told of a figure that nothing explains: it is short, whatever the figure is."""
    finding = next((each for each in verdict.findings if each.code == UNEXPLAINED), None)
    assert finding is None or words_of(finding, spec) <= MOST_WORDS, finding.evidence
    return finding


def tells_what_is_left_out(spec: FigureSpec, evidence: str) -> bool:
    """Whether the evidence says how many samples the kit leaves out, as the fitted line has it."""
    results = [honest_case(spec).results[name] for name in spec.variants]
    lines = [each.line for each in results if each.line is not None]
    aside = sum(int(counts.sum()) for line in lines for counts in line.set_aside.values())
    if not lines or len(lines) < len(results):
        return "samples" not in evidence
    if not aside:
        return "The kit counts all " in evidence
    found = _LEFT_OUT.search(evidence)
    return found is not None and int(found[1].replace(",", "")) == aside


@pytest.mark.parametrize("spec", NUMBERS, ids=by_id)
def test_within_5_percent_it_passes_or_is_told_by_how_much_it_differs(spec: FigureSpec) -> None:
    for factor in (1 - 0.049, 1 + 0.049):
        verdict = judged(spec, right_value(spec) * factor, spec.unit)
        assert not _ACCUSES.search(as_text(verdict))
        if verdict.outcome is Outcome.PASSED:
            assert verdict.points == verdict.max_points
            continue
        finding = unexplained(spec, verdict)
        assert finding is not None and spec.id in EXACT, as_text(verdict)
        assert spec.why_exact and spec.why_exact in finding.evidence
        apart = _APART.search(finding.evidence)
        assert apart is not None
        assert float(apart[1]) == pytest.approx(100 * abs(factor - 1), rel=0.05)
        assert apart[2] == ("higher" if factor > 1 else "lower")


@pytest.mark.parametrize("spec", NUMBERS, ids=by_id)
def test_a_third_off_it_fails_and_is_told_what_the_kit_leaves_out(spec: FigureSpec) -> None:
    for factor in (0.0, 0.7, 1.3, 5.7):
        verdict = judged(spec, right_value(spec) * factor, spec.unit)
        finding = unexplained(spec, verdict)
        if factor not in (0.7, 1.3):
            continue
        if spec.quantity is Quantity.SWITCHES:  # a third of next to nothing
            assert verdict.outcome is Outcome.PASSED
            continue
        assert verdict.outcome is Outcome.FAILED
        assert not _ACCUSES.search(as_text(verdict))
        if finding is not None:
            apart = _APART.search(finding.evidence)
            assert apart is not None and 20 < float(apart[1]) < 40
            no_samples = spec.of or spec.quantity is Quantity.STEP
            assert no_samples or tells_what_is_left_out(spec, finding.evidence)


@pytest.mark.parametrize("spec", OF_SAMPLES, ids=by_id)
def test_a_line_by_hand_passes_and_is_told_what_is_in_it(spec: FigureSpec) -> None:
    """Also where one sample of thousands, which the kit leaves out, carries the line away."""
    case = honest_case(spec)
    recording, ticks = case.recording, case.recording.ticks.copy()
    mine = recording.rows_of(spec.variant) & (recording.sample >= 0) & (recording.batch > 0)
    sizes = recording.batch[mine]
    size = sizes.min() if spec.quantity is Quantity.OVERHEAD else sizes.max()
    ticks[(mine & (recording.batch == size)).nonzero()[0][0]] += ticks[mine].sum()
    told = 0
    unhashed = {k: v for k, v in recording.conditions.items() if k != "samples.sha256"}
    for run in (recording, replace(recording, ticks=ticks, conditions=unhashed)):
        for how, value in by_hand(spec, run):
            if value <= 0:
                continue
            figure = replace(honest(spec.id), value=float(f"{value:.4g}"), unit=spec.unit)
            verdict = check(spec, figure, run, case.source)
            codes = [each.code for each in verdict.findings]
            assert UNEXPLAINED not in codes, (how, as_text(verdict))
            assert not _ACCUSES.search(as_text(verdict))
            if " is a line through " in verdict.reason:
                told += 1
                assert verdict.outcome is Outcome.PASSED and verdict.points == verdict.max_points
                assert "Accepted" not in as_text(verdict) and not verdict.accepted
                assert _LEFT_OUT.search(verdict.reason) or "counts all" in verdict.reason
                off = replace(figure, value=figure.value * 1.02)
                assert " is a line through " not in check(spec, off, run, case.source).reason
    assert told, "no line by hand lies outside of what is accepted: nothing was tried"


def test_exact_figures_have_a_reason_and_leave_room_for_rounding_only() -> None:
    assert {spec.id for spec in NUMBERS if spec.why_exact} == EXACT
    for name in EXACT:
        assert all(each.exact for each in honest_case(figure_named(name)).accepted_values)
    ratio = Expected(1.062, 1.055, 1.069, TIMES)
    for value, if_exact in ((1.01, False), (1.055, True), (1.06, True), (1.1, True), (1.08, False)):
        assert ratio.accepts(value)
        assert Expected(1.062, 1.055, 1.069, TIMES, exact=True).accepts(value) is if_exact


def test_no_text_of_the_catalogue_names_another_source() -> None:
    """Only the evidence can, because it shows the recording of the other run."""
    accusing = [
        each.code for each in CATALOGUE if _ACCUSES.search(f"{each.symptom} {each.misconception}")
    ]
    assert accusing == []


def test_a_repeated_mistake_by_hand_is_right_as_any_other_figure() -> None:
    """Interruptions move the mean far out of the interval, and the kit leaves them out."""
    for name in ("trial-a-reproduced", "trial-c-reproduced", "trial-d-reproduced"):
        spec, figure, case = figure_named(name), honest(name), honest_case(figure_named(name))
        run = case.recording
        interrupted = (run.batch > 0) & (np.arange(len(run.ticks)) % 9 == 0)
        stated = {key: words for key, words in run.conditions.items() if key != "samples.sha256"}
        run = replace(run, ticks=np.where(interrupted, 3 * run.ticks, run.ticks), conditions=stated)
        values = dict(by_hand(spec, run))
        for how, value in values.items():
            handed_in = replace(figure, value=float(f"{value:.4g}"), unit="ns")
            verdict = check(spec, handed_in, run, case.source)
            assert verdict.outcome is Outcome.PASSED, (how, as_text(verdict))
        wrong = replace(figure, value=1.07 * values["least squares"], unit="ns")
        assert check(spec, wrong, run, case.source).outcome is Outcome.FAILED, name
        least = replace(figure, value=float(f"{values['least squares']:.4g}"), unit="ns")
        assert "is a line through all samples" in check(spec, least, run, case.source).reason, name
