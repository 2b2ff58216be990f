"""The picture of the method: the line of each process of a saved run, and the mean of the lines."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from grader.pages.build import HONEST
from grader.site import markdown
from grader.site.stage import Stage
from labs.analysis.line import Line, fit_line
from labs.common.units import rounded
from labs.plots import image
from labs.plots.style import (
    BLUE,
    CSS_PIXELS_PER_INCH,
    QUIET,
    make_room_at_left,
    new_figure,
    title_and_key,
)
from labs.recording.file import read

#: A page includes the file of this name that ends with `.txt`.
NAME = "made/method"
#: The processes of this run differ so much that their lines can be seen apart.
_RUN, _VARIANT = HONEST / "05-task-creation" / "recordings" / "own.csv", "own"


def write(stage: Stage) -> None:
    """Write the plot, with a file that shows and describes it."""
    line = fit_line(read(_RUN), _VARIANT)
    per_us = line.clock.ticks_in("us")
    assert line.cost.by_process is not None
    each = line.cost.by_process.value / per_us
    low, high, mean = (rounded(x, 3) for x in (each.min(), each.max(), line.cost.value / per_us))
    said = (
        f"Line plot of the length of a sample in µs against k, from 0 to {line.batch[-1]:.0f}. The "
        f"{len(each)} thin lines, one for each process, have slopes from {low} to {high} µs. The "
        f"thick line has the slope {mean} µs, and the mean samples lie on it."
    )
    caption = (
        "A saved run of lab 05, in which an operation creates a task and waits for it. The slopes "
        f"of the {len(each)} processes lie between {low} and {high} µs. The value is their mean, "
        f"{mean} µs."
    )
    figure = _figure(line, per_us)
    stage.put(f"{NAME}.png", image.png(figure))
    width = round(figure.get_figwidth() * CSS_PIXELS_PER_INCH)
    stage.put(f"{NAME}.txt", markdown.plot(f"/{NAME}.png", said, caption, width).encode())


def _figure(line: Line, per_us: float) -> Figure:
    """The lines of all processes and their mean; `per_us` is how many ticks a microsecond has."""
    figure, axes = new_figure(3.6)
    ends = np.array([0.0, line.batch[-1]])
    overhead, cost = line.overhead.by_process, line.cost.by_process
    assert overhead is not None and cost is not None
    for begin, slope in zip(overhead.value, cost.value, strict=True):
        axes.plot(ends, (begin + slope * ends) / per_us, color=QUIET, linewidth=0.8)
    mean = line.overhead.value + line.cost.value * ends
    axes.plot(ends, mean / per_us, color=BLUE, linewidth=2.4)
    points = line.location / per_us
    axes.plot(line.batch, points, color=BLUE, linestyle="none", marker="o", markersize=7)
    axes.set_xticks([0, *line.batch])
    axes.set_xlabel("k: operations in a sample")
    axes.set_ylabel("T(k) (µs)")
    make_room_at_left(figure, axes)
    key = [("━ one process", QUIET), ("━ mean of all processes", BLUE), ("● mean sample", BLUE)]
    title_and_key(figure, "T(k) = overhead + k × cost", key)
    return figure
