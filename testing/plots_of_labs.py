"""Every kind of plot that a lab has, drawn from its saved honest runs."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from labs import views
from labs.notebook.run import Run
from labs.plots.calibration_plot import Guess, calibration_picture
from labs.plots.picture import Picture
from labs.plots.style import Mark
from labs.recording.file import read
from testing.paths import FIXTURES

Plots = dict[str, Callable[[], Picture]]

_GUESSES = (
    Guess("01 fenced-pair", 1.3, 0.8),
    Guess("01 process-clock", 0.02),
    Guess("03 trap", 7.0, 0.5),
    Guess("06 switch", 1.9, 1.0, late=True),
)
#: By the beginning of a lab's name: the run, and the view of it next to published figures.
_PUBLISHED = {
    "01": ("fenced", "timer overhead", "A"),
    "03": ("calls", "system call", None),
    "04": ("call", "procedure call 0 args", None),
    "06": ("process", "process switch", None),
}


def saved_run(lab: str, name: str) -> Run:
    """An honest run of a lab, with a prediction for each of its variants."""
    recording = read(FIXTURES / "honest" / lab / "recordings" / f"{name}.csv")
    marks = {variant: Mark(50, "ns") for variant in recording.variants[:1]}
    marks |= {variant: Mark(2, "us", "your late prediction") for variant in recording.variants[1:]}
    return Run.of(recording, predictions=marks)


def plots_of(lab: str) -> Plots:
    """The plots of a lab: those of each of its runs, and its views.

    Other labs than the first draw their runs as lab 01 does, so only one run of each is here.
    """
    number, found = lab[:2], Plots()
    paths = sorted((FIXTURES / "honest" / lab / "recordings").glob("*.csv"))
    for path in paths if number == "01" else paths[-1:]:
        plots = _of_run(saved_run(lab, path.stem))
        found |= {f"{path.stem} {kind}": draw for kind, draw in plots.items()}
    found |= _views_of(lab)
    if number in _PUBLISHED:
        name, quantity, report = _PUBLISHED[number]
        found["published"] = partial(views.among_published, saved_run(lab, name), quantity, report)
    if number == "01":
        found["calibration"] = partial(calibration_picture, _GUESSES)
    return found


def _of_run(run: Run) -> Plots:
    found: Plots = {"samples": run.plot, "estimates": run.compare}
    result = run.result()
    if result.line is not None:
        found["line"] = run.plot_line
    if result.estimate is not None and result.estimate.by_process is not None:
        found["processes"] = run.plot_processes
    return found


def _views_of(lab: str) -> Plots:
    of = partial(saved_run, lab)
    match lab[:2]:
        case "02":
            return {"cold to warm": lambda: views.cold_to_warm(of("cold"))}
        case "04":
            return {"arguments": lambda: views.arguments(of("o0"), of("o2"))}
        case "05":
            sizes = ("kinds", "fork-16mb", "fork-64mb")
            return {"memory": lambda: views.memory(*map(of, sizes))}
        case "06":
            names = ("placement", "process", "threads", "naive", "floor")
            return {"placement": lambda: views.placement(*map(of, names))}
        case "07":
            return {"footprint": lambda: views.footprint(of("sizes"), of("kinds"))}
    return {}
