"""The plots of a survey: one view for each kind of measurement in a group.

If this machine gave no figure for a view, the page leaves the view out, and the table says why.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from labs import views
from labs.common.messages import Refused
from labs.notebook.run import Run
from labs.plots import picture
from labs.plots.picture import Picture
from labs.recording.declared import is_first_time
from labs.survey.survey import Row

View = Callable[[list[Run]], Picture]


def estimates(runs: list[Run]) -> Picture:
    """The figures of all runs side by side."""
    return picture.of_estimates(
        [result for run in runs for result in run.results if result.estimate is not None]
    )


def _causes(runs: list[Run]) -> Picture:
    """The figures of the single causes of a slow first call; first calls have their own view."""
    return picture.of_estimates(
        [
            result
            for run in runs
            for result in run.results
            if result.estimate is not None and not is_first_time(result.recording, result.variant)
        ]
    )


#: In the order of the page: the topics of some measurements, and their views. Topics that are not
#: listed have the view of their figures side by side.
_PLOTS: tuple[tuple[tuple[str, ...], tuple[View, ...]], ...] = (
    (("timers",), (estimates,)),
    (("first iteration",), (views.cold_to_warm, _causes)),
    (("system calls",), (estimates,)),
    (("procedure calls, -O0", "procedure calls, -O2"), (views.arguments,)),
    (("task creation",), (estimates,)),
    (("task creation", "task creation and memory"), (views.memory,)),
    (("process switch", "thread switch"), (views.placement,)),
    (("switch and footprint",), (views.footprint,)),
)


def of_group(rows: Sequence[Row]) -> Iterator[Picture]:
    """The pictures of the rows of a group."""
    runs = _runs(rows)
    known = {about for abouts, _ in _PLOTS for about in abouts}
    others = tuple(((about,), (estimates,)) for about in runs if about not in known)
    for abouts, chosen in (*_PLOTS, *others):
        mine = [run for about in abouts for run in runs.get(about, ())]
        yield from (shown for view in chosen if mine and (shown := drawn(view, mine)))


def drawn(view: View, runs: list[Run]) -> Picture | None:
    """What a view shows of these runs; None if it can show nothing of them."""
    try:
        return view(runs).narrowed()
    except (Refused, ValueError):
        return None


def _runs(rows: Sequence[Row]) -> dict[str, list[Run]]:
    """The runs of the rows, by topic."""
    found: dict[str, list[Run]] = {}
    last = None
    for row in rows:
        if row.result is None:
            continue
        mine = found.setdefault(row.measurement.about, [])
        if row.measurement is last and mine:
            mine[-1] = Run(row.result.recording, (*mine[-1].results, row.result))
        else:
            mine.append(Run(row.result.recording, (row.result,)))
        last = row.measurement
    return found
