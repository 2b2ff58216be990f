"""The plot of every sample of a variant as a small image, for pages that show many.

It shows what the plot of samples in `labs.plots.picture` shows, except a prediction, and also the
median of each batch size.
"""

from __future__ import annotations

import functools
import importlib.util
import math
import struct
import zlib
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from labs.analysis.estimates import Bools, Floats
from labs.plots import scale
from labs.plots.taken import Taken, batch_names, key_of, medians_of, taken_of
from labs.recording.file import Recording, distinct, memoized

#: The size of the image in pixels, as on the page, and of its texts. Twice as many pixels each way
#: take twice the time, and two thirds more bytes.
WIDTH, HEIGHT = 680, 410
_TEXT, _TITLE, _LINE = 17, 18, 23
_MARGIN, _GAP = 10, 7
#: The first baseline is so far below the top of its line.
_ASCENT = 17
#: Dots and triangles are made of squares of so many pixels, and have their places on a grid of
#: them. Then many rows of pixels are the same as the one above, and the image stays small. With
#: more samples than _MANY, a dot is a single square of twice the size.
_CELL, _MANY, _FEW = 2, 2_000, 300
_TRIANGLE = np.array([[0, 1, 0], [1, 1, 1]], np.bool_)
_LARGE_TRIANGLE = np.array([[0, 0, 1, 0, 0], [0, 1, 1, 1, 0], [1, 1, 1, 1, 1]], np.bool_)
#: However long the names of batch sizes are, the samples have so many pixels.
_LEAST_WIDTH = 200
#: So many dots on a cell make it as strong as the raster can.
_STRONGER = (1, 2, 4)
_STRENGTH = np.digitize(np.arange(_STRONGER[-1] + 1), _STRONGER).astype(np.uint8)
#: The unit is the first in which the median has fewer digits than this.
_MOST_IN_UNIT = 10_000
_UNITS = ("ns", "us", "ms", "s")
#: With more batch sizes than this, lines at their medians would hide the samples.
_MOST_MEDIANS = 16


@memoized
def samples_png(recording: Recording, variant: str) -> bytes:
    """Every sample of `variant` as a dot, in the order taken, on a logarithmic axis, as PNG.

    Neighbouring batch sizes have different colours. Each has a line at its median, and its name at
    the right. Warm-up samples and cold ones are triangles. Raises KeyError for an unknown variant,
    and BadRecording if the recording does not state its clock.
    """
    clock = recording.samples(variant).clock  # raises KeyError for an unknown variant
    taken = taken_of(recording, variant)
    unit = _unit_of(taken.ticks / clock.ticks_in("ns"))
    lengths = taken.ticks / clock.ticks_in(unit)
    ends = scale.log_ends(lengths)
    shown = np.maximum(lengths, ends.floor)
    medians = medians_of(taken.batch[taken.later], shown[taken.later])
    lines = len(medians) <= _MOST_MEDIANS

    paper = Raster(WIDTH, HEIGHT)
    key = key_of(taken) + ([("― median", scale.INK)] if medians and lines else [])
    top = _head(paper, f"{recording.kernel} {variant}", key)
    area = _area(len(shown), ends, top, medians)
    _axes(paper, area, ends, _axis_names(taken, unit))
    for last in np.flatnonzero(np.diff(taken.process)).tolist():
        x = area.along(last + 0.5)
        paper.fill(x, area.top, x + 1, area.bottom, LINES)
    sizes = sorted(medians, key=medians.__getitem__)
    colours = dict(zip(sizes, cycle((scale.BLUE, scale.PURPLE)), strict=False))
    _dots(paper, area, taken, shown, colours)
    for middle in medians.values() if lines else ():
        y = area.down(middle)
        paper.fill(area.left, y, area.right, y + 1, solid(scale.INK))
    for share, text, k in area.names:
        y = area.bottom - share * (area.bottom - area.top)
        colour = scale.INK if " to " in text else colours[k]
        paper.write(area.right + _GAP, y + 0.36 * _TEXT, picture_of_words(text, _TEXT), colour)
    return paper.png()


def _unit_of(lengths: Floats) -> str:
    """The unit in which most of `lengths`, given in ns, have few digits."""
    middle = float(np.median(lengths)) if len(lengths) else 0.0
    return next((unit for n, unit in enumerate(_UNITS) if middle < _MOST_IN_UNIT * 1000**n), "s")


@dataclass(frozen=True)
class _Area:
    """The rectangle of the samples in pixels, and the ends of its axes.

    `count` is the number of samples, `low` and `high` are logarithms, and `names` are those of
    batch sizes as :func:`batch_names` gives them.
    """

    left: float
    right: float
    top: float
    bottom: float
    count: int
    low: float
    high: float
    names: list[tuple[float, str, int]]

    def along(self, order: float) -> float:
        """The x of the sample with this place in the order taken, from 0."""
        room = 0.012 * self.count
        return self.left + (self.right - self.left) * (order + room) / (self.count + 2 * room or 1)

    def down(self, length: float) -> float:
        """The y of a sample of this length."""
        share = (math.log(length) - self.low) / (self.high - self.low)
        return self.bottom - share * (self.bottom - self.top)


def _axis_names(taken: Taken, unit: str) -> tuple[str, str]:
    """What the horizontal and the vertical axis show. Each letter takes 20 bytes of the image."""
    processes = len(distinct(taken.process))
    lines = f"; lines separate {processes:,} processes" if processes > 1 else ""
    return f"in the order taken{lines}", f"length of a sample ({scale.symbol(unit)}, log axis)"


def _head(paper: Raster, title: str, key: list[tuple[str, str]]) -> float:
    """Write the title and the key, each in as many lines as needed. Returns where they end."""
    y = float(_MARGIN)
    for line in _lines(title, _TITLE, bold=True):
        paper.write(_MARGIN, y + _ASCENT, picture_of_words(line, _TITLE, bold=True), scale.INK)
        y += _LINE + 2
    x = float(_MARGIN)
    for text, colour in key:
        part = picture_of_words(text, _TEXT)
        if x > _MARGIN and x + part.width > WIDTH - _MARGIN:
            x, y = _MARGIN, y + _LINE
        paper.write(x, y + _ASCENT, part, colour)
        x += part.width + _TEXT
    return y + _LINE


def _lines(text: str, size: int, *, bold: bool) -> list[str]:
    """`text` in at most two lines that fit on the paper; a text that is too long loses its end."""
    room = WIDTH - 2 * _MARGIN
    most = 2 * room // size
    lines = [""]
    for word in (text if len(text) <= most else f"{text[:most]}…").split():
        longer = f"{lines[-1]} {word}".strip()
        fits = picture_of_words(longer, size, bold=bold).width <= room
        lines[len(lines) - fits :] = [longer if fits else word]
    return [line for line in lines if line][:2]


def _area(count: int, ends: scale.LogEnds, top: float, medians: dict[int, float]) -> _Area:
    """The place of the samples: between the numbers at the left and the names at the right."""
    top, bottom = top + _LINE + 2 * _GAP, HEIGHT - _MARGIN - 2.3 * _LINE
    low, high = math.log(ends.floor * 0.75), math.log(ends.ceiling)
    shares = {k: (math.log(middle) - low) / (high - low) for k, middle in medians.items()}
    names = batch_names(shares, 1.03 * _TEXT / (bottom - top))
    numbers = max(picture_of_words(text, _TEXT).width for text in ends.labels().values())
    widest = max((picture_of_words(text, _TEXT).width for _, text, _ in names), default=0)
    left = 4 * round((_MARGIN + numbers + 1.5 * _GAP) / 4)
    right = max(WIDTH - _MARGIN - widest - _GAP, left + _LEAST_WIDTH)
    return _Area(left, right, top, bottom, count, low, high, names)


def _axes(paper: Raster, area: _Area, ends: scale.LogEnds, named: tuple[str, str]) -> None:
    """Draw both axes with their numbers and names."""
    axis = solid(scale.INK) - 1
    paper.fill(area.left - 1, area.top, area.left, area.bottom + 1, axis)
    paper.fill(area.left - 1, area.bottom, area.right, area.bottom + 1, axis)
    for place, text in ends.labels().items():
        y, number = area.down(place), picture_of_words(text, _TEXT)
        paper.fill(area.left - _GAP, y, area.left, y + 1, axis)
        x = area.left - 1.5 * _GAP - number.width
        paper.write(x, y + 0.36 * _TEXT, number, scale.INK)
    for place in _round_places(area.count):
        x, number = area.along(place), picture_of_words(f"{place:,}", _TEXT)
        paper.fill(x, area.bottom, x + 1, area.bottom + _GAP, axis)
        paper.write(x - number.width / 2, area.bottom + 1.5 * _GAP + 0.8 * _TEXT, number, scale.INK)
    below, beside = named
    paper.write(_MARGIN, area.top - _GAP - 0.3 * _TEXT, picture_of_words(beside, _TEXT), scale.INK)
    part = picture_of_words(below, _TEXT)
    x = min((area.left + area.right - part.width) / 2, WIDTH - _MARGIN - part.width)
    paper.write(max(x, _MARGIN), HEIGHT - _MARGIN - 0.2 * _TEXT, part, scale.INK)


def _round_places(count: int) -> list[int]:
    """At most 6 round numbers from 0 to below or at `count`, evenly spread."""
    step = 1
    while count / step > 5:
        step = next(each for each in _steps() if each > step)
    return list(range(0, count + 1, step))


@functools.cache
def _steps() -> list[int]:
    return [digit * 10**power for power in range(12) for digit in (1, 2, 5)]


class _Mark(NamedTuple):
    """The squares of a mark, shape (rows, columns), their size in pixels, and their colour."""

    squares: Bools
    size: int
    colour: str


def _dots(paper: Raster, area: _Area, taken: Taken, shown: Floats, colours: dict[int, str]) -> None:
    """Draw a dot for each sample, and a triangle for each of the warm-up and each cold one."""
    size = 2 * _CELL if len(shown) > _MANY else _CELL
    wide = 1 if len(shown) > _MANY else 2 if len(shown) > _FEW else 3
    triangle = _TRIANGLE if taken.warm.any() else _LARGE_TRIANGLE
    # Samples of the warm-up may be more than the others, and do not hide them.
    _stamp(paper, area, _Mark(triangle, _CELL, scale.VERMILLION), taken.warm, shown)
    for colour in dict.fromkeys(colours.values()):
        mine = [k for k, each in colours.items() if each == colour]
        mark = _Mark(np.ones((wide, wide), np.bool_), size, colour)
        _stamp(paper, area, mark, taken.later & np.isin(taken.batch, mine), shown)
    _stamp(paper, area, _Mark(triangle, _CELL, scale.VERMILLION), taken.cold, shown)


def _stamp(paper: Raster, area: _Area, mark: _Mark, chosen: Bools, shown: Floats) -> None:
    """Draw the mark at each chosen sample; where marks lie on each other, they are stronger."""
    order = np.flatnonzero(chosen)
    if not len(order):
        return
    first = area.along(0)
    x = (first - area.left + (area.along(1) - first) * order) / mark.size
    share = (np.log(shown[order]) - area.low) / (area.high - area.low)
    y = (1 - share) * (area.bottom - area.top) / mark.size
    rows = int((area.bottom - area.top) / mark.size) + 2
    columns = int((area.right - area.left) / mark.size) + 2
    places = np.bincount(
        np.rint(y).astype(np.int64) * columns + np.rint(x).astype(np.int64),
        minlength=rows * columns,
    )
    here = np.minimum(places, _STRONGER[-1]).astype(np.uint8).reshape(rows, columns)
    high, wide = mark.squares.shape
    counts: Pixels = np.zeros((rows + high, columns + wide), np.uint8)
    for down, along in np.argwhere(mark.squares).tolist():
        counts[down : down + rows, along : along + columns] += here
    strengths = _STRENGTH[np.minimum(counts, _STRONGER[-1])]
    pixels = strengths.repeat(mark.size, axis=0).repeat(mark.size, axis=1)
    left, top = area.left - wide * mark.size // 2, area.top - high * mark.size // 2
    paper.put(round(left), round(top), pixels, mark.colour)


# numpy and Pillow draw a picture of few colours: areas, lines, dots and words. For plots that are
# drawn by the thousand, it takes a tenth of matplotlib's time, and a fifth of its bytes. A pixel is
# the number of a colour. An image takes four bits for each.

Pixels = NDArray[np.uint8]

#: A colour has three strengths, which are three numbers of pixels that follow each other: dots that
#: lie on each other are stronger than one.
STRENGTHS = (0.65, 0.85, 1.0)
_STRONGEST = len(STRENGTHS)
#: The edges of a letter are grey. From these levels of grey on, a pixel has the next strength.
_GREYS = (70, 130, 200)
_HUES = (scale.INK, scale.BLUE, scale.PURPLE, scale.VERMILLION)
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
        return b"\x89PNG\r\n\x1a\n" + b"".join(scale.png_chunk(kind, data) for kind, data in chunks)


@functools.cache
def _palette() -> bytes:
    """Red, green and blue of each number."""
    colours = [(255, 255, 255), _rgb(scale.FAINT)]
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
def picture_of_words(text: str, size: int, *, bold: bool = False) -> Words:
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
