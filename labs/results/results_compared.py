"""Compare two results or more: which is larger, by what factor, and what else may explain it.

The rule is in `labs.analysis.confidence`. Notebooks, commands and the grader all take their
sentences from here.
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from labs.analysis import confidence, cpu_core
from labs.analysis.confidence import Estimate
from labs.analysis.thresholds import SURE
from labs.html import filled
from labs.messages import Option, advice
from labs.recording import declared
from labs.recording.file import BadRecording, Recording, read
from labs.results.remarks import conditions_apart, listed, of_results
from labs.results.result import Result, result_of, sensible, with_ends
from labs.results.warning_thresholds import LEAST_DISAGREEMENT, SPREAD_S, SURELY, VISIBLE
from labs.units import rounded, rounded_apart

#: A variant whose name ends with a count.
_COUNTED = re.compile(r"(\D+)(\d+)")

_COMPARED = Path(__file__).with_name("compared.html.jinja")

Interval = tuple[float, float]


@dataclass(frozen=True, repr=False)
class Comparison:
    """How the result `first` compares with `times` the result `second`; differences are in `unit`.

    `difference` is the first minus `times` the second. `distinguishable` says whether its interval
    excludes 0 and the interval of the ratio excludes `times`; `side` is then 1 if the first is the
    larger one and -1 if it is the smaller one, else 0. `ratio` is the first divided by the
    second; it and its interval are None if the second may be zero or the first is not above it.
    `modes` has a sentence for each result whose processes fall into two groups, or that is of an
    earlier run, one for each condition that differs between two separate runs, and one if two
    differences are not of equal length, or if the two values alone would give another comparison.
    `estimate` is the difference with `times` 1, for a comparison of two differences.
    """

    first: str
    second: str
    unit: str
    difference: float
    difference_interval: Interval
    ratio: float | None
    ratio_interval: Interval | None
    distinguishable: bool
    modes: tuple[str, ...] = ()
    times: float = 1.0
    side: int = 0
    estimate: Estimate | None = field(default=None, compare=False)

    @property
    def of_programs(self) -> bool:
        """Whether it is of two programs that took turns: with intervals of 99.8 %, not 95."""
        by = self.estimate.by_process if self.estimate is not None else None
        return by is not None and by.programs

    def sentence(self) -> str:
        """The comparison in one plain sentence."""
        ratio, gap = self.ratio_as_text(), self.difference_as_text()
        if self.times != 1:
            return self._sentence_about_a_share(ratio, gap)
        if not self.distinguishable:
            return f"{self.first} and {self.second} are not distinguishable: {self._shown(ratio)}."
        if ratio is not None:
            return f"{self.first} is {ratio} times {self.second}."
        more = "more" if self.difference > 0 else "less"
        return f"{self.first} takes {gap} {more} than {self.second}."

    def _sentence_about_a_share(self, ratio: str | None, gap: str) -> str:
        """The sentence if the second result counts `times`, which is not 1."""
        multiple = f"{self.times:g} times {self.second}"
        if not self.distinguishable:
            return f"{self.first} and {multiple} are not distinguishable: {self._shown(ratio)}."
        side = "more" if self.side > 0 else "less"
        shown = f"the difference is {gap}" if ratio is None else f"the ratio is {ratio}"
        return f"{self.first} is {side} than {multiple}: {shown}."

    def _shown(self, ratio: str | None) -> str:
        """The difference or the ratio: the one whose interval shows that it may be chance."""
        low, high = self.difference_interval
        if ratio is None or low <= 0 <= high:
            return f"the difference is {self.difference_as_text()}"
        return f"the ratio is {ratio}"

    def doubt(self) -> str:
        """Why the two are not distinguishable although the difference's interval excludes 0; or ''.

        Then the ratio decides: see `labs.analysis.confidence.separation`.
        """
        low, high = self.difference_interval
        if self.distinguishable or low <= 0 <= high:
            return ""
        ratio = self.ratio_as_text()
        if ratio is None or self.ratio_interval is None:
            return "their ratio is too uncertain"
        low, high = self.ratio_interval
        return f"their ratio is {ratio}" if low <= self.times <= high else "their ratio may be 1"

    def as_json(self) -> dict[str, object]:
        """The entry `ratio` of `labs measure --json`."""
        return {
            "to": self.second,
            "value": self.ratio,
            "interval": list(self.ratio_interval) if self.ratio_interval else None,
            "told_apart": self.distinguishable,
            "difference": self.difference,
            "difference_interval": list(self.difference_interval),
        }

    def ratio_as_text(self) -> str | None:
        """'1.43 (1.42 to 1.44)'; None if it would contradict the difference."""
        if self.ratio is None or self.ratio_interval is None:
            return None
        low, high = self.ratio_interval
        if self.distinguishable and low <= self.times <= high:
            return None
        value, low_text, high_text = rounded_apart(self.ratio, low, high, self.times)
        return f"{value} ({low_text} to {high_text})"

    def difference_as_text(self) -> str:
        """'0.25 cycles (0.21 to 0.29)', without its sign if the two are distinguishable."""
        value, (low, high) = self.difference, self.difference_interval
        if self.distinguishable and value < 0:
            value, low, high = -value, -high, -low
        texts = rounded_apart(value, low, high, 0.0)
        return f"{texts[0]} {self.unit} ({texts[1]} to {texts[2]})"

    def __repr__(self) -> str:
        return "\n".join((self.sentence(), *self.modes))

    def _repr_html_(self) -> str:
        return filled(_COMPARED, lines=(self.sentence(), *self.modes))


def compared(
    first: Result,
    second: Result,
    times: float = 1.0,
    saved: tuple[str, str] = ("", ""),
    files: tuple[str, str] = ("", ""),
) -> Comparison:
    """How `first` compares with `times` the `second`.

    `saved` has the name of the recording of each, and `files` that of its C, if these say which is
    which; '' stands for none. Raises ValueError if one of them has no figure, or if their units
    differ.
    """
    for each in (first, second):
        if each.estimate is None:
            raise ValueError(f"{each.recording.kernel} {each.variant}: {each.why_unnamed}")
    if first.unit != second.unit:
        raise ValueError(f"one result is in {first.unit} and the other in {second.unit}")
    assert first.estimate is not None and second.estimate is not None  # checked above
    one, other = first.estimate, second.estimate
    names = names_of(first, second, saved, files)
    modes = (each.modes(name) for name, each in zip(names, (first, second), strict=True))
    apart = conditions_apart(first.recording, second.recording)
    notes = tuple(dict.fromkeys(filter(None, (*_with_a_baseline(first, second), *modes, *apart))))
    return _comparison(names, one, other, times, notes)


def of_estimates(one: tuple[str, Estimate], other: tuple[str, Estimate]) -> Comparison:
    """How one estimate compares with the other; each has its name. They must be in one unit."""
    return _comparison((one[0], other[0]), one[1], other[1], 1.0, ())


def differences_compared(first: Comparison, second: Comparison, times: float = 1.0) -> Comparison:
    """How the difference that `first` shows compares with `times` that of the `second`.

    Raises ValueError if their units differ, or if one of them is a comparison with a share.
    """
    one, other = first.estimate, second.estimate
    if one is None or other is None or {first.times, second.times} != {1.0}:
        raise ValueError("only plain differences can be compared, without times=")
    if one.unit != other.unit:
        raise ValueError(f"one difference is in {one.unit} and the other in {other.unit}")
    names = tuple(f"({each.first} - {each.second})" for each in (first, second))
    unequal = _unequal_steps(first, second) if times == 1 else ()
    notes = tuple(dict.fromkeys((*first.modes, *second.modes, *unequal)))
    return _comparison((names[0], names[1]), one, other, times, notes)


def _unequal_steps(first: Comparison, second: Comparison) -> tuple[str, ...]:
    """A sentence if all four variants are counted, as in `args6`, and one difference has more."""
    counted = [_COUNTED.fullmatch(n) for each in (first, second) for n in (each.first, each.second)]
    found = [each.groups() for each in counted if each is not None]
    if len(found) < len(counted) or len({stem for stem, _ in found}) > 1:
        return ()
    to, start, other_to, other_start = (int(number) for _, number in found)
    if to - start == other_to - other_start:
        return ()
    return (
        f"These two differences are not of equal length: from {first.second} to {first.first} "
        f"the number rises by {to - start}, and from {second.second} to {second.first} by "
        f"{other_to - other_start}.",
    )


def _comparison(
    names: tuple[str, str], one: Estimate, other: Estimate, times: float, modes: tuple[str, ...]
) -> Comparison:
    gap, low, high = confidence.difference(one, other, times)
    ratio, between = None, None
    if other.low > 0 and one.value > 0:
        ratio, *ends = confidence.ratio(one, other)
        between = ends[0], ends[1]
    side, plain = confidence.side(one, other, times), confidence.difference_of(one, other)
    found = Comparison(
        *names, one.unit, gap, (low, high), ratio, between, side != 0, modes, times, side, plain
    )
    notes = *_on_a_shared_core(found, one, other), *_not_of_the_values(found, one, other)
    return replace(found, modes=(*notes, *modes))


def another_result(plain: float, value: float, low: float, high: float) -> bool:
    """Whether `plain`, calculated from printed numbers, is visibly not `value` (`low`, `high`)."""
    return not low <= plain <= high and abs(plain - value) >= VISIBLE * abs(value)


def _with_a_baseline(first: Result, second: Result) -> Iterator[str]:
    """That two variants of a run on a shared core may differ by what it did to a baseline."""
    both = first, second
    shared = all(each.line is not None and each.line.shared for each in both)
    subtracts = first.has_baseline or second.has_baseline
    if first.recording is second.recording and shared and subtracts:
        yield (
            "Something else used the core nearly all the time: without it, the baseline and so "
            "this comparison may be others."
        )


def _on_a_shared_core(found: Comparison, one: Estimate, other: Estimate) -> Iterator[str]:
    """Why an interval reaches further than those of the two values: one may take less."""
    if found.estimate is not None and found.estimate.by_process is not None:
        return
    for name, each in ((found.first, one), (found.second, other)):
        if each.at_most and each.low > 0:
            least = rounded(confidence.lowest(each), 2)
            yield (
                f"Something else used the core while {name} was measured: without it, {name} may "
                f"take as little as {least} {each.unit}."
            )


def _not_of_the_values(found: Comparison, one: Estimate, other: Estimate) -> tuple[str, ...]:
    """A sentence if the two values alone would give another number than the sentence of `found`.

    Each value comes from the processes of its own result, and a comparison from those that both
    have in common; of two programs, also from those on a shared core.
    """
    ratio = found.ratio_as_text()
    what, plain, value = "difference", one.value - found.times * other.value, found.difference
    excluded, unit, (low, high) = 0.0, f" {found.unit}", found.difference_interval
    if found.ratio_interval is not None and ratio is not None and ratio in found.sentence():
        what, plain, value = "ratio", one.value / other.value, found.ratio or 0.0
        excluded, unit, (low, high) = found.times, "", found.ratio_interval
    if not another_result(plain, value, low, high):
        return ()
    text = rounded_apart(plain, low, high, excluded)[0]
    how = (
        "the median of all pairs of processes, also those on a shared core"
        if found.of_programs
        else "computed process by process, in processes that both have in common"
    )
    return (f"This {what} is {how}; the two values alone would give {text}{unit}.",)


def names_of(
    first: Result, second: Result, saved: tuple[str, str], files: tuple[str, str]
) -> tuple[str, str]:
    """The shortest names that distinguish the two results; `saved`, `files`: see `compared`."""
    both = (first, second)
    names = [each.variant for each in both]
    if first.recording.kernel != second.recording.kernel:
        names = [f"{each.recording.kernel} {each.variant}" for each in both]
    elif all(files) and files[0] != files[1]:  # two sources that call themselves the same
        names = [f"{file} {name}" for name, file in zip(names, files, strict=True)]
    if names[0] == names[1]:
        flags = [each.recording.conditions.get("flags", "unknown flags") for each in both]
        if flags[0] != flags[1]:
            own = _words_apart(*flags) or flags
            names = [f"{name} at {flag}" for name, flag in zip(names, own, strict=True)]
        elif all(saved) and saved[0] != saved[1]:
            names = [f"{name} (run {run})" for name, run in zip(names, saved, strict=True)]
        else:
            names = [f"the first {names[0]}", f"the second {names[1]}"]
    return names[0], names[1]


def _words_apart(one: str, other: str) -> list[str]:
    """The words that only the one has, and only the other; [] where one of them has none."""
    both = one.split(), other.split()
    own = [" ".join(w for w in mine if w not in its) for mine, its in (both, both[::-1])]
    return own if all(own) else []


# Figures and their comparison in full, with ratio and difference: as sentences, CSV, Markdown and
# JSON. `labs.commands.outputs` names these functions.

#: Below "No difference seen", groups of processes would else read like a difference.
_OF_THE_MEAN = "The limit is for the mean of the processes, not for each of them."
_HEADER = ("what", "value", "low", "high", "unit")
#: The level of an interval of programs that take turns, in percent.
_SURE = f"{100 * SURE:g}"


def in_sentences(found: Comparison) -> tuple[str, ...]:
    """Two sentences if the two differ; else one that says how large the difference is at most.

    `found` compares with the whole second result: its `times` is 1.
    """
    if not found.distinguishable:
        return (_not_seen(found), *found.modes, *([_OF_THE_MEAN] if found.modes else []))
    more = "more" if found.difference > 0 else "less"
    # Their values, which are shown too, have 95 % intervals.
    level = f" (both with {_SURE} % intervals)" if found.of_programs else ""
    gap = f"{found.first} takes {found.difference_as_text()} {more} than {found.second}{level}."
    return tuple(dict.fromkeys((found.sentence(), gap, *found.modes)))


def _not_seen(found: Comparison) -> str:
    """The ends of both intervals say how large a difference was missed at most."""
    most = f"{_rounded_up(max(map(abs, found.difference_interval)))} {found.unit}"
    if found.ratio_interval is not None:
        share = max(abs(end - 1) for end in found.ratio_interval)
        most += f", or {_rounded_up(100 * share)} % of {found.second}"
    sure = _SURE if found.of_programs else "95"
    return (
        f"No difference seen between {found.first} and {found.second}: at most {most} "
        f"(by the {sure} % interval)."
    )


def _rounded_up(value: float) -> str:
    """Two digits of a number that is not negative, and never less than the number."""
    if not (math.isfinite(value) and value > 0):
        return f"{value:g}"
    step = 10.0 ** (math.floor(math.log10(value)) - 1)
    # The quotient of a number that has two digits may be off by the last bit.
    return rounded(math.ceil(value / step - 1e-9) * step, 2)


def sentences_with_first(results: Sequence[Result]) -> list[str]:
    """What the comparisons with the first result say, each sentence once."""
    known = filter(None, with_first(results))
    return list(dict.fromkeys(text for each in known for text in (each.sentence(), *each.modes)))


def with_first(results: Sequence[Result]) -> list[Comparison | None]:
    """How each further result compares with the first; None if one of the two has no figure."""
    return [
        compared(each, results[0]) if each.estimate and results[0].estimate else None
        for each in results[1:]
    ]


def beside_a_table(results: Sequence[Result]) -> list[str]:
    """What a table of the figures leaves out: why there is no figure, and the warnings."""
    without = [each.sentence() for each in results if each.estimate is None]
    return [*without, *of_results(results).warnings]


def as_csv(results: Sequence[Result], saved: object = None, found: Comparison | None = None) -> str:
    """One row for each figure, with all digits; if two are compared, their ratio and difference."""
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(_HEADER)
    for name, each in _named(results, found):
        figure = each.estimate
        ends = (figure.value, figure.low, figure.high) if figure is not None else ("", "", "")
        rows.writerow((name, *ends, each.unit))
    if found is not None:
        if found.ratio is not None and found.ratio_interval is not None:
            rows.writerow(("ratio", found.ratio, *found.ratio_interval, ""))
        rows.writerow(("difference", found.difference, *found.difference_interval, found.unit))
    return text.getvalue().rstrip("\n")


def as_markdown(
    results: Sequence[Result], saved: object = None, found: Comparison | None = None
) -> str:
    """The figures as a table in Markdown, and below it the sentences that compare them."""
    unit = "".join(each.unit for each in results[:1])
    lines = [f"| | {unit} | 95 % interval |", "|---|---:|---:|"]
    for name, each in _named(results, found):
        value, *ends = sensible(each.estimate) if each.estimate is not None else ("no figure",)
        lines.append(f"| {_cell(name)} | {value} | {' to '.join(ends)} |")
    told = in_sentences(found) if found else sentences_with_first(results)
    return "\n".join([*lines, "", *map(_cell, told)]).rstrip("\n")


def _named(results: Sequence[Result], found: Comparison | None) -> Iterator[tuple[str, Result]]:
    names = (found.first, found.second) if found else [each.variant for each in results]
    return zip(names, results, strict=True)


def _cell(text: str) -> str:
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;")


def as_json(
    results: Sequence[Result], saved: Sequence[str], found: Comparison
) -> dict[str, object]:
    """Both results as `labs measure --json` has them, and how they compare."""
    first, second = results[0].as_json(*saved[:1]), results[1].as_json(*saved[-1:])
    return {"first": first, "second": second, "ratio": found.as_json()}


# Two runs at different clock speeds of the core: does a difference in time remain in cycles?
#
# A processor changes its clock speed with temperature and load. Then each operation takes another
# time, though nothing else has changed. Within one run all variants meet the same speeds.

#: What two estimates show, as a number: a side, or a conclusion.
Shows = Callable[[tuple[Estimate, Estimate]], int]


def compared_at_one_clock(
    first: Result,
    second: Result,
    times: float = 1.0,
    saved: tuple[str, str] = ("", ""),
    files: tuple[str, str] = ("", ""),
) -> Comparison:
    """As `compared`, but in core cycles if the clock speed alone may explain the difference.

    Then the two are not distinguishable, and a sentence states both speeds. If it explains only a
    part of the difference, a sentence gives the ratio in core cycles. Raises as `compared`.
    """
    found = compared(first, second, times, saved, files)

    def side(pair: tuple[Estimate, Estimate]) -> int:
        return confidence.side(*pair, times)

    speeds = speeds_ghz(first, second)
    if speeds is None or not found.side:
        return found
    in_cycles = _in_cycles(first), _in_cycles(second)
    if not may_be_the_clock(first, second, side):
        return replace(found, modes=(*_partly_the_clock(found, in_cycles, speeds), *found.modes))
    cycles = compared(*in_cycles, times, saved, files)
    note = _note(found, speeds)
    # A comparison of two differences needs all of them in the unit of the runs.
    return replace(
        cycles, distinguishable=False, side=0, modes=(note, *cycles.modes), estimate=found.estimate
    )


def may_be_the_clock(first: Result, second: Result, shows: Shows) -> bool:
    """Whether what two separate runs show in time disappears at one clock speed and in core cycles.

    The first condition is needed because an interval in core cycles may be wide for other reasons.
    """
    speeds, one, other = speeds_ghz(first, second), first.estimate, second.estimate
    if speeds is None or one is None or other is None:
        return False
    in_time = shows((one, other))
    if shows((one.times(speeds[0] / speeds[1]), other)) == in_time:
        return False
    cycles = _in_cycles(first).estimate, _in_cycles(second).estimate
    return cycles[0] is None or cycles[1] is None or shows((cycles[0], cycles[1])) != in_time


def speeds_ghz(first: Result, second: Result) -> tuple[float, float] | None:
    """The mean clock speed of the core in each of two separate runs on one machine, in GHz.

    None if one speed is not known, or if the two are compared in core cycles, are of one run, or
    are of two machines: there, the clock speed is part of the answer.
    """
    one, other = first.recording, second.recording
    if "cycles" in (first.unit, second.unit) or one.samples_sha256 == other.samples_sha256:
        return None
    if one.conditions.get("machine.cpu") != other.conditions.get("machine.cpu"):
        return None
    if None in (first.clock.core_cycle_ticks, second.clock.core_cycle_ticks):
        return None
    speeds = cpu_core.mean_speed_ghz(one), cpu_core.mean_speed_ghz(other)
    return None if speeds[0] is None or speeds[1] is None else (speeds[0], speeds[1])


def _in_cycles(result: Result) -> Result:
    return result_of(result.recording, result.variant, "cycles")


def _partly_the_clock(
    found: Comparison, in_cycles: tuple[Result, Result], speeds: tuple[float, float]
) -> tuple[str, ...]:
    """A sentence if the two differ in core cycles too, but by visibly another ratio."""
    if found.ratio_interval is None or any(each.estimate is None for each in in_cycles):
        return ()
    cycles = compared(*in_cycles, found.times)
    ratio = cycles.ratio_as_text()
    if ratio is None or cycles.ratio is None or found.ratio is None:
        return ()
    if not another_result(cycles.ratio, found.ratio, *found.ratio_interval):
        return ()
    return (f"{_but_the_core_ran(speeds)}: in core cycles the ratio is {ratio}.",)


def _note(found: Comparison, speeds: tuple[float, float]) -> str:
    """What the runs show in time, and why this may be no difference of the operations."""
    more = "more" if found.side > 0 else "less"
    return (
        f"This compares core cycles. By time, {found.first} takes {found.difference_as_text()} "
        f"{more}. {_but_the_core_ran(speeds)}: this may be the only cause."
    )


def _but_the_core_ran(speeds: tuple[float, float]) -> str:
    one, other = (f"{each:.3g}" for each in speeds)
    return f"But the core ran at {one} GHz in the first run and at {other} GHz in the second"


# Which of several estimates is the lowest, and which the highest.
#
# If the lowest one is not distinguishable from others, chance may have made it the lowest. Then no
# name is given for it, but "not distinguishable".

Named = tuple[str, Estimate]


def extreme(known: Sequence[Named], side: int) -> tuple[Named, tuple[str, ...]]:
    """The highest estimate (`side` 1) or the lowest one (-1), and the names of those not
    distinguishable from it."""
    name, end = max(known, key=lambda each: side * each[1].value)
    near = (n for n, e in known if n != name and side * confidence.side(e, end) >= 0)
    return (name, end), tuple(near)


def doubt(of: str, value: str, name: str, near: Sequence[str]) -> str:
    """The sentence that it is not distinguishable which one is `of` ("the cheapest").

    `name` has the lowest or highest value, and is not distinguishable from those of `near`.
    """
    return (
        f"Which one is {of} is not distinguishable: the difference between {name} ({value}) and "
        f"{listed(near, 'or')} may be chance."
    )


# Does a run agree with the one before it, which was saved under the same name?
#
# An interval shows what differs within its own run. What differs from run to run, such as the state
# of the caches or of the OS kernel, is in no interval (`python -m bench repeat`). So the kit
# compares a run with the earlier one whose place it takes, and reports if both cannot be true.

#: What must be the same in two runs, so that they measure the same thing.
SAME_IN_BOTH = (
    "source.sha256", "flags", "compiler", "machine.cpu", "machine.virtual", "variants", "batch",
    "warmup", "cpu.asked",
)  # fmt: skip
_PEER = re.compile(r"--peer-cpu\W(\d+)")


def saved_at(path: Path) -> Recording | None:
    """The recording that is saved at `path`; None if there is none that can be read."""
    try:
        return read(path)
    except (BadRecording, OSError):
        return None


def disagreements(before: Recording, results: Sequence[Result]) -> tuple[str, ...]:
    """A sentence for each of the `results` of a run that contradicts the run `before` it.

    None for a result without a figure, or if the earlier run measured something else.
    """
    return tuple(filter(None, (_disagreement(before, each) for each in results)))


def _disagreement(before: Recording, result: Result) -> str:
    now, name = result.recording, result.variant
    if name not in before.variants or before.kernel != now.kernel or not _same(before, now):
        return ""
    # At another clock speed of the core, a call takes another time, and memory other core cycles.
    if not all(_contradict(now, before, name, unit) for unit in _units(now, before, name)):
        return ""
    return advice(
        "{variant}: this run and the one before, saved under the same name, contradict each other: "
        "{now} now, {before} before. Something that changes from run to run is in neither "
        "interval. State both figures, or spread one run over more time ({spread}).",
        variant=name,
        now=_text(result),
        before=_text(result_of(before, name, result.unit)),
        spread=Option("spread", SPREAD_S),
    ).worded(python=result.python)


def _same(before: Recording, now: Recording) -> bool:
    peers = [_PEER.findall(each.conditions.get("command", "")) for each in (before, now)]
    return peers[0] == peers[1] and all(
        before.condition(key) == now.condition(key) for key in SAME_IN_BOTH
    )


def _units(now: Recording, before: Recording, variant: str) -> tuple[str, ...]:
    """Time, and core cycles if their length is known in both runs.

    First times have no core cycles: at a first time, the core mostly waits for memory or the OS.
    """
    known = all(each.clock(variant).core_cycle_ticks is not None for each in (now, before))
    return ("ns", "cycles") if known and not declared.is_first_time(now, variant) else ("ns",)


def _contradict(now: Recording, before: Recording, variant: str, unit: str) -> bool:
    one, other = (result_of(each, variant, unit).estimate for each in (now, before))
    if (
        one is None
        or other is None
        or abs(one.value - other.value) < LEAST_DISAGREEMENT * abs(other.value)
    ):
        return False
    return abs(confidence.separation(one, other)) >= SURELY


def _text(result: Result) -> str:
    assert result.estimate is not None  # the caller has checked this
    return with_ends(result.estimate, result.unit)
