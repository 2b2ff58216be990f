"""Which words of a verdict name the true cause of a wrong submission.

Written after the list of submissions, by reading each code's words as the student reads them. A
verdict that only says "does not follow from its recording" names nothing, but where the value truly
is of no run or of another one: then it is the cause.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum

from bench.wrong.case import Case, Kind
from bench.wrong.laid import Laid
from bench.wrong.truths import TRUTHS, Truth
from grader.figures.verdict import Finding, Outcome, Verdict

#: Codes that honestly name no cause.
NAMELESS = frozenset({"figure-not-from-recording"})

#: True of the short runs of these submissions, beside whatever else is wrong with them.
BESIDE = frozenset({"too-few-samples", "one-process", "cold-samples-in-mean", "not-on-a-line"})

#: True of a run with a wide interval, whatever was read off it.
OF_WIDE_RUNS = frozenset({"interval-as-wide-as-value"})


class Naming(str, Enum):
    """What became of a wrong submission."""

    NAMED = "named truly"
    NAMELESS = "without name"
    MISNAMED = "misnamed"
    PASSED = "passed in full"


@dataclass(frozen=True)
class Judged:
    """A case and what was said of it; `words` are the verdict's, or those of the refused run.

    `plain` says that it counts as named only because its value is truly of no run or of another.
    """

    laid: Laid
    naming: Naming
    words: str
    plain: bool = False


def truth_of(lab: str, case: Case) -> Truth:
    """What would be a true naming of this case. Raises KeyError."""
    return TRUTHS[lab][case.name]


def judged(laid: Laid, verdict: Verdict | None) -> Judged:
    """Judge the verdict on a case; it is None if the kit refused the run."""
    truth = truth_of(laid.lab, laid.case)
    if verdict is None:
        named = _says(truth, laid.refused)
        naming = Naming.NAMED if named else Naming.NAMELESS
        return Judged(laid, naming, f"the run is refused: {' '.join(laid.refused.split())}")
    words = "; ".join(f"{each.code}: {each.symptom} {each.evidence}" for each in verdict.findings)
    words = words or verdict.reason
    if verdict.outcome is Outcome.PASSED or verdict.points >= verdict.max_points:
        return Judged(laid, Naming.PASSED, words)
    true = [_is_true(truth, each) for each in verdict.findings]
    false = [
        each
        for each, holds in zip(verdict.findings, true, strict=True)
        if not holds and each.code not in NAMELESS and not _is_beside(laid.case, each)
    ]
    if false:
        return Judged(laid, Naming.MISNAMED, words)
    named = any(true) or (not verdict.findings and _says(truth, verdict.reason))
    plain = named and {each.code for each in verdict.findings} <= NAMELESS & set(truth.codes)
    return Judged(laid, Naming.NAMED if named else Naming.NAMELESS, words, plain)


def _is_true(truth: Truth, finding: Finding) -> bool:
    return finding.code in truth.codes or _says(truth, f"{finding.symptom} {finding.evidence}")


def _says(truth: Truth, words: str) -> bool:
    return bool(truth.says) and re.search(truth.says, words, re.IGNORECASE) is not None


def _is_beside(case: Case, finding: Finding) -> bool:
    return finding.code in OF_WIDE_RUNS or (case.kind is Kind.RUN and finding.code in BESIDE)
