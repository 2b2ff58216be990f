"""The variant that came first costs more because of its position: its code was cold."""

from __future__ import annotations

import itertools

import numpy as np

from grader.cases.case import Case
from grader.cases.verdict import Level
from grader.pitfalls.pitfall import Live, Pitfall
from labs.common.units import rounded
from labs.recording.file import Recording

#: Fewer samples of a variant in a process can stand in a row by chance.
FEWEST_IN_A_ROW = 5


def detect(case: Case) -> str | None:
    recording = case.recording
    if len(recording.variants) < 2 or (recording.sample < 0).any():
        return None
    lines = {_in_line(recording, process) for process in np.unique(recording.process).tolist()}
    if len(lines) != 1:
        return None
    order = next(iter(lines))
    if not order:
        return None
    return (
        f"In each process all samples of {order[0]} come first, then those of {order[1]}, with "
        f"no warm-up. The first sample of {order[0]} takes "
        f"{rounded(_coldness(recording, order[0]), 2)} times as long as others of its batch size."
    )


def _coldness(recording: Recording, first: str) -> float:
    """How many times as long the first samples take as those of the same batch size, typically."""
    mine = recording.samples(first)
    cold = mine.sample == mine.sample.min()
    usual = {
        k: max(float(np.median(mine.ticks[mine.batch == k])), 1.0)
        for k in set(mine.batch[cold].tolist())
    }
    of_each = np.array([usual[k] for k in mine.batch[cold].tolist()])
    return float(np.median(mine.ticks[cold] / of_each))


def _in_line(recording: Recording, process: int) -> tuple[str, ...]:
    """The variants in the order of their samples, where those of each stand all in a row."""
    mine = recording.process == process
    index, place = recording.variant_index[mine], recording.sample[mine]
    of_variant = [place[index == number] for number in range(len(recording.variants))]
    if min(len(places) for places in of_variant) < FEWEST_IN_A_ROW:
        return ()
    order = sorted(range(len(of_variant)), key=lambda number: int(of_variant[number].min()))
    in_turn = all(
        of_variant[first].max() < of_variant[second].min()
        for first, second in itertools.pairwise(order)
    )
    return tuple(recording.variants[number] for number in order) if in_turn else ()


PITFALL = Pitfall(
    code="first-in-line",
    level=Level.VALIDITY,
    symptom="The variants were measured one after the other, the first with cold code.",
    misconception="The first variant pays for page faults and empty caches: its position looks "
    "like its cost.",
    experiment="Measure in the opposite order, or interleave: which one costs more then?",
    seen_in="report A: the call without arguments was measured first, with cold code",
    detect=detect,
    broken=(Live("in_turn", "call-args0"),),
)
