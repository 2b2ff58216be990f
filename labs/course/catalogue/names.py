"""The names of the labs, and which of them a word means."""

from __future__ import annotations

import json
from pathlib import Path

from labs.common.spelling import meant

FOLDER = Path(__file__).resolve().parent.parent / "hints"


def labs() -> tuple[str, ...]:
    """Every lab that has a guide, in the order taught."""
    return tuple(sorted(path.stem for path in FOLDER.glob("*.json")))


def lab_meant(word: str) -> str | None:
    """The lab that `word` names: its whole name, or its number as in `3` or `03`; else None."""
    for lab in labs():
        number = lab.partition("-")[0]
        if word == lab or (word.isdecimal() and len(word) < 3 and int(word) == int(number)):
            return lab
    return None


def folder_meant(path: Path) -> str:
    """The end of a sentence about a folder that is not there: the one that was meant, if any."""
    try:
        beside = [each.name for each in path.absolute().parent.iterdir() if each.is_dir()]
    except OSError:
        return ""
    close = meant(path.name, beside)
    return f": did you mean {path.with_name(close)}?" if close and close != path.name else ""


def topics_of(lab: str) -> tuple[str, ...]:
    """What the hints of a lab are for; nothing for another lab."""
    path = FOLDER / f"{lab}.json"
    return tuple(json.loads(path.read_text(encoding="utf-8"))["hints"]) if path.is_file() else ()
