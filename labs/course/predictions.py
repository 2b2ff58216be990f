"""A student's predictions before measuring: `predictions.json` in the lab's folder.

    {"timer-overhead-fenced": [{"value": 20, "unit": "ns", "because": "...", "sure": 0.7,
                                "late": false, "when": "2026-03-01T09:30:00+00:00"}]}

The file keeps every version, the newest last. A late one was made when the recording that answers
it existed already. The last one that is not late counts. Nobody grades whether it is right. Among
the versions, `{"found": 0.75}` is a ratio that a lab found, where no figure answers a prediction.
"""

from __future__ import annotations

import datetime
import re
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, StringConstraints, ValidationError

from labs import limits
from labs.course import answers, figures
from labs.course.answers import BadVersions
from labs.files import time_now
from labs.json_text import Form, OrNone, TextOrNone, problems
from labs.units import NANOSECONDS, UnknownUnit, canonical, off_by, spelled

FILE_NAME = "predictions.json"

_ID = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")

#: `predictions.json` cannot be read; the message says what is wrong and what to do.
BadPredictions = BadVersions


#: A guess within this factor of what was found counts as right.
RIGHT_WITHIN = 2.0


def is_near(factor: float) -> bool:
    """Whether a guess that was off by `factor` is right."""
    return off_by(factor) <= RIGHT_WITHIN


@dataclass(frozen=True)
class Prediction:
    """A number in `unit`, its reason, how sure from 0 to 1 (None: not stated), and the time.

    `late` says whether the answer was recorded before.
    """

    value: float
    unit: str
    because: str = ""
    sure: float | None = None
    when: str = ""
    late: bool = False

    def guesses_like(self, other: Prediction) -> bool:
        """Whether both say the same, whenever they were made."""
        return replace(self, when="", late=False) == replace(other, when="", late=False)


class _Given(Form):
    """The form of a prediction that a student makes."""

    value: float = Field(ge=0, allow_inf_nan=False, description="a number of 0 or more")
    unit: Annotated[str, StringConstraints(strip_whitespace=True)] = Field(
        min_length=1, max_length=16, description="a short text such as ns"
    )
    because: str = Field("", max_length=limits.MOST_JSON_BYTES, description="a text")
    sure: float | None = Field(
        None, ge=0, le=1, description="a number from 0 (a guess) to 1 (certain)"
    )


class _Stored(_Given):
    """The same in the file, where only value and unit decide whether it is a prediction."""

    because: TextOrNone = None  # type: ignore[assignment]
    sure: Annotated[float | None, Field(ge=0, le=1), OrNone] = None
    when: TextOrNone = None
    late: bool = False


class _Found(Form):
    """The form of a ratio that a lab found."""

    found: float = Field(gt=0, allow_inf_nan=False, description="a number above 0")


def read(folder: Path) -> dict[str, tuple[Prediction, ...]]:
    """All versions of each prediction in `folder`, the oldest first; empty if there are none.

    Leaves out entries that are not predictions. Raises BadPredictions if the file is unusable.
    """
    return answers.versions_in(Path(folder) / FILE_NAME, _prediction)


def put(folder: Path, name: str, prediction: Prediction, before: str = "") -> Prediction:
    """Add a prediction under the id `name`, with the time, and return it as stored.

    It is late if the recording `before` exists. If it says the same as the newest one, nothing is
    added, and that one is returned: a cell may run again.

    Raises ValueError if the prediction has a wrong form, and files.CannotWrite. Raises
    BadPredictions if the existing file, or an entry in it, cannot be read: then it stays unchanged.
    """
    _check_id(name)
    stored = _stored(prediction, late=is_answered(folder, before))
    newest = read(folder).get(name, ())[-1:]
    if newest and newest[0].guesses_like(stored):
        return newest[0]
    answers.add_version(Path(folder) / FILE_NAME, name, asdict(stored))
    return stored


def forget(folder: Path, name: str) -> None:
    """Remove all versions under the id `name`. Raises KeyError, BadPredictions, CannotWrite."""
    stated = _stated(folder)
    del stated[name]
    answers.write_versions(Path(folder) / FILE_NAME, stated)


def rename(folder: Path, old: str, new: str, before: str = "") -> None:
    """Put the predictions under `old` to those under `new`, in the order in which they were made.

    Those made after the recording `before`, which answers `new`, become late. Raises KeyError,
    ValueError for a wrong id, BadPredictions, files.CannotWrite.
    """
    _check_id(new)
    if new == old:
        raise ValueError(f"{new} has this id already")
    known, stated = read(folder), _stated(folder)
    del stated[old]
    saved = _time_of(folder, before)
    moved = [
        replace(each, late=True) if saved and each.when > saved else each
        for each in known.get(old, ())
    ]
    # The sort keeps versions of the same second in their order.
    both = sorted([*known.get(new, ()), *moved], key=lambda each: each.when)
    if both:
        stated[new] = [asdict(each) for each in both]
    answers.write_versions(Path(folder) / FILE_NAME, stated)


def found(folder: Path) -> dict[str, float]:
    """The ratio that a lab found for each of these predictions. Raises BadPredictions."""
    every = answers.versions_in(Path(folder) / FILE_NAME, _ratio)
    return {name: ratios[-1] for name, ratios in every.items()}


def put_found(folder: Path, name: str, ratio: float) -> None:
    """Keep the ratio that a lab found next to the predictions `name`, in place of an earlier one.

    Raises KeyError, BadPredictions, files.CannotWrite.
    """
    stated = _stated(folder)
    others = [each for each in stated[name] if _ratio(each) is None]
    stated[name] = [*others, {"found": ratio}]
    answers.write_versions(Path(folder) / FILE_NAME, stated)


def ids(folder: Path) -> tuple[str, ...]:
    """The ids under which the file has anything, readable or not. Raises BadPredictions."""
    return tuple(_stated(folder))


def counting(versions: tuple[Prediction, ...]) -> Prediction | None:
    """The version that counts: the last one made before the answer; None if all are late."""
    in_time = [each for each in versions if not each.late]
    return in_time[-1] if in_time else None


def shown(versions: tuple[Prediction, ...]) -> tuple[Prediction, bool]:
    """The version to compare with a result, and whether it is a late one: then none counts."""
    counts = counting(versions)
    return (versions[-1], True) if counts is None else (counts, False)


def is_answered(folder: Path, before: str) -> bool:
    """Whether the recording `before`, which answers a prediction, exists in the lab folder."""
    return bool(before) and figures.recording_path(folder, before).is_file()


def comparable(unit: str, other: str) -> bool:
    """Whether numbers in the two units can be compared: cycles have no fixed length in seconds."""
    units = _unit(unit), _unit(other)
    return units[0] == units[1] or all(each in NANOSECONDS for each in units)


def strange_unit(unit: str) -> str:
    """A message if `unit` is neither a unit of time nor the unit of a ratio; else ''."""
    if unit.strip() in figures.OF_A_RATIO:
        return ""
    try:
        canonical(unit)
    except UnknownUnit as error:
        return f"No result can be compared with this prediction: {error}, or times for a ratio."
    return ""


def _unit(text: str) -> str:
    """The unit in the kit's spelling; a count may have its own unit."""
    return figures.TIMES if text.strip() in figures.OF_A_RATIO else spelled(text)


def _check_id(name: str) -> None:
    if _ID.fullmatch(name) is None:
        raise ValueError(f"{name!r} is not a figure id (small letters, digits and hyphens)")


def _stored(prediction: Prediction, *, late: bool) -> Prediction:
    """The prediction as it is stored, now. Raises ValueError if it has a wrong form."""
    try:
        given = _Given.model_validate(asdict(prediction))
    except ValidationError as error:
        raise ValueError(problems(error, _Given)) from error
    value = prediction.value if isinstance(prediction.value, int) else given.value
    because, when = given.because[: limits.MOST_REASON], prediction.when or time_now()
    return Prediction(value, _unit(given.unit), because, given.sure, when, late)


def _time_of(folder: Path, recording: str) -> str:
    """When a recording was saved, in the form of `Prediction.when`; '' if it does not exist."""
    if not is_answered(folder, recording):
        return ""
    saved = figures.recording_path(folder, recording).stat().st_mtime
    return datetime.datetime.fromtimestamp(saved, datetime.timezone.utc).isoformat(
        timespec="seconds"
    )


def _stated(folder: Path) -> dict[str, Any]:
    return answers.read_versions(Path(folder) / FILE_NAME)


def _ratio(stated: object) -> float | None:
    found = _Found.or_none(stated)
    return None if found is None else found.found


def _prediction(stated: object) -> Prediction | None:
    entry = _Stored.or_none(stated)
    if entry is None:
        return None
    told = entry.because or "", entry.sure, entry.when or "", entry.late
    return Prediction(entry.value, _unit(entry.unit), *told)
