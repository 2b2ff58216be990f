"""Options that several commands for a whole class have, and the bar that shows how far one is."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from labs.course import lab_names
from labs.terminal import complete_with, offered_folders, one_of

if TYPE_CHECKING:
    from tqdm import tqdm


def add_lab(command: argparse.ArgumentParser) -> None:
    """`LAB`: which lab of the course."""
    lab = command.add_argument("lab", metavar="LAB", help="the lab, as in 01-timer-overhead")
    complete_with(lab, one_of(lab_names.labs))


def add_course(command: argparse.ArgumentParser) -> None:
    """`--course`: the course folder, as a path."""
    course = command.add_argument(
        "--course",
        type=Path,
        default=Path(),
        metavar="DIR",
        help="the course folder (default: this folder)",
    )
    complete_with(course, offered_folders)


def add_workers(command: argparse.ArgumentParser) -> None:
    """`--workers`: how many processes; 0 means one for each CPU."""
    command.add_argument(
        "--workers", type=_count, default=0, metavar="N", help="processes (default: one per CPU)"
    )


def _count(text: str) -> int:
    count = int(text)
    if count < 1:
        raise argparse.ArgumentTypeError("at least 1 process is needed")
    return count


class Bar:
    """A progress bar on standard error, from the moment at which the total is known."""

    def __init__(self, unit: str) -> None:
        self._unit = unit
        self._shown: tqdm[Any] | None = None

    def begin(self, total: int) -> Callable[[int], object]:
        """Show the bar, and return what is called with how many were done just now."""
        from tqdm import tqdm

        self._shown = tqdm(total=total, unit=self._unit, mininterval=0.5, file=sys.stderr)
        return self._shown.update

    def __enter__(self) -> Bar:
        return self

    def __exit__(self, *_: object) -> None:
        """Leave the bar as it is; what is printed next comes below it."""
        if self._shown is not None:
            self._shown.close()
