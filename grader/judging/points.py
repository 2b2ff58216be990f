"""How many points of each level a figure keeps.

A finding costs the points of its level. If the figure has no points of that level, it costs half of
the points of interpretation, because less can be concluded from such a figure. The mistake that a
figure is about costs at least half of the figure's points, whatever its level. A figure of a
student's own C is about what that C does, so each of the mistakes in it costs as much.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from grader.cases.spec import FigureSpec
from grader.cases.verdict import Finding, Level
from grader.pitfalls import CATALOGUE

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
#: Mistakes in what a student's own C does: each is what its figure is about.
CENTRAL_OF_OWN_C = frozenset(each.code for each in CATALOGUE if each.in_own_c)


def points_by_level(
    spec: FigureSpec, findings: Collection[Finding], *, right: bool = True
) -> Levels:
    """The points of each level and the most there are, after these findings.

    `right` is false if no value could be right: then there is nothing to interpret.
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
    if any(is_central(spec, finding.code) for finding in findings):
        kept = _at_most(kept, KEPT_AFTER_CENTRAL * spec.max_points)
    return {level: (kept[level], most) for level, most in spec.points.items()}


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
