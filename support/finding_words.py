"""How long a finding is: a student reads it beside the cell."""

from __future__ import annotations

from grader.figures.spec import FigureSpec
from grader.figures.verdict import Finding

MOST_WORDS = 60


def words_of(finding: Finding, spec: FigureSpec) -> int:
    """The words that the student reads, without those of a conclusion in the list of `spec`."""
    texts = (finding.symptom, finding.evidence, finding.misconception, finding.experiment)
    text = " ".join(texts)
    for choice in spec.choices:
        text = text.replace(f'"{choice.text}"', "")
    return len(text.split())
