"""What was handed in of a lab, the newest archive with its receipt, and what the check says of it.

Commands of `labs` know nothing of the grader: its check runs in a process of its own.
"""

from __future__ import annotations

import io
import json
import re
import subprocess
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from labs import limits, paths
from labs.course import answers, figures
from labs.files import read_bounded
from labs.json_text import BadJson, entries, text_of

#: The folder beside the labs that holds what was handed in.
HANDED_IN = "handed-in"

_MADE = re.compile(r"(.+)-(\d{8}T\d{6}Z)(?:-(\d+))?\.zip")
_POINTS = re.compile(r"^Points: +([\d.]+) of ([\d.]+)$", re.MULTILINE)
#: A figure's line under the points; `labs.hand_in.hand_in` writes it.
_OUTCOME = re.compile(r"^([a-z0-9][a-z0-9-]{0,63}): ([a-z ]+)\. ", re.MULTILINE)
_PASSED = "passed"


@dataclass(frozen=True)
class Archive:
    """An archive that was handed in: the bytes of its figures and of its notebook, its receipt."""

    figures: bytes
    notebook: bytes
    receipt: str

    @property
    def points(self) -> tuple[float, float] | None:
        """The points that the check gave, and the most there are; None if the receipt has none."""
        found = _POINTS.search(self.receipt)
        return (float(found[1]), float(found[2])) if found else None

    @property
    def not_passed(self) -> tuple[str, ...]:
        """The ids of the figures that did not pass the check."""
        points = _POINTS.search(self.receipt)
        outcomes = _OUTCOME.findall(self.receipt, points.end()) if points else []
        return tuple(figure for figure, outcome in outcomes if outcome != _PASSED)


@dataclass(frozen=True)
class HandedIn:
    """What was handed in of a lab (None: nothing that can be read), and whether it is still so."""

    archive: Archive | None
    unchanged: bool

    @property
    def points_missing(self) -> bool:
        """Whether the lab was handed in as it is now, with fewer points than there are."""
        points = self.archive.points if self.archive is not None and self.unchanged else None
        return points is not None and points[0] < points[1]

    @property
    def not_passed(self) -> tuple[str, ...]:
        """The figures that did not pass when the lab was handed in as it is now."""
        return self.archive.not_passed if self.archive is not None and self.unchanged else ()

    def __str__(self) -> str:
        if self.archive is None:
            return ""
        points = self.archive.points
        gained = "" if points is None else f" with {points[0]:g} of {points[1]:g} points"
        changed = "" if self.unchanged else ", and changed since: hand it in again"
        return f"handed in{gained}{changed}"


def of_lab(folder: Path) -> HandedIn:
    """What was handed in of the lab in `folder`, and whether that is what it holds now."""
    archive = newest(folder)
    return HandedIn(archive, archive is not None and _holds(archive, folder))


def _holds(archive: Archive, folder: Path) -> bool:
    """Whether the archive has the figures and the report that the folder has now."""
    if _essence(archive.figures) != _essence(_figures_in(folder)):
        return False
    path = answers.notebook_in(folder)
    now = read_bounded(path, limits.MOST_NOTEBOOK_BYTES) if path is not None else b""
    return answers.texts(archive.notebook) == answers.texts(now)


def newest(folder: Path) -> Archive | None:
    """The newest archive of the lab in `folder`; None if there is none that can be read."""
    folder = folder.resolve()
    notebook = answers.notebook_in(folder)
    names = {folder.name} | ({notebook.stem} if notebook is not None else set())
    made = [
        (match[2], int(match[3] or 1), path)
        for path in (folder.parent / HANDED_IN).glob("*.zip")
        if (match := _MADE.fullmatch(path.name)) and match[1] in names
    ]
    return _read(max(made)[2]) if made else None


def _read(path: Path) -> Archive | None:
    """The archive at `path`; None if it cannot be read."""
    lab = _MADE.fullmatch(path.name)
    receipt = path.with_name(f"{path.stem}-receipt.txt")
    try:
        content = read_bounded(path, limits.MOST_UNPACKED_BYTES)
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            name = lab[1] if lab else ""
            stated = _member(archive, f"{name}/{figures.FILE_NAME}", limits.MOST_JSON_BYTES)
            notebook = _member(archive, f"{name}/{name}.ipynb", limits.MOST_NOTEBOOK_BYTES)
        said = read_bounded(receipt, limits.MOST_JSON_BYTES).decode("utf-8", "replace")
    except (OSError, zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError):
        return None
    return Archive(stated, notebook, said)


def _member(archive: zipfile.ZipFile, name: str, most: int) -> bytes:
    """The bytes of a file in the archive, at most `most`; empty if there is none."""
    if name not in archive.namelist():
        return b""
    with archive.open(name) as file:
        return file.read(most)


def _figures_in(folder: Path) -> bytes:
    path = folder / figures.FILE_NAME
    return read_bounded(path, limits.MOST_JSON_BYTES) if path.is_file() else b""


def _essence(stated: bytes) -> object:
    """What is graded of a figures file: without the times, which change where a cell runs again."""
    try:
        known = entries(text_of(stated), limits.MOST_FIGURES)
    except BadJson:
        return stated
    return {
        name: [entry.get(key) for key in ("value", "unit", "recording")]
        if isinstance(entry, dict)
        else entry
        for name, entry in known.items()
    }


# What the check says of a lab folder, for commands of `labs`, which know nothing of the grader.

_LIMIT_S = 120.0


class CannotCheck(Exception):
    """The check did not run; the message says why."""


@dataclass(frozen=True)
class Checked:
    """What the check says of one figure."""

    figure: str
    outcome: str
    points: float
    max_points: float
    reason: str
    findings: tuple[str, ...]

    @property
    def handed_in(self) -> bool:
        """Whether there is a figure at all."""
        return "no-figure" not in self.findings


def check(folder: Path) -> list[Checked]:
    """The verdicts on the figures, as `grader check` prints them. Raises CannotCheck."""
    stated = _asked("grader.commands.cli", "check", "--json", str(folder.absolute()))
    return [
        Checked(
            each["figure"], each["outcome"], each["points"], each["max_points"],
            each["reason"], tuple(each["findings"]),
        )
        for each in stated
    ]  # fmt: skip


def misplaced(folder: Path, lab: str) -> tuple[str, ...]:
    """What the grader would not find where it is asked in the notebook; one line for each.

    Empty if this machine has no released lab to compare with. Raises CannotCheck.
    """
    released = paths.released() / lab / f"{lab}.ipynb"
    notebook = folder.absolute() / released.name
    if not (released.is_file() and notebook.is_file()):
        return ()
    asked = _asked("grader.submissions.submitted_notebook", str(released), str(notebook))
    return tuple(map(str, asked))


def _asked(module: str, *words: str) -> Any:
    """What a process of the grader prints as JSON: `labs` can be used without the grader."""
    command = paths.python_command(module, *words)
    try:
        done = paths.run(command, _LIMIT_S)
        return json.loads(done.stdout)
    except subprocess.TimeoutExpired:
        raise CannotCheck(f"the check took longer than {_LIMIT_S:g} s") from None
    except ValueError:
        last = done.stderr.strip().rpartition("\n")[2].removeprefix("grader check: ")
        raise CannotCheck(last or "the check printed nothing") from None
