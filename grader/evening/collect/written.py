"""Writes the files of one submission into a new folder."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from grader.evening.collect.handed_in import Version
from grader.evening.collect.paths import shown
from labs.common import limits
from labs.course import figures
from labs.course.figures import BadFigures


def written(version: Version, folder: Path) -> tuple[dict[str, str], list[str]]:
    """Writes the files of a version below the new `folder`; returns hashes, and what is left out.

    Files that are too large are left out, as in any submission. Raises NotTaken if a file is
    damaged, and OSError.
    """
    hashes: dict[str, str] = {}
    left_out = list(version.left_out)
    room = limits.MOST_UNPACKED_BYTES
    folder.mkdir(parents=True)
    for path, item in sorted(version.files.items()):
        notebook = path[-1].endswith(".ipynb")
        most = limits.MOST_NOTEBOOK_BYTES if notebook else limits.MOST_FILE_BYTES
        if item.size > most:
            left_out.append(
                f"{shown(path)}: it has {item.size:,} bytes; at most {most:,} are taken"
            )
            continue
        target = folder.joinpath(*path)
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("xb") as file:
            hashes["/".join(path)] = item.copy_to(file, min(most, room))
            room -= file.tell()
    for old, new in _evidence_beside(folder):
        old.rename(new)
        hashes[str(new.relative_to(folder))] = hashes.pop(old.name)
    return hashes, left_out


def _evidence_beside(folder: Path) -> Iterator[tuple[Path, Path]]:
    """Recordings that were handed in one by one, with the place where `figures.json` names them."""
    recordings = folder / figures.RECORDINGS
    if recordings.exists():
        return
    try:
        named = list(figures.evidence(folder))
    except (BadFigures, OSError):
        return
    moves = {}
    for name in named:
        for path in (Path(name), Path(name).with_suffix(".c")):
            beside = folder / path.name
            again = sorted(folder.glob(f"{_escaped(path.stem)}-[0-9]*{path.suffix}"))
            if not beside.is_file() and len(again) == 1 and again[0].stem[-1:].isdigit():
                beside = again[0]
            if beside.is_file() and beside not in moves:
                moves[beside] = folder / path
    if moves:
        recordings.mkdir()
    yield from moves.items()


def _escaped(name: str) -> str:
    """A name in which a glob finds only itself."""
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in name)
