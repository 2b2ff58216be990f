"""The figures of a lab folder: `figures.json`, figure id -> value, unit, recording, when.

A student can also write the file by hand:

    {"timer-overhead-fenced": {"value": 16.4, "unit": "ns", "recording": "recordings/fenced.csv"}}
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

FILE_NAME = "figures.json"
RECORDINGS = "recordings"

_ID = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")
_RECORDING = re.compile(r"recordings/[A-Za-z0-9][A-Za-z0-9._-]{0,99}\.csv")


class BadFigures(ValueError):
    """`figures.json` cannot be read as a whole; the message says where and what is wrong."""


@dataclass(frozen=True)
class Figure:
    """A figure as submitted: a number in `unit`, and the recording that is its evidence.

    `recording` is a path in the lab folder, `recordings/NAME.csv`; `when` is an ISO 8601 time.
    """

    id: str
    value: float
    unit: str
    recording: str | None
    when: str | None = None


@dataclass(frozen=True)
class BadFigure:
    """An entry of `figures.json` that is not a figure, and what is wrong with it."""

    id: str
    what: str


def read(folder: Path) -> dict[str, Figure | BadFigure]:
    """The figures in `folder`, by id; empty if there is no `figures.json` yet.

    One bad entry does not hide the others. Raises BadFigures if the file as a whole is unusable.
    """
    path = Path(folder) / FILE_NAME
    if not path.is_symlink() and not path.exists():
        return {}
    try:
        content = read_bounded(path, limits.MOST_JSON_BYTES).decode("utf-8")
        stated = json.loads(content, parse_constant=_no_constant, object_pairs_hook=_no_name_twice)
    except UnicodeDecodeError as error:
        raise BadFigures(f"{FILE_NAME} is not UTF-8 text (byte {error.start})") from error
    except json.JSONDecodeError as error:
        raise BadFigures(
            f"{FILE_NAME}, line {error.lineno}, column {error.colno}: {error.msg}"
        ) from error
    except RecursionError as error:
        raise BadFigures(f"{FILE_NAME} has too many nested objects or lists") from error
    except OSError as error:
        raise BadFigures(error.strerror or str(error)) from error
    except ValueError as error:
        raise BadFigures(f"{FILE_NAME}: {error}") from error
    if not isinstance(stated, dict):
        raise BadFigures(f"{FILE_NAME} must hold one object: figure id -> value, unit, recording")
    if len(stated) > limits.MOST_FIGURES:
        raise BadFigures(f"{FILE_NAME} holds {len(stated)} figures; at most {limits.MOST_FIGURES}")
    named = ((_writable(str(name)), entry) for name, entry in stated.items())
    return {name[:64]: _figure(name, entry) for name, entry in named}


def put(folder: Path, figure: Figure) -> None:
    """Add `figure` to `folder`'s `figures.json`; it replaces an earlier figure with the same id.

    Raises ValueError if the figure has a wrong form, BadFigures if the existing file is unusable
    (it then stays unchanged), and files.CannotWrite.
    """
    known = _figure(figure.id, _entry(figure))
    if isinstance(known, BadFigure):
        raise ValueError(f"figure {figure.id}: {known.what}")
    path = Path(folder) / FILE_NAME
    read(
        folder
    )  # raises BadFigures: we do not overwrite an unusable file, which is somebody's work
    stated: dict[str, Any] = json.loads(path.read_bytes()) if path.exists() else {}
    stated[figure.id] = {
        **_entry(figure),
        "when": figure.when
        or datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
    }
    text = json.dumps(stated, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
    write_atomically(path, text.encode())


def _entry(figure: Figure) -> dict[str, Any]:
    return {"value": figure.value, "unit": figure.unit, "recording": figure.recording}


def _figure(name: str, entry: object) -> Figure | BadFigure:
    """One entry; this function checks only its form."""
    if _ID.fullmatch(name) is None:
        return BadFigure(name[:64], "is not a figure id (small letters, digits and hyphens)")
    if not isinstance(entry, dict):
        return BadFigure(name, "must be an object with value, unit and recording")
    value, unit, recording = entry.get("value"), entry.get("unit"), entry.get("recording")
    if isinstance(value, bool) or not isinstance(value, int | float):
        return BadFigure(name, f"value must be a number, not {_shown(value)}")
    try:
        number = float(value)
    except OverflowError:
        return BadFigure(name, "value is too large to be a number")
    if not math.isfinite(number):
        return BadFigure(name, "value must be a finite number")
    if not isinstance(unit, str) or not 0 < len(unit) <= 16:
        return BadFigure(name, f"unit must be a short text such as ns, not {_shown(unit)}")
    if recording is not None and (
        not isinstance(recording, str) or _RECORDING.fullmatch(recording) is None
    ):
        return BadFigure(name, f"recording must read recordings/NAME.csv, not {_shown(recording)}")
    when = entry.get("when")
    known = _writable(when[:40]) if isinstance(when, str) else None
    return Figure(name, number, _writable(unit), recording, known)


def _shown(value: object) -> str:
    text = repr(value) if not isinstance(value, dict | list) else f"a {type(value).__name__}"
    return text[:60]


def _writable(text: str) -> str:
    """`text` without lone surrogates, which JSON can spell but UTF-8 cannot encode."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _no_name_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    stated = dict(pairs)
    if len(stated) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"{twice[:64]!r} appears twice; keep one of them")
    return stated


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is not a number in JSON")
