"""`lab.compare_class`: the student's own figures next to those of the class."""

from __future__ import annotations

from pathlib import Path

from labs.common.messages import Message, Refused
from labs.common.table import Table
from labs.common.units import NANOSECONDS, UnknownUnit, canonical, rounded
from labs.course import class_figures, figures
from labs.course.class_figures import ALL, BadClassFigures, ClassFigure
from labs.course.figures import BadFigures, Figure
from labs.recording.file import BadRecording, read
from labs.recording.machine_kind import kind_in_file, kind_of_all
from labs.results.result import result_of

_HEADER = ("figure", "yours", "class: median", "middle half", "yours is", "on machines like yours")


def beside_class(folder: Path, file: str) -> Table:
    """A row for each figure of the class: the student's own, the class's, and where it lies.

    `file` is in the lab folder `folder`. Raises Refused if a file cannot be read, with what to do.
    """
    try:
        known = class_figures.read(folder / file)
        own = figures.read(folder)
    except FileNotFoundError:
        raise Refused(_missing(folder, file)) from None
    except BadClassFigures as error:
        problem = Message("problem", "the figures of your class cannot be read", (f"{error}.",))
        raise Refused(problem) from None
    except BadFigures as error:
        raise Refused(Message("problem", "your figures cannot be read", (f"{error}.",))) from None
    machines = {
        name: kind_in_file(folder / each.recording)
        for name, each in own.items()
        if isinstance(each, Figure) and each.recording
    }
    common = kind_of_all(machines.values())  # what follows from other figures has no recording
    rows = []
    for every in (row for row in known if row.machine == ALL):
        mine = own.get(every.figure)
        value = _in_unit(mine, every.unit) if isinstance(mine, Figure) else None
        machine = machines.get(every.figure, common)
        at_most = isinstance(mine, Figure) and _is_upper_limit(folder, mine)
        like = [row for row in known if (row.figure, row.machine) == (every.figure, machine)]
        rows.append(
            (
                every.figure,
                ("at most " if at_most else "") + _own_text(mine, value, every.unit),
                f"{rounded(every.median)} {_symbol(every.unit)}",
                _half(every),
                "" if value is None else _place(value, every, at_most),
                f"{_half(like[0])} ({machine}; {like[0].count:,})" if like else "",
            )
        )
    most = max((row.count for row in known), default=0)
    caption = (
        f"Your figures and those of your class: up to {most:,} accepted figures each. Half of them "
        "lie in the middle half. Machines differ, so a figure outside of it can be right."
    )
    return Table(caption, _HEADER, tuple(rows)).without_empty()


def _missing(folder: Path, file: str) -> Message:
    return Message(
        "problem",
        f"there is no {file} here",
        (
            "It holds the figures of your class, without names. Your instructor makes it with "
            f"`grader report {folder.name}`.",
            f"Put it into the folder {folder.name}, next to the notebook, and run this cell again.",
        ),
    )


def _in_unit(figure: Figure, unit: str) -> float | None:
    """The value in `unit`; None if the two units cannot be compared."""
    try:
        own = canonical(figure.unit)
    except UnknownUnit:
        own = figure.unit
    if own == unit:
        return figure.value
    if own in NANOSECONDS and unit in NANOSECONDS:
        return figure.value * NANOSECONDS[own] / NANOSECONDS[unit]
    return None


def _own_text(figure: object, value: float | None, unit: str) -> str:
    if not isinstance(figure, Figure):
        return "not handed in" if figure is None else "cannot be read"
    if value is None:
        return f"{rounded(figure.value)} {_symbol(figure.unit)}"
    return f"{rounded(value)} {_symbol(unit)}"


def _is_upper_limit(folder: Path, figure: Figure) -> bool:
    """Whether its run shared the core all the time, so that a whole core would give it or less."""
    try:
        recording = read(folder / (figure.recording or ""))
        estimates = [result_of(recording, name, "ns").estimate for name in recording.variants]
    except (OSError, BadRecording):
        return False
    return any(each is not None and each.at_most for each in estimates)


def _place(value: float, row: ClassFigure, at_most: bool) -> str:
    if value < row.quarter:
        return "below it"
    if at_most:
        return "not known: the core was shared"
    return "above it" if value > row.three_quarters else "in it"


def _half(row: ClassFigure) -> str:
    return f"{rounded(row.quarter)} to {rounded(row.three_quarters)}"


def _symbol(unit: str) -> str:
    return {"us": "µs"}.get(unit, unit)
