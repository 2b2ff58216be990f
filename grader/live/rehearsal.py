"""A made-up class, for practice and for the docs: it answers as a class of students would.

Each made-up student has the figures of a saved run of this machine, on a machine of another kind
that is faster or slower, and some make one of the catalogue's mistakes.
"""

from __future__ import annotations

import asyncio
import random
import shutil

from grader.demonstration import MeasuredEvidence
from grader.live.class_state import ClassState
from labs import paths
from labs.course import figures
from labs.course.in_class import Shared, SharedFigure, SharedPrediction, shared_from

#: The kinds of machine, how slow each is relative to this one, and how frequent in the class.
_MACHINES = (
    ("x86-64, Intel, not virtual", 1.3, 10), ("x86-64, AMD, WSL", 1.0, 7),
    ("Arm, Apple, not virtual", 0.6, 6), ("x86-64, AMD, virtual", 1.1, 5),
    ("Arm, Neoverse, virtual", 1.9, 2),
)  # fmt: skip
#: Mistakes that change a figure by a factor, and those who make none.
_SLIPS = (
    ("unit-slip", 1000.0), ("cost-of-many-for-one", 64.0), ("cold-samples-in-mean", 2.5),
    ("cold-samples-in-mean", 1.8), ("too-few-samples", 1.1), ("minimum-taken", 0.8),
    *[("", 1.0)] * 14,
)  # fmt: skip


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


async def student(state: ClassState, saved: Shared, number: int, seconds: float) -> None:
    """Share predictions, and then one figure after the other, within so many seconds."""
    chance, name, found = random.Random(number), f"made-up-{number}", dict[str, SharedFigure]()
    kind, slow, _ = chance.choices(_MACHINES, [often for *_, often in _MACHINES])[0]
    slow *= chance.lognormvariate(0, 0.12)
    guesses = {
        asked.prediction: SharedPrediction(
            value=each.value * chance.lognormvariate(0.7, 1.4), unit=each.unit
        )
        for asked in state.questions
        if asked.prediction and (each := saved.figures.get(asked.spec.id)) and each.value > 0
    }
    pace = seconds * chance.uniform(0.5, 0.7) / len(state.questions)
    await asyncio.sleep(seconds * chance.uniform(0, 0.3))
    state.take(name, Shared(version=0, predictions=guesses, figures={}))
    for asked in state.questions:
        await asyncio.sleep(pace)
        if each := saved.figures.get(asked.spec.id):
            code, times = chance.choice(_SLIPS)
            value = each.value * times * (1 if each.unit == figures.TIMES else slow)
            wide = abs(value) * chance.lognormvariate(-3.5, 0.7)
            found[asked.spec.id] = SharedFigure(
                value=value, unit=each.unit, low=value - wide, high=value + wide,
                machine=kind, findings=[code] if code else [],
            )  # fmt: skip
            state.take(name, Shared(version=len(found), predictions=guesses, figures=found))
