"""Store what a student expects of a figure, withdraw it, rename it, and say so."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import NoReturn

from labs.common.files import CannotWrite
from labs.common.messages import Message, Refused, Tone
from labs.common.spelling import suggestion
from labs.common.units import rounded, with_unit
from labs.course import predictions
from labs.course.guide import Asked, Guide
from labs.course.predictions import Prediction
from labs.notebook import explain
from labs.notebook.course import typed
from labs.results.results_compared import Comparison

#: The unit of an example where the lab states none.
_USUAL_UNIT = "ns"


def prediction(folder: Path, guide: Guide, name: str, new: Prediction) -> Message:
    """Store what is expected under the id `name`; earlier versions are kept. Raises Refused."""
    asked = asked_for(guide, name)
    try:
        _check(name, asked, new)
        earlier = predictions.read(folder).get(name, ())
        stored = predictions.put(folder, name, new, asked.before if asked else "")
        versions = predictions.read(folder)[name]
    except (ValueError, CannotWrite) as error:
        _refuse(error, "prediction not stored")
    what = f"{name} = {with_unit(rounded(stored.value, 6), stored.unit)}"
    words = [f"At {time_text(stored.when)}; it is never graded for being right."]
    if not stored.because.strip(" ."):
        words.append('A reason helps later: because="I counted the instructions".')
    strange = [_about_unit(asked, stored.unit)]
    if stored.late:
        strange.insert(0, _about_late(asked, versions))
    strange = [each for each in strange if each]
    tone: Tone = "note" if strange else "done"
    if versions == earlier:
        heading = f"late prediction kept: {what}" if stored.late else f"prediction kept: {what}"
    else:
        heading = f"late prediction stored: {what}" if stored.late else f"prediction stored: {what}"
    return Message(tone, heading, (*strange, *words))


def recalled(folder: Path, guide: Guide, name: str, found: Comparison | None) -> Message:
    """What was predicted under the id `name`, next to the ratio of `found`. Raises Refused."""
    asked_for(guide, name)
    try:
        versions = predictions.read(folder).get(name, ())
    except ValueError as error:
        _refuse(error, "the prediction cannot be read")
    if not versions:
        return Message("note", f"you stored no prediction {name}")
    shown, late = predictions.shown(versions)
    words = [_about_found(found)] if found is not None else []
    if late:
        words.append("This prediction is late: it does not count.")
    what = f"{with_unit(rounded(shown.value, 6), shown.unit)}"
    return Message("note", f"you predicted {what} ({name})", tuple(words))


def _about_found(found: Comparison) -> str:
    """The ratio that a comparison found, in one sentence."""
    ratio = found.ratio_as_text()
    if ratio is None:
        return f"The run gives no ratio: {found.second} may be 0."
    return f"You found {ratio} times: {found.first} divided by {found.second}."


def asked_for(guide: Guide, name: object) -> Asked | None:
    """What the lab asks under the id `name`; None if its guide lists no predictions.

    Raises Refused if the lab asks for other predictions.
    """
    known = guide.predictions
    if not isinstance(name, str):
        line = f'lab.predict("{next(iter(known), "id")}", 200, "ns")'
        raise Refused(Message("problem", f"begin with the id of the prediction: {line}"))
    if not known or name in known:
        return known.get(name)
    what = f"This lab asks for no prediction {name!r}{suggestion(name, tuple(known))}"
    raise Refused(Message("problem", "prediction not stored", (what,)))


def forget(folder: Path, guide: Guide, name: str, new: str | None) -> Message:
    """Withdraw all predictions under the id `name`, or rename it to `new`. Raises Refused."""
    try:
        known = predictions.ids(folder)
        if name not in known:
            if not known:
                raise ValueError(f"there is no prediction {name!r}: there is none yet")
            raise ValueError(f"there is no prediction {name!r}{suggestion(name, known)}")
        if new is None:
            predictions.forget(folder, name)
            return Message("done", f"prediction withdrawn: {name}")
        asked = asked_for(guide, new)
        predictions.rename(folder, name, new, asked.before if asked else "")
        versions = predictions.read(folder).get(new, ())
    except (ValueError, CannotWrite) as error:
        _refuse(error, "nothing was changed")
    words = [f"{new} has {len(versions)} version{'s' if len(versions) != 1 else ''} now."]
    if versions and predictions.counting(versions) is None:
        words.append(_about_late(asked, versions))
    return Message("done", f"prediction renamed: {name} is {new}", tuple(words))


def time_text(when: str) -> str:
    """A time as in the file, for a reader."""
    return when.replace("T", " ").removesuffix("+00:00") + " UTC"


def _check(name: str, asked: Asked | None, new: Prediction) -> None:
    """Raises ValueError for what is often written wrongly, with the line to write instead."""
    usual = asked.unit if asked else _USUAL_UNIT
    unit = new.unit or usual
    value: object = new.value
    if value is Ellipsis:
        raise ValueError("write your own number in place of `...`")
    if isinstance(value, str):
        found = typed.split(value)
        if found:
            line = f'lab.predict("{name}", {found[0]}, "{found[1]}")'
            raise ValueError(f"write the number and its unit separately: {line}")
        try:
            plain = typed.as_python(typed.number(value))
        except typed.NotANumber as error:
            raise ValueError(str(error)) from error
        line = f'lab.predict("{name}", {plain}, "{unit}")'
        raise ValueError(f"write the number without quotes: {line}")
    if not new.unit:
        raise ValueError(f'name the unit too: lab.predict("{name}", {new.value}, "{usual}")')
    if isinstance(new.sure, int | float) and 1 < new.sure <= 100:
        raise ValueError(
            f"sure is a number from 0 (a guess) to 1 (certain): write sure={new.sure / 100:g} "
            f"for {new.sure:g} %"
        )


def _about_late(asked: Asked | None, versions: tuple[Prediction, ...]) -> str:
    """What being late means for the newest of `versions`."""
    what = "This prediction is late: its recording exists already."
    if asked:
        what = f"This prediction is late: recordings/{asked.before}.csv exists already."
    counts = predictions.counting(versions)
    if counts is None:
        return f"{what} Ticklab keeps the prediction, but it does not count in your calibration."
    guess = with_unit(rounded(counts.value, 6), counts.unit)
    return f"{what} Ticklab keeps the prediction, but your earlier one of {guess} counts."


def _about_unit(asked: Asked | None, unit: str) -> str:
    """A message if no figure can be compared with a prediction in `unit`; else ''."""
    if asked is None:
        return predictions.strange_unit(unit)
    if predictions.comparable(unit, asked.unit):
        return ""
    return (
        predictions.strange_unit(unit)
        or f"The figure is in {asked.unit}, and a prediction in {unit} cannot be compared with it. "
        f"Before you measure, predict again in {asked.unit}."
    )


def _refuse(error: Exception, heading: str) -> NoReturn:
    raise Refused(replace(explain.of_error(error), heading=heading)) from None
