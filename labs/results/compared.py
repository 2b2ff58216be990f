"""Compare two results, or two differences of results: which is larger, and by what factor.

The rule is in `labs.analysis.compare`. Notebooks, commands and the grader all take their sentences
from this module.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from pathlib import Path

from labs.analysis import compare
from labs.analysis.estimate import Estimate
from labs.common.html import filled
from labs.languages.words import words
from labs.results.conditions_apart import conditions_apart
from labs.results.digits import another_result, rounded_apart
from labs.results.result import Result

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
    second; it and its interval are None if the second result may be zero. `modes` has a sentence
    for each result whose processes fall into two groups, or that is of an earlier run, one for each
    condition that differs between two separate runs, and one if two differences are not of equal
    length, or if the two values alone would give another comparison. `estimate` is the difference
    with `times` 1, for a comparison of two differences.
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
    def told_apart(self) -> bool:
        """The former name of `distinguishable`, which notebooks released earlier still use."""
        return self.distinguishable

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

        Then the ratio decides: see `labs.analysis.compare.separation`.
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
        return "\n".join(map(words, (self.sentence(), *self.modes)))

    def _repr_html_(self) -> str:
        return filled(_COMPARED, lines=[words(each) for each in (self.sentence(), *self.modes)])


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
    notes = tuple(dict.fromkeys(filter(None, (*modes, *apart))))
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
    gap, *gap_interval = compare.difference(one, other, times)
    ratio, ratio_interval = None, None
    if other.low > 0:
        ratio, *between = compare.ratio(one, other)
        ratio_interval = (between[0], between[1])
    side = compare.side(one, other, times)
    found = Comparison(
        *names,
        one.unit,
        gap,
        (gap_interval[0], gap_interval[1]),
        ratio,
        ratio_interval,
        side != 0,
        modes,
        times,
        side,
        compare.difference_of(one, other),
    )
    return replace(found, modes=(*_not_of_the_values(found, one, other), *modes))


def _not_of_the_values(found: Comparison, one: Estimate, other: Estimate) -> tuple[str, ...]:
    """A sentence if the two values alone would give another number than the sentence of `found`.

    Each value comes from the processes of its own result, and a comparison from those that both
    have in common.
    """
    ratio = found.ratio_as_text()
    if found.ratio_interval is not None and ratio is not None and ratio in found.sentence():
        plain, (low, high) = one.value / other.value, found.ratio_interval
        if found.ratio is None or not another_result(plain, found.ratio, low, high):
            return ()
        text = rounded_apart(plain, low, high, found.times)[0]
        return (
            "This ratio is computed process by process, in processes that both have in common; "
            f"the two values alone would give {text}.",
        )
    plain, (low, high) = one.value - found.times * other.value, found.difference_interval
    if not another_result(plain, found.difference, low, high):
        return ()
    text = rounded_apart(plain, low, high, 0.0)[0]
    return (
        "This difference is computed process by process, in processes that both have in common; "
        f"the two values alone would give {text} {found.unit}.",
    )


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
            names = [f"{name} at {flag}" for name, flag in zip(names, flags, strict=True)]
        elif all(saved) and saved[0] != saved[1]:
            names = [f"{name} (run {run})" for name, run in zip(names, saved, strict=True)]
        else:
            names = [f"the first {names[0]}", f"the second {names[1]}"]
    return names[0], names[1]
