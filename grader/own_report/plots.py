"""The plots of a lab in the report: its runs as the labs show them, the line, published figures."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from grader.own_report.figures import FigureRow
from labs import views
from labs.common.messages import Refused
from labs.course.comparison import Compared, with_factor
from labs.notebook.run import Run
from labs.plots import picture
from labs.plots.calibration_plot import Guess, calibration_picture
from labs.plots.picture import Picture
from labs.recording.file import Recording
from labs.results.result import Result

View = Callable[[list[Run]], Picture]


def _cold_to_warm(runs: list[Run]) -> Picture:
    return views.cold_to_warm(*runs)


def _arguments(runs: list[Run]) -> Picture:
    return views.arguments(*runs)


def _placement(runs: list[Run]) -> Picture:
    return views.placement(*runs)


def _footprint(runs: list[Run]) -> Picture:
    return views.footprint(*runs)


#: By C kernel: the view of its runs; those of other C kernels are drawn side by side.
_VIEWS: dict[str, View] = {
    "first_iteration": _cold_to_warm,
    "procedure_call": _arguments,
    "process_switch": _placement,
    "thread_switch": _placement,
    "switch_footprint": _footprint,
}
#: By C kernel: the beginning of the published quantity to compare with.
PUBLISHED = {
    "timer_overhead": "timer overhead",
    "system_call": "system call",
    "procedure_call": "procedure call",
    "task_creation": "task creation",
    "process_switch": "process switch",
    "thread_switch": "thread switch",
}


def of_lab(rows: Sequence[FigureRow]) -> Iterator[Picture]:
    """The runs of the figures, and the line of the first figure that has one."""
    by_view: dict[View, list[Run]] = {}
    for run in _runs(rows):
        if run.recording.kernel in _VIEWS:
            by_view.setdefault(_VIEWS[run.recording.kernel], []).append(run)
    for view, some in by_view.items():
        yield from _drawn(partial(view, some))
    for results in _side_by_side(rows):
        yield from _drawn(partial(picture.of_estimates, results))
    for row in rows:
        if row.result is not None and row.result.line is not None and row.result.line.straight:
            yield from _drawn(partial(picture.of_line, row.result))
            break


def _side_by_side(rows: Sequence[FigureRow]) -> list[list[Result]]:
    """By C kernel, the results that figures are about, each once.

    Without those that repeat a mistake: their variants have the names of the right ones.
    """
    found: dict[str, dict[tuple[int, str], Result]] = {}
    for row in rows:
        if row.case is None or row.case.others or row.spec.demonstrates:
            continue
        recording = row.case.recording
        for name in row.spec.variants:
            result = row.case.results[name]
            if recording.kernel not in _VIEWS and result.estimate is not None:
                found.setdefault(recording.kernel, {})[id(recording), name] = result
    return [[*some.values()] for some in found.values()]


def published(rows: Sequence[FigureRow], shown: set[str]) -> Iterator[Picture]:
    """The first time of each C kernel next to the published figures of the same quantity.

    C kernels in `shown` are left out, and those that are drawn are added to it.
    """
    for row in rows:
        kernel = row.spec.kernel
        if row.result is None or kernel in shown or kernel not in PUBLISHED:
            continue
        if not row.spec.is_time or row.spec.demonstrates or row.result.estimate is None:
            continue
        shown.add(kernel)
        run = Run(row.result.recording, (row.result,))
        yield from _drawn(partial(views.among_published, run, PUBLISHED[kernel]))


def guesses(every: tuple[Compared, ...]) -> Iterator[Picture]:
    """What was found, divided by what was predicted, of all predictions that have a figure."""
    made = [
        Guess(f"{row.lab}: {row.id}", factor, row.predicted.sure, row.late)
        for row, factor in with_factor(every)
    ]
    yield from _drawn(partial(calibration_picture, made))


def _runs(rows: Sequence[FigureRow]) -> list[Run]:
    """The runs of the figures, each with all the variants that were asked for."""
    found: dict[int, Recording] = {}
    for row in rows:
        if row.case is not None and not row.case.others:
            found.setdefault(id(row.case.recording), row.case.recording)
    return [Run.of(recording) for recording in found.values()]


def _drawn(draw: Callable[[], Picture]) -> Iterator[Picture]:
    """What `draw` gives; nothing if these runs have nothing that could be drawn."""
    try:
        yield draw().narrowed()
    except (Refused, ValueError):
        return
