"""A made-up class, for practice and for the docs: it answers as a class of students would.

Each made-up student has the figures of a saved run of this machine, on a machine of another kind
that is faster or slower, and some make one of the catalogue's mistakes.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import shutil
from collections.abc import Sequence

from grader.demonstration import MeasuredEvidence
from grader.live.class_state import SYMPTOMS, ClassState, NotTaken
from labs import paths
from labs.course import figures
from labs.course.in_class import Shared, SharedFigure, SharedPrediction, shared_from

#: The kinds of machine, how slow each is relative to this one, and the share of each in the class.
_MACHINES = (
    ("x86-64, Intel, not virtual", 1.3, 10),
    ("x86-64, AMD, WSL", 1.0, 7),
    ("Arm, Apple, not virtual", 0.6, 6),
    ("x86-64, AMD, virtual", 1.1, 5),
    ("Arm, Neoverse, virtual", 1.9, 2),
)
#: Mistakes that change a figure by a factor.
_SLIPS = (
    ("unit-slip", 1000.0),
    ("cost-of-many-for-one", 64.0),
    ("cold-samples-in-mean", 2.5),
    ("cold-samples-in-mean", 1.8),
    ("too-few-samples", 1.1),
    ("minimum-taken", 0.8),
)
_WRONG = 0.3


def saved_run(lab: str) -> Shared:
    """The figures of this lab on this machine, which are measured once and then kept.

    Raises demonstration.NoEvidence if nothing can be measured here, and CacheNotWritable.
    """
    folder = paths.cache() / "live" / f"rehearsal-{lab}"
    if not (folder / figures.FILE_NAME).is_file():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        MeasuredEvidence()(lab, folder)
    return shared_from(folder, {})


def made_up(state: ClassState, saved: Shared, count: int, seed: int = 41) -> list[list[Shared]]:
    """What each of `count` students shares, step by step: first predictions, then each figure."""
    chance, students = random.Random(seed), []
    machines = [machine for machine in _MACHINES for _ in range(machine[2])]
    slips = [slip for slip in _SLIPS if slip[0] in SYMPTOMS]
    for _ in range(count):
        kind, slow, _share = chance.choice(machines)
        slow *= chance.lognormvariate(0, 0.12)
        made: dict[str, SharedPrediction] = {}
        steps = []
        for question in state.questions:
            known = saved.figures.get(question.figure)
            if question.prediction and known and known.value > 0:
                guess = known.value * chance.lognormvariate(0.7, 1.4)
                made[question.prediction] = SharedPrediction(value=guess, unit=known.unit)
        steps.append(Shared(version=1, predictions=made, figures={}))
        found: dict[str, SharedFigure] = {}
        for question in state.questions:
            known = saved.figures.get(question.figure)
            if known is None:
                continue
            code, times = chance.choice(slips) if chance.random() < _WRONG else ("", 1.0)
            value = known.value * times * (slow if known.unit != figures.TIMES else 1)
            wide = abs(value) * chance.lognormvariate(-3.5, 0.7)
            found[question.figure] = SharedFigure(
                value=value, unit=known.unit, low=value - wide, high=value + wide,
                machine=kind, findings=[code] if code else [],
            )  # fmt: skip
            version = len(steps) + 1
            steps.append(Shared(version=version, predictions=made, figures=dict(found)))
        students.append(steps)
    return students


async def play(state: ClassState, students: Sequence[Sequence[Shared]], seconds: float) -> None:
    """Have the class answer within so many seconds, each student at an own pace."""
    chance = random.Random(7)
    due = []
    for number, steps in enumerate(students):
        first = chance.uniform(0, 0.3)
        for place, each in enumerate(steps):
            when = first + (1 - first) * place / len(steps) * chance.uniform(0.7, 1.0)
            due.append((when * seconds, f"made-up-{number}", each))
    before = 0.0
    for when, student, each in sorted(due, key=lambda item: item[0]):
        await asyncio.sleep(max(when - before, 0))
        before = max(when, before)
        with contextlib.suppress(NotTaken):  # the class is full
            state.take(student, each)
