"""Which processes of a run count: whether they fall into two groups, and which is undisturbed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from labs.analysis.arrays import Bools
from labs.analysis.estimate import CannotEstimate
from labs.analysis.process_lines import ProcessLines, process_lines
from labs.analysis.processes import PERHAPS, SURE, apart
from labs.recording import declared
from labs.recording.file import Recording

#: The place of code and stack changes what an operation costs by this factor at most.
MOST_BY_PLACE = 1.5


@dataclass(frozen=True, eq=False)
class Differ:
    """That the processes of a run fall into two groups: those numbered `others` took `factor` times
    as long. `siblings` tells whether other variants of the run "move" with the groups as well, or
    one of them does "stay"; "none": there is none. The core was `whole` where rounds tell so.
    """

    others: tuple[int, ...]
    factor: float
    siblings: str
    whole: bool


@dataclass(frozen=True, eq=False)
class Undisturbed:
    """The undisturbed `group` of the processes that have a line of their own, shape (usable,), and
    how `sure` it is that the others differ. The processes that are `counted`, shape (all
    processes,), are these, or all that have a line where it is not sure.
    """

    group: Bools
    sure: float
    counted: Bools
    differ: Differ | None


def undisturbed(
    recording: Recording, variant: str, one_speed: bool, lines: ProcessLines
) -> Undisturbed:
    """Which of the `lines` of `variant` count, and whether processes differ."""
    group, sure = _groups(recording, variant, one_speed, lines)
    siblings = "none"
    if sure >= PERHAPS:
        siblings = _siblings(recording, variant, one_speed, lines.usable, group)
    differ = None
    if sure >= SURE and not lines.shared.always:
        about_overhead = declared.is_overhead(recording, variant)
        decides = (lines.fit.intercept if about_overhead else lines.fit.slope)[lines.usable]
        differ = Differ(
            others=tuple(lines.cells.processes[lines.usable][~group].tolist()),
            factor=float(decides[~group].mean() / decides[group].mean()),
            siblings=siblings,
            whole=lines.shared.evidence,
        )
    # Rounds that show a whole core leave no neighbour; nor does a sibling that was not slowed. But
    # a place in memory does not make so much: tasks on two CPUs, say, where others had one.
    by_place = differ is None or abs(np.log(max(differ.factor, 1e-9))) < np.log(MOST_BY_PLACE)
    if (lines.shared.evidence or siblings == "stay") and by_place:
        group, sure = np.ones_like(group), 0.0
    counted = lines.usable.copy()
    counted[lines.usable] = group | (sure < SURE)
    return Undisturbed(group, sure, counted, differ)


def _groups(
    recording: Recording, variant: str, one_speed: bool, lines: ProcessLines
) -> tuple[Bools, float]:
    """The undisturbed ones of the usable processes, and how sure it is that others differ.

    A core that ran at another speed is no disturbance: a cost is compared between processes as if
    all had run at one.
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
        return apart(fit.intercept[usable], fit.intercept_error[usable])
    return apart(fit.slope[usable], fit.slope_error[usable])


def _siblings(
    recording: Recording, variant: str, one_speed: bool, usable: Bools, group: Bools
) -> str:
    """Whether all other variants of the run "move" with these groups of processes, or one does
    "stay"; "none" where there is none.

    What else runs on the core slows every operation; the place of code and stack one of them. A
    baseline decides nothing: an empty loop needs so little of a core that it may be slowed or not.
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
        if len(slope) == len(usable):
            gaps[name] = float(slope[every[~group]].mean() / slope[every[group]].mean()) - 1
    own = gaps.pop(variant)
    if not gaps:
        return "none"
    return "stay" if any(abs(gap) < abs(own) / 3 for gap in gaps.values()) else "move"
