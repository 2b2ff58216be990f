"""The one archive that a student hands in: what is in it, what is missing, and a receipt.

nbgrader's `zip_collect`, Canvas and Moodle all take a zip file with the lab's folder in it.
"""

from __future__ import annotations

import datetime
import hashlib
import io
import itertools
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from labs import limits
from labs.course import answers, figures, predictions
from labs.course.figures import BadFigures
from labs.course.handed_in import HANDED_IN
from labs.files import read_bounded, write_atomically


class CannotHandIn(ValueError):
    """There is nothing to hand in, or it cannot be read; the message says what to do."""


@dataclass(frozen=True)
class HandedIn:
    """An archive that was made: its path and hash, and that of its receipt."""

    archive: Path
    receipt: Path
    sha256: str
    files: tuple[str, ...]


def contents(folder: Path, lab: str) -> dict[str, bytes]:
    """The files to hand in, by path in the lab folder.

    These are the notebook, the figures, the predictions and answers, which nobody grades, and the
    recordings that the figures name, with their C. Raises CannotHandIn.
    """
    found: dict[str, bytes] = {}
    try:
        for name, most in _wanted(folder, lab):
            path = folder / name
            if path.is_symlink() or path.exists():
                found[name] = read_bounded(path, most)
    except (OSError, BadFigures) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise CannotHandIn(f"{why}; repair it, then hand in again") from error
    if figures.FILE_NAME not in found:
        raise CannotHandIn(f"{folder} has no {figures.FILE_NAME}: no figure is stored yet")
    return found


def _wanted(folder: Path, lab: str) -> Iterator[tuple[str, int]]:
    """Paths that are handed in if they exist, each with the most bytes that are read of it."""
    yield f"{lab}.ipynb", limits.MOST_NOTEBOOK_BYTES
    yield figures.FILE_NAME, limits.MOST_JSON_BYTES
    yield predictions.FILE_NAME, limits.MOST_JSON_BYTES
    yield answers.FILE_NAME, limits.MOST_JSON_BYTES
    for name in sorted(figures.evidence(folder)):
        yield name, limits.MOST_FILE_BYTES
        yield str(Path(name).with_suffix(".c")), limits.MOST_SOURCE_BYTES


def _free(folder: Path, stem: str) -> Path:
    """A path for an archive that does not exist yet."""
    names = itertools.chain([stem], (f"{stem}-{number}" for number in itertools.count(2)))
    return next(path for name in names if not (path := folder / f"{name}.zip").exists())


def write(folder: Path, lab: str, files: dict[str, bytes], checked: str) -> HandedIn:
    """Write the archive of `files` and its receipt beside the lab folder.

    `checked` is what the last check said, for the receipt. An earlier archive stays. Raises
    files.CannotWrite.
    """
    now = datetime.datetime.now(datetime.timezone.utc)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(f"{lab}/{name}", content)
    digest = hashlib.sha256(packed.getvalue()).hexdigest()
    path = _free(folder.parent / HANDED_IN, f"{lab}-{now:%Y%m%dT%H%M%SZ}")
    receipt = path.with_name(f"{path.stem}-receipt.txt")
    lines = [
        f"Lab:      {lab}",
        f"Made:     {now.isoformat(timespec='seconds')}",
        f"Archive:  {path.name}, {packed.tell():,} bytes",
        f"SHA-256:  {digest}",
        "",
        "In it (SHA-256, bytes, file):",
        *(
            f"{hashlib.sha256(content).hexdigest()}  {len(content):>9,}  {name}"
            for name, content in files.items()
        ),
        "",
        "What the check said:",
        checked,
    ]
    write_atomically(path, packed.getvalue())
    write_atomically(receipt, ("\n".join(lines) + "\n").encode())
    return HandedIn(path, receipt, digest, tuple(files))
