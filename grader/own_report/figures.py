"""One row of the report for each figure: what its recording gives, in every unit, and how.

The values come from the same functions as the verdict: `grader.cases` for what a figure is, and
`labs.results` for the estimate that the student's run showed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from grader.cases.case import Case
from grader.cases.expected import Expected
from grader.cases.from_recording import values_by_recording
from grader.cases.from_relation import values_by_relation
from grader.cases.spec import CHOICE, FigureSpec, Quantity
from grader.cases.verdict import NOT_HANDED_IN, Finding, Outcome, Verdict
from grader.facts.sources import released_hashes
from grader.judging.presentation import MARKS
from labs.analysis.estimate import Estimate
from labs.common.units import plural, rounded
from labs.languages.words import of_reader, words
from labs.results import digits, proved
from labs.results.result import REASONS, Result, result_of, sensible

#: The units of the report, in the order of its columns.
UNITS = ("ns", "cycles", "ticks")


@dataclass(frozen=True, eq=False)
class FigureRow:
    """A figure that a lab asks for: its question, its verdict, and the case behind it, if any."""

    spec: FigureSpec
    verdict: Verdict
    case: Case | None

    @property
    def handed_in(self) -> bool:
        """Whether there is a figure at all."""
        return self.verdict.in_words != NOT_HANDED_IN

    @property
    def passed(self) -> bool:
        """Whether the check accepts the figure."""
        return self.verdict.outcome is Outcome.PASSED

    @property
    def check(self) -> str:
        """What the check says, in a word, with its sign."""
        return f"{MARKS[self.verdict.in_words]} {words(self.verdict.in_words)}"

    @property
    def result(self) -> Result | None:
        """The result of the figure's own recording; None for a relation of other figures."""
        if self.case is None or self.case.others:
            return None
        return self.case.result

    def values(self) -> tuple[str, str, str]:
        """Value with interval in ns, core cycles and ticks; a ratio or a choice has one value."""
        if self.case is None:
            return ("", "", "")
        if self.spec.unit == CHOICE:
            return (_conclusion(self.case), "", "")
        if not (self.spec.is_time or self.spec.quantity is Quantity.STEP):
            return (_text(self._value(self.spec.unit), self.spec.unit), "", "")
        found = [_text(self._value(unit), unit) for unit in UNITS]
        return (found[0], found[1], found[2])

    def _value(self, unit: str) -> Expected | Estimate | None:
        """The figure in `unit`; None if the recording gives none, or none in this unit."""
        case = self.case
        assert case is not None  # the caller has seen to it
        spec = replace(self.spec, unit=unit)
        try:
            if case.others:
                operands = [each.as_operand() for each in case.others]
                found = list(values_by_relation(spec, operands, unit))
            else:
                found = values_by_recording(spec, case.results, unit)
        except ValueError:  # core cycles of unknown length
            return None
        if not found:
            return None
        shown = self._as_shown(unit)
        alike = shown is not None and math.isclose(shown.value, found[0].value, rel_tol=1e-9)
        return shown if alike else found[0]

    def _as_shown(self, unit: str) -> Estimate | None:
        """The estimate that the student's run shows in `unit`."""
        if self.result is None or not self.spec.is_time:
            return None
        return result_of(self.result.recording, self.result.variant, unit).estimate

    def samples(self) -> str:
        """A sentence: how many samples the figure uses, from how many processes."""
        result = self.result
        if result is None:
            if self.case is None:
                return ""
            return words("Samples: those of {figures}.").format(figures=", ".join(self.spec.of))
        every, number_1 = len(result.recording.processes), f"{result.n:,}"
        used = result.estimate.processes if result.estimate is not None else every
        if used != every:
            return words(f"Samples: {number_1} from {used} of {every} processes.")
        return words(f"Samples: {number_1} from {plural(every, 'process')}.")

    def set_aside(self) -> str:
        """What was set aside and why."""
        if self.result is None:
            return ""
        shown, aside = of_reader().heading, self.result.set_aside
        reasons = [REASONS[why].format(number_1=f"{n:,}") for why, n in aside.items()]
        return "; ".join(map(shown, reasons)) or shown("none")

    def evidence(self) -> str:
        """How it was proved that the measured event happened."""
        if self.result is None:
            return ""
        if self.spec.demonstrates:
            return "none: this figure repeats a mistake on purpose"
        if not self._of_released_c():
            return proved.of_any_c(self.result) or self.result.why_unnamed
        return proved.evidence_of(self.result) or self.result.why_unnamed

    def _of_released_c(self) -> bool:
        """Whether a C kernel of the kit was measured, and none that is wrong on purpose."""
        assert self.result is not None  # the caller has seen to it
        return self.result.recording.conditions.get("source.sha256") in released_hashes()

    def in_doubt(self) -> list[str]:
        """What the check found against the figure, in sentences; empty if it passed."""
        if self.passed:
            return []
        said = [words(self.verdict.note)] if self.verdict.note else []
        if not self.verdict.findings:
            return [*said, words(self.verdict.reason)]
        return [*said, *map(_finding, self.verdict.findings)]

    def as_submitted(self) -> str:
        """The figure as it was handed in."""
        return self.case.as_submitted() if self.case is not None else ""


def _finding(finding: Finding) -> str:
    return f"{words(finding.symptom)} {words(finding.evidence)} [{finding.code}]"


def _conclusion(case: Case) -> str:
    """The conclusion that the student chose."""
    number = case.figure.value
    choices = case.spec.choices
    if number != int(number) or not 1 <= number <= len(choices):
        return of_reader().heading(f"no conclusion has the number {rounded(number, 6)}")
    return f"“{words(choices[int(number) - 1].text)}”"


def _text(of: Expected | Estimate | None, unit: str) -> str:
    """A value with its interval, without its unit; a count has no interval."""
    if of is None:
        return "–"
    sign = f" {unit}" if unit == "times" else ""
    if of.low == of.high:
        return of_reader().heading(f"{rounded(of.value)}{sign}")
    if sign:
        value, low, high = digits.rounded_apart(of.value, of.low, of.high, 1.0)
    else:
        value, low, high = sensible(Estimate(of.value, of.low, of.high, unit, "", 0, 0))
    return of_reader().heading(f"{value}{sign} ({low} to {high})")
