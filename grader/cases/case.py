"""One submitted figure beside what its recording says: what every pitfall looks at.

Pure: a recording and a figure go in; the results are reduced by the same functions of `labs` that
drew the student's plot. What the recording admits is worked out in :mod:`grader.cases.expected`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from grader.cases.expected import Expected, of_recording, of_relation
from grader.cases.spec import CHOICE, TIMES, FigureSpec
from labs.common.units import UnknownUnit, canonical, rounded
from labs.course.figures import Figure
from labs.recording.file import Recording
from labs.results.result import Result, result_of

#: How near to the factor itself a value must be, for the factor to be what is wrong with it: as
#: near as two digits are.
NEAR_A_FACTOR = 0.05


def is_meant(value: float, number: float) -> bool:
    """Whether `value` is just this `number` of the recording, to three digits.

    Closer than `Expected.admits`: a mean or a minimum that happens to lie near something else must
    not pass for it.
    """
    return abs(value - number) <= 0.005 * abs(number)


@dataclass(frozen=True, eq=False)
class Case:
    """A figure, the recording it names, and what that recording gives.

    `results` holds the results by variant; of a relation between figures, by figure id, and then
    `recording` is that of the first, `others` are their cases, and `beside` those of figures that
    one might have taken instead. `given` is the submitted value in the unit asked for, None where
    its unit cannot be turned into it. `accepted` are the values that are right: of an overhead both
    the intercept and the empty interval. It is empty where the recording allows no figure. `source`
    is the C that was measured, where it is known: of a released or broken C kernel, or saved beside
    the recording with the hash that this states.
    """

    spec: FigureSpec
    figure: Figure
    recording: Recording
    results: Mapping[str, Result]
    given: float | None
    accepted: tuple[Expected, ...]
    source: str | None = None
    others: tuple[Case, ...] = field(default=(), repr=False)
    beside: tuple[Case, ...] = field(default=(), repr=False)

    @property
    def expected(self) -> Expected | None:
        """The first of the accepted values, which is the one to show."""
        return self.accepted[0] if self.accepted else None

    @property
    def admitted_by(self) -> Expected | None:
        """The first of the accepted values that the submitted one is; None where it is none."""
        given = self.given
        return next(
            (each for each in self.accepted if given is not None and each.admits(given)), None
        )

    @property
    def right(self) -> bool:
        """Whether the submitted value is one of the accepted ones."""
        return self.admitted_by is not None

    @property
    def right_before(self) -> bool:
        """Whether it is one that an older kit may have given for this recording of its own."""
        given = self.given
        return given is not None and any(each.admitted_before(given) for each in self.accepted)

    def is_times(self, factor: float) -> bool:
        """Whether the submitted value is an accepted one times `factor`.

        However wide the interval is, a factor is recognised only by a value near it: an interval of
        a third on either side holds nearly every factor that anybody could have forgotten.
        """
        given = self.given
        return given is not None and any(
            each.admits(given, factor)
            and abs(given - each.value * factor) <= NEAR_A_FACTOR * abs(each.value * factor)
            for each in self.accepted
        )

    def means(self, number: float) -> bool:
        """Whether the submitted value is just this number of the recording, to three digits.

        It is not where it lies nearer to the right value in ticks: with two calls in a switch of
        the right length a round trip is 2.6 switches, and so is a switch in ticks of 2.6 GHz.
        """
        if self.given is None or not is_meant(self.given, number):
            return False
        ticks_per_ns = self.result.clock.frequency_hz / 1e9
        in_ticks = [each.value * ticks_per_ns for each in self.accepted]
        return all(abs(self.given - number) <= abs(self.given - each) for each in in_ticks)

    @property
    def result(self) -> Result:
        """The result of the variant that the figure is about; of a relation, the first."""
        return self.results[self.spec.operands[0]]

    def as_submitted(self) -> str:
        """The figure as the student gave it."""
        if self.figure.unit == CHOICE:
            return f"conclusion {rounded(self.figure.value, 6)}"
        return f"{rounded(self.figure.value, 6)} {self.figure.unit}"


def make_case(
    spec: FigureSpec, figure: Figure, recording: Recording, source: str | None = None
) -> Case:
    """The case of `figure`, which `spec` asks for, by `recording`.

    Raises KeyError where the recording lacks a variant that the figure needs, BadRecording where it
    does not describe its clock.
    """
    beside = (name for name in spec.beside if name in recording.variants)
    names = (*spec.variants, *beside)
    results = {name: result_of(recording, name, "ns") for name in names}
    accepted = tuple(of_recording(spec, results, figure.unit))
    given = _given(spec, figure, results[spec.variant])
    return Case(spec, figure, recording, results, given, accepted, source)


def make_relation(
    spec: FigureSpec, figure: Figure, others: tuple[Case, ...], beside: tuple[Case, ...] = ()
) -> Case:
    """The case of a figure that relates the figures of `others`, in the order of `spec.of`."""
    results = {case.spec.id: case.result for case in others}
    first = others[0]
    given = _given(spec, figure, first.result)
    accepted = tuple(
        of_relation(
            spec,
            [case.accepted for case in others],
            [case.given for case in others],
            first.result.clock,
            [case.result.estimate for case in others],
        )
    )
    return Case(
        spec, figure, first.recording, results, given, accepted, first.source, others, beside
    )


def _given(spec: FigureSpec, figure: Figure, result: Result) -> float | None:
    """The submitted value in the unit asked for."""
    if spec.unit in (TIMES, CHOICE):
        known = (CHOICE,) if spec.unit == CHOICE else (TIMES, "x", "×", "1")
        return figure.value if figure.unit in known else None
    try:
        return result.clock.convert(figure.value, canonical(figure.unit), spec.unit)
    except (UnknownUnit, ValueError):
        return None
