"""Words in a plot stay inside of it and beside each other, whatever they are."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.figure import Figure

from labs.plots import style
from labs.plots.calibration_plot import Guess, calibration_picture
from labs.plots.intervals import (
    LOOKS,
    Dot,
    Group,
    Point,
    Row,
    Series,
    XAxis,
    YAxis,
    rows_figure,
    series_figure,
)
from labs.plots.picture import estimates_figure, line_figure, samples_figure
from labs.plots.style import CHARACTER, Mark
from labs.results.result import result_of
from testing.given_samples import recording_of
from testing.plot_words import collisions, words_of


def expect_room(figure: Figure) -> None:
    assert words_of(figure)
    assert collisions(figure) == []


@pytest.mark.parametrize("scale", [1, 1_000, 10_000_000])
@pytest.mark.parametrize("batches", [(1,), (0, 64, 128, 256, 512), (64, 96, 128, 192), (2_048,)])
@pytest.mark.parametrize("outlier", [1, 100_000])
def test_of_every_interval(scale: int, batches: tuple[int, ...], outlier: int) -> None:
    batch = np.tile(batches, 100)
    ticks = scale * (20 + batch)
    ticks[7] *= outlier
    recording = recording_of(ticks.tolist(), batch.tolist(), warmup=20, processes=5)
    expect_room(samples_figure(recording, "fenced", "ns", Mark(3, "us")))


@pytest.mark.parametrize("samples", [1, 40, 2_900, 3_000, 3_400, 26_000, 230_000])
def test_of_few_and_of_many_samples(samples: int) -> None:
    batch = np.tile((0, 64, 128, 256, 512), samples)
    recording = recording_of((20 + batch).tolist(), batch.tolist(), warmup=20, processes=5)
    expect_room(samples_figure(recording, "fenced"))


@pytest.mark.parametrize("scale", [1, 1_000, 500_000])
@pytest.mark.parametrize(
    "batches", [(0, 64, 128, 256, 2_048), (1_000, 100_000, 1_000_000), (1, 87_500, 999_999)]
)
def test_of_the_line(scale: int, batches: tuple[int, ...]) -> None:
    batch = np.tile(batches, 100)
    jitter = np.random.default_rng(1).integers(-1, 2, len(batch))
    ticks = scale * (20 + 2 * batch + jitter)
    expect_room(line_figure(result_of(recording_of(ticks.tolist(), batch.tolist()), "fenced")))


@pytest.mark.parametrize("name", ["a", "processes-8-256k", "a-variant-with-quite-a-long-name"])
@pytest.mark.parametrize("scale", [1, 100_000])
def test_of_figures_side_by_side(name: str, scale: int) -> None:
    batch = np.tile([64, 128, 256], 100)
    jitter = np.random.default_rng(1).integers(-3, 4, len(batch))
    results = [
        result_of(
            recording_of(
                (scale * (20 + 2 * batch + jitter)).tolist(), batch.tolist(), variant=each
            ),
            each,
        )
        for each in (name, "other")
    ]
    expect_room(estimates_figure(results, {name: Mark(5, "us"), "other": Mark(9, "us")}))


@pytest.mark.parametrize("greatest", [1, 30, 1_000, 550_000, 200_000_000])
@pytest.mark.parametrize("name", ["a", "A  process switch with a working set"])
def test_of_rows_in_groups(greatest: int, name: str) -> None:
    rows = tuple(
        Row(
            name,
            (Dot(value, LOOKS[0], 0.9 * value, 1.1 * value),),
            f"{value:,.6g} (1,000 to 2,000) ns",
        )
        for value in (0.5, 0.9, greatest)
    )
    groups = [Group("on one CPU: a switch", rows, LOOKS[0]), Group("published", rows)]
    expect_room(rows_figure(groups, "ns", "cost as printed", "a title", [("a key", "#000000")]))


@pytest.mark.parametrize("sizes", [(16.0,), (16.0, 64.0), (1.0, 16.0, 64.0, 256.0, 1024.0)])
def test_of_series_against_what_was_varied(sizes: tuple[float, ...]) -> None:
    series = [
        Series(name, tuple(Point(x, 1_000 + x, 900.0, 2_500.0) for x in sizes), look)
        for name, look in zip(("8", "alone", "lazy-binding"), LOOKS, strict=False)
    ]
    x_axis = XAxis(
        "size (log axis)",
        sizes,
        tuple("1M" if size == 1024 else f"{size:g}k" for size in sizes),
        log=True,
    )
    figure = series_figure(
        [("processes", series), ("threads", series)],
        x_axis, YAxis("cost of one switch\n(nanoseconds, log axis)", log=True), "a title", [],
    )  # fmt: skip
    expect_room(figure)
    for axes in figure.axes:
        low, high = axes.get_xlim()
        drawn = [x for line in axes.lines for x in np.atleast_1d(line.get_xdata())]
        assert drawn and all(low <= x <= high for x in drawn), "every point is on the axis"


def test_a_character_takes_about_what_the_layout_takes_it_for() -> None:
    words = "processes-8-256k 1,234.56 (1,233.78 to 1,235) ns"
    figure = rows_figure(
        [Group(words, (Row("a", (Dot(1, LOOKS[0]),), ""),))], "ns", "cost", "a title", []
    )
    (box,) = [box for text, box in words_of(figure) if text == words]
    assert box.width / figure.bbox.width == pytest.approx(CHARACTER * len(words), rel=0.15)


@pytest.mark.parametrize("name", ["a", "first-iteration-page-fault", "x" * 80])
@pytest.mark.parametrize("factor", [1.0, 0.0002, 54_321.0])
def test_of_predictions(monkeypatch: pytest.MonkeyPatch, name: str, factor: float) -> None:
    drawn: list[Figure] = []

    def keep(figure: Figure) -> bytes:
        drawn.append(figure)
        return b""

    monkeypatch.setattr(style, "png", keep)
    calibration_picture([Guess(name, factor, 0.8), Guess("b", 2.0), Guess(name, 3.0, 1.0, True)])
    (figure,) = drawn
    expect_room(figure)
