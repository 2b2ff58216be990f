"""The command `labs doctor`: can this machine measure well?"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import shutil
import sys
import textwrap
from typing import TextIO

from labs.common.terminal import say
from labs.machine.description import read_machine
from labs.machine.fitness import can_measure, examine, verdict
from labs.machine.probes import try_all
from labs.machine.report_point import Point

__all__ = ["Point", "examine", "run"]

_COLOURS = {"PASS": "32", "CAUTION": "33", "FAIL": "31;1", "SKIPPED": "2"}


def run(arguments: argparse.Namespace) -> int:
    """Examine this machine and report. The exit status is 0 if measuring is possible, else 1."""
    machine = read_machine()
    trials = try_all(machine.cpus_allowed)
    if trials.counter is not None:
        machine = dataclasses.replace(machine, counter_step_ns=trials.counter.step_ns)
    points = examine(machine, trials)
    if arguments.json:
        say(as_json(points))
    else:
        columns = shutil.get_terminal_size((100, 24)).columns
        say(as_text(points, in_colour(sys.stdout), columns), colours=True)
    return 0 if can_measure(points) else 1


def as_json(points: list[Point]) -> str:
    """The points as a list of objects with the keys point, status, seen, remedy."""
    return json.dumps(
        [
            {
                "point": point.name,
                "status": point.status,
                "seen": point.seen,
                "remedy": point.remedy,
            }
            for point in points
        ],
        indent=2,
    )


def as_text(points: list[Point], colour: bool, columns: int) -> str:
    """One line for each point, its remedy below it if it has one, and the verdict at the end."""
    width = max(len(point.name) for point in points)
    lines: list[str] = []
    for point in points:
        status = f"{point.status:<7}"
        if colour:
            status = f"\x1b[{_COLOURS[point.status]}m{status}\x1b[0m"
        lines.append(f"{status}  {point.name:<{width}}  {point.seen}")
        if point.remedy:
            margin = " " * (width + 11)
            lines += textwrap.wrap(
                point.remedy,
                max(40, columns),
                initial_indent=f"{margin}-> ",
                subsequent_indent=f"{margin}   ",
                break_long_words=False,
                break_on_hyphens=False,
            )
    return "\n".join([*lines, "", verdict(points)])


def in_colour(stream: TextIO) -> bool:
    """Whether to print in colour: only to a terminal, unless NO_COLOR is set (no-color.org)."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
