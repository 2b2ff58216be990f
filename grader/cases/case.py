"""One submitted figure together with the results of its recording: every pitfall looks at this.

The functions of `labs` that drew the student's plot also compute these results.
:mod:`grader.cases.expected` computes which values are right. Nothing here reads a file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from grader.cases.expected import Expected, expected_from_figures, expected_from_recording
from grader.cases.spec import CHOICE, TIMES, FigureSpec
from labs.common.units import UnknownUnit, canonical, rounded
from labs.course.figures import Figure
from labs.recording.file import Recording
from labs.results.result import Result, result_of

#: We recognise a wrong factor if the value differs from the right one times the factor by at most
#: this share, which is about that of rounding to two digits.
NEAR_A_FACTOR = 0.05


def is_meant(value: float, number: float) -> bool:
    """Whether `value` is this `number` of the recording, to three digits.

    This is stricter than `Expected.admits`, because a mean or a minimum may happen to be near
    another number and must not be taken for it.
    """
    return abs(value - number) <= 0.005 * abs(number)


@dataclass(frozen=True, eq=False)
class Case:
    """A figure, the recording that it names, and what that recording gives.

    `results` holds the results by variant. For a relation between figures, it holds them by figure
    id, `recording` is that of the first figure, `others` are the cases of these figures, and
    `beside` the cases of figures that a student might take instead.

    `given` is the submitted value in the unit asked for, or None if its unit cannot be converted.
    `accepted` holds the values that are right; an overhead has two, the intercept and the time of
    the empty region. It is empty if the recording allows no figure. `source` is the C that was
    measured, if it is known: that of a released or broken C kernel, or a file next to the recording
    with the hash that the recording states.
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
        """The first of the accepted values, which is the one that we show."""
        return self.accepted[0] if self.accepted else None

    @property
    def matched(self) -> Expected | None:
        """The first accepted value that the submitted one agrees with; None if there is none."""
        given = self.given
        return next(
            (each for each in self.accepted if given is not None and each.admits(given)), None
        )

    @property
    def right(self) -> bool:
        """Whether the submitted value agrees with an accepted one."""
        return self.matched is not None

    @property
    def right_before(self) -> bool:
        """Whether an older kit, which made this recording, may have given the submitted value."""
        given = self.given
        return given is not None and any(
            each.admits_from_older_kit(given) for each in self.accepted
        )

    def is_times(self, factor: float) -> bool:
        """Whether the submitted value is an accepted one times `factor`.

        The value must be near to that product, however wide the interval is. An interval of a third
        to either side would fit nearly every factor that a student may forget.
        """
        given = self.given
        return given is not None and any(
            each.admits(given, factor)
            and abs(given - each.value * factor) <= NEAR_A_FACTOR * abs(each.value * factor)
            for each in self.accepted
        )

    def means(self, number: float) -> bool:
        """Whether the submitted value is this number of the recording, to three digits.

        It is not if it is nearer to the right value in ticks. For example, a round trip with its
        calls may be as long as 2.6 switches, and a switch in ticks of 2.6 GHz gives the same
        number.
        """
        if self.given is None or not is_meant(self.given, number):
            return False
        ticks_per_ns = self.result.clock.frequency_hz / 1e9
        in_ticks = [each.value * ticks_per_ns for each in self.accepted]
        return all(abs(self.given - number) <= abs(self.given - each) for each in in_ticks)

    @property
    def result(self) -> Result:
        """The result of the variant that the figure is about; for a relation, the first one."""
        return self.results[self.spec.operands[0]]

    def as_submitted(self) -> str:
        """The figure as the student gave it, as text."""
        if self.figure.unit == CHOICE:
            return f"conclusion {rounded(self.figure.value, 6)}"
        return f"{rounded(self.figure.value, 6)} {self.figure.unit}"


def make_case(
    spec: FigureSpec, figure: Figure, recording: Recording, source: str | None = None
) -> Case:
    """The case of `figure`, which `spec` asks for, with its `recording`.

    Raises KeyError if the recording lacks a variant that the figure needs, and BadRecording if it
    does not describe its clock.
    """
    beside = (name for name in spec.beside if name in recording.variants)
    names = (*spec.variants, *beside)
    results = {name: result_of(recording, name, "ns") for name in names}
    accepted = tuple(expected_from_recording(spec, results, figure.unit))
    given = _in_unit_asked_for(spec, figure, results[spec.variant])
    return Case(spec, figure, recording, results, given, accepted, source)


def make_relation(
    spec: FigureSpec, figure: Figure, others: tuple[Case, ...], beside: tuple[Case, ...] = ()
) -> Case:
    """The case of a figure that relates the figures of `others`, in the order of `spec.of`."""
    results = {case.spec.id: case.result for case in others}
    first = others[0]
    given = _in_unit_asked_for(spec, figure, first.result)
    accepted = tuple(
        expected_from_figures(
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


def _in_unit_asked_for(spec: FigureSpec, figure: Figure, result: Result) -> float | None:
    """The submitted value in the unit asked for; None if it cannot be converted."""
    if spec.unit in (TIMES, CHOICE):
        known = (CHOICE,) if spec.unit == CHOICE else (TIMES, "x", "×", "1")
        return figure.value if figure.unit in known else None
    try:
        return result.clock.convert(figure.value, canonical(figure.unit), spec.unit)
    except (UnknownUnit, ValueError):
        return None
