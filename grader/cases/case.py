"""One submitted figure and what its recording gives. Every pitfall looks at such a case.

A case is made from a recording and a figure only. The functions of `labs` that drew the student's
plot also compute the results here. `grader.cases.from_recording` and `grader.cases.from_relation`
decide which values are right, and `grader.cases.expected` what is near enough.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from grader.cases.conclusion import conclusion
from grader.cases.expected import Expected
from grader.cases.from_recording import values_by_recording
from grader.cases.from_relation import Operand, values_by_relation
from grader.cases.spec import CHOICE, TIMES, FigureSpec, Quantity
from labs.common.units import Amount, UnknownUnit, canonical, rounded, with_unit
from labs.course.figures import Figure
from labs.recording.file import Recording
from labs.results.result import Result, result_of


@dataclass(frozen=True, eq=False)
class Case:
    """A figure, the recording that it names, and what that recording gives.

    `results` holds the results by variant. For a relation between figures it holds them by figure
    id; then `recording` is that of the first figure, `others` are the cases of the figures, and
    `compare_with` the cases of figures that a student might have taken instead. `changed_from` is
    the case of the first of two runs, if this is of the second one and if there is a first.
    `submitted` is the submitted value in the requested unit; None if its unit cannot be converted.
    `accepted_values` are the right values: for an overhead, the intercept, and the empty sample if
    it tells the same. There is none if the recording gives no figure. `source` is the C that was
    measured, if it is known: that of a released or broken C kernel, or the file saved next to the
    recording if its hash agrees.
    """

    spec: FigureSpec
    figure: Figure
    recording: Recording
    results: Mapping[str, Result]
    submitted: float | None
    accepted_values: tuple[Expected, ...]
    source: str | None = None
    others: tuple[Case, ...] = field(default=(), repr=False)
    compare_with: tuple[Case, ...] = field(default=(), repr=False)
    changed_from: Case | None = field(default=None, repr=False)

    @property
    def expected(self) -> Expected | None:
        """The first of the accepted values, which is the one that a reader sees."""
        return self.accepted_values[0] if self.accepted_values else None

    @property
    def matching_value(self) -> Expected | None:
        """The first accepted value that agrees with the submitted one; None if none does."""
        submitted = self.submitted
        return next(
            (
                each
                for each in self.accepted_values
                if submitted is not None and each.accepts(submitted)
            ),
            None,
        )

    @property
    def right(self) -> bool:
        """Whether the submitted value agrees with one of the accepted ones."""
        return self.matching_value is not None

    @property
    def result(self) -> Result:
        """The result of the figure's variant; for a relation, of its first figure."""
        return self.results[self.spec.operands[0]]

    def as_operand(self) -> Operand:
        """This figure as a relation sees it."""
        amount = None if self.submitted is None else Amount(self.submitted, self.spec.unit)
        return Operand(self.accepted_values, amount, self.result.estimate, self.result.clock)

    def as_submitted(self) -> str:
        """The figure as the student gave it."""
        if self.figure.unit == CHOICE:
            return f"conclusion {rounded(self.figure.value, 6)}"
        return with_unit(rounded(self.figure.value, 6), self.figure.unit)


def make_case(
    spec: FigureSpec, figure: Figure, recording: Recording, source: str | None = None
) -> Case:
    """The case of `figure`, which `spec` asks for, with its `recording`.

    Raises KeyError if the recording lacks a variant that the figure needs, and BadRecording if the
    recording does not describe its clock.
    """
    compare_with = (name for name in spec.compare_with if name in recording.variants)
    names = (*spec.variants, *compare_with)
    results = {name: result_of(recording, name, "ns") for name in names}
    accepted_values = _as_exact(
        spec,
        conclusion(spec, [results[name] for name in spec.variants])
        if spec.quantity is Quantity.CHOICE
        else values_by_recording(spec, results, figure.unit),
    )
    submitted = _submitted_value(spec, figure, results[spec.variant])
    return Case(spec, figure, recording, results, submitted, accepted_values, source)


def make_relation(
    spec: FigureSpec, figure: Figure, others: tuple[Case, ...], compare_with: tuple[Case, ...] = ()
) -> Case:
    """The case of a relation between the figures of `others`, which are in the order of `spec.of`.

    `compare_with` are the cases of figures that a student might have taken instead.
    """
    results = {case.spec.id: case.result for case in others}
    first = others[0]
    submitted = _submitted_value(spec, figure, first.result)
    if spec.quantity is Quantity.CHOICE:
        naive = [bool(case.spec.demonstrates) for case in others]
        accepted = conclusion(spec, [case.result for case in others], naive)
    else:
        operands = [case.as_operand() for case in others]
        accepted = values_by_relation(spec, operands, figure.unit)
    return Case(
        spec,
        figure,
        first.recording,
        results,
        submitted,
        _as_exact(spec, accepted),
        first.source,
        others,
        compare_with,
    )


def _as_exact(spec: FigureSpec, values: list[Expected]) -> tuple[Expected, ...]:
    """The right values, each as exact as the figure asks for."""
    return tuple(replace(each, exact=bool(spec.why_exact)) for each in values)


def _submitted_value(spec: FigureSpec, figure: Figure, result: Result) -> float | None:
    """The submitted value in the requested unit; None if its unit cannot be converted."""
    if spec.unit in (TIMES, CHOICE):
        known = (CHOICE,) if spec.unit == CHOICE else (TIMES, "x", "×", "1")
        return figure.value if figure.unit in known else None
    try:
        return result.clock.convert(figure.value, canonical(figure.unit), spec.unit)
    except (UnknownUnit, ValueError):
        return None
