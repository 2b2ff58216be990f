"""The names of the labs, which of them a word means, and the question, time and story of each."""

from __future__ import annotations

import csv
import functools
import json
import re
from dataclasses import dataclass
from pathlib import Path

from labs import limits, paths
from labs.files import read_bounded
from labs.terminal import meant

FOLDER = Path(__file__).resolve().parent / "hints"
_STORIES = FOLDER.with_name("data") / "stories.csv"


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


# The first cell of each notebook states the question and the time of its lab.

_HEADING = re.compile(r"^# (.+)$", re.MULTILINE)
_MINUTES = re.compile(r"^\*(\d{1,3}) minutes\.\*", re.MULTILINE)


@dataclass(frozen=True)
class Lab:
    """A lab: its name, the question that it asks, and how many minutes it takes.

    '' and None if its notebook is not there or does not state them.
    """

    name: str
    asks: str = ""
    minutes: int | None = None


def all_labs() -> tuple[Lab, ...]:
    """Every lab, in the order taught. Raises paths.PartMissing."""
    folder = paths.released()
    return tuple(of_notebook(folder / lab / f"{lab}.ipynb", lab) for lab in labs())


def of_notebook(path: Path, lab: str) -> Lab:
    """What the notebook at `path` states of the lab `lab`."""
    try:
        text = read_bounded(path, limits.MOST_NOTEBOOK_BYTES).decode("utf-8")
        first = "".join(json.loads(text)["cells"][0]["source"])
    except (OSError, ValueError, LookupError, TypeError):
        return Lab(lab)
    asks, minutes = _HEADING.search(first), _MINUTES.search(first)
    return Lab(lab, asks[1] if asks else "", int(minutes[1]) if minutes else None)


@functools.cache
def stories() -> dict[str, tuple[str, str]]:
    """Of each lab, what people got wrong, and what settles it."""
    with _STORIES.open(encoding="utf-8", newline="") as file:
        return {row["lab"]: (row["wrong"], row["settled_by"]) for row in csv.DictReader(file)}
