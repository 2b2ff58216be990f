"""Plots as a reader gets them: on a phone, on a dark page, and of every saved honest run."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.text import Text
from numpy.typing import NDArray

from labs import views
from labs.messages import Refused
from labs.notebook.run import Run
from labs.plots import picture, style
from labs.plots.intervals import LOOKS
from labs.plots.style import Mark
from labs.recording.file import read
from testing.paths import FIXTURES, REPOSITORY
from testing.plot_words import collisions

HONEST = FIXTURES / "honest"
COLOURS = {
    name: getattr(style, name)
    for name in ("BLUE", "VERMILLION", "GREEN", "PURPLE", "OCHRE", "INK", "QUIET")
}
#: The backgrounds of a static page and of JupyterLab, dark.
DARK = ("#16181c", "#111111", "#000000")


def run_of(file: Path) -> Run:
    recording = read(file)
    asked = recording.conditions["variants"].split(",")
    marks = {name: Mark(200, "ns") for name in recording.variants}
    named = [name for name in asked if name in recording.variants]
    return Run.of(recording, named, "ns", None, marks, python=True)


def saved(lab: str, *names: str) -> list[Run]:
    (folder,) = HONEST.glob(f"{lab}-*")
    return [run_of(folder / "recordings" / f"{name}.csv") for name in names]


@pytest.fixture(scope="module")
def figures() -> dict[str, Figure]:
    """The plots of one run of each lab, and every view, before they become images."""
    drawn: list[Figure] = []
    found: dict[str, Figure] = {}

    def keep(figure: Figure) -> bytes:
        drawn.append(figure)
        return b""

    every_view: dict[str, Callable[[], object]] = {
        "cold to warm": lambda: views.cold_to_warm(saved("02", "cold", "own")),
        "arguments": lambda: views.arguments(saved("04", "o0", "o2")),
        "memory": lambda: views.memory(saved("05", "kinds", "fork-16mb", "fork-64mb")),
        "placement": lambda: views.placement(saved("06", "placement", "threads", "naive")),
        "footprint": lambda: views.footprint(saved("07", "sizes", "kinds")),
        "published": lambda: views.among_published(saved("06", "process")[0], "process switch"),
        "calls": lambda: views.among_published(saved("03", "calls")[0], "system call"),
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(style, "png", keep)
        for folder in sorted(HONEST.glob("*-*")):
            # The longest name makes the longest labels.
            file = max((folder / "recordings").glob("*.csv"), key=lambda each: len(each.stem))
            run = run_of(file)
            for draw in (run.plot, run.plot_line, run.plot_processes, run.compare):
                try:
                    draw()
                except Refused:  # a first time has no line
                    continue
                found[f"{folder.name} {file.stem} {draw.__name__}"] = drawn.pop()
        for name, view in every_view.items():
            view()
            found[name] = drawn.pop()
    return found


def test_of_saved_runs_no_words_overlap_and_none_leave_the_plot(
    figures: dict[str, Figure],
) -> None:
    assert len(figures) > 40
    wrong = [(name, each) for name, figure in figures.items() for each in collisions(figure)]
    assert not wrong, "\n".join(map(str, wrong))


def _rem(pattern: str, css: str) -> float:
    found = re.search(pattern, css)
    assert found is not None, pattern
    return float(found[1])


def test_text_has_nine_pixels_on_a_phone(figures: dict[str, Figure]) -> None:
    css = (REPOSITORY / "grader" / "pages" / "style.css").read_text()
    # The page is 390 pixels wide; its root font is 1.05 times 16 pixels.
    root = 16 * _rem(r"font: ([\d.]+)rem", css)
    body = _rem(r"body \{ margin: 0; padding: 0 ([\d.]+)rem", css)
    output = _rem(r"\.output \{[^}]*padding-left: ([\d.]+)rem", css)
    room = 390 - root * (2 * body + output) - 2
    for name, figure in figures.items():
        scale = min(room / (figure.get_figwidth() * style.CSS_PIXELS_PER_INCH), 1.0)
        least = min(float(text.get_fontsize()) for text in figure.findobj(Text) if text.get_text())
        assert scale * least / 72 * style.CSS_PIXELS_PER_INCH >= 9, name


def _turned(colour: str) -> NDArray[np.float64]:
    """A colour after the filter of a dark page, by the formulas of CSS (Filter Effects, 2018)."""
    inverted = 1 - np.array(to_rgb(colour))
    # hue-rotate(180deg): the cosine is -1 and the sine 0.
    weights = np.array([0.213, 0.715, 0.072])
    turned = 2 * np.tile(weights, (3, 1)) - np.eye(3)
    shown: NDArray[np.float64] = np.clip(turned @ inverted, 0, 1)
    return shown


def _contrast(one: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    """The contrast of two colours (WCAG 2.1)."""

    def luminance(colour: NDArray[np.float64]) -> float:
        linear = np.where(colour <= 0.03928, colour / 12.92, ((colour + 0.055) / 1.055) ** 2.4)
        return float(linear @ np.array([0.2126, 0.7152, 0.0722]))

    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("name", COLOURS)
def test_every_colour_of_a_text_is_legible_on_light_and_dark_pages(name: str) -> None:
    assert _contrast(np.array(to_rgb(COLOURS[name])), np.ones(3)) >= 4.5
    turned = _turned(COLOURS[name])
    for page in DARK:
        ground = np.array(to_rgb(page))
        screened = 1 - (1 - turned) * (1 - ground)  # mix-blend-mode: screen
        assert _contrast(screened, ground) >= 4.5, page


def test_the_white_of_a_plot_becomes_the_dark_of_its_page() -> None:
    assert np.allclose(_turned("#ffffff"), 0)
    template = (REPOSITORY / "labs" / "plots" / "plot_style.html.jinja").read_text()
    static = (REPOSITORY / "grader" / "pages" / "style.css").read_text()
    for css in (template, static.split("prefers-color-scheme: dark")[1]):
        assert re.search(r"\.ticklab-plot ?\{ ?filter: ?invert\(1\) hue-rotate\(180deg\)", css)


def test_the_ends_of_an_interval_are_wider_than_its_point(figures: dict[str, Figure]) -> None:
    """A narrow interval must not hide in the dot: its ends are seen at both sides of it."""
    assert 2 * style.CAP_PT > style.POINT_PT + 2
    (axes,) = figures["placement"].axes
    dots = [line for line in axes.lines if line.get_marker() in {look.marker for look in LOOKS}]
    ends = [line for line in axes.lines if line.get_marker() == "|"]
    assert dots and len(ends) >= len(dots) - 1
    assert min(each.get_markersize() for each in ends) > 1.5 * max(
        each.get_markersize() for each in dots if each.get_marker() != "X"
    )


@pytest.mark.parametrize(
    ("name", "places"),
    [
        ("cold to warm", np.arange(1, 257)),
        ("arguments", np.arange(13)),
        ("footprint", 4096 * 2.0 ** np.arange(12)),
    ],
)
def test_every_point_is_drawn_at_its_own_value(
    figures: dict[str, Figure], name: str, places: NDArray[np.float64]
) -> None:
    """A point that is moved sideways would read as another size or another sample."""
    lines = [line for axes in figures[name].axes for line in axes.lines]
    points = [np.asarray(line.get_xdata()) for line in lines if line.get_linestyle() == "None"]
    assert any(map(np.size, points))
    for x in points:
        assert np.isin(x, places).all()


def test_series_of_one_plot_differ_by_more_than_their_colour() -> None:
    for one, other in itertools.combinations(LOOKS, 2):
        assert one.marker != other.marker and one.dash != other.dash


def test_the_same_variant_of_two_runs_has_two_names() -> None:
    own, tested = (run.results for run in saved("11", "own", "tested"))
    results = [*own, tested[0]]
    shown = picture.of_estimates(results)
    names = [row[0] for row in shown.table.rows]
    assert names == ["operation, run 1", "other", "operation, run 2"]
    drawn = picture.estimates_figure(results)
    texts = [each.get_text() for each in drawn.findobj(Text) if isinstance(each, Text)]
    assert all(name in texts for name in names)
    assert "The cheapest is other" in shown.meaning
    alone = picture.of_estimates(own)
    assert [row[0] for row in alone.table.rows] == ["operation", "other"]
