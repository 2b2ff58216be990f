"""Hand in a figure with the run that is its evidence, or a conclusion: what is stored, what is
refused, and what is said."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from labs.common.files import CannotWrite
from labs.common.messages import Message, Refused
from labs.common.units import rounded
from labs.course import figure_ids, figures
from labs.course.guide import Guide
from labs.notebook import explain
from labs.notebook.recording_names import recording_name

if TYPE_CHECKING:
    from labs.notebook.run import Run


def figure(
    folder: Path, guide: Guide, name: str, value: float, unit: str, run: Run | str | None
) -> Message:
    """Store the figure `name` in `folder`, in place of an earlier one. Raises Refused.

    The evidence `run` is a run, the name of a recording, or None.
    """
    if hasattr(value, "recording") or not unit:
        how = f'lab.figure("{name}", run.value, run.unit, run)'
        raise Refused(Message("problem", "figure not stored", (f"Value and unit, as in {how}.",)))
    recording = None if run is None else _evidence(folder, run)
    evidence = (
        f"Evidence: {recording}."
        if recording is not None
        else "No recording goes with it: without one a figure cannot be checked."
    )
    _store(folder, figures.Figure(name, value, unit, recording))
    return _stored(guide, name, f"figure stored: {name} = {_told(value, unit)}", evidence)


def conclusion(folder: Path, guide: Guide, name: str, value: float, unit: str) -> Message:
    """Store what follows from other figures, whose recordings are its evidence. Raises Refused."""
    _store(folder, figures.Figure(name, value, unit, None))
    evidence = "Its evidence is the recordings of the figures that it follows from."
    return _stored(guide, name, f"conclusion stored: {name} = {_told(value, unit)}", evidence)


def _told(value: float, unit: str) -> str:
    """A value as it is told: the number of a conclusion has no unit to a reader."""
    return rounded(value, 5) if unit == "choice" else f"{rounded(value, 5)} {unit}"


def _evidence(folder: Path, run: Run | str) -> str:
    """The recording of a run, or the one so named, as a path below `folder`. Raises Refused."""
    if isinstance(run, str):
        path = f"{figures.RECORDINGS}/{recording_name(run)}.csv"
    elif run.recording_path is None:
        raise Refused(
            Message("problem", "the run is not saved", ("Measure again once it can be saved.",))
        )
    else:
        path = run.recording_path
    if not (folder / path).is_file():
        there = sorted(each.stem for each in (folder / figures.RECORDINGS).glob("*.csv"))
        told = f"There is {', '.join(there)}." if there else "There is none yet: measure first."
        raise Refused(Message("problem", f"there is no {path} in {folder}", (told,)))
    if not isinstance(run, str) and not _holds(folder / path, run.recording.as_bytes()):
        newest = f'`lab.runs["{Path(path).stem}"]`'
        words = (
            "It was measured again under this name since, or changed by another program.",
            f"Take value and run from the newest, {newest}, or run the cells again that gave this "
            "one.",
        )
        raise Refused(Message("problem", f"{path} does not hold this run any more", words))
    return path


def _holds(path: Path, content: bytes) -> bool:
    # The size first: another program may have laid anything there.
    return path.stat().st_size == len(content) and path.read_bytes() == content


def _store(folder: Path, given: figures.Figure) -> None:
    try:
        figures.put(folder, given)
    except (ValueError, CannotWrite) as error:
        told = replace(explain.of_error(error), heading="figure not stored")
        raise Refused(told) from None


def _stored(guide: Guide, name: str, heading: str, evidence: str) -> Message:
    """What is said of a stored figure; more than that where the lab asks for none of this name."""
    stray = figure_ids.of_another_name(name, guide)
    where = f"In {figures.FILE_NAME}."
    return (
        Message("note", heading, (stray, evidence, where))
        if stray
        else Message("done", heading, (evidence, where))
    )
