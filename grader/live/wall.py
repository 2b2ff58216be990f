"""What the wall shows of a question: dots of predictions, then the figures by kind of machine."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from grader.live.class_state import SYMPTOMS, Answers, ClassState, Found, Question
from labs.course import published
from labs.html import Table, filled, image_address
from labs.plots import scale
from labs.plots.drawing import Axis, Paper
from labs.units import NAMES, NANOSECONDS, RIGHT_WITHIN, is_near, rounded, unit_symbol

_STAGE = Path(__file__).with_name("stage.html.jinja")
#: Width and height of the drawing, in units of its text: of a wide screen, of a phone, and how
#: much higher it is when the figures are revealed.
_WIDE, _NARROW, _REVEALED = (680, 290), (340, 300), 100
_EDGE, _AXIS, _LINE = 12, 34, 18
_MOST_MISTAKES = 5


def stage(state: ClassState, *, narrow: bool) -> dict[str, str]:
    """The HTML of the question on the wall, and of the same as a table."""
    question = state.question
    answers = state.answers(question)
    revealed = question.figure in state.revealed
    width, height = _NARROW if narrow else _WIDE
    height += _REVEALED if revealed else 0
    drawn, described = _drawn(question, answers, revealed, width, height)
    wrong = len({id(each) for each in answers.found if set(each.findings) & set(SYMPTOMS)})
    html = filled(
        _STAGE,
        number=state.number + 1,
        questions=len(state.questions),
        asks=question.asks,
        address=image_address(drawn),
        described=described,
        counts=[
            (answers.here, "here"),
            *([(len(answers.predictions), "predicted")] if question.prediction else []),
            (len(answers.found), "measured"),
            *([(len(answers.found) - wrong, "without a finding")] if revealed else []),
        ],
        revealed=revealed,
        frozen=state.frozen,
        sentence=_guesses(answers) if revealed else "",
        of=len(answers.found),
        mistakes=answers.mistakes()[:_MOST_MISTAKES],
    )
    return {"stage": html, "table": _table(question, answers, revealed).as_html()}


def _guesses(answers: Answers) -> str:
    """How many predictions came near what the class found; '' if there is nothing to compare."""
    fair = [each.value for each in answers.found if not set(each.findings) & set(SYMPTOMS)]
    guesses = [each for each in answers.predictions if each > 0]
    middle = statistics.median(fair) if fair else 0
    if not guesses or middle <= 0:
        return ""
    near = sum(is_near(each / middle) for each in guesses)
    return (
        f"{near:,} of {len(guesses):,} predictions came within a factor of {RIGHT_WITHIN:g} of the "
        "class's median figure."
    )


def _published(question: Question) -> tuple[published.Published, ...]:
    spec = question.spec
    if question.unit not in NANOSECONDS or spec.own or len(spec.variants) != 1:
        return ()
    return published.of_variant(spec.kernel, spec.variant, spec.flags)


def _in_unit(each: published.Published, unit: str) -> float:
    return each.ns / NANOSECONDS[unit]


def _drawn(
    question: Question, answers: Answers, revealed: bool, width: int, height: int
) -> tuple[str, str]:
    """The drawing as SVG, and its description."""
    printed = _published(question) if revealed else ()
    kinds = answers.by_machine() if revealed else {}
    values = [*answers.predictions, *(_in_unit(each, question.unit) for each in printed)]
    values += [each.value for each in answers.found if revealed]
    paper = Paper(width, height)
    if not values:
        paper.text(width / 2, height / 2, "Nothing yet", scale.QUIET, anchor="middle", size=20)
        return paper.svg(), "Nothing has come in yet."
    base = height - _AXIS
    axis = _axis(paper, scale.log_ends(np.array(values)), question.unit, base)
    dots = [axis.at(each) for each in answers.predictions]
    if not revealed:
        _stacked(paper, dots, 14, base, scale.BLUE)
        return paper.svg(), f"{len(dots)} predictions as dots on a logarithmic axis."
    bands = len(kinds) + bool(dots) + bool(printed)
    high = (base - 6) / bands
    y = 6.0
    for (kind, some), colour in zip(kinds.items(), _COLOURS * 9, strict=False):
        paper.text(_EDGE, y + 13, f"{kind}: {len(some):,}", colour, bold=True)
        _intervals(paper, axis, some, y + _LINE, y + high - 5, colour)
        y += high
    if dots:
        paper.text(_EDGE, y + 13, f"Predicted: {len(dots):,}", scale.QUIET)
        _stacked(paper, dots, y + _LINE, y + high - 3, scale.QUIET)
        y += high
    if printed:
        words = "Published (◆), or known to be wrong (×)" if width > 400 else "Published (× wrong)"
        paper.text(_EDGE, y + 13, words, scale.PURPLE)
        for each in printed:
            shape = "x" if each.suspicions else "D"
            colour = scale.VERMILLION if each.suspicions else scale.PURPLE
            paper.sign(axis.at(_in_unit(each, question.unit)), y + high / 2 + 6, shape, colour, 5)
    described = (
        f"{len(answers.found)} figures with intervals from {len(kinds)} kinds of machine, "
        f"{len(dots)} predictions and {len(printed)} published figures on one logarithmic axis."
    )
    return paper.svg(), described


_COLOURS = (scale.BLUE, scale.GREEN, scale.OCHRE, scale.VERMILLION, scale.INK)


def _axis(paper: Paper, ends: scale.LogEnds, unit: str, base: float) -> Axis:
    """The logarithmic axis at the foot of the paper, whose line is at the height `base`."""
    axis = Axis(math.log(ends.floor), math.log(ends.ceiling), True, _EDGE, paper.width - _EDGE)
    paper.line(axis.left, base, axis.right, base, scale.QUIET)
    every = 1 if paper.width > 400 else 2
    for number, (place, label) in enumerate(sorted(ends.labels().items())):
        x = axis.at(place)
        paper.line(x, 4, x, base, scale.FAINT, 0.7)
        if number % every == 0:
            paper.text(x, base + 14, label, anchor="middle", size=12)
    name = f"{NAMES.get(unit, unit)}, logarithmic axis"
    paper.text(paper.width / 2, paper.height - 4, name, scale.QUIET, anchor="middle", size=12)
    return axis


def _stacked(paper: Paper, places: Sequence[float], top: float, base: float, colour: str) -> None:
    """Dots at these places; those that would touch are stacked, and all become smaller to fit."""
    for radius in (9.0, 7.0, 5.0, 4.0, 3.0, 2.0, 1.5, 1.0, 0.6):
        columns: dict[int, int] = {}
        dots = []
        for place in places:
            column = int(place / (2 * radius))
            columns[column] = columns.get(column, 0) + 1
            dots.append(((column + 0.5) * 2 * radius, base - (2 * columns[column] - 1) * radius))
        if not dots or min(y for _, y in dots) - radius >= top:
            break
    for x, y in dots:
        paper.sign(x, max(y, top), "o", colour, 0.9 * radius)


def _intervals(
    paper: Paper, axis: Axis, some: Sequence[Found], top: float, base: float, colour: str
) -> None:
    """A line for each interval with a dot for its value, one below the other, and the median."""
    step = (base - top) / max(len(some), 1)
    radius = min(4.0, max(1.3, 0.7 * step))
    for number, each in enumerate(some):
        y = top + (number + 0.5) * step
        right = axis.at(each.high)
        paper.line(axis.at(each.low), y, right, y, colour, max(0.6, radius / 2))
        paper.sign(axis.at(each.value), y, "o", colour, radius)
    x = axis.at(statistics.median(each.value for each in some))
    paper.line(x, top - 4, x, base + 2, colour, 1.5, "4 2")


def _table(question: Question, answers: Answers, revealed: bool) -> Table:
    """The numbers of the drawing."""
    rows = [_row("predicted", answers.predictions)]
    if revealed:
        for kind, some in answers.by_machine().items():
            rows.append(_row(f"measured: {kind}", [each.value for each in some]))
        for each in _published(question):
            where = f"published: report {each.report}, {each.machine}"
            wrong = f"; {each.suspect}" if each.suspicions else ""
            rows.append((f"{where}{wrong}", "", rounded(_in_unit(each, question.unit)), ""))
    unit = unit_symbol(question.unit)
    header = ("", "count", f"median, {unit}", f"middle half, {unit}")
    return Table(question.asks, header, tuple(rows))


def _row(name: str, values: Sequence[float]) -> tuple[str, str, str, str]:
    if not values:
        return (name, "0", "", "")
    low, middle, high = (rounded(float(each)) for each in np.quantile(values, (0.25, 0.5, 0.75)))
    return (name, f"{len(values):,}", middle, f"{low} to {high}")
