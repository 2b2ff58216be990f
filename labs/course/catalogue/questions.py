"""The labs with their questions and times, as the first cell of each notebook states them."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path

from labs.common import limits, paths
from labs.common.files import read_bounded
from labs.course.catalogue.names import labs

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
