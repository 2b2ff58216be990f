"""The plots of a survey: one view for each group of related measurements.

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


def _estimates(runs: list[Run]) -> Picture:
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


#: In the order of the page: a heading, the topics of its measurements, and its views.
_PLOTS: tuple[tuple[str, tuple[str, ...], tuple[View, ...]], ...] = (
    ("timers", ("timers",), (_estimates,)),
    ("first iteration", ("first iteration",), (views.cold_to_warm, _causes)),
    ("system calls", ("system calls",), (_estimates,)),
    ("procedure calls", ("procedure calls, -O0", "procedure calls, -O2"), (views.arguments,)),
    ("task creation", ("task creation",), (_estimates,)),
    (
        "task creation and memory",
        ("task creation", "task creation and memory"),
        (views.memory,),
    ),
    ("process switch and thread switch", ("process switch", "thread switch"), (views.placement,)),
    ("switch and footprint", ("switch and footprint",), (views.footprint,)),
)


def of_survey(rows: Sequence[Row]) -> Iterator[tuple[str, list[Picture]]]:
    """Each heading of the page with its pictures; topics that have no view come last."""
    runs = _runs(rows)
    known = {about for _, abouts, _ in _PLOTS for about in abouts}
    others = tuple((about, (about,), (_estimates,)) for about in runs if about not in known)
    for heading, abouts, chosen in (*_PLOTS, *others):
        mine = [run for about in abouts for run in runs.get(about, ())]
        pictures = [drawn for view in chosen if mine and (drawn := _drawn(view, mine))]
        if pictures:
            yield heading, pictures


def _drawn(view: View, runs: list[Run]) -> Picture | None:
    try:
        return view(runs)
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
