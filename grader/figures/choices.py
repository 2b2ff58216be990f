"""Which conclusion the data bear out: always exactly one, by the rule that the labs teach.

The rule is `labs.analysis.estimates.side`, which students apply as `lab.compare(one, other)`, or
`lab.compare(one, other, times=0.5)` for a share. If it finds two results not distinguishable, the
data do not decide, and that is the one right conclusion.
"""

from __future__ import annotations

from grader.cases.spec import Choice, Decide, Estimates
from labs.analysis.estimates import Estimate, side
from labs.course import guide, published


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


# What of a printed figure a mistake explains: its size, only its direction, or nothing.
#
# Three numbers decide: the printed figure, the run with the mistake, and the repaired run.
#
# - Size: the printed figure lies within a factor of the broken one. The factor is that by which the
#   machines of report A differ in one and the same measurement (`published.spread_of_machines`), so
#   that another machine alone may cause the rest.
# - Direction: the size differs more, but the mistake moves the repaired figure to the side on which
#   the printed one lies.
# - Nothing: the mistake moves it to the other side, or does not move it here.
#
# If the interval of the broken run holds an end of the range for the size, the runs do not decide.

#: The conclusions, by number.
SIZE, DIRECTION, NOTHING, UNDECIDED = range(1, 5)


def by_printed(quantity: str, report: str) -> Decide:
    """The rule for a printed figure, between the broken run and the repaired one."""
    value, factor = published.in_ns(quantity, report), published.spread_of_machines()
    printed = Estimate(value, value, value, "ns", "", 0, 0)

    def decide(estimates: Estimates) -> int:
        broken, repaired = estimates
        from_below, from_above = side(broken, printed, 1 / factor), side(broken, printed, factor)
        if from_below > 0 and from_above < 0:
            return SIZE
        if from_below >= 0 and from_above <= 0:
            return UNDECIDED
        moved = side(broken, repaired)
        return DIRECTION if moved != 0 and moved == side(printed, repaired) else NOTHING

    return decide
