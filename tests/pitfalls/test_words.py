"""No finding is long, whatever was handed in: a student reads it beside the cell."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from bench.honest.random_values import asked_in
from grader.figures import LABS
from grader.figures.spec import CHOICE, FigureSpec
from grader.figures.verdict import Finding
from grader.judging.check import judge, open_case
from grader.judging.lab_folder import check_folder, lab_of
from grader.judging.presentation import as_text
from labs.course import figures
from labs.course.figures import Figure
from labs.recording.file import keeping_recordings, read
from support.finding_words import MOST_WORDS, words_of
from support.paths import FIXTURES

HONEST = FIXTURES / "honest"

#: What an honest figure is multiplied by; the second is also given as older than its recording.
FACTORS = (1000.0, 1.37, 2.596, 0.0)
LONG_AGO = "2020-01-01T00:00:00+00:00"


def too_long(findings: Iterator[tuple[FigureSpec, Finding]]) -> dict[str, tuple[int, str]]:
    """By code, the longest finding that is too long: its words, and its evidence."""
    longest: dict[str, tuple[int, str]] = {}
    for spec, finding in findings:
        found = (words_of(finding, spec), finding.evidence)
        longest[finding.code] = max(found, longest.get(finding.code, (MOST_WORDS, "")))
    return {code: each for code, each in longest.items() if each[0] > MOST_WORDS}


@pytest.mark.slow
@pytest.mark.parametrize("lab", LABS)
def test_no_finding_on_a_wrong_value_is_long(lab: str) -> None:
    with keeping_recordings():
        assert too_long(findings(lab)) == {}


def findings(lab: str) -> Iterator[tuple[FigureSpec, Finding]]:
    """Those on wrong values and on every conclusion of the lab's honest figures."""
    for asked in asked_in(HONEST / lab):
        wrong = [replace(asked.figure, value=asked.figure.value * by) for by in FACTORS]
        wrong += [replace(wrong[1], when=LONG_AGO), replace(asked.figure, unit="bushels")]
        for figure in wrong:
            case = asked.opened(figure)
            judged = judge(asked.spec, case, figure, asked.elsewhere.what_it_is)
            yield from ((asked.spec, each) for each in judged.findings)
    yield from of_choices(lab)


def of_choices(lab: str) -> Iterator[tuple[FigureSpec, Finding]]:
    """The findings on every conclusion that can be chosen there, from one recording of its own."""
    handed_in = figures.read(HONEST / lab)
    for spec in LABS[lab]:
        figure = handed_in.get(spec.id)
        if spec.unit != CHOICE or spec.of or not isinstance(figure, Figure):
            continue
        for number in range(len(spec.choices) + 2):
            yield from of_choice(lab, spec, replace(figure, value=number))


def of_choice(lab: str, spec: FigureSpec, figure: Figure) -> Iterator[tuple[FigureSpec, Finding]]:
    if figure.recording is not None:
        case = open_case(spec, figure, read(HONEST / lab / figure.recording))
        for tell in (False, True):
            judged = judge(spec, case, figure, tell_answers=tell)
            yield from ((spec, each) for each in judged.findings)


THERE = "Your value lies there: the finding is about its evidence."


@pytest.mark.slow
def test_a_right_value_of_a_wrong_run_is_not_told_to_be_outside() -> None:
    """Students read "failed", and a range in which their own value lies."""
    seen = set()
    for path in sorted((FIXTURES / "pitfalls").glob("*/wrong/figures.json")):
        for verdict in check_folder(path.parent, lab_of(path.parent)):
            submitted, ranges = verdict.values.get("submitted"), verdict.values.get("accepted", ())
            if not verdict.findings or not ranges or submitted is None:
                continue
            inside = any(low <= submitted <= high for low, high in ranges)
            seen.add(inside)
            assert (THERE in as_text(verdict)) == inside, (path.parent, verdict.figure)
    assert seen == {True, False}
