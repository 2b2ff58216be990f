"""What every view does with its runs: take their results in one unit, or refuse with a reason."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import wraps
from typing import TYPE_CHECKING, ParamSpec, Union

from labs.analysis.confidence import Estimate
from labs.html import Table
from labs.messages import Refused, refused
from labs.plots import picture
from labs.plots.intervals import Point, Series
from labs.plots.picture import Picture
from labs.plots.scale import Look
from labs.results import remarks, run_warnings
from labs.results.result import Result, sensible

if TYPE_CHECKING:
    from labs.notebook.run import Run

#: A view takes runs one by one, or several as a list.
Runs = Union["Run", "Iterable[Run]"]

#: The parameters of a view.
Of = ParamSpec("Of")


def runs_of(arguments: Sequence[Runs | None]) -> list[Run]:
    """The runs among the arguments of a view, in their order.

    None stands for a run that this machine could not make, and is skipped. Raises Refused if there
    is no run, or if an argument is something else.
    """
    from labs.notebook.run import Run

    found: list[Run] = []
    for each in arguments:
        if each is None:
            continue
        several = isinstance(each, Iterable) and not isinstance(each, str | bytes)
        for run in list(each) if several else [each]:  # type: ignore[arg-type]
            if not isinstance(run, Run):
                raise refused(
                    f"a view takes runs, and this is a {type(run).__name__}",
                    "Pass what lab.measure(...) returned.",
                )
            found.append(run)
    if not found:
        raise refused("there is no run to show", "Measure first: lab.measure(...).")
    return found


def with_warnings(
    view: Callable[Of, Table], leave_out: Collection[str] = ()
) -> Callable[Of, Table]:
    """The same view, whose table also has the warnings of the runs that are its arguments.

    Those with a code in `leave_out` are not among them, and those that are still held back
    (`labs.notebook.run`).
    """

    @wraps(view)
    def warned(*arguments: Of.args, **options: Of.kwargs) -> Table:
        table = view(*arguments, **options)
        results = [
            replace(
                result,
                told=tuple(each for each in result.warnings if each.code not in leave_out),
            )
            for argument in arguments
            for run in _runs_in(argument)
            for result in run.told()
        ]
        notes = notes_of(arguments)
        return replace(table, warnings=(*notes, *remarks.of_results(results).warnings))

    return warned


def with_notes(view: Callable[Of, Picture]) -> Callable[Of, Picture]:
    """The same view, whose picture says which of its runs are earlier ones."""

    @wraps(view)
    def noted(*arguments: Of.args, **options: Of.kwargs) -> Picture:
        drawn = view(*arguments, **options)
        return replace(drawn, note=" ".join(filter(None, (drawn.note, *notes_of(arguments)))))

    return noted


def notes_of(arguments: Iterable[object]) -> tuple[str, ...]:
    """A sentence for each run of the arguments of a view after which one of its name failed."""
    known = (
        f"{run.variant}: {note[0].lower()}{note[1:]}"
        for argument in arguments
        for run in _runs_in(argument)
        if (note := run.later.note())
    )
    return tuple(dict.fromkeys(known))


def with_warnings_of_counts(view: Callable[Of, Table]) -> Callable[Of, Table]:
    """As `with_warnings`, for a table of counts alone: without what is said of times."""
    return with_warnings(view, leave_out=run_warnings.OF_TIMES)


def _runs_in(argument: object) -> list[Run]:
    """The run that an argument is, or the runs that it holds."""
    from labs.notebook.run import Run

    some = argument if isinstance(argument, (list, tuple)) else [argument]
    return [each for each in some if isinstance(each, Run)]


def in_one_unit(runs: Sequence[Run], wanted: str) -> tuple[list[Run], str]:
    """The runs in the unit `wanted` if all can be shown in it, and the name of their unit.

    Otherwise all runs are in the unit of the first, or else in ns. Raises Refused if they have no
    unit in common.
    """
    for unit in (wanted, runs[0].unit, "ns"):
        try:
            return [run.in_unit(unit) for run in runs], unit
        except Refused:
            continue
    raise refused("these runs have no unit in common")


def large_unit(runs: Sequence[Run]) -> str:
    """Microseconds if the runs are in the default unit, ns; else the unit of the first run."""
    return "us" if runs[0].unit == "ns" else runs[0].unit


def results_of_kernel(runs: Sequence[Run], kernel: str, view: str, example: str) -> list[Result]:
    """All results of the C kernel `kernel`. Raises Refused if the runs are of other C kernels."""
    found = [result for run in runs for result in run.results if result.recording.kernel == kernel]
    if not found:
        others = ", ".join(sorted({run.recording.kernel for run in runs}))
        raise refused(f"{view} shows runs of {kernel}; this is of {others}", example)
    return found


def require_figure(results: Iterable[Result]) -> None:
    """Raise Refused, with the reasons, if no result has a figure above 0."""
    every = list(results)
    if not any(result.estimate is not None and result.estimate.value > 0 for result in every):
        reasons = [
            f"{result.variant}: {result.why_unnamed or 'not above zero'}." for result in every[:6]
        ]
        raise refused("there is no figure to draw", *reasons)


def point_at(x: float, estimate: Estimate) -> Point:
    """The estimate as a point of a plot at `x`."""
    return Point(x, estimate.value, estimate.low, estimate.high)


def series_of(name: str, results: Mapping[float, Result], look: Look) -> Series:
    """The results by their places on the horizontal axis, and those places without a figure."""
    points = [
        point_at(place, each.estimate)
        for place, each in results.items()
        if each.estimate is not None
    ]
    missing = [at for at, each in results.items() if why_no_figure(each)]
    return Series(name, tuple(points), look, tuple(missing))


def without_figure(results: Iterable[Result]) -> list[str]:
    """A sentence that names the variants without a figure that can be drawn, if there are any."""
    return picture.without_figure([each.variant for each in results if why_no_figure(each)])


def value_cells(result: Result | None) -> tuple[str, str, str]:
    """Value, low and high end of the interval, as text for three cells of a table."""
    if result is None:
        return "not measured", "", ""
    if result.estimate is None:
        return "none", "", ""
    return sensible(result.estimate)


def why_no_figure(result: Result | None) -> str:
    """Why a result has no figure that can be drawn; '' if it has one."""
    if result is None or (result.estimate is not None and result.estimate.value > 0):
        return ""
    return result.no_figure or "not above zero"
