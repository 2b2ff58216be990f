"""A student's predictions before measuring: `predictions.json` in the lab's folder.

    {"timer-overhead-fenced": [{"value": 20, "unit": "ns", "because": "...", "sure": 0.7,
                                "when": "2026-03-01T09:30:00+00:00"}]}

The file keeps every version, the newest last. Nobody grades whether a prediction is right.
"""

from __future__ import annotations

import datetime
import json
import math
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from labs.common import limits
from labs.common.files import read_bounded, write_atomically
from labs.common.units import UnknownUnit, canonical

FILE_NAME = "predictions.json"

_OF_A_RATIO = ("times", "x", "×")
_ID = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")


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

    Raises ValueError if the prediction has a wrong form, BadPredictions if the existing file is
    unusable (it then stays unchanged), and files.CannotWrite.
    """
    if _ID.fullmatch(name) is None:
        raise ValueError(f"{name!r} is not a figure id (small letters, digits and hyphens)")
    if isinstance(prediction.value, bool) or not isinstance(prediction.value, int | float):
        raise ValueError(f"predict a number, not {prediction.value!r}")
    if not math.isfinite(prediction.value) or prediction.value < 0:
        raise ValueError(f"predict a number of 0 or more, not {prediction.value!r}")
    sure = prediction.sure
    if sure is not None and not (isinstance(sure, int | float) and 0 <= sure <= 1):
        raise ValueError(f"sure={sure!r}: say how sure you are from 0 (a guess) to 1 (certain)")
    stored = Prediction(
        prediction.value,
        _unit(prediction.unit),
        prediction.because[:2_000],
        sure,
        prediction.when
        or datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
    )
    stated = _stated(folder)
    earlier = stated.get(name)
    entry = {
        "value": stored.value,
        "unit": stored.unit,
        "because": stored.because,
        "sure": stored.sure,
        "when": stored.when,
    }
    stated[name] = [*(earlier if isinstance(earlier, list) else []), entry]
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
        if not 0 < len(text.strip()) <= 16:
            raise
        return text.strip()


def _stated(folder: Path) -> dict[str, Any]:
    path = Path(folder) / FILE_NAME
    if not path.is_symlink() and not path.exists():
        return {}
    try:
        stated = json.loads(read_bounded(path, limits.MOST_JSON_BYTES).decode("utf-8"))
    except OSError as error:
        raise BadPredictions(error.strerror or str(error)) from error
    except (ValueError, RecursionError) as error:
        raise BadPredictions(
            f"{FILE_NAME} is not valid JSON ({error}); correct it, or move it out of the folder"
        ) from error
    if not isinstance(stated, dict):
        raise BadPredictions(f"{FILE_NAME} must hold one object; move it out of the folder")
    return stated


def _prediction(entry: object) -> Prediction | None:
    if not isinstance(entry, dict):
        return None
    value, unit, sure = entry.get("value"), entry.get("unit"), entry.get("sure")
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    if not isinstance(unit, str) or not 0 < len(unit) <= 16:
        return None
    return Prediction(
        float(value),
        _unit(unit),
        str(entry.get("because") or ""),
        float(sure) if isinstance(sure, int | float) else None,
        str(entry.get("when") or ""),
    )
