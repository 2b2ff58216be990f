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
from grader.live.class_state import ClassState, NotTaken, Question
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

#: When a student shares it (0 is the begin of the class, 1 its end), who, and what.
Event = tuple[float, str, Shared]


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


def made_up(questions: Sequence[Question], saved: Shared, count: int) -> list[Event]:
    """What `count` students share, in the order of time: each a prediction, then its figures."""
    chance, events = random.Random(41), list[Event]()
    known = [
        (each, saved.figures[each.figure]) for each in questions if each.figure in saved.figures
    ]
    for student in range(count):
        kind, slow, _ = chance.choices(_MACHINES, [often for *_, often in _MACHINES])[0]
        slow *= chance.lognormvariate(0, 0.12)
        begin, pace = chance.uniform(0, 0.3), chance.uniform(0.5, 0.7) / max(len(known), 1)
        guesses = {
            asked.prediction: SharedPrediction(
                value=each.value * chance.lognormvariate(0.7, 1.4), unit=each.unit
            )
            for asked, each in known
            if asked.prediction and each.value > 0
        }
        found: dict[str, SharedFigure] = {}
        for step in range(len(known) + 1):
            shared = Shared(version=step + 1, predictions=guesses, figures=dict(found))
            events.append((begin + step * pace, f"made-up-{student}", shared))
            for asked, each in known[step : step + 1]:
                code, times = chance.choice(_SLIPS)
                value = each.value * times * (1 if each.unit == figures.TIMES else slow)
                wide = abs(value) * chance.lognormvariate(-3.5, 0.7)
                found[asked.figure] = SharedFigure(
                    value=value, unit=each.unit, low=value - wide, high=value + wide,
                    machine=kind, findings=[code] if code else [],
                )  # fmt: skip
    return sorted(events, key=lambda event: event[0])


async def play(state: ClassState, events: Sequence[Event], seconds: float) -> None:
    """Have the class answer within so many seconds."""
    before = 0.0
    for when, student, shared in events:
        await asyncio.sleep((when - before) * seconds)
        before = when
        with contextlib.suppress(NotTaken):  # the class is full
            state.take(student, shared)
