"""The PNG image of a plot."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from labs.plots.canvas import Canvas
from labs.plots.style import INK, log_axis, new_figure, prepare_figure, title_and_key


def png(figure: Figure) -> bytes:
    """The figure as a PNG image. The same figure gives the same bytes: there is no date in them."""
    canvas = figure.canvas
    assert isinstance(canvas, Canvas), "made by new_figure"
    return canvas.png()


def warm_up() -> None:
    """Load fonts and code, so that the first plot takes no longer than the next."""
    figure, axes = new_figure(2.0)
    log_axis(axes, "y", np.array([1.0, 100.0]), None)
    title_and_key(figure, "●▲╌ k = 0", [("0123456789", INK)])
    png(figure)
    prepare_figure()
