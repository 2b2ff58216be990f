"""The plot of how good a student's guesses were: what was found, divided by what was predicted."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedFormatter, FixedLocator, NullLocator

from labs.html import Table
from labs.plots import picture, style
from labs.plots.picture import Picture
from labs.units import RIGHT_WITHIN, factor_text, is_near, off_by, plural, rounded

#: With more guesses than this, only the last ones are drawn.
MOST_ROWS = 40

_LATE = "late, not counted:"
_ZONE = "#DDEFE8"
#: The height of a row in inches, and how far below its middle its place is, as a share of it. The
#: text is as far above.
_ROW_IN, _BELOW = 0.45, 0.2
_LEFT = 0.08
#: The axis reaches at least this far to either side of 1, and at most so far. A guess that is
#: farther off is an arrow at the end of the axis.
_LEAST_SPAN, _MOST_SPAN = 5.0, 1e4


@dataclass(frozen=True)
class Guess:
    """What was found divided by what was predicted, and how sure its author was, from 0 to 1.

    A `late` one was made when the answer was recorded already, and does not count.
    """

    name: str
    factor: float
    sure: float | None = None
    late: bool = False

    @property
    def right(self) -> bool:
        """Whether it is within a factor of RIGHT_WITHIN."""
        return is_near(self.factor)

    def as_text(self) -> str:
        """How far it was off, and how sure its author was."""
        sure = "" if self.sure is None else f", {100 * self.sure:.0f} % sure"
        return f"{factor_text(self.factor)}{sure}"


def calibration_picture(guesses: Sequence[Guess]) -> Picture:
    """The guesses in the given order, one row each; late ones below, apart.

    Every factor must be above 0. Raises ValueError if there is no guess.
    """
    if not guesses:
        raise ValueError("no guess to draw")
    counted = [guess for guess in guesses if not guess.late]
    late = [guess for guess in guesses if guess.late]
    kind = (
        f"Dot plot of {plural(len(guesses), 'prediction')}, one row each, the oldest first: what "
        "was found divided by what was predicted, on a log axis. The zone within a factor of "
        f"{RIGHT_WITHIN:g} is shaded."
    )
    if len(counted) > MOST_ROWS:
        kind = " ".join((kind, f"The last {MOST_ROWS} are drawn."))
    figure = _figure(counted[-MOST_ROWS:], late[-MOST_ROWS:])
    return picture.make_picture(figure, kind, _meaning(counted, late), _table(guesses))


def _figure(counted: Sequence[Guess], late: Sequence[Guess]) -> Figure:
    rows = [*counted, *([None] if late else []), *late]
    height = _ROW_IN * len(rows) + 1.35
    figure, axes = style.new_figure(height, left=_LEFT, right=1 - _LEFT)
    _scale(axes, [guess.factor for guess in (*counted, *late)])
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.axvspan(1 / RIGHT_WITHIN, RIGHT_WITHIN, color=_ZONE, linewidth=0, zorder=0)
    axes.axvline(1, color=style.GREEN, linewidth=1.2, zorder=1)
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    for n, guess in enumerate(rows):
        if guess is None:
            _write(axes, n, _LATE, style.QUIET)
        else:
            _draw(axes, n, guess)
    axes.set_xlabel("found, divided by predicted (log axis)")
    key = [
        ("● a guess", style.BLUE),
        ("┃ as predicted", style.GREEN),
        ("▒ within a factor of 2", style.GREEN),
    ]
    if late:
        key.append(("× late", style.QUIET))
    style.title_and_key(figure, "Your predictions and what you found", key)
    return figure


def _draw(axes: Axes, n: int, guess: Guess) -> None:
    """Draw a guess in row `n`: its name, how far it was off, and below them its place."""
    low, high = axes.get_xlim()
    place = min(max(guess.factor, low), high)
    marker = "x" if guess.late else "o"
    if place != guess.factor:
        marker = ">" if place == high else "<"
    axes.axhline(n + _BELOW, color=style.FAINT, linewidth=0.6, zorder=0.5)
    axes.plot(
        [place], [n + _BELOW], color=style.QUIET if guess.late else style.BLUE, marker=marker,
        markersize=6,
        markeredgewidth=1.4, linestyle="none", clip_on=False, zorder=3,
    )  # fmt: skip
    colour, text = style.QUIET if guess.late else style.INK, guess.as_text()
    _write(axes, n, text, colour, at_right=True)
    _write(
        axes,
        n,
        _short(guess.name, int((1 - 2 * style.MARGIN) / style.CHARACTER) - len(text) - 2),
        colour,
    )


def _write(axes: Axes, n: int, words: str, colour: str, *, at_right: bool = False) -> None:
    """Write `words` above the place of row `n`, at the left or the right end of the plot."""
    beyond = (_LEFT - style.MARGIN) / (1 - 2 * _LEFT)
    axes.text(
        1 + beyond if at_right else -beyond, n - _BELOW, words, fontsize=style.FONT_PT,
        color=colour,
        transform=axes.get_yaxis_transform(), va="center", ha="right" if at_right else "left",
    )  # fmt: skip


def _scale(axes: Axes, factors: Sequence[float]) -> None:
    """Set a logarithmic axis with 1 in its middle, and with few plain labels."""
    farthest = max(map(off_by, factors))
    span = min(max(1.6 * farthest, _LEAST_SPAN), _MOST_SPAN)
    axes.set_xscale("log")
    axes.set_xlim(1 / span, span)
    decades = math.floor(math.log10(span))
    every = decades if decades > 2 else 1
    above = {10.0**power for power in range(every, decades + 1, every)}
    if span < 50:
        above.add(RIGHT_WITHIN)
    if decades == 0:
        above.add(4.0)
    places = sorted({1.0, *above, *(1 / place for place in above)})
    axes.xaxis.set_major_locator(FixedLocator(places))
    labels = [
        style.axis_number(p) if p >= 1 else f"1/{style.axis_number(round(1 / p))}" for p in places
    ]
    axes.xaxis.set_major_formatter(FixedFormatter(labels))
    axes.xaxis.set_minor_locator(NullLocator())


def _meaning(counted: Sequence[Guess], late: Sequence[Guess]) -> str:
    said = []
    if counted:
        right = sum(guess.right for guess in counted)
        low = sum(guess.factor > RIGHT_WITHIN for guess in counted)
        high = len(counted) - right - low
        said.append(
            f"{right} of {plural(len(counted), 'guess')} came within a factor of {RIGHT_WITHIN:g}."
        )
        if low and high:
            said.append(f"Further off: {low} too low and {high} too high.")
        elif low:
            said.append(f"Further off: {low} too low.")
        elif high:
            said.append(f"Further off: {high} too high.")
    if len(late) == 1:
        said.append("1 prediction was late, and does not count.")
    elif late:
        said.append(f"{len(late):,} predictions were late, and do not count.")
    return " ".join(said)


def _table(guesses: Sequence[Guess]) -> Table:
    return Table(
        "Found, divided by predicted",
        ("prediction", "found / predicted", "how sure", "counts"),
        tuple(
            (
                guess.name,
                rounded(guess.factor, 3),
                "" if guess.sure is None else f"{100 * guess.sure:.0f} %",
                "no: late" if guess.late else "yes",
            )
            for guess in guesses
        ),
    )


def _short(name: str, most: int) -> str:
    return name if len(name) <= most else f"{name[: most - 1]}…"
