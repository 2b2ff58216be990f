"""A canvas that draws text from a store of pictures of words, and writes its image fast.

Most of the time of a plot goes into its text and into the PNG image. A plot that is drawn again
after a further run has nearly the same words, so their pictures are kept.
"""

from __future__ import annotations

import functools
import struct
import zlib
from typing import Any

import numpy as np
from matplotlib import rcParams
from matplotlib.backend_bases import GraphicsContextBase
from matplotlib.backends.backend_agg import FigureCanvasAgg, RendererAgg
from matplotlib.font_manager import FontProperties
from numpy.typing import NDArray

Pixels = NDArray[np.uint8]

#: How many pictures of words, and how many sizes of them, are kept: a few megabytes.
_KEPT = 512
#: A longer text is not kept.
_LONGEST = 120


class Canvas(FigureCanvasAgg):
    """The canvas of all our plots."""

    _size: tuple[float, float, float] | None = None

    def get_renderer(self) -> RendererAgg:
        """The renderer for the figure's size; matplotlib asks for it whenever it draws."""
        width, height = self.get_width_height(physical=True)
        size = (width, height, self.figure.dpi)
        if self._size != size:
            self._size = size
            self.renderer: RendererAgg = _Renderer(*size)  # type: ignore[no-untyped-call]
        return self.renderer

    def png(self) -> bytes:
        """Draw the figure, and return it as a PNG image without a date."""
        self.draw()  # type: ignore[no-untyped-call]
        return png_of(np.asarray(self.buffer_rgba()))  # type: ignore[no-untyped-call]


def png_of(pixels: Pixels) -> bytes:
    """The PNG image of `pixels`, shape (height, width, 4): red, green, blue, opacity.

    Plots are areas of one colour, which compress best and fastest without the filters that PNG has
    for photographs. The format is ISO/IEC 15948.
    """
    height, width, _ = pixels.shape
    channels, colour_type = (3, 2) if pixels[..., 3].min() == 255 else (4, 6)
    rows = np.zeros((height, 1 + channels * width), np.uint8)  # a row begins with its filter: 0
    for channel in range(channels):
        rows[:, 1 + channel :: channels] = pixels[..., channel]
    header = struct.pack(">IIBBBBB", width, height, 8, colour_type, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(rows.data, 2)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, data) for kind, data in chunks)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


class _Renderer(RendererAgg):
    """As matplotlib's, but it keeps the pictures and the sizes of words."""

    def draw_text(self, gc: GraphicsContextBase, *what: Any, **options: Any) -> None:
        """Draw a text at the pixel next to its place.

        `what` is x, y (downwards), the text, its font, its angle, and whether it is a formula.
        """
        x, y, s, prop, angle, *more = what
        if options.get("ismath", more and more[0]) or len(s) > _LONGEST:
            super().draw_text(gc, *what, **options)  # type: ignore[no-untyped-call]
            return
        red, green, blue = gc.get_rgb()[:3]
        colour = (red, green, blue, gc.get_alpha())
        words = _words(s, prop.copy(), angle, colour, self.dpi, rcParams["text.hinting"])
        if words is None:
            return
        pixels, left, below = words
        bottom = round(self.height) - round(y) - below
        self.draw_image(gc, round(x) + left, bottom, pixels)

    def get_text_width_height_descent(
        self, s: str, prop: FontProperties, ismath: Any
    ) -> tuple[float, float, float]:
        """The width, height and descent of `s`, in pixels."""
        if ismath or len(s) > _LONGEST:
            return _size_of(self, s, prop, ismath)
        return _size(s, prop.copy(), self.dpi, rcParams["text.hinting"])


@functools.lru_cache(_KEPT)
def _size(s: str, prop: FontProperties, dpi: float, hinting: object) -> tuple[float, float, float]:
    return _size_of(RendererAgg(1, 1, dpi), s, prop, False)  # type: ignore[no-untyped-call]


def _size_of(
    renderer: RendererAgg, s: str, prop: FontProperties, ismath: Any
) -> tuple[float, float, float]:
    width, height, descent = RendererAgg.get_text_width_height_descent(renderer, s, prop, ismath)  # type: ignore[no-untyped-call]
    return float(width), float(height), float(descent)


@functools.lru_cache(_KEPT)
def _words(
    s: str,
    prop: FontProperties,
    angle: float,
    colour: tuple[float, float, float, float],
    dpi: float,
    hinting: object,
) -> tuple[Pixels, int, int] | None:
    """The picture of `s`, its lowest row first, and how far its left and lower edge are to the
    right of and below the origin of the text; None if nothing is to be seen."""
    width, height, descent = _size(s, prop, dpi, hinting)
    reach = int(np.hypot(width, height + descent)) + 8
    renderer = RendererAgg(2 * reach, 2 * reach, dpi)  # type: ignore[no-untyped-call]
    gc = renderer.new_gc()
    gc.set_foreground(colour[:3])
    gc.set_alpha(colour[3])
    renderer.draw_text(gc, reach, reach, s, prop, angle)  # type: ignore[no-untyped-call]
    pixels = np.asarray(renderer.buffer_rgba())  # type: ignore[no-untyped-call]
    rows = np.flatnonzero(pixels[..., 3].any(axis=1))
    columns = np.flatnonzero(pixels[..., 3].any(axis=0))
    if not len(rows):
        return None
    top, bottom, left, right = rows[0], rows[-1] + 1, columns[0], columns[-1] + 1
    words = np.ascontiguousarray(pixels[top:bottom, left:right][::-1])
    return words, int(left) - reach, int(bottom) - reach
