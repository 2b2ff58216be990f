"""A picture of few colours: areas, lines, dots and words, drawn by numpy and Pillow.

It is for plots that are drawn by the thousand: it takes a tenth of matplotlib's time, and a fifth
of its bytes. A pixel is the number of a colour. An image takes four bits for each.
"""

from __future__ import annotations

import functools
import importlib.util
import struct
import zlib
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from labs.plots.scale import BLUE, FAINT, INK, PURPLE, VERMILLION

Pixels = NDArray[np.uint8]

#: A colour has three strengths, which are three numbers of pixels that follow each other: dots that
#: lie on each other are stronger than one.
STRENGTHS = (0.65, 0.85, 1.0)
_STRONGEST = len(STRENGTHS)
#: The edges of a letter are grey. From these levels of grey on, a pixel has the next strength.
_GREYS = (70, 130, 200)
_HUES = (INK, BLUE, PURPLE, VERMILLION)
#: The numbers of the faintest strength of each colour, and of the two that have only one.
WHITE, LINES = 0, 1
_FIRST = {colour: 2 + 3 * number for number, colour in enumerate(_HUES)}
_KEPT_WORDS = 512


class Words(NamedTuple):
    """A drawn text: the strengths of its pixels, from 0 to 3, and its rows above the baseline."""

    strengths: Pixels
    above: int

    @property
    def width(self) -> int:
        return int(self.strengths.shape[1])


class Raster:
    """White paper of so many pixels; x counts rightwards and y downwards.

    The width is even. What lies outside of the paper is not drawn.
    """

    def __init__(self, width: int, height: int) -> None:
        self.pixels: Pixels = np.zeros((height, width), np.uint8)

    def fill(self, x: float, y: float, right: float, bottom: float, number: int) -> None:
        """Fill a rectangle, of at least one pixel, with the colour of this number."""
        x0, y0 = max(round(x), 0), max(round(y), 0)
        self.pixels[y0 : max(round(bottom), y0 + 1), x0 : max(round(right), x0 + 1)] = number

    def put(self, x: int, y: int, strengths: Pixels, colour: str) -> None:
        """Draw with `colour` where `strengths` (0 to 3, shape (rows, columns)) is not 0."""
        height, width = self.pixels.shape
        rows = slice(max(-y, 0), max(height - y, 0))
        columns = slice(max(-x, 0), max(width - x, 0))
        part = strengths[rows, columns]
        there = self.pixels[max(y, 0) :, max(x, 0) :][: part.shape[0], : part.shape[1]]
        np.copyto(there, part + np.uint8(_FIRST[colour] - 1), where=part > 0)

    def write(self, x: float, baseline: float, words: Words, colour: str) -> None:
        """Write a text that begins at `x`."""
        self.put(round(x), round(baseline) - words.above, words.strengths, colour)

    def write_upwards(self, baseline: float, y: float, words: Words, colour: str) -> None:
        """Write a text that begins at `y` and is read from below."""
        strengths = np.rot90(words.strengths)
        self.put(round(baseline) - words.above, round(y) - words.width, strengths, colour)

    def png(self) -> bytes:
        """The picture as a PNG image (ISO/IEC 15948) with a palette, without a date."""
        height, width = self.pixels.shape
        packed = (self.pixels[:, 0::2] << 4) | self.pixels[:, 1::2]
        rows = np.zeros((height, 1 + packed.shape[1]), np.uint8)
        rows[:, 1:] = packed
        # A row like the one above is stored as the difference to it (filter 2).
        alike = (packed[1:] == packed[:-1]).all(axis=1)
        rows[1:, 1:][alike] = 0
        rows[1:, 0][alike] = 2
        header = struct.pack(">IIBBBBB", width, height, 4, 3, 0, 0, 0)
        chunks = (
            (b"IHDR", header),
            (b"PLTE", _palette()),
            (b"IDAT", zlib.compress(rows.data, 5)),
            (b"IEND", b""),
        )
        return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, data) for kind, data in chunks)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


@functools.cache
def _palette() -> bytes:
    """Red, green and blue of each number."""
    colours = [(255, 255, 255), _rgb(FAINT)]
    for colour in map(_rgb, _HUES):
        for strength in STRENGTHS:
            red, green, blue = (round(255 + strength * (each - 255)) for each in colour)
            colours.append((red, green, blue))
    return b"".join(map(bytes, colours))


def _rgb(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def solid(colour: str) -> int:
    """The number of the strongest pixel of this colour."""
    return _FIRST[colour] + _STRONGEST - 1


@functools.lru_cache(_KEPT_WORDS)
def words(text: str, size: int, *, bold: bool = False) -> Words:
    """`text` in one line, `size` pixels high; what cannot be printed becomes a question mark."""
    text = "".join(each if each.isprintable() else "?" for each in text)
    font = _font(size, bold)
    left, top, right, bottom = map(int, font.getbbox(text, anchor="ls"))
    paper = Image.new("L", (max(right - left, 1), max(bottom - top, 1)))
    drawing = ImageDraw.Draw(paper)
    drawing.text((-left, -top), text, fill=255, font=font, anchor="ls")
    return Words(np.digitize(np.asarray(paper), _GREYS).astype(np.uint8), -top)


@functools.cache
def _font(size: int, bold: bool) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    """The font of matplotlib's plots, or Pillow's own where that is not installed."""
    # Its place is found without loading matplotlib, which takes half a second.
    found = importlib.util.find_spec("matplotlib")
    if found is not None and found.origin is not None:
        name = "DejaVuSans-Bold.ttf" if bold else "DejaVuSans.ttf"
        path = Path(found.origin).parent / "mpl-data/fonts/ttf" / name
        if path.is_file():
            return ImageFont.truetype(path, size)
    return ImageFont.load_default(size)
