"""Compare two saved surveys, operation by operation: the ratio with its interval, or why none."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from labs.recording import declared, places, proof
from labs.recording.declared import Estimand, Placement
from labs.results.compared import Comparison, compared
from labs.results.result import Result, result_of
from labs.survey import groups
from labs.survey.saved import Operation, Saved

#: The share of ratios that exclude 1 by chance if nothing differs: that is what 95 % means.
BY_CHANCE = 0.05


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
        return groups.group_of(self.operation[0])

    @property
    def name(self) -> str:
        """Its name in the group."""
        return groups.name_of(*self.operation)


def pairs(first: Saved, second: Saved) -> list[Pair]:
    """Every operation of either survey, in groups in the order of the page."""
    found = list(dict.fromkeys((*first.results, *second.results)))
    order = groups.in_order(groups.group_of(kernel) for kernel, _, _ in found)
    kernels = [kernel for _, some in groups.GROUPS for kernel in some]
    place = {kernel: number for number, kernel in enumerate(kernels)}
    found.sort(
        key=lambda each: (order.index(groups.group_of(each[0])), place.get(each[0], 0), each[2])
    )
    return [_pair(each, first, second) for each in found]


def _pair(operation: Operation, first: Saved, second: Saved) -> Pair:
    one, other = first.results.get(operation), second.results.get(operation)
    if one is None or other is None:
        missing = first if one is None else second
        return Pair(operation, one, other, why_not=f"not measured in {missing.name}")
    why_not = next(_differences(one, other, (first.name, second.name)), "")
    if why_not:
        return Pair(operation, one, other, why_not=why_not)
    ratio = compared(other, one)
    if ratio.ratio is None:
        why_not = f"no ratio: the interval of {first.name} includes 0"
        return Pair(operation, one, other, why_not=why_not)
    in_cycles, why_no_cycles = _in_cycles(one, other, (first.name, second.name))
    return Pair(operation, one, other, ratio, "", in_cycles, why_no_cycles, _notes(one, other))


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
    if places.why_unbound(result.recording):
        return "tasks not bound to a CPU"
    return _PLACEMENTS[declared.placement(result.recording, result.variant)]


def _switched(result: Result) -> str:
    """Whether the OS counted the switches that are claimed."""
    seen = proof.of_variant(result.recording, result.variant)
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


def _notes(one: Result, other: Result) -> tuple[str, ...]:
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
    chance = BY_CHANCE * len(known)
    first, second = names
    found = [
        f"{len(known)} of {len(every)} operations can be compared. {len(more)} cost more in "
        f"{second} than in {first}, {len(less)} cost less, and {same} are not distinguishable."
    ]
    found.append(
        f"Each interval holds for its own ratio in 95 of 100 runs: of {len(known)} ratios about "
        f"{chance:.0f} would exclude 1 by chance if nothing differed."
        if chance >= 0.5
        else "Each interval holds for its own ratio in 95 of 100 runs."
    )
    return found
