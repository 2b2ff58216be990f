"""What is shown of a run besides its figure: its warnings, and one quiet line of conditions.

A warning is shown only where it changes what the reader should do. What comes with nearly every run
on a shared machine is a condition of the run.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from labs.analysis import core_clock
from labs.analysis.kept import core_of
from labs.common import warned
from labs.common.html import filled
from labs.common.units import plural, rounded
from labs.languages.words import of_reader, words
from labs.recording import inherited
from labs.recording.file import Recording
from labs.recording.load import STEAL_SHARE
from labs.results.result import Result
from labs.results.warnings.run_warnings import SPEED_CHANGE, RunWarning

#: What concerns the figure of a variant. A baseline that is shown with the variants that use it is
#: no figure of its own: the intervals of these variants count its uncertainty.
_OF_A_FIGURE = {
    "below-one-cycle",
    "drift",
    "interrupted",
    "not-believable",
    "processes-differ",
    "wide-interval",
}
#: At most so many variants are named for one warning.
_MOST_NAMED = 4
_REMARKS = Path(__file__).with_name("remarks.html.jinja")


@dataclass(frozen=True)
class Remarks:
    """The warnings of a run as sentences, and its conditions: facts about the machine, and quiet
    warnings."""

    warnings: tuple[str, ...]
    facts: tuple[str, ...] = ()
    quiet: tuple[str, ...] = ()

    @property
    def conditions(self) -> str:
        """The conditions as one line in the language of the reader; '' if none are known."""
        shown = of_reader()
        facts = ", ".join(map(shown.heading, self.facts))
        conditions = "; ".join(filter(None, (facts, *map(shown.heading, self.quiet))))
        return (
            words("Conditions: {conditions}.").format(conditions=conditions) if conditions else ""
        )

    def as_lines(self) -> list[str]:
        """Lines of plain text: one for each warning, and one for the conditions."""
        return [*warned.as_lines(self.warnings), *filter(None, (self.conditions,))]

    def as_html(self) -> str:
        """A box of warnings, and the conditions as a quiet paragraph."""
        conditions = filled(_REMARKS, conditions=self.conditions) if self.conditions else ""
        return warned.as_html(self.warnings) + conditions


def of_results(results: Sequence[Result]) -> Remarks:
    """The remarks on these results, of one run or of several."""
    loud: dict[tuple[str, str], list[tuple[str, RunWarning]]] = {}
    quiet: dict[str, list[tuple[str, RunWarning]]] = {}
    baselines = _baselines_shown(results)
    for result in results:
        for each in result.warnings:
            if each.code in _OF_A_FIGURE and result.variant in baselines:
                continue
            if each.quiet or (each.code == "clock-speed" and result.unit == "cycles"):
                if each.in_brief:
                    quiet.setdefault(each.code, []).append((result.variant, each))
                continue
            loud.setdefault((each.code, each.likely_cause), []).append((result.variant, each))
    recordings = {id(result.recording): result.recording for result in results}
    return Remarks(
        tuple(map(_loudly, loud.values())),
        tuple(_facts(recordings.values())) + _shared(results),
        tuple(map(_briefly, quiet.values())),
    )


def _shared(results: Sequence[Result]) -> tuple[str, ...]:
    """How wide the core was if something else used it all the time; nothing otherwise."""
    for result in results:
        core = core_of(result.recording)
        if core is None or result.line is None or not result.line.shared:
            continue
        additions, stores = rounded(core.additions, 2), rounded(core.stores or 0.0, 2)
        return (
            f"core shared nearly all the time (at best {additions} additions and {stores} stores "
            "per cycle), and a whole core would give these values or less",
        )
    return ()


def _loudly(cases: Sequence[tuple[str, RunWarning]]) -> str:
    """One warning for all variants that earn it, with the numbers of the first."""
    same = [name for name, each in cases if f"{each}" == f"{cases[0][1]}"]
    others = [name for name, each in cases if f"{each}" != f"{cases[0][1]}"]
    also = f" The same kind of warning: {_listed(others)}." if others else ""
    return f"{_listed(same)}: {cases[0][1]}{also}"


def _briefly(cases: Sequence[tuple[str, RunWarning]]) -> str:
    """One condition for all variants that it concerns."""
    name, first = cases[0]
    if all(each.in_brief == first.in_brief for _, each in cases):
        return first.in_brief if len(cases) > 1 else f"{name}: {first.in_brief}"
    also = _listed([name for name, _ in cases[1:]])
    return f"{name}: {first.in_brief}, similarly {also}"


def _listed(names: Sequence[str]) -> str:
    """'a, b and c', each name once, and no more names than a reader takes in."""
    once = list(dict.fromkeys(names))
    if len(once) > _MOST_NAMED + 1:
        once = [*once[:_MOST_NAMED], f"{len(once) - _MOST_NAMED} more"]
    return " and ".join(filter(None, (", ".join(once[:-1]), once[-1])))


def _baselines_shown(results: Sequence[Result]) -> set[str]:
    """The variants that nobody asked for, and that another variant of these results subtracts."""
    shown = set()
    for result in results:
        recording = result.recording
        asked = recording.conditions.get("variants", "").split(",")
        stated = recording.condition(f"variant.{result.variant}.baseline")
        shown |= {name for name in stated if name not in asked}
    return shown


def _facts(recordings: Iterable[Recording]) -> list[str]:
    """What is known of the machine during these runs, from the least to the most that was seen."""
    every = list(recordings)
    found = []
    if any(each.conditions.get("machine.virtual") == "True" for each in every):
        found.append("virtual machine")
    found += _busy(every)
    speeds = [each for each in map(core_clock.speeds_ghz, every) if each is not None]
    if speeds:
        low, high = min(low for low, _ in speeds), max(high for _, high in speeds)
        moved = high > (1 + SPEED_CHANGE) * low
        clock = (
            f"{low:.1f} to {high:.1f}"
            if moved and f"{low:.1f}" != f"{high:.1f}"
            else (f"{(low + high) / 2:.1f}")
        )
        found.append(f"CPU clock {clock} GHz")
    steal = max((each.number("steal.share") or 0.0 for each in every), default=0.0)
    if steal > STEAL_SHARE:
        found.append(f"the hypervisor took {rounded(100 * steal, 2)} % of the CPU time")
    return list(dict.fromkeys([*found, *(text for each in every for text in _inherited(each))]))


def _inherited(recording: Recording) -> list[str]:
    """What the run inherited that is not usual."""
    found = [
        f"scheduled as {policy}"
        for policy in inherited.policies(recording)
        if policy != inherited.USUAL_POLICY
    ]
    found += [f"nice value {nice}" for nice in inherited.nice_values(recording) if nice != "0"]
    found += [
        f"{libraries} loaded before the C library (by {variable})"
        for variable, libraries in inherited.preloaded(recording).items()
    ]
    if inherited.is_filtered(recording):
        found.append("a filter of system calls (seccomp) is set")
    quota, stopped = recording.number("cpu.quota"), recording.number("cpu.throttled_s")
    if quota is not None:
        found.append(f"a quota limits the CPU time to that of {plural(quota, 'CPU')}")
    if stopped:
        found.append(f"the OS stopped programs for {rounded(stopped, 2)} s by this quota")
    return found


def _busy(recordings: Sequence[Recording]) -> list[str]:
    """How many CPUs were busy; more than all of them is a slip of the OS's bookkeeping."""
    known = [
        (min(busy, online), online)
        for each in recordings
        if (busy := each.number("cpus.busy")) is not None and (online := each.number("cpus.online"))
    ]
    if not known:
        return []
    texts = sorted({rounded(round(busy, 1)) for busy, _ in known}, key=float)
    number_1, number_2 = texts[0], texts[-1]
    number_3 = f"{max(online for _, online in known):.0f}"
    if number_1 == number_2:
        return [f"{number_1} of {number_3} CPUs busy"]
    return [f"{number_1} to {number_2} of {number_3} CPUs busy"]
