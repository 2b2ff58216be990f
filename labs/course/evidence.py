"""Keep what a new run would take from an earlier one: its recording, and the word that it is old.

A run is saved under the name of the run before it, so that a cell can run again. If a figure was
handed in with the earlier recording, that recording gets a name of its own first, and figures.json
names it there. If a new run fails, a small file beside the earlier recording says so.
"""

from __future__ import annotations

import contextlib
import datetime
import itertools
from pathlib import Path

from labs import limits
from labs.course import figures
from labs.course.figures import RECORDINGS, BadFigures, Figure
from labs.files import CannotWrite, read_bounded, write_atomically

#: At most this many earlier recordings of one name are kept, each for a figure that names it.
_MOST_KEPT = 20


#: What is said wherever a recording is shown or judged, and a later run of its name has failed.
EARLIER_RUN = "This recording is of the earlier run: a later one of the same name failed."


class IsEvidence(ValueError):
    """A recording is the evidence of a figure and cannot be moved: the new run needs a new name."""


def recording_path(folder: Path, name: str) -> Path:
    """Where the recording `name` lies in the lab folder."""
    return Path(folder) / RECORDINGS / f"{name}.csv"


def make_room(folder: Path, name: str) -> str | None:
    """Keep the recording `name`, and the C beside it, if a figure was handed in with it.

    Returns the name under which it is kept now, or None if no figure names it. Raises IsEvidence if
    it cannot be kept: then nothing has changed.
    """
    path = recording_path(folder, name)
    if not path.exists():
        return None
    try:
        named = figures.evidence(folder)
        if f"{RECORDINGS}/{path.name}" not in named:
            return None
        kept = _free_name(folder, name, named)
        for suffix, most in ((".c", limits.MOST_SOURCE_BYTES), (".csv", limits.MOST_FILE_BYTES)):
            old, new = path.with_suffix(suffix), recording_path(folder, kept).with_suffix(suffix)
            if old.exists():
                write_atomically(new, read_bounded(old, most))
            else:
                new.unlink(missing_ok=True)
        figures.rename_evidence(folder, f"{RECORDINGS}/{path.name}", f"{RECORDINGS}/{kept}.csv")
    except (BadFigures, OSError) as error:
        reason = error.strerror if isinstance(error, CannotWrite) else error
        raise IsEvidence(
            f"{RECORDINGS}/{path.name} may be the evidence of a figure, and it could not be kept "
            f"({reason}). Save this run under another name"
        ) from error
    return kept


def _free_name(folder: Path, name: str, named: dict[str, tuple[str, ...]]) -> str:
    """A name for the earlier recording that no figure names; an unused older one is replaced."""
    for number in itertools.chain(("",), (f"-{count}" for count in range(2, _MOST_KEPT + 1))):
        kept = f"{name}-earlier{number}"
        if f"{RECORDINGS}/{kept}.csv" not in named and len(kept) <= figures.LONGEST_NAME:
            return kept
    raise OSError(f"{_MOST_KEPT} earlier recordings of this name are evidence, or it is too long")


def newer_run(folder: Path, figure: Figure) -> str | None:
    """The recording of the run that took the name of `figure`'s own one; None if there is none."""
    if figure.recording is None:
        return None
    name, found, number = Path(figure.recording).stem.rpartition("-earlier")
    if not found or not name or (number and not number.removeprefix("-").isdigit()):
        return None
    return f"{RECORDINGS}/{name}.csv" if _is_there(recording_path(folder, name)) else None


def note_failure(folder: Path, name: str, why: str) -> bool:
    """Note beside the recording `name` that a later run failed; False if there is no recording.

    A folder that cannot be written keeps no note: the run itself has said that it failed.
    """
    path = recording_path(folder, name)
    if not path.is_file():
        return False
    when = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")
    with contextlib.suppress(CannotWrite):
        write_atomically(_failure_note(path), f"{when} {why}\n".encode())
    return True


def forget_failure(folder: Path, name: str) -> None:
    """Remove the note of a failed run: a newer one has succeeded."""
    with contextlib.suppress(OSError):
        _failure_note(recording_path(folder, name)).unlink()


def failed_later(folder: Path, recording: str) -> bool:
    """Whether a run failed after `recording`, a path in the lab folder, was saved.

    Only the existence of the note counts, because anybody may have written it.
    """
    return _is_there(_failure_note(Path(folder) / recording))


def _failure_note(path: Path) -> Path:
    return path.with_suffix(".failed.txt")


def _is_there(path: Path) -> bool:
    try:
        return path.is_file()
    except PermissionError:  # a closed folder: the recording in it cannot be judged either
        return False
