"""How many points a figure keeps after what was found.

A finding costs the points of its level. If the figure has no points of that level, the finding
costs half of the points of interpretation, because less can be concluded from such a figure. The
mistake that a figure is about costs at least half of the figure's points, whatever its level. A
figure of a student's own C is about what that C does, so a finding of validity costs as much
there. So does a value that is far from the right one, except if only its unit is wrong.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from grader.figures.case import Case
from grader.figures.spec import FigureSpec, Quantity
from grader.figures.verdict import Finding, Level
from grader.pitfalls import CATALOGUE, pitfall_named
from grader.pitfalls.pitfall import MistakeKind

Levels = dict[Level, tuple[float, float]]

#: By finding, another level that loses its points too: if a figure does not follow from its
#: recording, there is nothing to interpret.
FALLS_WITH = {"figure-not-from-recording": Level.INTERPRETATION}
#: Where points go that are not of the level of a finding: the last step of the work goes first.
LAST_FIRST = (Level.INTERPRETATION, Level.VALIDITY, Level.SUFFICIENCY, Level.PROVENANCE)
#: What a finding leaves of other points if the figure has none of its own level.
KEPT_WITHOUT_LEVEL = 0.5
#: What the mistake that a figure is about leaves of its points, at most.
KEPT_AFTER_CENTRAL = 0.5
#: Findings of validity that a machine can cause, whatever a student's own C does.
OF_THE_MACHINE = frozenset({"affinity-not-obtained", "not-on-a-line"})
#: Mistakes in what a student's own C does: each is what its figure is about.
CENTRAL_OF_OWN_C = (
    frozenset(each.code for each in CATALOGUE if each.level is Level.VALIDITY) - OF_THE_MACHINE
)
#: A value is far from the right one if it is more than so many times as large, or less than one
#: part of so many. A factor of two is not far: its digits may be rounded.
FAR = 2.1
#: What explains a value whose method is right, and whose unit is not.
OF_UNITS = (MistakeKind.UNIT, MistakeKind.CLOCK)


def points_by_level(
    spec: FigureSpec, findings: Collection[Finding], *, right: bool = True, far: bool = False
) -> Levels:
    """The points of each level and the most there are, after these findings.

    `right` is false if no value could be right: then there is nothing to interpret. `far` says that
    the value is far from the right one.
    """
    shares = dict.fromkeys(spec.points, 1.0)
    for finding in findings:
        if spec.points.get(finding.level):
            shares[finding.level] = 0.0
        else:
            instead = next(level for level in LAST_FIRST if spec.points.get(level))
            shares[instead] = min(shares[instead], KEPT_WITHOUT_LEVEL)
        if FALLS_WITH.get(finding.code) in shares:
            shares[FALLS_WITH[finding.code]] = 0.0
    if not right and Level.INTERPRETATION in shares:
        shares[Level.INTERPRETATION] = 0.0
    kept = {level: shares[level] * most for level, most in spec.points.items()}
    if far or any(is_central(spec, finding.code) for finding in findings):
        kept = _at_most(kept, KEPT_AFTER_CENTRAL * spec.max_points)
    return {level: (kept[level], most) for level, most in spec.points.items()}


def is_far(case: Case, findings: Collection[Finding]) -> bool:
    """Whether the value is far from the right one, and not only by its unit."""
    if case.right or not case.accepted_values or case.spec.quantity is Quantity.CHOICE:
        return False
    if any(pitfall_named(each.code).explains in OF_UNITS for each in findings):
        return False
    given, right = case.submitted or 0.0, [each.value for each in case.accepted_values]
    return all(value == 0 or not 1 / FAR <= given / value <= FAR for value in right)


def is_central(spec: FigureSpec, code: str) -> bool:
    """Whether the pitfall `code` is what this figure is about."""
    return code == spec.central or (spec.own and code in CENTRAL_OF_OWN_C)


def _at_most(kept: Mapping[Level, float], most: float) -> dict[Level, float]:
    """The points with so many taken off that at most `most` are left."""
    left = dict(kept)
    for level in LAST_FIRST:
        excess = sum(left.values()) - most
        if level in left and excess > 0:
            left[level] -= min(left[level], excess)
    return left
