"""The guide of a lab: its hints, each in three levels, its steps, and its conclusions.

Each lab has one JSON file under `hints/`:

    {"hints": {"fence": ["first", "second", "third"]},
     "steps": [{"do": "Predict ...", "done_by": "prediction:timer-overhead-fenced"}],
     "choices": {"call-five-and-six": ["six cost more", "six cost less", "not distinguishable"]}}

`done_by` names the evidence that a step is done: `prediction:ID`, `recording:NAME`, `figure:ID`.
`choices` lists the conclusions to choose from, of each figure that is answered by a number.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from labs.course import figures, predictions

RUNGS = 3
MOST_WORDS = 50
FEWEST_CHOICES = 2
KINDS = ("prediction", "recording", "figure")

_FOLDER = Path(__file__).resolve().parent / "hints"


class BadGuide(ValueError):
    """A guide has a mistake; the message says which and where."""


@dataclass(frozen=True)
class Step:
    """One step of a lab: what to do, and the kind and name of the evidence that it is done."""

    do: str
    kind: str
    name: str

    def is_done(self, folder: Path) -> bool:
        """Whether `folder`, the student's folder of this lab, has the evidence."""
        if self.kind == "recording":
            return (folder / figures.RECORDINGS / f"{self.name}.csv").is_file()
        if self.kind == "figure":
            return isinstance(figures.read(folder).get(self.name), figures.Figure)
        return self.name in predictions.read(folder)


@dataclass(frozen=True)
class Guide:
    """Hints by topic, each of RUNGS texts; the steps in order; conclusions by figure id."""

    hints: dict[str, tuple[str, ...]]
    steps: tuple[Step, ...]
    choices: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def labs() -> tuple[str, ...]:
    """Every lab that has a guide, in the order taught."""
    return tuple(sorted(path.stem for path in _FOLDER.glob("*.json")))


def of_lab(lab: str) -> Guide:
    """The guide of the lab `lab`, or an empty guide if the kit has none. Raises BadGuide."""
    path = _FOLDER / f"{lab}.json"
    if not path.is_file():
        return Guide({}, ())
    return parse(path.read_text(encoding="utf-8"), path.name)


def parse(text: str, where: str) -> Guide:
    """The guide that `text` holds. Raises BadGuide, for example if a hint is empty."""
    try:
        stated = json.loads(text)
        hints = {name: tuple(rungs) for name, rungs in stated.get("hints", {}).items()}
        steps = tuple(
            Step(step["do"], *step["done_by"].split(":", 1)) for step in stated.get("steps", [])
        )
        choices = {name: tuple(texts) for name, texts in stated.get("choices", {}).items()}
    except (ValueError, AttributeError, KeyError, TypeError) as error:
        raise BadGuide(f"{where}: {error}") from error
    for name, rungs in hints.items():
        if len(rungs) != RUNGS or not all(rung.strip() for rung in rungs):
            raise BadGuide(f"{where}: hint {name!r} must have {RUNGS} texts, none empty")
        if any(len(rung.split()) > MOST_WORDS for rung in rungs):
            raise BadGuide(f"{where}: hint {name!r} has a text of more than {MOST_WORDS} words")
    for step in steps:
        if step.kind not in KINDS or not step.do.strip():
            raise BadGuide(f"{where}: step {step.do!r} must be done by one of {', '.join(KINDS)}")
    for name, texts in choices.items():
        if len(texts) < FEWEST_CHOICES or not all(text.strip() for text in texts):
            raise BadGuide(f"{where}: {name!r} must have two conclusions or more, none empty")
    return Guide(hints, steps, choices)
