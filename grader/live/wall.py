"""What the wall shows of a question: predictions, then the figures by kind of machine.

The page draws it: here are the numbers, the ends of the axis, and all words, which are the kit's.
"""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from grader.live.class_state import SYMPTOMS, Answers, ClassState, Question
from labs.course import published
from labs.plots import scale
from labs.units import NAMES, NANOSECONDS, RIGHT_WITHIN, is_near, rounded, unit_symbol

_MOST_MISTAKES = 5


def stage(state: ClassState, number: int, *, revealed: bool) -> dict[str, Any]:
    """What is shown of question `number`, counted from 0, as JSON."""
    question = state.questions[number]
    answers = state.answers(question)
    guesses, found = answers.predictions, answers.found
    bands = [_band("measured", kind, some) for kind, some in answers.by_machine().items()]
    bands = bands if revealed else []
    if guesses:
        bands.append(_band("predicted", "Predicted", [(each,) for each in guesses]))
    if revealed and (printed := _published(question)):
        bands.append({"sort": "published", "name": "Published", "marks": printed, "row": None})
    values = np.array([mark[0] for band in bands for mark in band["marks"]])
    ends, unit = scale.log_ends(values), unit_symbol(question.unit)
    fair = [each.value for each in found if not _symptoms(each.findings)]
    return {
        "place": f"Question {number + 1} of {len(state.questions)}",
        "asks": question.asks,
        "frozen": state.frozen,
        "revealed": revealed,
        "counts": [
            (answers.here, "here"),
            *([(len(guesses), "predicted")] if question.prediction else []),
            (len(found), "measured"),
            *([(len(fair), "without a finding")] if revealed else []),
        ],
        "bands": bands,
        "axis": {
            "name": f"{NAMES.get(question.unit, question.unit)}, logarithmic axis",
            "ends": (ends.floor, ends.ceiling),
            "labels": sorted(ends.labels().items()),
        },
        "header": ("", "count", f"median, {unit}", f"middle half, {unit}"),
        "mistakes": _sentences(answers, fair) if revealed else [],
    }


def _symptoms(codes: frozenset[str]) -> set[str]:
    return {SYMPTOMS[code] for code in codes if code in SYMPTOMS}


def _band(sort: str, name: str, marks: Sequence[tuple[Any, ...]]) -> dict[str, Any]:
    """Numbers of one kind, each with the ends of its interval, and their row of the table."""
    quartiles = np.quantile([mark[0] for mark in marks], (0.25, 0.5, 0.75))
    low, middle, high = (rounded(float(each)) for each in quartiles)
    row = (name, f"{len(marks):,}", middle, f"{low} to {high}")
    return {"sort": sort, "name": name, "marks": [mark[:3] for mark in marks], "row": row}


def _published(question: Question) -> list[tuple[float, str, str]]:
    """The published figures of the same variant: the number, where it is, and what is wrong."""
    spec, one = question.spec, NANOSECONDS.get(question.unit)
    if one is None or spec.own or len(spec.variants) != 1:
        return []
    of_it = published.of_variant(spec.kernel, spec.variant, spec.flags)
    where = "report {0.report}, {0.machine}: {1}".format
    return [(each.ns / one, where(each, rounded(each.ns / one)), each.suspect) for each in of_it]


def _sentences(answers: Answers, fair: Sequence[float]) -> list[tuple[str, str]]:
    """How many predictions came near the class's figures, and how many figures have a mistake.

    Each is a count and the rest of the sentence; the most frequent mistake comes first.
    """
    said = []
    guesses = [each for each in answers.predictions if each > 0]
    middle = statistics.median(fair) if fair else 0
    if guesses and middle > 0:
        near = sum(is_near(each / middle) for each in guesses)
        rest = f"predictions came within a factor of {RIGHT_WITHIN:g} of the class's median figure."
        said.append((f"{near:,} of {len(guesses):,}", rest))
    counts = Counter(each for one in answers.found for each in _symptoms(one.findings))
    often = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))[:_MOST_MISTAKES]
    return said + [(f"{n:,} of {len(answers.found):,}:", symptom) for symptom, n in often]
