"""Plots: what they show, that it can be read, and that it has room."""

from __future__ import annotations

import itertools
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.text import Text
from numpy.typing import NDArray

from labs import views
from labs.analysis.confidence import Estimate
from labs.html import Table
from labs.messages import Refused
from labs.notebook.run import Run
from labs.plots import by_process, picture, scale, style, taken
from labs.plots.figure_svg import line_drawing, text_width
from labs.plots.guesses import Guess, calibration_picture
from labs.plots.intervals import Point, Series, XAxis, YAxis, series_figure
from labs.plots.picture import samples_figure
from labs.plots.rows import Dot, Group, Row, rows_drawing
from labs.plots.scale import LOOKS
from labs.plots.style import CHARACTER, Mark, png
from labs.recording.file import Recording, read
from labs.results.result import Result, result_of
from support.declarations import as_declared
from support.given_samples import recording_of
from support.paths import FIXTURES, REPOSITORY
from support.plot_words import collisions, words_of

# Plots: what is drawn, what is said of it in words, and that both hold for odd data.


PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture
def straight() -> Recording:
    """An overhead of 20 ns and a cost of 2 ns, in five processes."""
    batch = np.tile([0, 64, 128, 256], 100)
    jitter = np.random.default_rng(1).integers(-1, 2, len(batch))
    return recording_of((20 + 2 * batch + jitter).tolist(), batch.tolist(), warmup=40, processes=5)


def test_every_sample_is_a_point_and_warm_up_has_a_marker_of_its_own(straight: Recording) -> None:
    (axes,) = samples_figure(straight, "fenced").axes
    points = {line.get_marker(): np.size(line.get_xdata()) for line in axes.lines}
    assert points["o"] == 360
    assert points["^"] == 40
    assert axes.get_yscale() == "log"
    assert "nanoseconds" in axes.get_ylabel()


def test_the_prediction_is_a_labelled_line_in_the_unit_of_the_plot(straight: Recording) -> None:
    figure = samples_figure(straight, "fenced", "ns", Mark(0.03, "us"))
    level = [line for line in figure.axes[0].lines if np.array_equal(line.get_ydata(), [30, 30])]
    assert len(level) == 1
    assert any("your prediction: 0.03 µs" in text.get_text() for text in figure.texts)


def test_a_zero_is_drawn_at_the_foot_of_a_logarithmic_axis() -> None:
    coarse = recording_of([0, 0, 0, 1000, 2000] * 20, [1, 2] * 50)
    (axes,) = samples_figure(coarse, "fenced").axes
    drawn = np.concatenate([np.asarray(line.get_ydata(), dtype=float) for line in axes.lines])
    assert drawn.min() > 0
    assert "0" in [label.get_text() for label in axes.get_yticklabels()]


def test_odd_data_is_drawn_and_described() -> None:
    for ticks in ([5] * 50, [0] * 50, [7], [10**17] * 3 + [1], list(range(1, 101))):
        odd = recording_of(ticks, [1] * len(ticks))
        shown = picture.of_samples(odd, "fenced", "ns", Mark(20, "ns"))
        assert shown.image.startswith(PNG), ticks
        assert f"{len(ticks)} sample" in shown.kind


def test_only_warm_up_is_said_to_be_only_that() -> None:
    shown = picture.of_samples(recording_of([5, 6, 7], [1, 1, 1], warmup=3), "fenced")
    assert "no sample after the warm-up" in shown.meaning


def test_quartiles_that_read_the_same_are_said_as_the_median() -> None:
    alike = picture.of_samples(recording_of([5] * 40, [1] * 40), "fenced").meaning
    assert "The median of the samples is 5" in alike and "Half of" not in alike
    spread = picture.of_samples(recording_of(list(range(1, 41)), [1] * 40), "fenced").meaning
    assert "Half of the samples lie from " in spread and "median of" not in spread


def test_an_unknown_variant_is_named(straight: Recording) -> None:
    with pytest.raises(KeyError, match="fenced"):
        samples_figure(straight, "absent")


def test_the_line_is_drawn_with_its_residuals(straight: Recording) -> None:
    result = result_of(straight)
    words = [text for text, _ in words_of(line_drawing(result))]
    assert result.line is not None and "off the line (ns)" in words
    overhead = f"overhead {result.line.overhead.value:.3g} ns"
    assert overhead in ("overhead 19.9 ns", "overhead 20 ns", "overhead 20.1 ns")
    assert f"◆ {overhead}" in words and {"0", "64", "128", "256"} <= set(words)


@pytest.mark.parametrize(("each", "rises"), [(1, "by 1 tick for"), (3, "by 3 ticks for")])
def test_a_line_is_described_in_singular_and_plural(each: int, rises: str) -> None:
    batch = np.tile([64, 128, 256], 200)
    result = result_of(recording_of((40 + each * batch).tolist(), batch.tolist()), unit="ticks")
    assert f"begins at 40 ticks and rises {rises} each operation" in picture.of_line(result).meaning


def test_a_run_that_is_not_on_a_line_says_so() -> None:
    batch = np.tile([64, 128, 256], 200)
    bent = recording_of((batch**2).tolist(), batch.tolist())
    shown = picture.of_line(result_of(bent))
    assert "do not lie on a line" in shown.meaning


def test_a_size_without_a_point_is_said_to_be_left_out() -> None:
    batch = np.append(np.tile([64, 128, 256], 200), [512, 512])
    run = recording_of((40 + batch).tolist(), batch.tolist())
    shown = picture.of_line(result_of(run)).meaning
    assert shown.endswith("No point at k = 512: too few of those samples were left.")
    whole = recording_of((40 + batch[:-2]).tolist(), batch[:-2].tolist())
    assert "No point at" not in picture.of_line(result_of(whole)).meaning


def test_a_result_without_a_line_draws_none() -> None:
    with pytest.raises(ValueError, match="two batch sizes"):
        line_drawing(result_of(recording_of([5, 6] * 25, [1] * 50)))


def both(straight: Recording) -> list[Result]:
    flat = recording_of([5] * 50, [1] * 50, variant="flat")
    return [result_of(straight), result_of(flat)]


def test_a_variant_without_a_figure_keeps_its_row(straight: Recording) -> None:
    printed = [text for text, _ in words_of(picture.of_estimates(both(straight)).image.decode())]
    assert printed[printed.index("flat") + 1] == "no figure" and "fenced" in printed
    assert "Without a figure: flat." in picture.describe_estimates(both(straight))[1]


def known(value: float, low: float, high: float) -> Estimate:
    """An estimate in ns of which no values by process are known."""
    return Estimate(value, low, high, "ns", "given", 100, 5)


def test_the_cheapest_is_named_only_outside_the_noise(straight: Recording) -> None:
    first = result_of(straight)
    wide, near, far, other = (
        replace(first, variant=name, estimate=known(v, low, high))
        for name, v, low, high in (
            ("wide", 20, 8, 32), ("near", 25, 24, 26), ("far", 30, 28, 32),
            ("other", 27, 26.5, 27.5),
        )
    )  # fmt: skip
    doubtful = "not distinguishable: the difference between wide (20 ns) and near"
    for results, told in (
        ([far, near], ("The cheapest is near with 25 ns. The most expensive is far with 30 ns.",)),
        ([far, near, other], ("The cheapest is near with 25 ns.", "expensive is far with 30 ns.")),
        ([far, wide], ("wide (20 ns) and far (30 ns) are not distinguishable: the difference",)),
        (
            [wide, near, far],
            (
                f"Which one is the cheapest is {doubtful} or far may be chance.",
                "far (30 ns) and wide may be chance.",
            ),
        ),
    ):
        said = picture.describe_estimates(results)[1]
        for words in told:
            assert words in said
        assert ("cheapest is near" in said or "expensive is far" in said) == (wide not in results)


def test_overlapping_intervals_do_not_hide_a_difference(straight: Recording) -> None:
    first = result_of(straight)
    for value, words in (
        (35, "The cheapest is one with 30 ns. The most expensive is two with 35 ns."),
        (33, "one (30 ns) and two (33 ns) are not distinguishable: the difference is -3.0 ns"),
    ):
        one, two = (
            replace(first, variant=name, estimate=known(v, v - 3, v + 3))
            for name, v in (("one", 30), ("two", value))
        )
        assert picture.describe_estimates([one, two])[1].startswith(words)


def test_what_is_not_above_zero_is_not_the_cheapest(straight: Recording) -> None:
    first = result_of(straight)
    one, two, below = (
        replace(first, variant=name, estimate=known(v, low, high))
        for name, v, low, high in (("one", 20, 19, 21), ("two", 30, 29, 31), ("below", -5, -6, -4))
    )
    said = picture.describe_estimates([one, below, two])[1]
    assert "The cheapest is one with 20 ns." in said
    assert said.endswith("Not above zero, so compared with no other: below.")


def test_a_prediction_is_drawn_in_the_row_of_its_variant_alone(straight: Recording) -> None:
    other = recording_of([5] * 50, [1] * 50, variant="other")
    results = [result_of(straight), result_of(other)]
    for known in (
        {},
        {"fenced": Mark(30, "ns")},
        {"fenced": Mark(30, "ns"), "other": Mark(7, "ns")},
    ):
        drawn = picture.of_estimates(results, known).image.decode()
        assert drawn.count("stroke-dasharray") == len(known)
        said = picture.describe_estimates(results, known)[1]
        assert [
            name for name in ("fenced", "other") if f"Your prediction for {name}: " in said
        ] == [*known]


def test_the_description_tells_type_axes_range_and_meaning(straight: Recording) -> None:
    words = picture.of_samples(straight, "fenced", "ns", Mark(30, "ns")).description
    for part in (
        "Scatter plot",
        "360 samples and 40 of warm-up",
        "nanoseconds on a logarithmic axis",
        "Samples from 19 to 533 ns",
        "at k = 0 and from 53",
        "Your prediction, 30 ns, lies above the median at k = 0, 20 ns",
    ):
        assert part in words


def test_the_prediction_of_a_cost_is_drawn_for_as_many_operations_as_a_sample_has() -> None:
    for cost, of_all, side in (
        (600, "7,200", "below"),
        (700, "8,400", "at"),
        (900, "10,800", "above"),
    ):
        run = recording_of([8400, 12600] * 40, [12, 18] * 40, variant="page")
        run = as_declared(run, "page_fault")
        lies = {"at": "as the median is"}.get(side, f"{side} the median, 8,400 ns")
        assert taken.describe_samples(run, "page", "ns", Mark(cost, "ns"))[1].endswith(
            f" Your prediction, {cost} ns for each operation, is {of_all} ns at k = 12, {lies}."
        )
        figure = samples_figure(run, "page", "ns", Mark(cost, "ns"))
        (dashed,) = (line for line in figure.axes[0].lines if line.is_dashed())
        assert np.all(np.asarray(dashed.get_ydata()) == 12 * cost)
        assert f"╌ your prediction × 12: {of_all} ns" in [text.get_text() for text in figure.texts]


def test_the_prediction_of_an_overhead_is_drawn_once_for_each_sample() -> None:
    run = recording_of([8400, 12600] * 40, [12, 18] * 40)
    run = replace(run, conditions={**run.conditions, "variant.fenced.estimand": "overhead"})
    said = taken.describe_samples(run, "fenced", "ns", Mark(600, "ns"))[1]
    assert said.endswith("Your prediction, 600 ns, lies below the median at k = 12, 8,400 ns.")


def test_html_holds_alternative_text_a_caption_and_the_data(straight: Recording) -> None:
    page = picture.of_samples(straight, "fenced").as_html()
    assert re.search(r'<img alt="Scatter plot of [^"]{40,}"', page)
    assert "<figcaption" in page
    assert page.count("<tr>") == 6  # header, four batch sizes, warm-up
    assert '<th scope="row"' in page


def test_markup_in_a_name_stays_text(straight: Recording) -> None:
    named = Recording(
        "<script>", straight.conditions, straight.processes, straight.variants,
        straight.variant_index, straight.process, straight.sample, straight.batch, straight.ticks,
    )  # fmt: skip
    assert "<script>" not in picture.of_samples(named, "fenced").as_html()


@pytest.mark.slow
def test_plots_need_no_notebook() -> None:
    loaded = "{'IPython', 'matplotlib.pyplot'} & set(sys.modules)"
    code = f"import sys, labs.plots.picture; sys.exit(bool({loaded}))"
    subprocess.run([sys.executable, "-c", code], cwd=REPOSITORY, check=True)


def test_of_first_times_the_cold_samples_are_marked_and_told_apart() -> None:
    saved = FIXTURES / "honest/02-first-iteration/recordings/cold.csv"
    cold = read(saved)
    processes = len(cold.processes)
    figure = samples_figure(cold, "call", "ns", Mark(300, "ns"))
    printed = [text.get_text() for text in figure.texts]
    assert f"▲ {processes} of them cold: each the first of its process" in printed
    kind, meaning = taken.describe_samples(cold, "call", "ns", Mark(300, "ns"))
    assert f"{processes} samples are cold, each the first of its process" in meaning
    assert "Your prediction, 300 ns, lies below the median of the cold samples" in meaning
    assert kind.startswith("Scatter plot of first_iteration call")
    alone = taken._of_cold(np.array([4700.0]), "ns")
    assert alone == "1 sample is cold, the first of its process: 4,700 ns."


def test_a_narrow_table_has_each_interval_beside_its_value() -> None:
    header = ("variant", "cost", "from", "to (95 %)", "samples", "cost at -O2", "from", "to (95 %)")
    rows = (("a", "2", "1", "3", "40", "5", "4", "6"), ("b", "none", "", "", "9", "5", "4", "6"))
    narrow = picture.narrowed(Table("Costs", header, rows, ("a warning",)))
    assert narrow.header == ("variant", "cost (95 %)", "samples", "cost at -O2 (95 %)")
    assert narrow.rows == (
        ("a", "2 (1 to 3)", "40", "5 (4 to 6)"),
        ("b", "none", "9", "5 (4 to 6)"),
    )
    assert narrow.warnings == ("a warning",)
    plain = Table("Costs", ("a", "from", "b"), (("1", "2", "3"),))
    assert picture.narrowed(plain) == plain


def test_a_narrow_table_has_the_quartiles_beside_the_median() -> None:
    wide = picture.samples_table(
        read(FIXTURES / "honest/02-first-iteration/recordings/cold.csv"), "call"
    )
    narrow = picture.narrowed(wide)
    assert narrow.header == ("batch", "samples", "lowest", "median (quartiles)", "highest")
    (row,) = wide.rows
    assert narrow.rows == ((*row[:3], f"{row[4]} ({row[3]} to {row[5]})", row[6]),)


def test_a_second_drawing_is_the_first_to_the_byte(straight: Recording) -> None:
    one, other = (png(samples_figure(straight, "fenced")) for _ in range(2))
    assert one == other and one.startswith(PNG)


# Plots as a reader gets them: on a phone, on a dark page, and of every saved honest run.


HONEST = FIXTURES / "honest"
COLOURS = {
    name: getattr(scale, name)
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
def figures() -> dict[str, Figure | str]:
    """The plots of one run of each lab, and every view, before they become images."""
    drawn: list[Figure] = []
    found: dict[str, Figure | str] = {}

    def keep(figure: Figure) -> bytes:
        drawn.append(figure)
        return b""

    every_view: dict[str, Callable[[], picture.Picture]] = {
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
                    svg = draw().image.decode()
                except Refused:  # a first time has no line
                    continue
                found[f"{folder.name} {file.stem} {draw.__name__}"] = svg or drawn.pop()
        for name, view in every_view.items():
            svg = view().image.decode()
            found[name] = svg or drawn.pop()
    return found


@pytest.mark.slow
def test_of_saved_runs_no_words_overlap_and_none_leave_the_plot(
    figures: dict[str, Figure | str],
) -> None:
    assert len(figures) > 40
    wrong = [(name, each) for name, figure in figures.items() for each in collisions(figure)]
    assert not wrong, "\n".join(map(str, wrong))


def _rem(pattern: str, css: str) -> float:
    found = re.search(pattern, css)
    assert found is not None, pattern
    return float(found[1])


@pytest.mark.slow
def test_text_has_nine_pixels_on_a_phone(figures: dict[str, Figure | str]) -> None:
    css = (REPOSITORY / "grader" / "lab_pages" / "style.css").read_text()
    # The page is 390 pixels wide; its root font is 1.05 times 16 pixels.
    root = 16 * _rem(r"font: ([\d.]+)rem", css)
    body = _rem(r"body \{ margin: 0; padding: 0 ([\d.]+)rem", css)
    output = _rem(r"\.output \{[^}]*padding-left: ([\d.]+)rem", css)
    room = 390 - root * (2 * body + output) - 2
    for name, figure in figures.items():
        if isinstance(figure, str):
            width = float(re.findall(r"width='([\d.]+)'", figure)[0])
            least = min(map(float, re.findall(r"font-size='([\d.]+)'", figure)))
        else:
            width = figure.get_figwidth() * style.CSS_PIXELS_PER_INCH
            texts = [text for text in figure.findobj(Text) if text.get_text()]
            least = min(float(text.get_fontsize()) for text in texts) / 72
            least *= style.CSS_PIXELS_PER_INCH
        assert min(room / width, 1.0) * least >= 9, name


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
    static = (REPOSITORY / "grader" / "lab_pages" / "style.css").read_text()
    for css in (template, static.split("prefers-color-scheme: dark")[1]):
        assert re.search(r"\.ticklab-plot ?\{ ?filter: ?invert\(1\) hue-rotate\(180deg\)", css)


def test_the_ends_of_an_interval_are_wider_than_its_point() -> None:
    """A narrow interval must not hide in the dot: its ends are seen at both sides of it."""
    assert 2 * style.CAP_PT > style.POINT_PT + 2
    row = Row("a", (Dot(2.0, LOOKS[0], 1.99, 2.01),), "2 ns")
    drawn = rows_drawing([Group("", (row,))], "ns", "cost", "a title", [])
    (radius,) = re.findall(r"a(\d+) \1 0 1 0", drawn)[:1]
    ends = re.findall(rf"M([\d.]+) ([\d.]+)L\1 ([\d.]+)' stroke='{LOOKS[0].colour}'", drawn)
    assert len(ends) == 2
    assert all(float(to) - float(top) > 2 * float(radius) for _, top, to in ends)


def test_every_point_is_drawn_at_its_own_value(figures: dict[str, Figure | str]) -> None:
    """A point that is moved sideways would read as another size or another sample."""
    for name, places in (
        ("cold to warm", np.arange(1, 257)),
        ("arguments", np.arange(13)),
        ("footprint", 4096 * 2.0 ** np.arange(12)),
    ):
        figure = figures[name]
        assert isinstance(figure, Figure), name
        lines = [line for axes in figure.axes for line in axes.lines]
        points = [np.asarray(line.get_xdata()) for line in lines if line.get_linestyle() == "None"]
        assert any(map(np.size, points)), name
        for x in points:
            assert np.isin(x, places).all()


def test_the_same_variant_of_two_runs_has_two_names() -> None:
    own, tested = (run.results for run in saved("11", "own", "tested"))
    results = [*own, tested[0]]
    shown = picture.of_estimates(results)
    names = [row[0] for row in shown.table.rows]
    assert names == ["operation, run 1", "other", "operation, run 2"]
    texts = [text for text, _ in words_of(shown.image.decode())]
    assert all(name in texts for name in names)
    assert "The cheapest is other" in shown.meaning
    alone = picture.of_estimates(own)
    assert [row[0] for row in alone.table.rows] == ["operation", "other"]


# Words in a plot stay inside of it and beside each other, whatever they are.


def expect_room(figure: Figure | str) -> None:
    assert words_of(figure)
    assert collisions(figure) == []


@pytest.mark.slow
@pytest.mark.parametrize("scale", [1, 1_000, 10_000_000])
@pytest.mark.parametrize("batches", [(1,), (0, 64, 128, 256, 512), (64, 96, 128, 192), (2_048,)])
@pytest.mark.parametrize("outlier", [1, 100_000])
def test_of_every_interval(scale: int, batches: tuple[int, ...], outlier: int) -> None:
    batch = np.tile(batches, 100)
    ticks = scale * (20 + batch)
    ticks[7] *= outlier
    recording = recording_of(ticks.tolist(), batch.tolist(), warmup=20, processes=5)
    expect_room(samples_figure(recording, "fenced", "ns", Mark(3, "us")))


@pytest.mark.slow
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
    expect_room(line_drawing(result_of(recording_of(ticks.tolist(), batch.tolist()), "fenced")))


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
    known = {name: Mark(5, "us"), "other": Mark(9, "us")}
    expect_room(picture.of_estimates(results, known).image.decode())


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
    expect_room(rows_drawing(groups, "ns", "cost as printed", "a title", [("a key", "#000000")]))


def test_of_series_against_what_was_varied() -> None:
    for sizes in ((16.0,), (16.0, 64.0), (1.0, 16.0, 64.0, 256.0, 1024.0)):
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


def test_numbers_and_names_on_an_axis_do_not_touch() -> None:
    for count in range(2, 60):
        _, axes = style.new_figure(2)
        axes.set_xlim(0, count - 1)
        names = {float(n): "x" * (1 + n % 7) for n in range(count)}
        named = style.without_overlap(axes, names)
        for (a, one), (b, other) in itertools.pairwise(sorted(named.items())):
            apart = axes.get_position().width * (b - a) / (count - 1) / CHARACTER
            assert apart >= (len(one) + len(other)) / 2 + 0.5 - 1e-9, (one, other)


def test_a_character_takes_about_what_the_layout_takes_it_for() -> None:
    words = "processes-8-256k 1,234.56 (1,233.78 to 1,235) ns"
    figure, _ = style.new_figure(2)
    figure.text(0, 0, words, fontsize=style.FONT_PT)
    [(_, box)] = [each for each in words_of(figure) if each[0] == words]
    assert box.width / figure.bbox.width == pytest.approx(CHARACTER * len(words), rel=0.15)
    assert text_width(words, 10) == pytest.approx(
        10 * 72 / style.FONT_PT * box.width / style.DPI, rel=0.15
    )


@pytest.mark.parametrize("name", ["a", "first-iteration-page-fault", "x" * 80])
@pytest.mark.parametrize("factor", [1.0, 0.0002, 54_321.0])
def test_of_predictions(name: str, factor: float) -> None:
    guesses = [Guess(name, factor, 0.8), Guess("b", 2.0), Guess(name, 3.0, 1.0, True)]
    expect_room(calibration_picture(guesses, 2.0).image.decode())


def test_each_process_stands_with_two_of_its_errors_and_the_place_of_its_stack() -> None:
    recording = read(FIXTURES / "honest" / "05-task-creation" / "recordings" / "fork-small.csv")
    result = result_of(recording)
    assert result.estimate is not None and result.estimate.by_process is not None
    by = result.estimate.by_process
    rows = by_process.by_process_picture(result).table.rows
    assert [row[0] for row in rows] == [f"{n + 1}" for n in by.process.tolist()]
    assert [float(row[1]) for row in rows] == pytest.approx(by.value.tolist(), rel=1e-4)
    assert [float(row[2]) for row in rows] == pytest.approx((2 * by.error).tolist(), rel=0.06)
    assert tuple(row[3] for row in rows) == recording.condition("stack.place")
