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

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated

from pydantic import AfterValidator, ConfigDict, Field, TypeAdapter, ValidationError

from labs.course import lab_names

RUNGS = 3
MOST_WORDS = 50


class BadGuide(ValueError):
    """A guide has a mistake; the message says which and where."""


def _brief(hint: str) -> str:
    """A hint that is not too long. Raises ValueError."""
    if len(hint.split()) > MOST_WORDS:
        raise ValueError(f"a hint has at most {MOST_WORDS} words")
    return hint


# How the classes below are written in JSON. No text is blank, and no other name may be given.
_NAMES = ConfigDict(extra="forbid")
_Text = Annotated[str, Field(pattern=r"\S")]
_Hint = Annotated[_Text, AfterValidator(_brief)]
_Rungs = Annotated[tuple[_Hint, ...], Field(min_length=RUNGS, max_length=RUNGS)]
_Choices = Annotated[tuple[_Text, ...], Field(min_length=2)]
_DONE_BY = r"^((prediction|recording|figure|answer):.*\S.*|(report|hand-in):)$"
_Paragraphs = Annotated[tuple[_Text, ...], Field(min_length=1)]


@dataclass(frozen=True)
class Step:
    """One step of a lab: what to do, and the evidence that it is done (`kind:name`).

    With a `variant`, only a recording that holds this variant is such evidence. With `no_faults`,
    it is one in which the samples of that variant made no page fault. A `further` step may be left
    out.
    """

    __pydantic_config__ = _NAMES

    do: _Text
    done_by: Annotated[str, Field(pattern=_DONE_BY)]
    variant: str = ""
    no_faults: str = ""
    further: bool = False

    @property
    def kind(self) -> str:
        """Of which kind the evidence is: a key of `labs.course.progress.EVIDENCE`."""
        return self.done_by.partition(":")[0]

    @property
    def name(self) -> str:
        """The name of the evidence; '' of what a lab has once."""
        return self.done_by.partition(":")[2]


@dataclass(frozen=True)
class Asked:
    """A prediction that a lab asks for: the question, its unit, and the recording that answers it.

    `figure` is the figure to compare it with, if that has another id. `measured` is the C kernel
    and the variant that measure it ("task_creation pthread-wait"), if its id does not name them:
    plots of this variant show the prediction.
    """

    __pydantic_config__ = _NAMES

    asks: _Text
    unit: _Text
    before: _Text
    figure: str = ""
    measured: str = ""


@dataclass(frozen=True)
class HeldBack:
    """A warning, by its code, of the run saved as `run`: it would answer the question `until`."""

    __pydantic_config__ = _NAMES

    run: _Text
    warning: _Text
    until: str


@dataclass(frozen=True)
class Guide:
    """Hints by topic, each of RUNGS texts; the steps in order; conclusions by figure id.

    `predictions` are those that the lab asks for, and `explanations` the paragraphs that are shown
    beside an answer, both by id.
    """

    __pydantic_config__ = _NAMES

    hints: Mapping[str, _Rungs] = field(default_factory=dict)
    steps: tuple[Step, ...] = ()
    choices: Mapping[str, _Choices] = field(default_factory=dict)
    predictions: Mapping[str, Asked] = field(default_factory=dict)
    explanations: Mapping[str, _Paragraphs] = field(default_factory=dict)
    held_back: tuple[HeldBack, ...] = ()


_FORM = TypeAdapter(Guide)


def of_lab(lab: str) -> Guide:
    """The guide of the lab `lab`, or an empty guide if the kit has none. Raises BadGuide."""
    path = lab_names.FOLDER / f"{lab}.json"
    if not path.is_file():
        return Guide()
    return parse(path.read_text(encoding="utf-8"), path.name)


def heading_of_hints(shown: int, rungs: Sequence[str], again: str) -> str:
    """Which hint this is; `again` says how to see the next one."""
    more = f"; {again} for the next" if shown < len(rungs) else ""
    return f"hint {shown} of {len(rungs)}{more}"


def numbered_hints(rungs: Sequence[str], asked: int) -> tuple[str, ...]:
    """The hints up to number `asked`: at least the first one, and never more than there are."""
    shown = min(max(asked, 1), len(rungs))
    return tuple(f"{number}. {text}" for number, text in enumerate(rungs[:shown], start=1))


def parse(text: str, where: str) -> Guide:
    """The guide that `text` holds. Raises BadGuide, for example if a hint is empty."""
    try:
        found = _FORM.validate_json(text, strict=True)
    except ValidationError as error:
        raise BadGuide(f"{where}: {error}") from error
    for step in found.steps:
        if (step.variant or step.no_faults) and step.kind != "recording":
            raise BadGuide(f"{where}: step {step.do!r} has a variant, but no recording")
    for held in found.held_back:
        if held.until not in found.explanations:
            raise BadGuide(f"{where}: held back until {held.until!r}, which is no explanation")
    return found
