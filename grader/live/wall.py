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
from labs.course.predictions import RIGHT_WITHIN, is_near
from labs.plots import scale
from labs.units import NAMES, NANOSECONDS, unit_symbol

_MOST_MISTAKES = 5


def stage(state: ClassState, question: Question, revealed: bool) -> dict[str, Any]:
    """What is shown of a question, as JSON."""
    answers = state.answers(question)
    guesses, found = answers.predictions, answers.found
    bands = [
        {"sort": "measured", "name": kind, "marks": [each[:3] for each in some]}
        for kind, some in answers.by_machine().items()
        if revealed
    ]
    if guesses:
        bands.append({"sort": "predicted", "name": "Predicted", "marks": [(g,) for g in guesses]})
    if revealed and (printed := _published(question)):
        bands.append({"sort": "published", "name": "Published", "marks": printed})
    values = np.array([mark[0] for band in bands for mark in band["marks"]])
    ends, unit = scale.log_ends(values), unit_symbol(question.spec.unit)
    fair = [each.value for each in found if not each.findings & SYMPTOMS.keys()]
    return {
        "place": f"Question {state.questions.index(question) + 1} of {len(state.questions)}",
        "asks": question.asks,
        "frozen": state.frozen is not None,
        "revealed": revealed,
        "counts": [
            (answers.here, "here"),
            *([(len(guesses), "predicted")] if question.prediction else []),
            (len(found), "measured"),
            *([(len(fair), "without a finding")] if revealed else []),
        ],
        "bands": bands,
        "axis": {
            "name": f"{NAMES.get(question.spec.unit, question.spec.unit)}, logarithmic axis",
            "ends": (ends.floor, ends.ceiling),
            "labels": sorted(ends.labels().items()),
        },
        "header": ("", "count", f"median, {unit}", f"middle half, {unit}"),
        "mistakes": _sentences(answers, fair) if revealed else [],
    }


def _published(question: Question) -> list[tuple[float, str, str]]:
    """The published figures of the same variant: the number, where it is, and what is wrong."""
    spec, one = question.spec, NANOSECONDS.get(question.spec.unit)
    if one is None or spec.own or len(spec.variants) != 1:
        return []
    of_it = published.of_variant(spec.kernel, spec.variant, spec.flags)
    return [
        (each.ns / one, f"report {each.report}, {each.machine}", each.suspect) for each in of_it
    ]


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
    counts = Counter(code for one in answers.found for code in one.findings & SYMPTOMS.keys())
    often = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))[:_MOST_MISTAKES]
    return said + [(f"{n:,} of {len(answers.found):,}:", SYMPTOMS[code]) for code, n in often]
