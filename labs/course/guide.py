"""The guide of a lab: its hints in three levels, its steps, predictions, explanations, conclusions.

Each lab has one JSON file under `hints/`:

    {"hints": {"fence": ["first", "second", "third"]},
     "steps": [{"do": "Predict ...", "done_by": "prediction:timer-overhead-fenced"}],
     "predictions": {"timer-overhead-fenced": {"asks": "What ...?", "unit": "ns",
                                               "before": "fenced"}},
     "explanations": {"wrong": ["first paragraph", "second paragraph"]},
     "held_back": [{"run": "naive", "warning": "not-on-a-line", "until": "wrong"}],
     "choices": {"call-five-and-six": ["six cost more", "six cost less", "not distinguishable"]}}

`done_by` names the evidence that a step is done: `prediction:ID`, `recording:NAME`, `figure:ID`,
`answer:ID`, `report:`, `hand-in:`; a step's `variant` is one that the recording must hold, and in
the samples of the variant `no_faults` the OS must have counted no page fault. A step with
`"further": true` goes further than the core of the lab: no lab waits for it.
`predictions` lists what may be predicted, with the recording that answers it. `explanations` are
shown beside what the student answered. `held_back` lists warnings of a run that would give an
answer away. `choices` lists the conclusions to choose from, of each figure that is answered by a
number.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from labs.course import answers, figures, handed_in, lab_names, predictions


@dataclass(frozen=True)
class Step:
    """One step of a lab: what to do, and the kind and name of the evidence that it is done.

    With a `variant`, only a recording that holds this variant is such evidence. With `no_faults`,
    it is one in which the samples of that variant made no page fault. A `further` step may be left
    out.
    """

    do: str
    kind: str
    name: str
    variant: str = ""
    no_faults: str = ""
    further: bool = False

    def is_done(self, folder: Path) -> bool:
        """Whether `folder`, the student's folder of this lab, has the evidence.

        Raises ValueError or OSError if a file that would hold it cannot be read.
        """
        found = _EVIDENCE[self.kind](folder, self.name)
        if not found or not (self.variant or self.no_faults):
            return found
        return _holds(folder, self.name, self.variant, self.no_faults)


def _predicted(folder: Path, name: str) -> bool:
    return name in predictions.read(folder)


def _recorded(folder: Path, name: str) -> bool:
    return _recording(folder, name).is_file()


def _recording(folder: Path, name: str) -> Path:
    return folder / figures.RECORDINGS / f"{name}.csv"


def _holds(folder: Path, name: str, variant: str, no_faults: str) -> bool:
    """Whether a recording can be read and holds what `Step` says; '' asks for nothing."""
    # Here: reading recordings takes long to load, and few steps need it.
    from labs.recording import file
    from labs.recording.counts import page_faults_of

    try:
        recording = file.read(_recording(folder, name))
        counts = page_faults_of(recording, no_faults) if no_faults else None
    except file.BadRecording:
        return False
    if no_faults and (counts is None or counts.has_faults):
        return False
    return not variant or variant in recording.variants


def _stored(folder: Path, name: str) -> bool:
    return isinstance(figures.read(folder).get(name), figures.Figure)


def _answered(folder: Path, name: str) -> bool:
    return name in answers.read(folder)


def _reported(folder: Path, _: str) -> bool:
    return answers.is_written(folder)


def _handed_in(folder: Path, _: str) -> bool:
    return handed_in.is_handed_in(folder)


_EVIDENCE: dict[str, Callable[[Path, str], bool]] = {
    "prediction": _predicted,
    "recording": _recorded,
    "figure": _stored,
    "answer": _answered,
    "report": _reported,
    "hand-in": _handed_in,
}

#: The kinds of evidence, and those that a lab has once, so that they have no name.
KINDS = tuple(_EVIDENCE)
WITHOUT_NAME = ("report", "hand-in")


RUNGS = 3
MOST_WORDS = 50
FEWEST_CHOICES = 2


class BadGuide(ValueError):
    """A guide has a mistake; the message says which and where."""


@dataclass(frozen=True)
class Asked:
    """A prediction that a lab asks for: the question, its unit, and the recording that answers it.

    `figure` is the figure to compare it with, if that has another id. `measured` is the C kernel
    and the variant that measure it ("task_creation pthread-wait"), if its id does not name them:
    plots of this variant show the prediction.
    """

    asks: str
    unit: str
    before: str
    figure: str = ""
    measured: str = ""


@dataclass(frozen=True)
class HeldBack:
    """A warning, by its code, of the run saved as `run`: it would answer the question `until`."""

    run: str
    warning: str
    until: str


@dataclass(frozen=True)
class Guide:
    """Hints by topic, each of RUNGS texts; the steps in order; conclusions by figure id.

    `predictions` are those that the lab asks for, and `explanations` the paragraphs that are shown
    beside an answer, both by id.
    """

    hints: dict[str, tuple[str, ...]]
    steps: tuple[Step, ...]
    choices: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    predictions: Mapping[str, Asked] = field(default_factory=dict)
    explanations: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    held_back: tuple[HeldBack, ...] = ()


def labs() -> tuple[str, ...]:
    """Every lab that has a guide, in the order taught."""
    return lab_names.labs()


def of_lab(lab: str) -> Guide:
    """The guide of the lab `lab`, or an empty guide if the kit has none. Raises BadGuide."""
    path = lab_names.FOLDER / f"{lab}.json"
    if not path.is_file():
        return Guide({}, ())
    return parse(path.read_text(encoding="utf-8"), path.name)


def heading_of_hints(shown: int, rungs: Sequence[str], again: str) -> str:
    """Which hint this is; `again` says how to see the next one."""
    if shown == len(rungs):
        return f"hint {shown} of {len(rungs)}"
    return f"hint {shown} of {len(rungs)}; {again} for the next"


def numbered_hints(rungs: Sequence[str], asked: int) -> tuple[str, ...]:
    """The hints up to number `asked`: at least the first one, and never more than there are."""
    shown = min(max(asked, 1), len(rungs))
    return tuple(f"{number}. {text}" for number, text in enumerate(rungs[:shown], start=1))


def parse(text: str, where: str) -> Guide:
    """The guide that `text` holds. Raises BadGuide, for example if a hint is empty."""
    try:
        stated = json.loads(text)
        hints = {name: tuple(rungs) for name, rungs in stated.get("hints", {}).items()}
        steps = tuple(
            Step(
                step["do"],
                *_evidence(step["done_by"]),
                step.get("variant", ""),
                step.get("no_faults", ""),
                step.get("further", False),
            )
            for step in stated.get("steps", [])
        )
        choices = _texts(stated.get("choices", {}))
        explanations = _texts(stated.get("explanations", {}))
        asked = {name: Asked(**each) for name, each in stated.get("predictions", {}).items()}
        held_back = tuple(HeldBack(**each) for each in stated.get("held_back", []))
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
        if bool(step.name) == (step.kind in WITHOUT_NAME):
            raise BadGuide(f"{where}: step {step.do!r} needs {step.kind}:ID, or {step.kind}: alone")
        if (step.variant or step.no_faults) and step.kind != "recording":
            raise BadGuide(f"{where}: step {step.do!r} has a variant, but no recording")
    for name, texts in choices.items():
        if len(texts) < FEWEST_CHOICES or not all(text.strip() for text in texts):
            raise BadGuide(f"{where}: {name!r} must have two conclusions or more, none empty")
    for name, texts in explanations.items():
        if not texts or not all(text.strip() for text in texts):
            raise BadGuide(f"{where}: explanation {name!r} must have paragraphs, none empty")
    for name, each in asked.items():
        if not (each.asks.strip() and each.unit.strip() and each.before.strip()):
            raise BadGuide(f"{where}: prediction {name!r} needs `asks`, `unit` and `before`")
    for held in held_back:
        if held.until not in explanations or not (held.run and held.warning):
            raise BadGuide(
                f"{where}: held back needs `run`, `warning`, and `until`, an explanation"
            )
    return Guide(hints, steps, choices, asked, explanations, held_back)


def _evidence(done_by: str) -> tuple[str, str]:
    """The kind and the name of the evidence. Raises ValueError if there is no colon."""
    kind, name = done_by.split(":", 1)
    return kind, name


def _texts(stated: Any) -> dict[str, tuple[str, ...]]:
    """Lists of texts by name. Raises TypeError or AttributeError for anything else."""
    if not all(isinstance(texts, list) for texts in stated.values()):
        raise TypeError("a list of texts is expected")
    return {name: tuple(texts) for name, texts in stated.items()}
