"""The small plot of samples: what is drawn where, its size, and that odd data give a plot too."""

from __future__ import annotations

import io
import subprocess
import sys

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from labs.plots import small_samples
from labs.plots.scale import BLUE, INK, PURPLE, VERMILLION
from labs.plots.small_samples import samples_png
from labs.recording.file import read
from testing.given_samples import recording_of
from testing.paths import FIXTURES

MOST_BYTES = 9_000


def drawn(png: bytes) -> NDArray[np.uint8]:
    """The numbers of the pixels, shape (height, width)."""
    picture = Image.open(io.BytesIO(png))
    assert picture.format == "PNG"
    assert picture.mode == "P"
    return np.asarray(picture)


def rows_with(pixels: NDArray[np.uint8], colour: str) -> NDArray[np.int64]:
    """The rows below the key that have dots of this colour, left of the names of batch sizes."""
    last = small_samples.solid(colour)
    inside = pixels[75:, :550]
    return 75 + np.flatnonzero(((inside >= last - 2) & (inside <= last)).any(axis=1))


def test_an_outlier_is_seen_above_the_others_where_it_was_taken() -> None:
    ticks = [100] * 1_000
    plain = drawn(samples_png(recording_of(ticks, [1] * 1_000), "fenced"))
    ticks[250] = 100_000
    pixels = drawn(samples_png(recording_of(ticks, [1] * 1_000), "fenced"))
    rows = rows_with(pixels, BLUE)
    assert len(rows) < 10  # two heights: that of the outlier and that of all others
    top = pixels[rows[0]]
    columns = np.flatnonzero(
        (top >= small_samples.solid(BLUE) - 2) & (top <= small_samples.solid(BLUE))
    )
    axis = np.flatnonzero(pixels[rows[-1]] == small_samples.solid(BLUE))
    assert 0.2 < (columns.mean() - axis.min()) / (axis.max() - axis.min()) < 0.3
    assert np.ptp(rows) > 200
    assert np.ptp(rows_with(plain, BLUE)) < 10


@pytest.mark.parametrize("count", [100, 1_000, 5_000])
def test_the_line_of_the_median_goes_through_its_samples(count: int) -> None:
    for length in (100, 117, 131, 154, 199):
        recording = recording_of([length, length, 1_000] * count, [1, 1, 1] * count)
        pixels = drawn(samples_png(recording, "fenced"))
        dots = rows_with(pixels, BLUE)
        lower = dots[dots > dots.mean()]
        inside = pixels[75:, 250:550] == small_samples.solid(INK)
        line = 75 + np.flatnonzero(inside.mean(axis=1) > 0.9)
        assert abs(lower.mean() - line.mean()) <= 2.5  # half a square


def test_neighbouring_batch_sizes_have_different_colours_in_order_of_their_lengths() -> None:
    recording = recording_of([10, 100, 1_000] * 100, [1, 10, 100] * 100)
    pixels = drawn(samples_png(recording, "fenced"))
    blue, purple = rows_with(pixels, BLUE), rows_with(pixels, PURPLE)
    assert blue.min() < purple.min() < purple.max() < blue.max()


def test_warm_up_is_not_counted_among_the_others() -> None:
    ticks, batch = [500] * 20 + [50] * 80, [1] * 100
    counted = drawn(samples_png(recording_of(ticks, batch), "fenced"))
    assert not len(rows_with(counted, VERMILLION))
    pixels = drawn(samples_png(recording_of(ticks, batch, warmup=20), "fenced"))
    assert rows_with(pixels, VERMILLION).max() < rows_with(pixels, BLUE).min()


def test_processes_are_separated_by_lines() -> None:
    def lines(processes: int) -> int:
        recording = recording_of([100, 120] * 60, [1] * 120, processes=processes)
        row = drawn(samples_png(recording, "fenced"))[100]
        return int(np.count_nonzero(np.diff((row == small_samples.LINES).astype(int)) == 1))

    assert [lines(1), lines(2), lines(6)] == [0, 1, 5]


@pytest.mark.parametrize(
    "ticks",
    [[5] * 50, [0] * 50, [7], [10**12] * 9, [10**17] * 3 + [1], [0, 10**15], list(range(1, 101))],
)
def test_odd_samples_give_a_plot_as_well(ticks: list[int]) -> None:
    pixels = drawn(samples_png(recording_of(ticks, [1] * len(ticks)), "fenced"))
    assert pixels.shape == (small_samples.HEIGHT, small_samples.WIDTH)
    assert len(rows_with(pixels, BLUE))


def test_nothing_but_warm_up_and_very_long_names_give_a_plot_as_well() -> None:
    drawn(samples_png(recording_of([3, 4], [1, 1], warmup=2), "fenced"))
    name = "W" * 2_000
    drawn(samples_png(recording_of([3, 4], [1, 2**62], variant=name), name))
    drawn(samples_png(recording_of([3], [1], variant="a\nb\ud800\0"), "a\nb\ud800\0"))
    drawn(samples_png(recording_of([10**17, 1] * 9, [2**62, 2**61] * 9, variant=name), name))


@pytest.mark.parametrize("spread", [0.05, 0.3])
def test_many_samples_take_no_more_bytes(spread: float) -> None:
    numbers = np.random.default_rng(1)
    for count in (1_500, 10_000, 100_000):
        batch = numbers.choice([1, 2, 4, 8], count)
        ticks = batch * 3_000 * np.exp(numbers.normal(0, spread, count))
        ticks *= np.where(numbers.random(count) < 0.01, numbers.uniform(1, 30, count), 1)
        png = samples_png(
            recording_of(ticks.astype(int).tolist(), batch.tolist(), processes=10), "fenced"
        )
        assert len(png) <= MOST_BYTES


def test_honest_runs_take_few_bytes_and_always_the_same() -> None:
    paths = sorted(FIXTURES.glob("honest/*/recordings/*.csv"))[::5]
    assert len(paths) > 8
    for path in paths:
        recording = read(path)
        png = samples_png(recording, recording.variants[-1])
        assert len(png) <= MOST_BYTES
        assert png == samples_png(read(path), recording.variants[-1])


def test_the_check_of_a_submission_loads_no_matplotlib() -> None:
    """It takes half a second at each start of a worker."""
    program = "import sys, grader.judging.work, grader.judging.presentation; "
    program += "import labs.plots.small_samples, grader.judging.lab_folder; "
    program += "sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], timeout=60).returncode == 0
