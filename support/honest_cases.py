"""The figures of the honest runs under fixtures/honest as cases, and verdicts on other values.

A case is made once for each figure, because the tests ask for the same ones many times.
"""

from __future__ import annotations

import functools
from dataclasses import replace

from grader.evidence.sources import source_of
from grader.figures import figure_named
from grader.figures.case import Case
from grader.figures.spec import FigureSpec
from grader.figures.verdict import Finding, Verdict
from grader.judging.check import judge, open_case, open_relation
from labs.course import figures
from labs.course.figures import Figure
from labs.recording.file import read
from support.paths import FIXTURES

FOLDER = FIXTURES / "honest"


@functools.cache
def honest(figure_id: str) -> Figure:
    """The figure as the honest student handed it in."""
    lab = figure_named(figure_id).lab
    figure = figures.read(FOLDER / lab).get(figure_id)
    if figure is None:
        raise AssertionError(
            f"the saved honest run of {lab} has no {figure_id}: save one by "
            f"`python -m grader.lab_pages --record {lab}`, as docs/adding-a-lab.md says"
        )
    assert isinstance(figure, Figure)
    return figure


#: A recording keeps what is computed from it, so each value is judged on the same one.
_kept = functools.cache(read)


@functools.cache
def opened(spec: FigureSpec, figure: Figure) -> Case | Finding:
    """The case of `figure`; a relation refers to the other honest figures."""
    if spec.of:
        names = (*spec.of, *spec.compare_with)
        others = {name: opened(figure_named(name), honest(name)) for name in names}
        return open_relation(spec, figure, others)
    assert figure.recording
    path = FOLDER / spec.lab / figure.recording
    recording = _kept(path)
    return open_case(spec, figure, recording, source_of(recording, path.with_suffix(".c")))


def honest_case(spec: FigureSpec) -> Case:
    """The case of the honest figure."""
    case = opened(spec, honest(spec.id))
    assert isinstance(case, Case)
    return case


def judged(spec: FigureSpec, value: float, unit: str) -> Verdict:
    """The verdict on another value for the honest recording."""
    figure = replace(honest(spec.id), value=value, unit=unit)
    return judge(spec, opened(spec, figure), figure)
