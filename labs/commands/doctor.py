"""The command `labs doctor`: can this machine measure well?"""

from __future__ import annotations

import argparse
import dataclasses
import os
import sys
from typing import TextIO

from labs.common import terminal
from labs.common.terminal import say, say_json
from labs.common.wrapped import lines_of
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
        say_json(as_objects(points))
    else:
        say(as_text(points, in_colour(sys.stdout), terminal.columns()), colours=True)
    return 0 if can_measure(points) else 1


def as_objects(points: list[Point]) -> list[dict[str, str | None]]:
    """The points as objects with the keys point, status, seen, remedy."""
    return [
        {"point": point.name, "status": point.status, "seen": point.seen, "remedy": point.remedy}
        for point in points
    ]


def as_text(points: list[Point], colour: bool, columns: int | None) -> str:
    """What was seen at each point, with its remedy below it if it has one, and the verdict.

    No line is longer than `columns`, if they are known.
    """
    begin = max(len(point.name) for point in points) + 11
    width = None if columns is None else max(columns - begin, 20)
    lines: list[str] = []
    for point in points:
        status = f"{point.status:<7}"
        if colour:
            status = f"\x1b[{_COLOURS[point.status]}m{status}\x1b[0m"
        head = f"{status}  {point.name:<{begin - 11}}  "
        seen = _broken(point.seen, width, 0)
        lines += [head + seen[0], *(" " * begin + line for line in seen[1:])]
        if point.remedy:
            lines += [" " * begin + line for line in _broken(f"-> {point.remedy}", width, 3)]
    return "\n".join([*lines, "", verdict(points)])


def _broken(text: str, width: int | None, further: int) -> list[str]:
    return [text] if width is None else lines_of(text, width, further)


def in_colour(stream: TextIO) -> bool:
    """Whether to print in colour: only to a terminal, unless NO_COLOR is set (no-color.org)."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
