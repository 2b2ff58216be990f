"""Which processes of a run count: whether there are two groups, and which one is undisturbed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from labs.analysis.arrays import Bools
from labs.analysis.estimate import CannotEstimate
from labs.analysis.process_lines import ProcessLines, process_lines
from labs.analysis.processes import PERHAPS, SURE, two_groups
from labs.analysis.stack_effect import StackEffect, stack_effect
from labs.recording import declared
from labs.recording.file import Recording

#: The place of code and stack in memory changes the cost of an operation by at most this factor.
MOST_BY_PLACE = 1.5


@dataclass(frozen=True, eq=False)
class TwoGroups:
    """The processes of a run fall into two groups.

    The processes with the numbers `others` took `factor` times as long as the undisturbed group.
    `siblings` says what the other variants of the run do: "move" if all change with the groups,
    "stay" if one does not, "none" if there is no other variant. `whole` says whether rounds show
    that the core was not shared.
    """

    others: tuple[int, ...]
    factor: float
    siblings: str
    whole: bool


@dataclass(frozen=True, eq=False)
class Undisturbed:
    """The undisturbed processes of a run, and the processes that count.

    `group`, shape (usable processes,), marks the undisturbed ones among the processes that have a
    line. `sure` says how sure it is that the others differ. `counted`, shape (processes,), marks
    the undisturbed processes; if it is not sure, it marks all processes that have a line.
    `two_groups` describes the groups if there are two. `by_stack` says how the cost depends on the
    place of the stack, if it does; it is looked for only if rounds show that the core was whole.
    """

    group: Bools
    sure: float
    counted: Bools
    two_groups: TwoGroups | None
    by_stack: StackEffect | None


def undisturbed(
    recording: Recording, variant: str, one_speed: bool, lines: ProcessLines
) -> Undisturbed:
    """Which processes of `lines`, the lines of `variant`, count, and whether processes differ.

    `one_speed` must be as in the making of `lines`.
    """
    group, sure = _groups(recording, variant, one_speed, lines)
    siblings = "none"
    if sure >= PERHAPS:
        siblings = _siblings(recording, variant, one_speed, lines.usable, group)
    about_overhead = declared.is_overhead(recording, variant)
    decides = (lines.fit.intercept if about_overhead else lines.fit.slope)[lines.usable]
    processes, by_stack, two_groups = lines.cells.processes[lines.usable], None, None
    if lines.parts is None and lines.shared.evidence and not lines.shared.always:
        by_stack = stack_effect(recording, processes, decides)
    if sure >= SURE and not lines.shared.always:
        two_groups = TwoGroups(
            others=tuple(processes[~group].tolist()),
            factor=float(decides[~group].mean() / decides[group].mean()),
            siblings=siblings,
            whole=lines.shared.evidence,
        )
    # If the rounds show a whole core, or a sibling was not slowed, no neighbour was the cause. Then
    # it was the place in memory, and all processes count. But a place of which nothing is known
    # cannot change the cost by a large factor; for example, the tasks of some processes may have
    # been on two CPUs.
    by_place = (
        two_groups is None
        or by_stack is not None
        or abs(np.log(max(two_groups.factor, 1e-9))) < np.log(MOST_BY_PLACE)
    )
    if (lines.shared.evidence or siblings == "stay") and by_place:
        group, sure = np.ones_like(group), 0.0
    counted = lines.usable.copy()
    counted[lines.usable] = group | (sure < SURE)
    return Undisturbed(group, sure, counted, two_groups, by_stack)


def _groups(
    recording: Recording, variant: str, one_speed: bool, lines: ProcessLines
) -> tuple[Bools, float]:
    """The undisturbed ones of the usable processes, and how sure it is that the others differ.

    Another clock speed is no disturbance, so costs are compared as if all processes had run at the
    same speed.
    """
    about_overhead = declared.is_overhead(recording, variant)
    if not (one_speed or about_overhead):
        judged = process_lines(recording, variant, True)
        if np.array_equal(judged.usable, lines.usable):
            lines = judged
    fit, usable = lines.fit, lines.usable
    if lines.parts is not None:
        return np.ones(int(usable.sum()), dtype=np.bool_), 0.0
    if about_overhead:
        return two_groups(fit.intercept[usable], fit.intercept_error[usable])
    return two_groups(fit.slope[usable], fit.slope_error[usable])


def _siblings(
    recording: Recording, variant: str, one_speed: bool, usable: Bools, group: Bools
) -> str:
    """Whether all other variants of the run "move" with these groups, or one does "stay".

    "none" if there is no other variant. Another program on the core slows every operation, but the
    place of code and stack slows only one. A baseline decides nothing: an empty loop uses so little
    of a core that a neighbour may or may not slow it.
    """
    every = np.flatnonzero(usable)
    baselines = {
        name
        for each in recording.variants
        for name in recording.condition(f"variant.{each}.baseline")
    }
    gaps = {}
    for name in (variant, *(set(recording.variants) - {variant} - baselines)):
        try:
            slope = process_lines(recording, name, one_speed).fit.slope
        except CannotEstimate:
            continue
        if len(slope) != len(usable):
            continue
        others, grouped = slope[every[~group]].mean(), slope[every[group]].mean()
        # A coarse clock may give a cost of nothing, which cannot be some percent dearer.
        gaps[name] = float(others / grouped) - 1 if grouped else float(others != grouped)
    own = gaps.pop(variant)
    if not gaps:
        return "none"
    return "stay" if any(abs(gap) < abs(own) / 3 for gap in gaps.values()) else "move"
