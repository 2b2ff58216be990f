"""The two pictures of a figure: a reader finds the value in them, and reads it off the axis."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise
from xml.etree import ElementTree

import numpy as np
import pytest

from labs.plots import scale
from labs.plots.figure_svg import Drawing, Mark, evidence_drawing, value_drawing
from labs.recording.file import Recording, read
from labs.results.result import result_of, sensible
from support import submitted_figures
from support.given_samples import recording_of
from support.paths import FIXTURES
from support.simulate import Machine, run
from support.submitted_figures import Clocked

_SVG = "{http://www.w3.org/2000/svg}"
HONEST = sorted((FIXTURES / "honest").glob("*/recordings/*.csv"))
#: A picture with these many bytes lets feedback on a lab of fourteen figures stay small.
MOST_BYTES = 10_000


def texts(drawing: Drawing) -> list[tuple[float, float, str]]:
    """Each text of a drawing with its x and y."""
    root = ElementTree.fromstring(drawing.svg)
    return [
        (float(each.get("x", "")), float(each.get("y", "")), each.text or "")
        for each in root.iter(f"{_SVG}text")
    ]


def read_off(numbers: list[tuple[float, float]], at: float) -> float:
    """The value at the place `at` of a linear axis with these `numbers`: (place, value)."""
    (a, low), (b, high) = min(numbers), max(numbers)
    return low + (high - low) * (at - a) / (b - a)


def with_figures() -> Iterator[tuple[Recording, str]]:
    for path in HONEST:
        recording = read(path)
        for variant in recording.variants:
            if result_of(recording, variant).estimate is not None:
                yield recording, variant


@pytest.mark.slow
def test_each_saved_figure_is_in_its_picture_as_text_and_as_place() -> None:
    seen = 0
    for recording, variant in with_figures():
        drawing = evidence_drawing(recording, variant)
        words = texts(drawing)
        printed = r"(about 0|-?[\d.,]+) (ns|µs|ms|s)"
        drawn = [(y, text) for _, y, text in words if re.fullmatch(printed, text)]
        assert len(drawn) == 1, (recording.kernel, variant, words)
        y, text = drawn[0]
        number, _, sign = text.rpartition(" ")
        unit = {"µs": "us"}.get(sign, sign)
        estimate = result_of(recording, variant, unit).estimate
        assert estimate is not None
        assert number == sensible(estimate)[0]
        assert number.replace("-", "\N{MINUS SIGN}") in drawing.description
        assert number in [cell for row in drawing.table.rows for cell in row]
        # The line across is where a reader of the axis expects the value.
        left = next(x for x, _, name in words if name.endswith(f"({sign})") and "T(k)" not in name)
        axis = [
            (at - 4, float(each.replace(",", "")))
            for x, at, each in words
            if left <= x < left + 60 and re.fullmatch(r"-?[\d.,]+", each) and at < 270
        ]
        span = max(value for _, value in axis) - min(value for _, value in axis)
        assert read_off(axis, y - 5) == pytest.approx(estimate.value, abs=0.03 * span + 1e-9), (
            recording.kernel,
            variant,
        )
        assert len(drawing.svg) <= MOST_BYTES
        seen += 1
    assert seen > 100


def test_a_simulated_cost_is_what_the_picture_states() -> None:
    machine = Machine()
    simulated = run(machine, 7)
    [variant] = simulated.variants
    drawing = evidence_drawing(simulated, variant)
    [row] = [each for each in drawing.table.rows if each[0] == "overhead"]
    truth = machine.overhead / simulated.clock(variant).ticks_in("ns")
    assert float(row[3].replace(",", "")) == pytest.approx(truth, rel=0.05)


@pytest.mark.parametrize("value", [4.3, 4.788, 5.19])
def test_a_value_is_at_its_place_on_the_axis(value: float) -> None:
    drawing = value_drawing([Mark("handed in", value, "handed in")], "us", [(4.26, 5.2)])
    numbers = [(x, float(text)) for x, _, text in texts(drawing) if re.fullmatch(r"[\d.]+", text)]
    # A diamond begins at its left corner.
    [x] = re.findall(r"<path d='M([\d.]+) [\d.]+l6 -6l6 6l-6 6z'", drawing.svg)
    assert read_off(numbers, float(x) + 6) == pytest.approx(value, abs=0.01)
    assert f"{value:g} µs" in drawing.description
    assert any("does not begin at 0" in text for _, _, text in texts(drawing))
    assert ("handed in", f"{value:g}", "", "") in drawing.table.rows


def test_a_value_far_off_is_an_arrow_with_its_factor() -> None:
    drawing = value_drawing([Mark("handed in", 4_700, "handed in")], "us", [(4.26, 5.2)])
    words = [text for _, _, text in texts(drawing)]
    assert "× 1,000" in words
    assert not any(text.startswith("4,") for text in words), "it would stretch the axis"
    small = value_drawing([Mark("handed in", 0.0047, "handed in")], "us", [(4.26, 5.2)])
    assert "÷ 1,000" in [text for _, _, text in texts(small)]
    near = value_drawing([Mark("handed in", 47, "handed in")], "us", [(4.26, 5.2)])
    assert not any("×" in text for _, _, text in texts(near))


def test_the_figures_of_a_pair_are_on_the_axis_however_far_they_are_apart() -> None:
    pair = [Mark("broken", 3_475.0, "broken"), Mark("repaired", 24.36)]
    words = [text for _, _, text in texts(value_drawing(pair, "ns"))]
    assert "1,000" in words and not any("×" in text for text in words)


def test_published_figures_are_crosses_that_make_no_axis_coarser() -> None:
    own = Mark("own", 20.0, "figure", 19.0, 21.0)
    drawing = value_drawing([own], "ns", published=[17.0, 44.0, 9_000.0])
    words = [text for _, _, text in texts(drawing)]
    assert "× published figures" in words and "× 450" in words
    assert drawing.svg.count(f"stroke='{scale.QUIET}' stroke-width='1.6'") == 4  # two crosses
    assert not any(text.startswith(("9,000", "1,000")) for text in words)
    assert "Crosses: published figures, 17 to 9,000 ns." in drawing.description
    assert [row[1] for row in drawing.table.rows if row[0] == "published"] == ["17", "44", "9,000"]


def test_names_of_marks_do_not_touch() -> None:
    marks = [Mark(f"mark {n}", 10 + 0.01 * n, "earlier") for n in range(6)]
    spans: dict[float, list[tuple[float, float]]] = {}
    for x, y, text in texts(value_drawing([*marks, Mark("own", 10.0)], "ns")):
        if text.startswith(("mark", "own")):
            spans.setdefault(y, []).append((x, x + 0.6 * 14 * len(text)))
    for row in spans.values():
        row.sort()
        assert all(a[1] <= b[0] for a, b in pairwise(row)), spans


def test_what_a_file_names_is_text_and_nothing_else() -> None:
    name = "<script>alert(1)</script>&\0\ud800'\""
    drawing = evidence_drawing(recording_of([3, 4], [1, 2], variant=name), name)
    tags = {each.tag for each in ElementTree.fromstring(drawing.svg).iter()}
    assert tags <= {f"{_SVG}{tag}" for tag in ("svg", "path", "text")}
    assert "<script" not in drawing.as_html()


def test_it_says_how_many_samples_are_beyond_the_axis() -> None:
    ticks = [100, 101, 102, 103] * 100
    ticks[50], ticks[77] = 9_000, 12_000
    counted = [
        text
        for _, _, text in texts(evidence_drawing(recording_of(ticks, [1] * 400), "fenced"))
        if text.endswith("↑")
    ]
    assert counted == ["2↑"]


def test_odd_samples_give_a_picture_as_well() -> None:
    for ticks in (
        [5] * 50,
        [0] * 50,
        [7],
        [10**12] * 9,
        [10**17] * 3 + [1],
        [0, 10**15],
        list(range(1, 101)),
    ):
        drawing = evidence_drawing(recording_of(ticks, [1] * len(ticks)), "fenced")
        ElementTree.fromstring(drawing.svg)
        assert "nan" not in drawing.svg and "inf" not in drawing.svg, ticks


def test_nothing_but_warm_up_and_very_long_names_give_a_picture_as_well() -> None:
    name = "W" * 2_000
    for recording, variant in (
        (recording_of([3, 4], [1, 1], warmup=2), "fenced"),
        (recording_of([3, 4], [1, 2**62], variant=name), name),
        (recording_of([10**17, 1] * 9, [2**62, 2**61] * 9, variant=name), name),
    ):
        assert len(evidence_drawing(recording, variant).svg) <= MOST_BYTES


def test_many_samples_take_no_more_bytes() -> None:
    for spread in (0.05, 0.3):
        numbers = np.random.default_rng(1)
        for count in (1_500, 100_000):
            batch = numbers.choice([1, 2, 4, 8], count)
            ticks = batch * 3_000 * np.exp(numbers.normal(0, spread, count))
            ticks *= np.where(numbers.random(count) < 0.01, numbers.uniform(1, 30, count), 1)
            made = recording_of(ticks.astype(int).tolist(), batch.tolist(), processes=10)
            assert len(evidence_drawing(made, "fenced").svg) <= MOST_BYTES


def test_the_check_of_a_submission_loads_no_library_that_draws() -> None:
    """It takes half a second at each start of a worker."""
    program = "import sys, grader.judging.worker, grader.judging.presentation; "
    program += "import labs.plots.figure_svg, grader.judging.lab_folder; "
    program += "sys.exit(bool({'matplotlib', 'PIL'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", program], timeout=60).returncode == 0


def test_without_a_mark_there_is_no_picture() -> None:
    with pytest.raises(ValueError, match="no number"):
        value_drawing([], "ns")


def test_a_line_without_a_figure_has_no_mark_of_one() -> None:
    stated = {"variant.getppid.baseline": "loop"}
    both = {"getppid": Clocked(110.0, 290.0), "loop": Clocked(110.0, 0.75)}
    whole = submitted_figures.recording(both, kernel="system_call", extra=stated)
    lacking = submitted_figures.recording(
        {"getppid": both["getppid"]}, kernel="system_call", extra=stated
    )
    found = result_of(lacking, "getppid", "ns")
    assert found.estimate is None and found.line is not None and found.line.straight
    assert scale.VERMILLION in evidence_drawing(whole, "getppid").svg
    assert scale.VERMILLION not in evidence_drawing(lacking, "getppid").svg
