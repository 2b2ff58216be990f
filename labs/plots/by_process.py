"""The plot of the value of each process of a run."""

from __future__ import annotations

import numpy as np

from labs.analysis.confidence import ByProcess
from labs.html import Table
from labs.plots import figure_svg, picture, scale
from labs.plots.picture import Picture
from labs.results.modes import stack_effect
from labs.results.result import Result, sensible
from labs.units import NAMES, plural, rounded


def by_process_picture(result: Result) -> Picture:
    """The plot of each process's value with its own error, in the order in which they ran.

    Values are in the unit of `result`. Raises ValueError if there is no figure, if the figure is
    not made from values of single processes, or if the run has one process only.
    """
    if result.estimate is None:
        raise ValueError(result.no_figure)
    by = result.estimate.by_process
    if by is None:
        raise ValueError(f"{result.variant} has no figure for each single process")
    if len(result.recording.processes) < 2:
        raise ValueError("this run has one process only; measure again with 10")
    return picture.make_picture(
        _by_process_drawing(result, by),
        *_describe_by_process(result, by),
        _by_process_table(result, by),
    )


def _by_process_drawing(result: Result, by: ByProcess) -> str:
    estimate, unit = result.estimate, scale.symbol(result.unit)
    assert estimate is not None  # picture_of has checked this
    effect, every = stack_effect(result.recording, by), len(result.recording.processes)
    key = [(f"━ figure {sensible(estimate)[0]} {unit}, band: 95 % interval", scale.BLUE)]
    fast: set[int] = set()
    if effect is not None:
        fast = set(by.process.tolist()) - set(effect.slowed)
    if len(fast) < len(by.process):
        key.append(("● process, bar: 2 of its standard errors", scale.INK))
    if effect is not None:
        words = f"■ its stack begins at byte {effect.fast_bytes()} of a cache line"
        key.append((words, scale.GREEN))
    if every > len(by.process):
        key.append((f"┊ {every - len(by.process)} without enough samples", scale.QUIET))
    paper = figure_svg.Paper(figure_svg.PLOT_WIDTH, 0)
    title = f"{result.recording.kernel} {result.variant}: the value of each process"
    top = figure_svg.head(paper, title, key) + 34
    ends = [v for sign in (-2, 2) for v in (by.value + sign * by.error).tolist()]
    ends += [estimate.low, estimate.high]
    room = 0.06 * (max(ends) - min(ends)) or 0.1 * abs(estimate.value) or 1.0
    least, most = min(ends) - room, max(ends) + room
    left, right = figure_svg.room_at_left(least, most), figure_svg.PLOT_WIDTH - 16
    panel = figure_svg.Panel(left, right, top, top + 190, least, most)
    figure_svg.draw_vertical(paper, panel, f"{result.what} ({unit})")
    high, low, value = map(panel.down, (estimate.high, estimate.low, estimate.value))
    paper.box(panel.left, high, panel.right, low, scale.BLUE, 0.12)
    paper.line(panel.left, value, panel.right, value, scale.BLUE, 1.2)
    x = {n: panel.across((n + 0.5) / every) for n in range(every)}
    for n in set(x) - set(by.process.tolist()):
        paper.line(x[n], panel.top, x[n], panel.bottom, scale.FAINT, 1, "2 3")
    for n, own, half in zip(
        by.process.tolist(), by.value.tolist(), (2 * by.error).tolist(), strict=True
    ):
        colour, marker = (scale.GREEN, "s") if n in fast else (scale.INK, "o")
        figure_svg.draw_bar(paper, x[n], panel.down(own - half), panel.down(own + half), colour)
        paper.sign(x[n], panel.down(own), marker, colour, 3)
    figure_svg.draw_names(
        paper, panel, [(at, f"{n + 1}") for n, at in x.items()],
        "process, in the order in which they ran",
    )  # fmt: skip
    paper.height = panel.bottom + 48
    return paper.svg()


def _describe_by_process(result: Result, by: ByProcess) -> tuple[str, str]:
    sign = scale.symbol(result.unit)
    low, high = rounded(float(by.value.min()), 4), rounded(float(by.value.max()), 4)
    kind = (
        f"Dot plot of {result.recording.kernel} {result.variant}: the {result.what} that each of "
        f"{plural(len(by.value), 'process')} gives, in {NAMES[result.unit]}, from {low} to {high} "
        f"{sign}, in the order in which they ran. A line shows the figure, "
        f"{result.value_as_text()}, and a band shows its 95 % interval."
    )
    spread = 100 * float(by.value.std(ddof=1)) / abs(float(by.value.mean()))
    own = 100 * float(np.median(by.error)) / abs(float(by.value.mean()))
    meaning = (
        f"The processes differ by {rounded(spread, 2)} % (standard deviation). The standard error "
        f"of a single process is {rounded(own, 2)} %."
    )
    said = [meaning]
    effect = stack_effect(result.recording, by)
    if effect is not None:
        factor, slow, fast = rounded(effect.factor), effect.slow_bytes(), effect.fast_bytes()
        said.append(
            "The place of the stack decides: if it begins at byte "
            f"{slow} of a cache line, the {result.what} is {factor} times that at byte {fast}."
        )
    without = len(result.recording.processes) - len(by.value)
    if without:
        said.append(f"{plural(without, 'process')} had too few undisturbed samples.")
    return kind, " ".join(said)


def _by_process_table(result: Result, by: ByProcess) -> Table:
    places = result.recording.condition("stack.place")
    places = places if len(places) == len(result.recording.processes) else ()
    rows = []
    for number, value, error in zip(
        by.process.tolist(), by.value.tolist(), by.error.tolist(), strict=True
    ):
        place = places[number] if places else ""
        rows.append((f"{number + 1}", rounded(value, 5), rounded(2 * error, 2), place))
    return Table(
        f"{result.recording.kernel} {result.variant}: {result.what} by process, in "
        f"{NAMES[result.unit]}",
        ("process", result.what, "2 standard errors", "place of the stack"),
        tuple(rows),
    ).without_empty()
