"""The page of a report: one HTML file without a script, which loads nothing."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from pathlib import Path

from grader.evening.report.graded_class import GradedClass
from grader.evening.report.guesses import guesses_of_class
from grader.evening.report.in_class import findings_of_class
from grader.evening.report.outcomes import WORDS, outcomes_of_class
from grader.evening.report.spread import Spread, conclusions_of_class, spreads_of_class
from grader.evening.report.strips import strips_as_svg, unit_symbol
from grader.evening.report.to_look_at import to_look_at
from labs.common.html import filled

_PAGE = Path(__file__).with_name("page.html.jinja")
#: Text is never loaded from anywhere, not even by a mistake of ours.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"


@dataclass(frozen=True)
class _Drawn:
    """A figure's spread with its plot."""

    spread: Spread
    plot: str

    @property
    def unit(self) -> str:
        return unit_symbol(self.spread.unit)


def page_of(
    graded: GradedClass,
    pseudonyms: dict[str, str] | None,
    data_set: str = "",
    when: datetime.datetime | None = None,
) -> str:
    """The report on a class; names are shown if there are no `pseudonyms`.

    `data_set` is the name of the file with the class's figures, if one was written.
    """
    when = when or datetime.datetime.now().astimezone()
    return filled(
        _PAGE,
        policy=_POLICY,
        graded=graded,
        when=f"{when:%Y-%m-%d %H:%M}",
        words=WORDS,
        outcomes=outcomes_of_class(graded),
        figures=[_Drawn(each, strips_as_svg(each)) for each in spreads_of_class(graded)],
        conclusions=conclusions_of_class(graded),
        findings=findings_of_class(graded),
        guesses=guesses_of_class(graded),
        look=to_look_at(graded, pseudonyms),
        named=pseudonyms is None,
        data_set=data_set,
    )
