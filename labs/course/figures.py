"""The figures of a lab folder and their evidence, the recordings that a later run must not replace.

`figures.json` holds the figures: figure id -> value, unit, recording, when. `format` is the number
of this form. A student can also write the file by hand, and may leave out the number:

    {"timer-overhead-fenced": {"value": 16.4, "unit": "ns", "recording": "recordings/fenced.csv"}}
"""

from __future__ import annotations

import contextlib
import itertools
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, StringConstraints, ValidationError

from labs import limits
from labs.c_kernels.catalogue import sources_beside
from labs.course.lab_names import labs
from labs.files import CannotWrite, read_bounded, time_now, write_atomically
from labs.json_text import BadJson, Form, OrNone, TextOrNone, Unreadable, problems, read_entries
from labs.messages import refused

FILE_NAME = "figures.json"
#: The form of the file has this number. No figure has this id.
FORMAT, FORMAT_VERSION = "format", 1
RECORDINGS = "recordings"
#: The unit of a figure whose value is the number of a conclusion.
CHOICE = "choice"
#: The unit of a ratio, a share or a count.
TIMES = "times"
#: How a student may write the unit of a ratio.
OF_A_RATIO = (TIMES, "x", "×", "1", "ratio")

#: The most characters of a recording's name, without its suffix.
LONGEST_NAME = 100

_ID = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")
_NAME = re.compile(rf"[A-Za-z0-9][A-Za-z0-9._-]{{0,{LONGEST_NAME - 1}}}")


class BadFigures(ValueError):
    """`figures.json` cannot be read as a whole; the message says where and what is wrong."""


@dataclass(frozen=True)
class Figure:
    """A figure as submitted: a number in `unit`, and the recording that is its evidence.

    `recording` is a path in the lab folder, `recordings/NAME.csv`; `when` is an ISO 8601 time. If
    the figure is a conclusion, `tries` counts the answers so far; a repeated answer counts once.
    """

    id: str
    value: float
    unit: str
    recording: str | None
    when: str | None = None
    tries: int | None = None


@dataclass(frozen=True)
class BadFigure:
    """An entry of `figures.json` that is not a figure, and a sentence on what is wrong with it."""

    id: str
    what: str


def _plain_path(path: object) -> object:
    """The path without harmless differences: blanks around it, `./` before it, Windows' `\\`."""
    return path.strip().replace("\\", "/").removeprefix("./") if isinstance(path, str) else path


class _Entry(Form):
    """The form of one entry."""

    value: float = Field(
        allow_inf_nan=False, description="a finite number such as 16.4, without quotes"
    )
    unit: Annotated[str, StringConstraints(strip_whitespace=True)] = Field(
        min_length=1, max_length=16, description="a short text such as ns"
    )
    recording: Annotated[str | None, BeforeValidator(_plain_path)] = Field(
        None,
        pattern=r"^recordings/[A-Za-z0-9][A-Za-z0-9._-]{0,99}\.csv$",
        description='recordings/NAME.csv (with / and a NAME of letters, digits, ".", "_" and "-")',
    )
    when: TextOrNone = None
    tries: Annotated[int | None, Field(ge=1, le=limits.MOST_TRIES), OrNone] = None


def read(folder: Path) -> dict[str, Figure | BadFigure]:
    """The figures in `folder`, by id; empty if there is no `figures.json` yet.

    One bad entry does not hide the others. Raises BadFigures if the file as a whole is unusable.
    """
    return {name[:64]: _figure(name, entry) for name, entry in _stated(folder).items()}


def put(folder: Path, figure: Figure) -> None:
    """Add `figure` to `folder`'s `figures.json`; it replaces an earlier figure with the same id.

    Raises ValueError if the figure has a wrong form, and files.CannotWrite. Raises BadFigures if
    the existing file, or another entry in it, cannot be read: then it stays unchanged, because it
    is somebody's work.
    """
    known = _figure(figure.id, _entry(figure))
    if isinstance(known, BadFigure):
        raise ValueError(f"figure {figure.id}: {known.what}")
    stated = _stated(folder)
    tries = _tries(figure, _figure(figure.id, stated.get(figure.id)))
    stated[figure.id] = {
        # NumPy's numbers are of other types, which JSON does not know.
        **_entry(figure if isinstance(figure.value, int | float) else known),
        "when": figure.when or time_now(),
        **({} if tries is None else {"tries": tries}),
    }
    _write(folder, stated)


def evidence(folder: Path) -> dict[str, tuple[str, ...]]:
    """By recording (a path in `folder`), the ids of the figures that name it. Raises BadFigures."""
    named: dict[str, tuple[str, ...]] = {}
    for name, figure in read(folder).items():
        if isinstance(figure, Figure) and figure.recording is not None:
            named[figure.recording] = (*named.get(figure.recording, ()), name)
    return named


def rename_evidence(folder: Path, old: str, new: str) -> None:
    """Let every figure that names the recording `old` name `new`; all else stays as it is.

    Raises BadFigures, files.CannotWrite; then the file is unchanged.
    """
    stated = _stated(folder)
    for name in evidence(folder).get(old, ()):
        stated[name] = {**stated[name], "recording": new}
    _write(folder, stated)


def _write(folder: Path, stated: dict[str, Any]) -> None:
    """Write all entries. Raises BadFigures if one was unreadable, because it would be lost."""
    for name, entry in stated.items():
        if isinstance(entry, Unreadable):
            raise BadFigures(f"{FILE_NAME}, entry {name[:64]}: {entry.what}")
    stated = {FORMAT: FORMAT_VERSION, **stated}
    text = json.dumps(stated, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
    write_atomically(Path(folder) / FILE_NAME, text.encode())


def _tries(figure: Figure, earlier: Figure | BadFigure) -> int | None:
    """How many answers there are with `figure`; None if it is not a conclusion."""
    if figure.unit != CHOICE:
        return None
    if not isinstance(earlier, Figure) or earlier.unit != CHOICE:
        return figure.tries or 1
    so_far = earlier.tries or 1
    return min(so_far + (earlier.value != figure.value), limits.MOST_TRIES)


def _stated(folder: Path) -> dict[str, Any]:
    """The entries as they are in the file, by id. Raises BadFigures."""
    path = Path(folder) / FILE_NAME
    if not path.is_symlink() and not path.exists():
        return {}
    try:
        stated = read_entries(path, limits.MOST_FIGURES)
    except BadJson as error:
        raise BadFigures(f"{FILE_NAME} {error}") from error
    except OSError as error:
        raise BadFigures(error.strerror or str(error)) from error
    version = stated.pop(FORMAT, FORMAT_VERSION)
    if version != FORMAT_VERSION or isinstance(version, bool):
        raise BadFigures(
            f'{FILE_NAME} states another "{FORMAT}" than {FORMAT_VERSION}, which this kit reads; '
            "use the kit that wrote the file, or store the figures again with this one"
        )
    return stated


def _entry(figure: Figure) -> dict[str, Any]:
    return {"value": figure.value, "unit": figure.unit, "recording": figure.recording}


def _figure(name: str, stated: object) -> Figure | BadFigure:
    """One entry; this function checks only its form."""
    if _ID.fullmatch(name) is None:
        return BadFigure(name[:64], "it is not a figure id (small letters, digits and hyphens)")
    if isinstance(stated, Unreadable):
        return BadFigure(name, stated.what)
    try:
        entry = _Entry.model_validate(stated)
    except ValidationError as error:
        return BadFigure(name, problems(error, _Entry))
    when = entry.when[:40] if entry.when else None
    return Figure(name, entry.value, entry.unit, entry.recording, when, entry.tries)


# Keep what a new run would take from an earlier one: its recording, and the word that it is old.
#
# A run is saved under the name of the run before it, so that a cell can run again. If a figure was
# handed in with the earlier recording, that recording gets a name of its own first, and
# figures.json names it there. If a new run fails, a small file beside the earlier recording says
# so.

#: At most this many earlier recordings of one name are kept, each for a figure that names it.
_MOST_KEPT = 20


#: What is said wherever a recording is shown or judged, and a later run of its name has failed.
EARLIER_RUN = "This recording is of the earlier run: a later one of the same name failed."


class IsEvidence(ValueError):
    """A recording is the evidence of a figure and cannot be moved: the new run needs a new name."""


class IsLinked(ValueError):
    """The folder for recordings is a link, so its files are those of another folder."""


def is_of_lab(folder: Path) -> bool:
    """Whether this is the folder of a lab, by its name, its figures or its notebook."""
    own = (FILE_NAME, *(f"{lab}.ipynb" for lab in labs()))
    return folder.is_dir() and (
        folder.name in labs() or any((folder / name).is_file() for name in own)
    )


def must_not_be_linked(folder: Path) -> None:
    """Raises IsLinked if `recordings` in the lab folder is a link.

    Whoever made the folder would have files of another one handed in, or replaced by a run.
    """
    if (Path(folder) / RECORDINGS).is_symlink():
        raise IsLinked(
            f"{RECORDINGS} in {folder} is a link to another folder, and links are not followed. "
            "Put a folder of this name in its place"
        )


def recording_name(name: str) -> str:
    """`name` without the suffix .csv, if it is a valid name. Raises Refused."""
    name = name.removeprefix(f"{RECORDINGS}/").removesuffix(".csv")
    if _NAME.fullmatch(name) is None:
        what = f"{name!r} cannot name a recording: use letters, digits, dot, hyphen, underscore"
        raise refused(what)
    return name


def recording_path(folder: Path, name: str) -> Path:
    """Where the recording `name` lies in the lab folder."""
    return Path(folder) / RECORDINGS / f"{name}.csv"


def make_room(folder: Path, name: str) -> str | None:
    """Keep the recording `name`, and the C beside it, if a figure was handed in with it.

    Returns the name under which it is kept now, or None if no figure names it. Raises IsEvidence if
    it cannot be kept, or IsLinked: then nothing has changed.
    """
    must_not_be_linked(folder)
    path = recording_path(folder, name)
    if not path.exists():
        return None
    try:
        named = evidence(folder)
        if f"{RECORDINGS}/{path.name}" not in named:
            return None
        kept = _free_name(folder, name, named)
        for old in (*sources_beside(path), path):
            most = limits.MOST_FILE_BYTES if old == path else limits.MOST_SOURCE_BYTES
            new = recording_path(folder, kept).with_suffix(old.suffix)
            if old.exists():
                write_atomically(new, read_bounded(old, most))
            else:
                new.unlink(missing_ok=True)
        rename_evidence(folder, f"{RECORDINGS}/{path.name}", f"{RECORDINGS}/{kept}.csv")
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
        if f"{RECORDINGS}/{kept}.csv" not in named and len(kept) <= LONGEST_NAME:
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
    """Note beside the recording `name` that a later run failed; False if the folder has none.

    A folder that cannot be written keeps no note: the run itself has said that it failed.
    """
    path = recording_path(folder, name)
    if not path.is_file() or path.parent.is_symlink():
        return False
    when = time_now()
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


def evidence_of(figure: Figure | BadFigure | None) -> tuple[str, ...]:
    """The files that may belong to a figure: its recording, and the C or C++ next to it."""
    name = figure.recording if isinstance(figure, Figure) else None
    return () if name is None else (name, *map(str, sources_beside(Path(name))))
