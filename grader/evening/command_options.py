"""Options that several commands for a whole class have."""

from __future__ import annotations

import argparse
from pathlib import Path

from labs.course import lab_names
from labs.terminal import complete_with, offered_folders, one_of


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
