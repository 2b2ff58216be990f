"""Store figures and conclusions with their evidence, and compare figures with the class."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from labs.course import comparison, figures
from labs.course.comparison import ALL_MACHINES, BadClassFigures, ClassFigure
from labs.course.figures import BadFigures, Figure
from labs.course.guide import Guide
from labs.course.progress import about_unknown_figure
from labs.files import CannotWrite, read_bounded
from labs.html import Table
from labs.messages import Message, Refused
from labs.notebook import explain
from labs.notebook.measuring import recording_name
from labs.recording.file import BadRecording, read
from labs.recording.origin import kind_in_file, kind_of_all
from labs.results.result import result_of
from labs.results.results_compared import Comparison
from labs.units import NANOSECONDS, UnknownUnit, canonical, rounded, unit_symbol, with_unit

if TYPE_CHECKING:
    from labs.notebook.run import Run


def figure(
    folder: Path, guide: Guide, name: str, value: float, unit: str, run: Run | str | None
) -> Message:
    """Store the figure `name` in `folder`; it replaces an earlier one. Raises Refused.

    The evidence `run` is a run, the name of a recording, or None.
    """
    if hasattr(value, "recording") or not unit:
        how = f'lab.figure("{name}", run.value, run.unit, run)'
        advice = f"Give a value and a unit, as in {how}."
        raise Refused(Message("problem", "figure not stored", (advice,)))
    _refuse_no_choice(guide, name, value, unit)
    recording = None if run is None else _evidence(folder, run)
    evidence = (
        f"Evidence: {recording}."
        if recording is not None
        else "It has no recording, and without a recording the grader cannot check a figure."
    )
    if recording is not None and figures.failed_later(folder, recording):
        evidence += f" {figures.EARLIER_RUN}"
    _store(folder, figures.Figure(name, value, unit, recording))
    return _stored(guide, name, f"figure stored: {name} = {_value_text(value, unit)}", evidence)


def conclusion(folder: Path, guide: Guide, name: str, value: float, unit: str) -> Message:
    """Store a conclusion from other figures, whose recordings are its evidence. Raises Refused."""
    _refuse_no_choice(guide, name, value, unit)
    _store(folder, figures.Figure(name, value, unit, None))
    evidence = "Its evidence is the recordings of the figures that it follows from."
    return _stored(guide, name, f"conclusion stored: {name} = {_value_text(value, unit)}", evidence)


def _refuse_no_choice(guide: Guide, name: str, value: float, unit: str) -> None:
    """Raises Refused if `name` is a conclusion and `value` is not the number of one."""
    texts = guide.choices.get(name)
    if texts is None:
        return
    numbers = range(1, len(texts) + 1)
    if unit == figures.CHOICE and value in numbers:
        return
    what = (
        f"{name} is the number of a conclusion, 1 to {len(texts)}, without a unit of time"
        if unit != figures.CHOICE
        else f"{name} has no conclusion {value!r}"
    )
    listed = tuple(f"{number}. {text}" for number, text in zip(numbers, texts, strict=True))
    raise Refused(Message("problem", f"figure not stored: {what}", listed))


def _value_text(value: float, unit: str) -> str:
    """A value with its unit; the number of a conclusion is shown without its unit `choice`."""
    return rounded(value, 5) if unit == figures.CHOICE else with_unit(rounded(value, 5), unit)


def _evidence(folder: Path, run: Run | str) -> str:
    """The path of a run's recording, or of the recording with this name. Raises Refused."""
    if isinstance(run, str):
        path = f"{figures.RECORDINGS}/{recording_name(run)}.csv"
    elif not hasattr(run, "recording_path"):
        what = f"the evidence of a figure is a run, not a {type(run).__name__}"
        raise Refused(Message("problem", what, _instead_of(run)))
    elif run.recording_path is None:
        raise Refused(
            Message("problem", "the run is not saved", ("Measure again when saving is possible.",))
        )
    else:
        path = run.recording_path
    if not (folder / path).is_file():
        there = sorted(each.stem for each in (folder / figures.RECORDINGS).glob("*.csv"))
        hint = f"There is {', '.join(there)}." if there else "There is none yet: measure first."
        raise Refused(Message("problem", f"there is no {path} in {folder}", (hint,)))
    if not isinstance(run, str) and not _holds(folder / path, run.recording.as_bytes()):
        newest = f'`lab.runs["{Path(path).stem}"]`'
        words = (
            "You have since measured again under this name, or another program changed the file.",
            f"Take value and run from the newest run, {newest}, or repeat the cells that gave this "
            "run.",
        )
        raise Refused(Message("problem", f"{path} does not hold this run any more", words))
    return path


def _instead_of(given: object) -> tuple[str, ...]:
    """What to pass as evidence instead of what is no run; empty if nothing is known of it."""
    if hasattr(given, "repaired"):
        return ("This holds two runs: write `.broken` or `.repaired` after its name.",)
    if isinstance(given, Comparison):
        return (f"Pass a run that you compared: one with {given.first} or {given.second}.",)
    return ()


def _holds(path: Path, content: bytes) -> bool:
    try:
        return read_bounded(path, len(content)) == content
    except OSError:
        return False


def _store(folder: Path, figure: figures.Figure) -> None:
    try:
        figures.put(folder, figure)
    except (ValueError, CannotWrite) as error:
        message = replace(explain.of_error(error), heading="figure not stored")
        raise Refused(message) from None


def _stored(guide: Guide, name: str, heading: str, evidence: str) -> Message:
    """The message about a stored figure, with a note if the lab asks for no figure of this name."""
    unknown = about_unknown_figure(name, guide)
    where = f"It is in {figures.FILE_NAME}."
    return (
        Message("note", heading, (unknown, evidence, where))
        if unknown
        else Message("done", heading, (evidence, where))
    )


_HEADER = ("figure", "yours", "class: median", "middle half", "yours is", "on machines like yours")


def beside_class(folder: Path, file: str) -> Table:
    """A row for each figure of the class: the student's own, the class's, and where it lies.

    `file` is in the lab folder `folder`. Raises Refused if a file cannot be read, with what to do.
    """
    try:
        known = comparison.read_class(folder / file)
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
    for every in (row for row in known if row.machine == ALL_MACHINES):
        mine = own.get(every.figure)
        value = _in_unit(mine, every.unit) if isinstance(mine, Figure) else None
        machine = machines.get(every.figure, common)
        at_most = isinstance(mine, Figure) and _is_upper_limit(folder, mine)
        like = [row for row in known if (row.figure, row.machine) == (every.figure, machine)]
        rows.append(
            (
                every.figure,
                ("at most " if at_most else "") + _own_text(mine, value, every.unit),
                f"{rounded(every.median)} {unit_symbol(every.unit)}",
                every.middle_half,
                "" if value is None else _place(value, every, at_most),
                f"{like[0].middle_half} ({machine}; {like[0].count:,})" if like else "",
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
        return f"{rounded(figure.value)} {unit_symbol(figure.unit)}"
    return f"{rounded(value)} {unit_symbol(unit)}"


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
