"""The control: the same figures by the same runs, read off rightly. They must pass in full.

A grader that fails everything would let no wrong submission pass.
"""

from __future__ import annotations

import random
from pathlib import Path

from bench.honest.figures import CannotMeasure, concluded, estimate_of, read_off
from bench.wrong.case import Lab
from bench.wrong.student import Shelf, Student
from grader.cases.verdict import Outcome, Verdict
from grader.figures import figures_of
from grader.judging.lab_folder import check_folder
from labs.analysis.estimates import Estimate


def right_figures(lab: Lab, shelf: Shelf, folder: Path) -> tuple[list[Verdict], list[str]]:
    """The verdicts on every figure of a lab, handed in rightly, and what could not be handed in."""
    student, chance = Student(folder, shelf), random.Random(lab.lab)
    operands: dict[str, Estimate] = {}
    handed_in, left_out = [], []
    for spec in sorted(figures_of(lab.lab), key=lambda spec: bool(spec.of)):
        run = None
        try:
            if spec.of:
                value, unit = concluded(spec, tuple(operands[each] for each in spec.of))
            else:
                run = student[lab.right[spec.id]]
                value, unit = read_off(spec, run.recording, chance)
                operands[spec.id] = estimate_of(spec, run.recording)
        except CannotMeasure as why:
            left_out.append(f"{spec.id}: {why}")
            continue
        except KeyError as missing:
            left_out.append(f"{spec.id}: {missing} is left out")
            continue
        student.figure(spec.id, value, unit, run)
        handed_in.append(spec.id)
    verdicts = check_folder(folder, lab.lab)
    return [each for each in verdicts if each.figure in handed_in], left_out


def is_full(verdict: Verdict) -> bool:
    """Whether the figure got all its points."""
    return verdict.outcome is Outcome.PASSED and verdict.points >= verdict.max_points
