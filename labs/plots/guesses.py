"""The plot of how good a student's guesses were: what was found, divided by what was predicted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from labs.html import Table
from labs.plots import picture, scale
from labs.plots.picture import Picture
from labs.plots.rows import Dot, Group, Row, rows_drawing
from labs.units import factor_text, off_by, plural, rounded

#: With more guesses than this, only the last ones are drawn.
MOST_ROWS = 40

#: The axis reaches at least this far to either side of 1, and at most so far. A guess that is
#: farther off is an arrow at the end of the axis.
_LEAST_SPAN, _MOST_SPAN = 5.0, 1e4
_LATE = scale.Look(scale.QUIET, "x", "×", "-")


@dataclass(frozen=True)
class Guess:
    """What was found divided by what was predicted, and how sure its author was, from 0 to 1.

    A `late` one was made when the answer was recorded already, and does not count.
    """

    name: str
    factor: float
    sure: float | None = None
    late: bool = False

    def as_text(self) -> str:
        """How far it was off, and how sure its author was."""
        sure = "" if self.sure is None else f", {100 * self.sure:.0f} % sure"
        return f"{factor_text(self.factor)}{sure}"


def calibration_picture(guesses: Sequence[Guess], within: float) -> Picture:
    """The guesses in the given order, one row each; late ones below, apart.

    A guess is right `within` this factor of what was found. Every factor must be above 0. Raises
    ValueError if there is no guess.
    """
    if not guesses:
        raise ValueError("no guess to draw")
    counted = [guess for guess in guesses if not guess.late]
    late = [guess for guess in guesses if guess.late]
    kind = (
        f"Dot plot of {plural(len(guesses), 'prediction')}, one row each, the oldest first: what "
        "was found divided by what was predicted, on a log axis. The zone within a factor of "
        f"{within:g} is shaded."
    )
    if len(counted) > MOST_ROWS:
        kind = " ".join((kind, f"The last {MOST_ROWS} are drawn."))
    drawn = _drawing(counted[-MOST_ROWS:], late[-MOST_ROWS:], within)
    return picture.make_picture(drawn, kind, _meaning(counted, late, within), _table(guesses))


def _drawing(counted: Sequence[Guess], late: Sequence[Guess], within: float) -> str:
    farthest = max(off_by(guess.factor) for guess in (*counted, *late))
    span = min(max(1.6 * farthest, _LEAST_SPAN), _MOST_SPAN)
    groups = [Group("", _rows(counted, scale.LOOKS[0], scale.INK))]
    key = [
        ("● a guess", scale.BLUE),
        ("┃ as predicted", scale.GREEN),
        (f"▒ within a factor of {within:g}", scale.GREEN),
    ]
    if late:
        groups.append(Group("late, not counted", _rows(late, _LATE, scale.QUIET)))
        key.append(("× late", scale.QUIET))
    title, what = "Your predictions and what you found", "found, divided by predicted"
    return rows_drawing(
        groups, "times", what, title, key, log=True, zone=(1 / within, within),
        reach=(1 / span, span),
    )  # fmt: skip


def _rows(guesses: Sequence[Guess], look: scale.Look, colour: str) -> tuple[Row, ...]:
    return tuple(
        Row(each.name, (Dot(each.factor, look),), each.as_text(), colour, level=1.0)
        for each in guesses
    )


def _meaning(counted: Sequence[Guess], late: Sequence[Guess], within: float) -> str:
    said = []
    if counted:
        right = sum(off_by(guess.factor) <= within for guess in counted)
        low = sum(guess.factor > within for guess in counted)
        high = len(counted) - right - low
        said.append(
            f"{right} of {plural(len(counted), 'guess')} came within a factor of {within:g}."
        )
        off = [f"{n} too {side}" for n, side in ((low, "low"), (high, "high")) if n]
        if off:
            said.append(f"Further off: {' and '.join(off)}.")
    if late:
        were = "was late, and does" if len(late) == 1 else "were late, and do"
        said.append(f"{plural(len(late), 'prediction')} {were} not count.")
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
