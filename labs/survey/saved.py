"""Read a survey that was saved: the result of each operation, with what could not be read."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from labs.common.limits import MOST_FILES
from labs.recording.file import BadRecording, Recording, read
from labs.results.result import Result, result_of
from labs.survey import groups

#: The C kernel, its variant, and the optimisation level.
Operation = tuple[str, str, str]


class NoSurvey(ValueError):
    """A folder holds no saved survey; the message says what was expected."""


@dataclass(frozen=True, eq=False)
class Saved:
    """A saved survey: its `name` for a reader, the result of each operation, and its recordings.

    `troubles` has what could not be read, and why.
    """

    name: str
    results: dict[Operation, Result]
    recordings: tuple[Recording, ...]
    troubles: tuple[tuple[str, str], ...] = ()


def read_saved(folder: Path, name: str = "") -> Saved:
    """The survey that `labs survey --save FOLDER` wrote.

    If an operation was measured twice, the newer recording counts. Raises NoSurvey.
    """
    place = folder / "recordings" if (folder / "recordings").is_dir() else folder
    try:
        files = sorted(path for path in place.glob("*.csv"))
    except OSError as error:
        raise NoSurvey(f"{folder} cannot be read: {error.strerror or error}") from error
    if not files:
        if not folder.is_dir():
            raise NoSurvey(f"{folder} is not a folder; `labs survey --save {folder}` makes it")
        raise NoSurvey(
            f"there is no recording of a survey in {folder}; "
            f"`labs survey --save {folder}` writes some"
        )
    if len(files) > MOST_FILES:
        raise NoSurvey(f"{folder} holds {len(files)} recordings; at most {MOST_FILES} are read")
    recordings, troubles = [], []
    for path in files:
        try:
            recordings.append(read(path))
        except BadRecording as error:
            troubles.append((path.name, error.what))
    recordings.sort(key=lambda each: each.conditions.get("created", ""))
    results: dict[Operation, Result] = {}
    for recording in recordings:
        level = groups.optimisation(recording.conditions.get("flags", ""))
        for variant in _asked(recording):
            try:
                results[recording.kernel, variant, level] = result_of(recording, variant)
            except (BadRecording, ValueError) as error:
                troubles.append((f"{recording.kernel} {variant}", str(error)))
    return Saved(name or folder.resolve().name, results, tuple(recordings), tuple(troubles))


def _asked(recording: Recording) -> list[str]:
    """The variants that were asked for: baselines are in the recording too."""
    asked = [name.strip() for name in recording.conditions.get("variants", "").split(",")]
    return [name for name in asked if name in recording.variants] or list(recording.variants)
