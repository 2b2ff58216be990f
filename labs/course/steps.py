"""The steps of a lab, and the evidence in the student's folder that a step is done."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from labs.course import answers, figures, handed_in, predictions, report_cell


@dataclass(frozen=True)
class Step:
    """One step of a lab: what to do, and the kind and name of the evidence that it is done.

    With a `variant`, only a recording that holds this variant is such evidence.
    """

    do: str
    kind: str
    name: str
    variant: str = ""

    def is_done(self, folder: Path) -> bool:
        """Whether `folder`, the student's folder of this lab, has the evidence.

        Raises ValueError or OSError if a file that would hold it cannot be read.
        """
        found = _EVIDENCE[self.kind](folder, self.name)
        return found and (not self.variant or self.variant in _variants(folder, self.name))


def _predicted(folder: Path, name: str) -> bool:
    return name in predictions.read(folder)


def _recorded(folder: Path, name: str) -> bool:
    return _recording(folder, name).is_file()


def _recording(folder: Path, name: str) -> Path:
    return folder / figures.RECORDINGS / f"{name}.csv"


def _variants(folder: Path, name: str) -> tuple[str, ...]:
    """The variants of a recording; none if it cannot be read."""
    # Here: reading recordings takes long to load, and few steps need it.
    from labs.recording import file

    try:
        return file.read(_recording(folder, name)).variants
    except file.BadRecording:
        return ()


def _stored(folder: Path, name: str) -> bool:
    return isinstance(figures.read(folder).get(name), figures.Figure)


def _answered(folder: Path, name: str) -> bool:
    return name in answers.read(folder)


def _reported(folder: Path, _: str) -> bool:
    return report_cell.is_written(folder)


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
