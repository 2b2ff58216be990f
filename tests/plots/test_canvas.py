"""The canvas of our plots draws what matplotlib's own draws, and its image is a whole PNG."""

from __future__ import annotations

import io

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from numpy.typing import NDArray
from PIL import Image

from labs.plots import style
from labs.plots.style import Canvas, new_figure, png_of

TEXTS = [("k = 64", 0.0), ("µs: ●▲╌", 90.0), ("(nanoseconds, log axis)", 30.0)]


def with_text(text: str, angle: float, colour: str = "#D55E00") -> Figure:
    figure, axes = new_figure(2.0)
    axes.set_axis_off()
    figure.text(0.5, 0.5, text, rotation=angle, color=colour, ha="center", va="center")
    return figure


def ink(pixels: NDArray[np.uint8]) -> NDArray[np.float64]:
    """How dark each pixel is, from 0 to 1."""
    return np.asarray(1 - pixels[..., :3].mean(axis=2) / 255)


def drawn(figure: Figure) -> NDArray[np.uint8]:
    canvas = figure.canvas
    assert isinstance(canvas, Canvas)
    return np.asarray(Image.open(io.BytesIO(canvas.png())).convert("RGBA"))


@pytest.mark.parametrize(("text", "angle"), TEXTS)
def test_text_stands_where_matplotlib_puts_it(text: str, angle: float) -> None:
    ours = ink(drawn(with_text(text, angle)))
    figure = with_text(text, angle)
    canvas = FigureCanvasAgg(figure)
    canvas.draw()  # type: ignore[no-untyped-call]
    theirs = ink(np.asarray(canvas.buffer_rgba()))  # type: ignore[no-untyped-call]
    assert ours.sum() == pytest.approx(theirs.sum(), rel=0.03)
    for one, other in zip(np.nonzero(ours > 0.1), np.nonzero(theirs > 0.1), strict=True):
        assert abs(one.min() - other.min()) <= 1 and abs(one.max() - other.max()) <= 1


def test_the_same_words_in_another_colour_are_another_picture() -> None:
    blue, red = (drawn(with_text("words", 0.0, colour)) for colour in ("#0000FF", "#FF0000"))
    assert (blue[..., 2] == 255).all() and (red[..., 0] == 255).all()
    assert (red[..., 2] < 50).any()


def test_a_second_drawing_is_the_first_to_the_byte() -> None:
    one, other = (with_text("again", 0.0).canvas for _ in range(2))
    assert isinstance(one, Canvas) and isinstance(other, Canvas)
    assert one.png() == other.png()


@pytest.mark.parametrize("opaque", [True, False])
def test_every_pixel_comes_back(opaque: bool) -> None:
    pixels = np.random.default_rng(1).integers(0, 256, (7, 5, 4), dtype=np.uint8)
    if opaque:
        pixels[..., 3] = 255
    image = Image.open(io.BytesIO(png_of(pixels)))
    assert image.mode == ("RGB" if opaque else "RGBA")
    assert (np.asarray(image.convert("RGBA")) == pixels).all()


@pytest.mark.parametrize("height", [2.0, 3.6, 6.0])
def test_a_figure_made_ahead_gives_the_same_image(height: float) -> None:
    def image_of() -> bytes:
        figure, axes = new_figure(height, left=0.2)
        axes.plot(range(2_000), range(2_000))
        axes.set_yscale("log")
        canvas = figure.canvas
        assert isinstance(canvas, Canvas)
        return canvas.png()

    style._prepared.clear()
    usual = image_of()
    style.prepare_figure()
    style.prepare_figure()
    assert len(style._prepared) == 1
    ahead = image_of()
    assert not style._prepared
    assert ahead == usual
