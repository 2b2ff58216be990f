"""How a person gives points to an answer: the rubrics of the labs.

They are in `rubrics.json` here. A course may have a file of this name and form too; what it says of
a lab holds there.

    {"criteria": {"samples": {"what": "Samples and processes",
                              "levels": [[1, "Both numbers are there."], [0, "None is."]]}},
     "labs": {"01-timer-overhead": {"report": ["samples", {"what": ..., "levels": ...}]}}}

By lab and by the id of the answer's cell, `labs` lists criteria: a name of `criteria`, or a
criterion of this answer alone. Levels go from the most points to the fewest. The formgrader shows a
rubric beside the answer.
"""

from __future__ import annotations

import functools
import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

NAME = "rubrics.json"
_FILE = Path(__file__).resolve().parent / NAME


class BadRubric(ValueError):
    """A rubric has a mistake; the message says where."""


@dataclass(frozen=True)
class Level:
    """What an answer must hold to get these points."""

    points: float
    text: str


@dataclass(frozen=True)
class Criterion:
    """One thing that an answer gets points for; its levels, the highest first."""

    what: str
    levels: tuple[Level, ...]

    @property
    def points(self) -> float:
        """The most points that it gives."""
        return self.levels[0].points


#: The criteria of each answer, by the id of its cell.
Rubrics = dict[str, tuple[Criterion, ...]]


@functools.cache
def of_labs() -> dict[str, Rubrics]:
    """The rubrics of the kit's labs, by lab. Raises BadRubric."""
    return parse(_FILE.read_text(encoding="utf-8"), {})


def of_course(course: Path) -> dict[str, Rubrics]:
    """The rubrics that hold in a course folder. Raises BadRubric if its file cannot be read."""
    file = course / NAME
    if not file.exists():
        return of_labs()
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise BadRubric(f"{file}: {error}") from error
    return of_labs() | parse(text, _shared(_FILE.read_text(encoding="utf-8")))


def as_json(labs: dict[str, Rubrics]) -> dict[str, Any]:
    """The same for a page."""
    return {
        lab: {
            answer: [{**asdict(each), "points": each.points} for each in criteria]
            for answer, criteria in rubrics.items()
        }
        for lab, rubrics in labs.items()
    }


def parse(text: str, known: dict[str, Criterion]) -> dict[str, Rubrics]:
    """The rubrics that `text` holds; it may name the criteria `known`.

    Raises BadRubric, for example of levels in no order.
    """
    where = NAME
    try:
        stated = json.loads(text)
        shared = known | _shared(text)
        found: dict[str, Rubrics] = {}
        for lab, answers in stated["labs"].items():
            for answer, criteria in answers.items():
                where = f"{NAME}: {lab}: {answer}"
                found.setdefault(lab, {})[answer] = tuple(
                    shared[each] if isinstance(each, str) else _criterion(each, where)
                    for each in criteria
                )
    except BadRubric:
        raise
    except (ValueError, AttributeError, KeyError, TypeError) as error:
        raise BadRubric(f"{where}: {error!r}") from error
    return found


def _shared(text: str) -> dict[str, Criterion]:
    """The criteria that several answers share, by name."""
    stated = json.loads(text).get("criteria", {})
    return {name: _criterion(each, f"{NAME}: {name}") for name, each in stated.items()}


def _criterion(stated: dict[str, Any], where: str) -> Criterion:
    made = Criterion(stated["what"], tuple(Level(*each) for each in stated["levels"]))
    if not made.what.strip() or not all(level.text.strip() for level in made.levels):
        raise BadRubric(f"{where}: {made.what!r} needs words, and each of its levels too")
    points = [level.points for level in made.levels]
    if len(points) < 2 or points != sorted(set(points), reverse=True) or points[-1] != 0:
        raise BadRubric(f"{where}: the levels of {made.what!r} must go down to 0 points: {points}")
    return made
