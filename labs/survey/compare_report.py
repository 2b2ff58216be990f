"""Compare two saved surveys: `labs survey --compare A B`, for a terminal and as a web page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from labs.c_kernels.toolchain import optimisation_level
from labs.html import Table
from labs.html import page as whole_page
from labs.limits import MOST_FILES
from labs.plots import picture
from labs.plots.picture import Picture
from labs.plots.rows import Dot, Group, Row, rows_drawing
from labs.plots.scale import BLUE, GREEN, LOOKS, QUIET, Look
from labs.recording import counts, declared, run_conditions
from labs.recording.declared import Estimand, Placement
from labs.recording.file import BadRecording, Recording, read
from labs.results import remarks
from labs.results.result import Result, result_of
from labs.results.results_compared import Comparison, compared
from labs.survey import survey
from labs.survey.survey import numbers
from labs.terminal import columns
from labs.units import plural, rounded_apart

#: The C kernel, its variant, and the optimisation level.
Operation = tuple[str, str, str]


class NoSurvey(ValueError):
    """A folder holds no saved survey; the message says what was expected."""


@dataclass(frozen=True, eq=False)
class Saved:
    """A saved survey: its `name` for a reader, the result of each operation, and its recordings.

    `troubles` has what could not be read, and why.
    """

    name: str
    results: dict[Operation, Result]
    recordings: tuple[Recording, ...]
    troubles: tuple[tuple[str, str], ...] = ()


def read_saved(folder: Path, name: str = "") -> Saved:
    """The survey that `labs survey --save FOLDER` wrote.

    If an operation was measured twice, the newer recording counts. Raises NoSurvey.
    """
    place = folder / "recordings" if (folder / "recordings").is_dir() else folder
    try:
        files = sorted(path for path in place.glob("*.csv"))
    except OSError as error:
        raise NoSurvey(f"{folder} cannot be read: {error.strerror or error}") from error
    if not files:
        if not folder.is_dir():
            raise NoSurvey(f"{folder} is not a folder; `labs survey --save {folder}` makes it")
        raise NoSurvey(
            f"there is no recording of a survey in {folder}; "
            f"`labs survey --save {folder}` writes some"
        )
    if len(files) > MOST_FILES:
        raise NoSurvey(f"{folder} holds {len(files)} recordings; at most {MOST_FILES} are read")
    recordings, troubles = [], []
    for path in files:
        try:
            recordings.append(read(path))
        except BadRecording as error:
            troubles.append((path.name, error.what))
    recordings.sort(key=lambda each: each.conditions.get("created", ""))
    results: dict[Operation, Result] = {}
    for recording in recordings:
        level = optimisation_level(recording.conditions.get("flags", "")) or ""
        for variant in recording.asked or recording.variants:
            try:
                results[recording.kernel, variant, level] = result_of(recording, variant)
            except (BadRecording, ValueError) as error:
                troubles.append((f"{recording.kernel} {variant}", str(error)))
    return Saved(name or folder.resolve().name, results, tuple(recordings), tuple(troubles))


#: The share of ratios that exclude 1 by chance if nothing differs: that is what 95 % means.
SHARE_BY_CHANCE = 0.05


#: What a figure is, and where tasks run, in words.
_ESTIMANDS = {
    Estimand.COST: "the cost",
    Estimand.OVERHEAD: "the overhead",
    Estimand.FIRST_TIME: "the extra cost of the first time",
}
_PLACEMENTS = {
    Placement.ANYWHERE: "on any CPU",
    Placement.ONE_CPU: "on one CPU",
    Placement.TWO_CPUS: "on two CPUs",
    Placement.CPUS_IN_TURN: "on each CPU in turn",
}


@dataclass(frozen=True, eq=False)
class Pair:
    """One operation in both surveys.

    `ratio` compares the second survey with the first, in ns, and `in_cycles` in core cycles; None
    if they cannot be compared. `why_not` then says why, and `why_no_cycles` for core cycles.
    """

    operation: Operation
    first: Result | None
    second: Result | None
    ratio: Comparison | None = None
    why_not: str = ""
    in_cycles: Comparison | None = None
    why_no_cycles: str = ""
    notes: tuple[str, ...] = ()

    @property
    def group(self) -> str:
        """The heading of its group."""
        return survey.group_of(self.operation[0])

    @property
    def name(self) -> str:
        """Its name in the group."""
        return survey.operation_name(*self.operation)


def pairs(first: Saved, second: Saved) -> list[Pair]:
    """Every operation of either survey, in groups in the order of the page."""
    found = list(dict.fromkeys((*first.results, *second.results)))
    grouped = (kernel for _, kernels in survey.GROUPS for kernel in kernels)
    order = list(dict.fromkeys((*grouped, *(kernel for kernel, _, _ in found))))
    found.sort(key=lambda each: (order.index(each[0]), each[2]))
    return [_pair(each, first, second) for each in found]


def _pair(operation: Operation, first: Saved, second: Saved) -> Pair:
    one, other = first.results.get(operation), second.results.get(operation)
    names = first.name, second.name
    if one is None or other is None:
        why_not = f"not measured in {names[0] if one is None else names[1]}"
    elif not (why_not := next(_differences(one, other, names), "")):
        ratio = compared(other, one)
        if ratio.ratio is not None:
            in_cycles, why_none = _in_cycles(one, other, names)
            notes = _notes_of_pair(one, other)
            return Pair(operation, one, other, ratio, "", in_cycles, why_none, notes)
        why_not = f"no ratio: the interval of {names[0]} includes 0"
    return Pair(operation, one, other, why_not=why_not)


def _differences(one: Result, other: Result, names: tuple[str, str]) -> Iterator[str]:
    """Why two results are of different things, the most serious first."""
    first, second = names
    for name, result in zip(names, (one, other), strict=True):
        if result.estimate is None:
            yield f"no figure in {name}: {result.why_unnamed}"
    versions = [_stated(each, "ticklab") for each in (one, other)]
    sources = [_stated(each, "source.sha256") for each in (one, other)]
    if sources[0] != sources[1] and versions[0] != versions[1]:
        yield (
            f"another version of the kit, with another C kernel ({first}: {versions[0]}, "
            f"{second}: {versions[1]})"
        )
    elif sources[0] != sources[1]:
        yield "another text of the C kernel"
    for what, of in _METHOD:
        in_first, in_second = of(one), of(other)
        if in_first != in_second:
            yield f"another method, {what} ({first}: {in_first}, {second}: {in_second})"
    if one.unit != other.unit:
        yield f"another unit ({first}: {one.unit}, {second}: {other.unit})"


def _stated(result: Result, key: str) -> str:
    return result.recording.conditions.get(key, "not stated")


def _figure(result: Result) -> str:
    return _ESTIMANDS[declared.estimand(result.recording, result.variant)]


def _subtracted(result: Result) -> str:
    if result.net is None or result.net.baseline_variant is None:
        return "nothing"
    return f"{result.net.times:g} times {result.net.baseline_variant}"


def _placed(result: Result) -> str:
    """How the tasks were placed, if several take part."""
    if not declared.other_tasks(result.recording, result.variant):
        return "one task"
    if run_conditions.why_unbound(result.recording):
        return "tasks not bound to a CPU"
    return _PLACEMENTS[declared.of_variant(result.recording, result.variant).placement]


def _switched(result: Result) -> str:
    """Whether the OS counted the switches that are claimed."""
    seen = counts.switches_of(result.recording, result.variant)
    if seen is None:
        return "no switch claimed"
    return "as many as claimed" if seen.accounted_for else "not as many as claimed"


#: What must be the same for two figures to be of the same thing.
_METHOD = (
    ("what the figure is", _figure),
    ("what is subtracted", _subtracted),
    ("where the tasks ran", _placed),
    ("switches that the OS counted", _switched),
)


def _in_cycles(one: Result, other: Result, names: tuple[str, str]) -> tuple[Comparison | None, str]:
    """The same comparison in core cycles; None and the reason if one of the two has none."""
    found = []
    for name, result in zip(names, (one, other), strict=True):
        try:
            found.append(result_of(result.recording, result.variant, "cycles"))
        except ValueError:
            return None, f"another unit: the length of a core cycle was not measured in {name}"
        if found[-1].estimate is None:
            return None, f"no figure in core cycles in {name}"
    return compared(found[1], found[0]), ""


def _notes_of_pair(one: Result, other: Result) -> tuple[str, ...]:
    """What a reader should know of a pair that can be compared."""
    versions = [_stated(each, "ticklab") for each in (one, other)]
    compilers = [_stated(each, "compiler") for each in (one, other)]
    notes = []
    if versions[0] != versions[1]:
        one_version, other_version = versions
        notes.append(f"made by versions {one_version} and {other_version}, by the same C kernel")
    if compilers[0] != compilers[1]:
        notes.append("compiled by different compilers")
    return tuple(notes)


def summary(every: list[Pair], names: tuple[str, str]) -> list[str]:
    """What all pairs show together, in sentences."""
    known = [each for each in every if each.ratio is not None]
    if not known:
        return ["Nothing in these two surveys can be compared."]
    more = [each for each in known if each.ratio is not None and each.ratio.side > 0]
    less = [each for each in known if each.ratio is not None and each.ratio.side < 0]
    same = len(known) - len(more) - len(less)
    chance = SHARE_BY_CHANCE * len(known)
    first, second = names
    excluded = (
        f": of {len(known)} ratios about {chance:.0f} would exclude 1 by chance if nothing differed"
    )
    return [
        f"{len(known)} of {len(every)} operations can be compared. {len(more)} cost more in "
        f"{second} than in {first}, {len(less)} cost less, and {same} are not distinguishable.",
        "Each interval holds for its own ratio in 95 of 100 runs"
        f"{excluded if chance >= 0.5 else ''}.",
    ]


COMMAND = "labs survey --compare"
HEADER = ("", "A, ns", "B, ns", "B / A", "95 % interval")
#: The columns that a narrow terminal does without, the first one first.
_FIRST_OUT = (4, 2, 1)

#: The sign after a ratio that may be 1, and what it means.
MAYBE_EQUAL = "≈"
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


def text(first: Saved, second: Saved, width: int | None = None) -> str:
    """The comparison for a terminal of this width (default: the one that is there)."""
    width = width or columns() or survey.COLUMNS
    every = pairs(first, second)
    names = first.name, second.name
    lines = survey.wrapped(_which(first, second), width)
    lines += [*survey.wrapped(MEANING, width), ""]
    for heading, mine in _by_group(every):
        known = [each for each in mine if each.ratio is not None]
        lines.append(heading)
        if known:
            rows = [(each.name, *_with_sign(each)) for each in known]
            lines += survey.table_lines(HEADER, rows, width, _FIRST_OUT)
        for why in _not_compared(mine):
            lines += survey.wrapped(f"not compared: {why}.", width, 2)
        lines.append("")
    together = summary(every, names)
    for sentence in (*_notes(every), *together, *_troubles(first, second)):
        lines += survey.wrapped(sentence, width)
    return "\n".join(lines)


def _which(first: Saved, second: Saved) -> str:
    return f"A is {first.name}, and B is {second.name}."


def _by_group(every: Sequence[Pair]) -> Iterator[tuple[str, list[Pair]]]:
    for heading in dict.fromkeys(each.group for each in every):
        yield heading, [each for each in every if each.group == heading]


def _with_sign(pair: Pair) -> tuple[str, str, str, str]:
    """A and B in ns, their ratio with MAYBE_EQUAL if it may be 1, and its interval."""
    assert pair.ratio is not None
    ratio, interval = _ratio(pair.ratio)
    sign = " " if pair.ratio.side else MAYBE_EQUAL
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
            found.setdefault(why, []).append(each.name)
    return [f"{', '.join(names)}: {why}" for why, names in found.items()]


def _notes(every: Sequence[Pair]) -> list[str]:
    """What holds for some of the pairs, each once."""
    found: dict[str, int] = {}
    for each in every:
        for note in each.notes:
            found[note] = found.get(note, 0) + 1
    return [f"{plural(n, 'operation')}: {note}." for note, n in found.items()]


def _troubles(first: Saved, second: Saved) -> list[str]:
    return [
        f"{saved.name}: {place}: {why}."
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
    facts = [dict(remarks.configuration_of(saved.recordings)) for saved in (first, second)]
    names = list(dict.fromkeys((*facts[0], *facts[1])))
    return whole_page(
        f"{first.name} and {second.name} compared",
        COMMAND,
        _PAGE,
        which=_which(first, second),
        meaning=MEANING,
        sections=[_section(heading, mine) for heading, mine in _by_group(every)],
        sentences=[*summary(every, (first.name, second.name)), *_notes(every)],
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
    """The ratio with its interval, and the sign MAYBE_EQUAL if it is not distinguishable from 1."""
    if of is None:
        return "-"
    ratio, interval = _ratio(of)
    if not interval:
        return ratio
    whole = f"{ratio} ({interval})"
    return f"{whole}{'' if of.side else f' {MAYBE_EQUAL}'}"


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
    figure = rows_drawing(
        [Group("", tuple(rows))], "times", "cost in B / cost in A", f"{heading}: B / A", key,
        log=True,
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
