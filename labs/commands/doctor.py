"""The command `labs doctor`: can this machine measure well?"""

from __future__ import annotations

import argparse
import dataclasses
import sys
from collections.abc import Sequence

from labs import terminal
from labs.hand_in.exchange import check_exchange, root_of_exchange
from labs.machine.description import read_machine
from labs.machine.fitness import Point, can_measure, examine, try_all, verdict
from labs.terminal import lines_of, say, say_json

__all__ = ["Point", "examine", "in_short", "run_doctor"]

FOR_AN_ADMINISTRATOR = "What an administrator can change: labs doctor --administrator"
OF_AN_ADMINISTRATOR = "What an administrator of this machine can change:"
ALL_POINTS = "All points, and what a student can do: labs doctor"
_COLOURS = {"PASS": "32", "CAUTION": "33", "FAIL": "31;1", "SKIPPED": "2"}


def run_doctor(arguments: argparse.Namespace) -> int:
    """Examine this machine and report. The exit status is 0 if measuring is possible, else 1."""
    machine = read_machine()
    trials = try_all(machine.cpus_allowed)
    if trials.counter is not None:
        machine = dataclasses.replace(machine, counter_step_ns=trials.counter.step_ns)
    points = examine(machine, trials)
    if arguments.administrator:
        points.append(check_exchange(root_of_exchange()))
    if arguments.json:
        say_json(as_objects(points))
    else:
        text = for_an_administrator if arguments.administrator else as_text
        say(text(points, terminal.in_colour(sys.stdout), terminal.columns()), colours=True)
    return 0 if can_measure(points) else 1


def as_objects(points: list[Point]) -> list[dict[str, str | None]]:
    """The points as objects with the keys point, status, seen, remedy, administrator."""
    stated = map(dataclasses.asdict, points)
    return [{"point": each.pop("name"), **each} for each in stated]


def as_text(points: list[Point], colour: bool, columns: int | None) -> str:
    """What was seen at each point, with its remedy below it if it has one, and the verdict.

    No line is longer than `columns`, if they are known.
    """
    lines = _listed([(point, point.remedy) for point in points], colour, columns)
    more = [FOR_AN_ADMINISTRATOR] if any(point.administrator for point in points) else []
    return "\n".join([*lines, "", *more, verdict(points)])


def in_short(points: list[Point]) -> str:
    """The verdict, and below it only the points that are a CAUTION or a FAIL, with their remedies.

    No line is longer than a cell of a notebook is wide.
    """
    odd = [(point, point.remedy) for point in points if point.status in ("CAUTION", "FAIL")]
    listed = _listed(odd, colour=False, columns=90) if odd else []
    return "\n".join([verdict(points), *listed, ALL_POINTS])


def for_an_administrator(points: list[Point], colour: bool, columns: int | None) -> str:
    """Only the points at which an administrator can change something, with what that is."""
    asked = [(point, point.administrator) for point in points if point.administrator]
    if not asked:
        return "\n".join(["There is nothing to change.", "", verdict(points)])
    lines = [OF_AN_ADMINISTRATOR, "", *_listed(asked, colour, columns)]
    return "\n".join([*lines, "", ALL_POINTS, verdict(points)])


def _listed(
    advised: Sequence[tuple[Point, str | None]], colour: bool, columns: int | None
) -> list[str]:
    """The lines about each point, with the advice that is given next to it."""
    statuses = max(len(status) for status in _COLOURS)
    names = max(len(point.name) for point, _ in advised)
    begin = statuses + 2 + names + 2
    width = sys.maxsize if columns is None else max(columns - begin, 20)
    lines: list[str] = []
    for point, advice in advised:
        status = f"{point.status:<{statuses}}"
        if colour:
            status = f"\x1b[{_COLOURS[point.status]}m{status}\x1b[0m"
        head = f"{status}  {point.name:<{names}}  "
        seen = lines_of(point.seen, width, 0)
        lines += [head + seen[0], *(" " * begin + line for line in seen[1:])]
        if advice:
            lines += [" " * begin + line for line in lines_of(f"-> {advice}", width, 3)]
    return lines
