"""Which conclusion the data bear out: always exactly one, by the rule that the labs teach.

The rule is `labs.analysis.compare.side`, which students apply as `lab.compare(one, other)`, or
`lab.compare(one, other, times=0.5)` for a share. If it finds two results not distinguishable, the
data do not decide, and that is the one right conclusion.
"""

from __future__ import annotations

from grader.cases.spec import Choice, Decide, Estimates
from labs.analysis.compare import side
from labs.course import guide


def choices_of(lab: str, figure: str) -> tuple[Choice, ...]:
    """The conclusions of a figure, as the lab's guide lists them."""
    return tuple(map(Choice, guide.of_lab(lab).choices[figure]))


def by_side(
    first: int, second: int, *, more: int, less: int, undecided: int, times: float = 1.0
) -> Decide:
    """A conclusion for each side of `times` the `second` operand on which the `first` may lie."""
    numbers = {1: more, -1: less, 0: undecided}

    def decide(estimates: Estimates) -> int:
        return numbers[side(estimates[first], estimates[second], times)]

    return decide
