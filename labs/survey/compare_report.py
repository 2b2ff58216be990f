"""The output of `labs survey --compare A B`, for a terminal and as a web page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from labs.common.table import Table
from labs.common.units import plural
from labs.languages.words import of_reader, words
from labs.pages.page import page as whole_page
from labs.plots import picture
from labs.plots.picture import Picture
from labs.plots.rows import Dot, Group, Row, rows_figure
from labs.plots.series import LOOKS, Look
from labs.plots.style import BLUE, GREEN, QUIET
from labs.results import configuration
from labs.results.compared import Comparison
from labs.results.digits import rounded_apart
from labs.results.result import Result
from labs.survey import groups
from labs.survey.compare import Pair, pairs, summary
from labs.survey.report import numbers
from labs.survey.saved import Saved

COMMAND = "labs survey --compare"
HEADER = ("", "A, ns", "B, ns", "B / A", "95 % interval")
#: The columns that a narrow terminal does without, the first one first.
_FIRST_OUT = (4, 2, 1)

#: The sign after a ratio that may be 1, and what it means.
ALIKE = "≈"
MEANING = (
    "≈ after a ratio means: the two costs are not distinguishable, because the interval of their "
    "ratio holds 1, or that of their difference holds 0."
)

_PAGE = Path(__file__).with_name("compare.html.jinja")
_APART, _ALIKE = LOOKS[0], Look(QUIET, "o", "○", "-")


@dataclass(frozen=True)
class Section:
    """One group of operations with its plot, its ratios, and what cannot be compared."""

    heading: str
    picture: Picture | None
    table: Table
    not_compared: tuple[str, ...]

    @property
    def anchor(self) -> str:
        """The name of the section in links."""
        return self.heading.lower().replace(" ", "-")


def text(first: Saved, second: Saved, width: int = groups.COLUMNS) -> str:
    """The comparison for a terminal of this width."""
    every = pairs(first, second)
    names = first.name, second.name
    lines = groups.wrapped(_which(first, second), width)
    lines += [*groups.wrapped(words(MEANING), width), ""]
    for heading, mine in _by_group(every):
        known = [each for each in mine if each.ratio is not None]
        lines.append(words(heading))
        if known:
            rows = [(each.name, *_with_sign(each)) for each in known]
            lines += groups.columns(HEADER, rows, width, _FIRST_OUT)
        for why in _not_compared(mine):
            lines += groups.wrapped(f"{words('not compared')}: {why}.", width, 2)
        lines.append("")
    together = map(words, summary(every, names))
    for sentence in (*_notes(every), *together, *_troubles(first, second)):
        lines += groups.wrapped(sentence, width)
    return "\n".join(lines)


def _which(first: Saved, second: Saved) -> str:
    return words(f"A is {first.name}, and B is {second.name}.")


def _by_group(every: Sequence[Pair]) -> Iterator[tuple[str, list[Pair]]]:
    for heading in dict.fromkeys(each.group for each in every):
        yield heading, [each for each in every if each.group == heading]


def _with_sign(pair: Pair) -> tuple[str, str, str, str]:
    """A and B in ns, their ratio with ALIKE if it may be 1, and its interval."""
    assert pair.ratio is not None
    ratio, interval = _ratio(pair.ratio)
    sign = " " if pair.ratio.side else ALIKE
    return _value(pair.first), _value(pair.second), f"{ratio} {sign}", interval


def _value(result: Result | None) -> str:
    return numbers(result.estimate)[0] if result is not None and result.estimate else ""


def _ratio(of: Comparison) -> tuple[str, str]:
    if of.ratio is None or of.ratio_interval is None:
        return "none", ""
    value, low, high = rounded_apart(of.ratio, *of.ratio_interval, 1.0)
    return value, f"{low} to {high}"


def _not_compared(mine: Sequence[Pair]) -> list[str]:
    """Each reason once, with the operations that it concerns."""
    found: dict[str, list[str]] = {}
    for each in mine:
        for why in filter(None, (each.why_not, each.why_no_cycles)):
            found.setdefault(of_reader().heading(why), []).append(each.name)
    return [f"{', '.join(names)}: {why}" for why, names in found.items()]


def _notes(every: Sequence[Pair]) -> list[str]:
    """What holds for some of the pairs, each once."""
    found: dict[str, int] = {}
    for each in every:
        for note in each.notes:
            found[note] = found.get(note, 0) + 1
    shown = of_reader().heading
    return [f"{shown(plural(n, 'operation'))}: {shown(note)}." for note, n in found.items()]


def _troubles(first: Saved, second: Saved) -> list[str]:
    shown = of_reader().heading
    return [
        f"{saved.name}: {place}: {shown(why)}."
        for saved in (first, second)
        for place, why in saved.troubles
    ]


def as_json(first: Saved, second: Saved) -> list[dict[str, object]]:
    """Each operation with its ratio, or the reason why it has none."""
    return [
        {
            "kernel": each.operation[0],
            "variant": each.operation[1],
            "optimisation": each.operation[2],
            "ratio": each.ratio.as_json() if each.ratio is not None else None,
            "in_cycles": each.in_cycles.as_json() if each.in_cycles is not None else None,
            "why_not": each.why_not or None,
            "why_no_cycles": each.why_no_cycles or None,
        }
        for each in pairs(first, second)
    ]


def page(first: Saved, second: Saved) -> str:
    """The comparison as one self-contained HTML page, with the plot of each group first."""
    every = pairs(first, second)
    facts = [dict(configuration.of_recordings(saved.recordings)) for saved in (first, second)]
    names = list(dict.fromkeys((*facts[0], *facts[1])))
    return whole_page(
        of_reader().heading(f"{first.name} and {second.name} compared"),
        COMMAND,
        _PAGE,
        which=_which(first, second),
        meaning=MEANING,
        sections=[_section(heading, mine) for heading, mine in _by_group(every)],
        sentences=[*map(words, summary(every, (first.name, second.name))), *_notes(every)],
        troubles=_troubles(first, second),
        configuration=Table(
            "What the recordings state",
            ("", f"A: {first.name}", f"B: {second.name}"),
            tuple((name, *(each.get(name, "not stated") for each in facts)) for name in names),
        ).as_html(),
    )


def _section(heading: str, mine: list[Pair]) -> Section:
    known = [each for each in mine if each.ratio is not None]
    rows = tuple(
        (
            each.name,
            _value(each.first),
            _value(each.second),
            _as_words(each.ratio),
            _as_words(each.in_cycles),
        )
        for each in known
    )
    header = ("", "A, ns", "B, ns", "B / A", "B / A in core cycles")
    return Section(
        heading,
        _picture(heading, known) if known else None,
        Table(f"{heading}: ratio of the costs", header, rows),
        tuple(_not_compared(mine)),
    )


def _as_words(of: Comparison | None) -> str:
    """The ratio with its interval, and the sign ALIKE if it is not distinguishable from 1."""
    if of is None:
        return "-"
    ratio, interval = _ratio(of)
    if not interval:
        return ratio
    whole = of_reader().heading(f"{ratio} ({interval})")
    return f"{whole}{'' if of.side else f' {ALIKE}'}"


def _picture(heading: str, known: Sequence[Pair]) -> Picture:
    """The ratios of a group with their intervals, and a line at 1."""
    rows = []
    for pair in known:
        of = pair.ratio
        assert of is not None and of.ratio is not None and of.ratio_interval is not None
        look, (value, interval) = (_APART if of.side else _ALIKE), _ratio(of)
        dot = Dot(of.ratio, look, *of.ratio_interval)
        rows.append(Row(pair.name, (dot,), f"{value} ({interval})", level=1.0))
    key = [("● distinguishable", BLUE), ("● not distinguishable", QUIET), ("╌ equal cost", GREEN)]
    figure = rows_figure(
        [Group("", tuple(rows))], "times", "cost in B / cost in A", f"{heading}: B / A", key,
        scale="log",
    )  # fmt: skip
    kind = (
        f"Dot plot of {heading}: the cost in B divided by the cost in A, with 95 % intervals, of "
        f"{plural(len(rows), 'operation')}, on a logarithmic axis. A line marks 1."
    )
    apart = [pair for pair in known if pair.ratio is not None and pair.ratio.side]
    meaning = (
        f"{len(apart)} of {plural(len(known), 'ratio')} {'is' if len(apart) == 1 else 'are'} "
        "distinguishable from 1."
    )
    table = Table(
        f"{heading}: B / A",
        ("operation", "ratio", "95 % interval"),
        tuple((pair.name, *_ratio(pair.ratio)) for pair in known if pair.ratio is not None),
    )
    return picture.make_picture(figure, kind, meaning, table)
