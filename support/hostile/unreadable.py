"""Files that exist but may not be read."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from support.hostile.case import Hostile, changed

LAB = "01-timer-overhead"


def _close(name: str, folder: Path) -> None:
    (folder / name).chmod(0)


#: By name of what is closed: the points of the other figures, and how many figures stay open.
CLOSED = {
    "recordings": (0.0, 5),
    "figures.json": (0.0, 5),
    "recordings/own.csv": (14.0, 1),
    "recordings/own.c": (14.0, 1),
    ".": (0.0, 5),
}
CASES = [
    Hostile(
        f"{name} is closed",
        "unreadable",
        LAB,
        changed(LAB, partial(_close, name)),
        points,
        says="may not be read; allow it with `chmod -R u+rwX",
        not_graded=left_open,
    )
    for name, (points, left_open) in CLOSED.items()
]
