"""The steps of a lab, and the evidence in the student's folder that a step is done."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from labs.course import answers, figures, handed_in, predictions, report_cell


@dataclass(frozen=True)
class Step:
    """One step of a lab: what to do, and the kind and name of the evidence that it is done.

    With a `variant`, only a recording that holds this variant is such evidence. With `no_faults`,
    it is one in which the samples of that variant made no page fault.
    """

    do: str
    kind: str
    name: str
    variant: str = ""
    no_faults: str = ""

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
    from labs.recording import file, page_faults

    try:
        recording = file.read(_recording(folder, name))
        counts = page_faults.counted(recording, no_faults) if no_faults else None
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
