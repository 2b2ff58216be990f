"""What an instructor reads when a class is graded: outcomes, findings, whom to look at."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from grader.cases.verdict import Outcome
from grader.evening.graded import Result
from grader.judging.judgement import verdict_from
from grader.submissions.safe_copy import printable
from labs.common.table import in_columns
from labs.common.units import plural

#: A screen has room for so many names, and for so many findings.
_MOST_NAMES, _MOST_FINDINGS = 12, 15


@dataclass
class Summary:
    """What is known of a run so far; it keeps no result.

    `failed` says why there is no result for a student; `not_graded` has the figures that wait for a
    person. A finding counts once for each student.
    """

    submissions: int = 0
    skipped: int = 0
    refused: list[str] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)
    outcomes: Counter[str] = field(default_factory=Counter)
    findings: Counter[str] = field(default_factory=Counter)
    not_graded: dict[str, list[str]] = field(default_factory=dict)
    set_aside: list[str] = field(default_factory=list)
    flagged: list[str] = field(default_factory=list)

    def add(self, result: Result) -> None:
        """Counts one submission."""
        self.submissions += 1
        codes: set[str] = set()
        flagged = any(result.accounts.values()) or any((result.copied or {}).values())
        for stated in result.figures:
            verdict = verdict_from(stated)
            self.outcomes[verdict.in_words] += 1
            codes.update(finding.code for finding in verdict.findings)
            flagged |= bool(verdict.flags)
            if verdict.outcome is Outcome.NOT_GRADED:
                self.not_graded.setdefault(result.student, []).append(verdict.figure)
        self.findings.update(codes)
        if result.set_aside:
            self.set_aside.append(result.student)
        if flagged:
            self.flagged.append(result.student)

    def as_text(self) -> str:
        """The summary for a terminal."""
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        yield f"{plural(self.submissions, 'submission')} graded" + (
            f", {self.skipped:,} skipped because they were graded before" if self.skipped else ""
        )
        if self.outcomes:
            yield "\nFigures:"
            yield from _counted(self.outcomes)
        if self.findings:
            yield "\nFindings, by the number of students:"
            yield from _counted(self.findings)
        yield from _names("\nFigures that a person must grade", list(self.not_graded))
        yield from _names("\nParts were left out of the notebooks of", self.set_aside)
        yield from _names("\nFlags, for a person to look at", self.flagged)
        for title, lines in (
            ("Refused", self.refused),
            ("Not graded because of an error", [_reason(each) for each in self.failed.items()]),
        ):
            if lines:
                yield f"\n{title}:"
                yield from (f"  {line}" for line in lines[:_MOST_NAMES])
                if len(lines) > _MOST_NAMES:
                    yield f"  and {len(lines) - _MOST_NAMES:,} more; the log has all of them"


def _counted(counts: Counter[str]) -> Iterator[str]:
    most = counts.most_common(_MOST_FINDINGS)
    rows = [(f"{count:,}", what) for what, count in most]
    yield from (f"  {line}" for line in in_columns(rows, to_the_right=(0,)))
    if len(counts) > len(most):
        yield f"  and {plural(len(counts) - len(most), 'other')}"


def _names(title: str, names: Sequence[str]) -> Iterator[str]:
    if names:
        shown = ", ".join(printable(name) for name in names[:_MOST_NAMES])
        more = len(names) - _MOST_NAMES
        yield f"{title} ({len(names):,}): {shown}{f' and {more:,} more' if more > 0 else ''}"


def _reason(failed: tuple[str, str]) -> str:
    student, why = failed
    return f"{printable(student)}: {why}"
