"""A student's predictions before measuring: `predictions.json` in the lab's folder.

    {"timer-overhead-fenced": [{"value": 20, "unit": "ns", "because": "...", "sure": 0.7,
                                "when": "2026-03-01T09:30:00+00:00"}]}

The file keeps every version, the newest last. Nobody grades whether a prediction is right.
"""

from __future__ import annotations

import datetime
import json
import re
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, StringConstraints, ValidationError

from labs.common import limits
from labs.common.files import write_atomically
from labs.common.json_form import Form, OrNone, TextOrNone, problems
from labs.common.json_text import BadJson, Unreadable, read_entries
from labs.common.units import UnknownUnit, canonical

FILE_NAME = "predictions.json"

_OF_A_RATIO = ("times", "x", "×")
_ID = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")
_MOST_REASON = 2_000  # characters


class BadPredictions(ValueError):
    """`predictions.json` cannot be read; the message says what is wrong and what to do."""


@dataclass(frozen=True)
class Prediction:
    """A number in `unit`, its reason, how sure from 0 to 1 (None: not stated), and the time."""

    value: float
    unit: str
    because: str = ""
    sure: float | None = None
    when: str = ""


class _Given(Form):
    """The form of a prediction that a student makes."""

    value: float = Field(ge=0, allow_inf_nan=False, description="a number of 0 or more")
    unit: Annotated[str, StringConstraints(strip_whitespace=True)] = Field(
        min_length=1, max_length=16, description="a short text such as ns"
    )
    because: str = Field("", description="a text")
    sure: float | None = Field(
        None, ge=0, le=1, description="a number from 0 (a guess) to 1 (certain)"
    )


class _Stored(_Given):
    """The same in the file, where only value and unit decide whether it is a prediction."""

    because: TextOrNone = None  # type: ignore[assignment]
    sure: Annotated[float | None, Field(ge=0, le=1), OrNone] = None
    when: TextOrNone = None


def read(folder: Path) -> dict[str, tuple[Prediction, ...]]:
    """All versions of each prediction in `folder`, the oldest first; empty if there are none.

    Leaves out entries that are not predictions. Raises BadPredictions if the file is unusable.
    """
    known = {
        name: tuple(prediction for entry in entries if (prediction := _prediction(entry)))
        for name, entries in _stated(folder).items()
        if isinstance(entries, list)
    }
    return {name: versions for name, versions in known.items() if versions}


def put(folder: Path, name: str, prediction: Prediction) -> Prediction:
    """Add a prediction under the figure id `name`, with the time, and return it as stored.

    Raises ValueError if the prediction has a wrong form, and files.CannotWrite. Raises
    BadPredictions if the existing file, or an entry in it, cannot be read: then it stays unchanged.
    """
    if _ID.fullmatch(name) is None:
        raise ValueError(f"{name!r} is not a figure id (small letters, digits and hyphens)")
    try:
        given = _Given.model_validate(asdict(prediction))
    except ValidationError as error:
        raise ValueError(problems(error, _Given)) from error
    whole = isinstance(prediction.value, int)
    stored = Prediction(
        prediction.value if whole else given.value,
        _unit(given.unit),
        given.because[:_MOST_REASON],
        given.sure,
        prediction.when
        or datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
    )
    stated = _stated(folder)
    for key, entry in stated.items():
        if isinstance(entry, Unreadable):
            raise BadPredictions(f"{FILE_NAME}, entry {key[:64]}: {entry.what}")
    earlier = stated.get(name)
    stated[name] = [*(earlier if isinstance(earlier, list) else []), asdict(stored)]
    text = json.dumps(stated, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
    write_atomically(Path(folder) / FILE_NAME, text.encode())
    return stored


def strange_unit(unit: str) -> str:
    """A message if `unit` is neither a unit of time nor the unit of a ratio; else ''."""
    if unit.strip() in _OF_A_RATIO:
        return ""
    try:
        canonical(unit)
    except UnknownUnit as error:
        return f"No result can be compared with this prediction: {error}."
    return ""


def _unit(text: str) -> str:
    """The unit in the kit's spelling; a ratio or a count may have its own unit."""
    try:
        return canonical(text)
    except UnknownUnit:
        return text


def _stated(folder: Path) -> dict[str, Any]:
    path = Path(folder) / FILE_NAME
    if not path.is_symlink() and not path.exists():
        return {}
    try:
        return read_entries(path, limits.MOST_FIGURES)
    except BadJson as error:
        raise BadPredictions(
            f"{FILE_NAME} {error}; correct it, or move it out of the folder"
        ) from error
    except OSError as error:
        raise BadPredictions(error.strerror or str(error)) from error


def _prediction(stated: object) -> Prediction | None:
    try:
        entry = _Stored.model_validate(stated)
    except ValidationError:
        return None
    return Prediction(
        entry.value, _unit(entry.unit), entry.because or "", entry.sure, entry.when or ""
    )
