"""What a view needs of the runs it is given: their results in one unit, or why there are none."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Union

from labs.analysis.estimate import Estimate
from labs.common.messages import Message, Refused
from labs.plots.series import Point
from labs.results.result import Result, sensible

if TYPE_CHECKING:
    from labs.notebook.run import Run

#: A view takes runs one by one, or several as a list.
Runs = Union["Run", "Iterable[Run]"]


def refused(heading: str, *sentences: str) -> Refused:
    """The message that a view cannot be drawn."""
    return Refused(Message("problem", heading, sentences))


def runs_of(given: Sequence[Runs | None]) -> list[Run]:
    """The runs among the arguments of a view. Raises Refused where there is none, or another thing.

    None is passed over: a run that this machine could not make.
    """
    from labs.notebook.run import Run

    found: list[Run] = []
    for each in given:
        if each is None:
            continue
        some = [each] if isinstance(each, Run) else list(each) if _is_several(each) else [each]
        for run in some:
            if not isinstance(run, Run):
                raise refused(
                    f"a view takes runs, and this is a {type(run).__name__}",
                    "Give it what lab.measure(...) or lab.run(...) returned.",
                )
            found.append(run)
    if not found:
        raise refused("there is no run to show", "Measure first: lab.measure(...).")
    return found


def _is_several(given: object) -> bool:
    return isinstance(given, Iterable) and not isinstance(given, (str, bytes))


def one_unit(runs: Sequence[Run], wanted: str) -> tuple[list[Run], str]:
    """The runs in the unit `wanted` where each of them knows it, else all in that of the first."""
    for unit in (wanted, runs[0].unit, "ns"):
        try:
            return [run.in_unit(unit) for run in runs], unit
        except Refused:
            continue
    raise refused("these runs have no unit in common")


def large_unit(runs: Sequence[Run]) -> str:
    """Microseconds where the runs are in ns, as they are by themselves; else their own unit."""
    return "us" if runs[0].unit == "ns" else runs[0].unit


def results_of(runs: Sequence[Run], kernel: str, view: str, example: str) -> list[Result]:
    """The results of the runs of `kernel`. Raises Refused where they are of another one."""
    found = [result for run in runs for result in run.results if result.recording.kernel == kernel]
    if not found:
        others = ", ".join(sorted({run.recording.kernel for run in runs}))
        raise refused(f"{view} shows runs of {kernel}; this is of {others}", example)
    return found


def has_figure(results: Iterable[Result]) -> None:
    """Raise Refused, with the reasons, where none of the results has a figure to be drawn."""
    every = list(results)
    if not any(result.estimate is not None and result.estimate.value > 0 for result in every):
        reasons = [
            f"{result.variant}: {result.no_figure or 'not above zero'}." for result in every[:6]
        ]
        raise refused("there is no figure to draw", *reasons)


def point(x: float, estimate: Estimate) -> Point:
    """The estimate as it is drawn at `x`."""
    return Point(x, estimate.value, estimate.low, estimate.high)


def numbers(result: Result | None) -> tuple[str, str, str]:
    """Value and interval as they stand in a table."""
    if result is None:
        return "not measured", "", ""
    if result.estimate is None:
        return "none", "", ""
    return sensible(result.estimate)


def reason(result: Result | None) -> str:
    """Why a result has no figure that can be drawn; '' where it has one."""
    if result is None or (result.estimate is not None and result.estimate.value > 0):
        return ""
    return result.no_figure or "not above zero"
