"""Store what a student expects of a figure, and say so."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from labs.common.files import CannotWrite
from labs.common.messages import Message, Refused, Tone
from labs.common.units import rounded
from labs.course import figure_ids, predictions
from labs.course.guide import Guide
from labs.course.predictions import Prediction
from labs.notebook import explain


def prediction(folder: Path, guide: Guide, figure: str, new: Prediction) -> Message:
    """Store what is expected of `figure`; an earlier prediction is kept too. Raises Refused."""
    try:
        if not new.unit:
            example = f'lab.predict("{figure}", {new.value}, "ns")'
            raise ValueError(f"name the unit too: {example}")
        stored = predictions.put(folder, figure, new)
    except (ValueError, CannotWrite) as error:
        problem = replace(explain.of_error(error), heading="prediction not stored")
        raise Refused(problem) from None
    words = [f"At {_time(stored.when)}; it is never graded for being right."]
    if not new.because.strip(" ."):
        words.append('A reason helps later: because="I counted the instructions".')
    strange = [figure_ids.message_for(figure, guide), predictions.strange_unit(new.unit)]
    strange = [each for each in strange if each]
    tone: Tone = "note" if strange else "done"
    heading = f"prediction stored: {figure} = {rounded(new.value, 6)} {new.unit}"
    return Message(tone, heading, (*strange, *words))


def _time(when: str) -> str:
    return when.replace("T", " ").removesuffix("+00:00") + " UTC"
