"""Honest evidence among so many other files that limits on copying are reached."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from labs import limits
from support.hostile.case import Hostile, changed

LAB, FULL = "01-timer-overhead", 18.0


def _files(where: str, count: int, folder: Path) -> None:
    """Empty files whose names sort before those of the evidence."""
    (folder / where).mkdir(parents=True, exist_ok=True)
    for number in range(count):
        (folder / where / f"0{number:06}.csv").touch()


def _large(where: str, folder: Path) -> None:
    """More bytes than a folder may have; sparse, so that they take no room on the disk."""
    for number in range(limits.MOST_FOLDER_BYTES // limits.MOST_FILE_BYTES + 2):
        with (folder / where / f"0{number}.csv").open("wb") as file:
            file.truncate(limits.MOST_FILE_BYTES)


WAYS = {
    "files next to the evidence": partial(_files, "recordings", limits.MOST_FILES + 100),
    "files next to figures.json": partial(_files, ".", limits.MOST_ENTRIES + 100),
    "files in a folder before it": partial(_files, "0", limits.MOST_FILES + 100),
    "large files next to the evidence": partial(_large, "recordings"),
}
CASES = [Hostile(name, "crowded", LAB, changed(LAB, way), FULL) for name, way in WAYS.items()]
