"""What is shown of a run besides its figure: warnings, conditions, configuration, evidence.

A warning is shown only where it changes what the reader should do. What comes with nearly every run
on a shared machine is a condition of the run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from labs import html
from labs.analysis import cpu_core
from labs.analysis.cpu_core import core_of
from labs.html import filled, in_columns
from labs.recording import counts, run_conditions
from labs.recording.file import Recording
from labs.recording.run_conditions import STEAL_SHARE
from labs.results.result import Result, sensible
from labs.results.run_warnings import OF_A_FIGURE, RunWarning
from labs.results.warning_thresholds import SPEED_CHANGE
from labs.units import fixed, plural, rounded

#: At most so many variants are named in one sentence.
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
        """The conditions as one line; '' if none are known."""
        facts = ", ".join(self.facts)
        conditions = "; ".join(filter(None, (facts, *self.quiet)))
        return f"Conditions: {conditions}." if conditions else ""

    def as_lines(self) -> list[str]:
        """Lines of plain text: one for each warning, and one for the conditions."""
        return [*html.warnings_as_lines(self.warnings), *filter(None, (self.conditions,))]

    def as_html(self) -> str:
        """A box of warnings, and the conditions as a quiet paragraph."""
        conditions = filled(_REMARKS, conditions=self.conditions) if self.conditions else ""
        return html.warnings_as_html(self.warnings) + conditions


def of_results(results: Sequence[Result], names: Sequence[str] = ()) -> Remarks:
    """The remarks on these results, of one run or of several; `names` are in place of variants."""
    loud: dict[tuple[str, str], list[tuple[str, RunWarning]]] = {}
    shown = names or [each.variant for each in results]
    quiet: dict[str, list[tuple[str, RunWarning]]] = {}
    baselines = _baselines_shown(results)
    for name, result in zip(shown, results, strict=True):
        for each in result.warnings:
            if each.code in OF_A_FIGURE and result.variant in baselines:
                continue
            if each not in result.loud:
                if each.in_brief:
                    quiet.setdefault(each.code, []).append((name, each))
                continue
            loud.setdefault((each.code, each.likely_cause), []).append((name, each))
    for (code, _), cases in loud.items():
        # If it is told of two variants and not of two others, they seem to differ.
        cases += quiet.pop(code, [])
        cases.sort(key=lambda case: list(shown).index(case[0]))
    recordings = {id(result.recording): result.recording for result in results}
    return Remarks(
        tuple(_loudly(cases, shown) for cases in loud.values()),
        tuple(_facts(recordings.values())) + shared(results),
        tuple(map(_briefly, quiet.values())),
    )


def in_lines(
    results: Sequence[Result],
    saved: Sequence[str] = (),
    names: Sequence[str] = (),
    width: int | None = None,
) -> list[str]:
    """The results of a run for a terminal of this width: the values, and what they rest on.

    `saved` are the files of the run; `names` are in place of the C kernel with its variant. Quiet
    warnings are left out: they need no action, and the page of the run has them.
    """
    seen = of_results(results, names if len(results) > 1 else ())
    conditions = [("conditions", ", ".join(seen.facts))] if seen.facts else []
    conditions += [("recording", path) for path in saved]
    if len(results) == 1:
        (result,) = results
        name = "".join(names) or f"{result.recording.kernel} {result.variant}"
        value = f"{result.what} {_value(result)}" if result.estimate else _value(result)
        rests = [*_rests_on(result), *conditions]
        below = in_columns([(f"  {what}:", text) for what, text in rests], (), width)
        lines = [f"{name}: {value}", *below]
    else:
        named = names or [each.variant for each in results]
        kernels = {each.recording.kernel for each in results}
        rows = [("".join(kernels) if len(kernels) == 1 else "", *_COLUMNS)]
        rows += [(n, *_in_a_row(each)) for n, each in zip(named, results, strict=True)]
        lines = in_columns(rows, (), width)
        lines += [f"  {what}: {text}" for what, text in conditions]
    told = " ".join(seen.warnings)
    lines += [f"  {e.variant}: {e.why_unnamed}." for e in results if e.why_unnamed not in told]
    return [*lines, *(f"  {line}" for line in html.warnings_as_lines(seen.warnings))]


_COLUMNS = ("value", "95 % interval", "samples")


def _value(result: Result) -> str:
    if result.estimate is None:
        return "no figure"
    return f"{sensible(result.estimate)[0]} {result.unit}"


def _interval(result: Result) -> str:
    """The interval, and half of its width as a share of the value."""
    if result.estimate is None:
        return ""
    _, low, high = sensible(result.estimate)
    half, value = result.estimate.half_width, abs(result.estimate.value)
    share = f" (± {fixed(100 * half / value, 1)} %)" if half < value else ""
    return f"{low} to {high} {result.unit}{share}"


def _in_a_row(result: Result) -> tuple[str, str, str]:
    return _value(result), _interval(result), result.n_as_text()


def _rests_on(result: Result) -> list[tuple[str, str]]:
    """The lines below the value of one result, each with its name."""
    found = [
        ("95 % interval", _interval(result)),
        ("samples", result.samples_as_text().replace(" samples", "", 1)),
        ("clock", f"steps by {result.step_as_text()}"),
    ]
    return [(name, text) for name, text in found if text]


def shared(results: Sequence[Result]) -> tuple[str, ...]:
    """A condition of the run if something else used its core all the time."""
    if not any(each.line is not None and each.line.shared for each in results):
        return ()
    used = "a program or another virtual machine used the same core nearly all the time"
    if all(each.estimate is None for each in results):
        return (used,)
    otherwise = "would be the same or smaller"
    # A neighbour may slow down the baseline more than the operation.
    if any(each.has_baseline for each in results):
        otherwise = "may be smaller, or larger where a baseline is subtracted"
    return (f"{used}, and without it these values {otherwise}",)


def _loudly(cases: Sequence[tuple[str, RunWarning]], names: Sequence[str]) -> str:
    """One warning for all variants that have it, with the numbers of the first.

    `names` are those of all results that are shown.
    """
    first = f"{cases[0][1]}"
    same = [name for name, each in cases if f"{each}" == first]
    others = [name for name, each in cases if f"{each}" != first]
    also = f" The same kind of warning: {listed(others)}." if others else ""
    which = "all" if len(same) == len(names) > 2 else listed(same)
    return f"{which}: {first}{also}"


def _briefly(cases: Sequence[tuple[str, RunWarning]]) -> str:
    """One condition for all variants that it concerns."""
    name, first = cases[0]
    if all(each.in_brief == first.in_brief for _, each in cases):
        return first.in_brief if len(cases) > 1 else f"{name}: {first.in_brief}"
    also = listed([name for name, _ in cases[1:]])
    return f"{name}: {first.in_brief}, and much the same for {also}"


def listed(names: Sequence[str], joined_by: str = "and") -> str:
    """'a, b and c', each name once, and no more names than a reader takes in."""
    once = list(dict.fromkeys(names))
    if len(once) > _MOST_NAMED + 1:
        once = [*once[:_MOST_NAMED], f"{len(once) - _MOST_NAMED} more"]
    return f" {joined_by} ".join(filter(None, (", ".join(once[:-1]), once[-1])))


def _baselines_shown(results: Sequence[Result]) -> set[str]:
    """The variants that nobody asked for, and that another variant of these results subtracts."""
    shown = set()
    for result in results:
        recording = result.recording
        stated = recording.condition(f"variant.{result.variant}.baseline")
        shown |= {name for name in stated if name not in recording.asked}
    return shown


def _facts(recordings: Iterable[Recording]) -> list[str]:
    """What is known of the machine during these runs, from the least to the most that was seen."""
    every = list(recordings)
    found = []
    if any(each.conditions.get("machine.virtual") == "True" for each in every):
        found.append("virtual machine")
    found += _busy(every)
    speeds = [each for each in map(cpu_core.speeds_ghz, every) if each is not None]
    if speeds:
        low, high = min(low for low, _ in speeds), max(high for _, high in speeds)
        clock = f"{(low + high) / 2:.1f}"
        if high > (1 + SPEED_CHANGE) * low and f"{low:.1f}" != f"{high:.1f}":
            clock = f"{low:.1f} to {high:.1f}"
        found.append(f"CPU clock {clock} GHz")
    steal = max((each.number("steal.share") or 0.0 for each in every), default=0.0)
    if steal > STEAL_SHARE:
        found.append(f"the hypervisor took {rounded(100 * steal, 2)} % of the CPU time")
    return list(dict.fromkeys([*found, *(text for each in every for text in _inherited(each))]))


def _inherited(recording: Recording) -> list[str]:
    """What the run inherited that is not usual."""
    found = [f"scheduled as {each}" for each in run_conditions.unusual_policies(recording)]
    found += [f"nice value {nice}" for nice in run_conditions.nice_values(recording) if nice != "0"]
    found += [
        f"{libraries} loaded before the C library (by {variable})"
        for variable, libraries in run_conditions.preloaded(recording).items()
    ]
    if run_conditions.is_filtered(recording):
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
    fewest, most = texts[0], texts[-1]
    every = f"{max(online for _, online in known):.0f}"
    return [f"{' to '.join(dict.fromkeys((fewest, most)))} of {every} CPUs busy"]


# The configuration of some runs, as their recordings state it: machine, OS kernel, compiler, clock.
#
# Recordings of one machine may differ, in the clock speed for example. Then a fact lists all the
# values.

#: At most so many different texts of one fact are listed.
_MOST_LISTED = 6


def configuration_of(recordings: Sequence[Recording]) -> tuple[tuple[str, str], ...]:
    """Each fact with its text, from all recordings; facts that none of them states are left out."""
    facts = [(name, _different_values(fact, recordings)) for name, fact in _FACTS]
    every = [*facts, ("core clock", _core_clock(recordings)), ("measured", _when(recordings))]
    return tuple((name, text) for name, text in every if text)


def _different_values(fact: Callable[[Recording], str], recordings: Sequence[Recording]) -> str:
    texts = list(dict.fromkeys(text for each in recordings if (text := fact(each))))
    more = len(texts) - _MOST_LISTED
    return "; ".join([*texts[:_MOST_LISTED], *([f"{more} more"] if more > 0 else [])])


def _stated(keys: tuple[str, ...], recording: Recording) -> str:
    """The first of these conditions that the recording states."""
    return next((recording.conditions[key] for key in keys if key in recording.conditions), "")


def _virtual_or_container(recording: Recording) -> str:
    words = {"True": "yes", "False": "no"}
    virtual = words.get(recording.conditions.get("machine.virtual", ""), "")
    container = recording.conditions.get("machine.container", "")
    return (
        f"{virtual}, in a container ({container})" if virtual and container else virtual + container
    )


def _cpus(recording: Recording) -> str:
    online = recording.conditions.get("cpus.online", "")
    allowed = sorted(set(recording.condition("cpu.allowed")))
    may_use = f"the runs may use {' or '.join(allowed)}" if allowed else ""
    return "; ".join(filter(None, (f"{online} online" if online else "", may_use)))


def _clock(recording: Recording) -> str:
    """The counter with its frequency and step; other clocks are those of their variants."""
    name, step = recording.conditions.get("counter", ""), recording.number("counter.step")
    frequency = recording.number("counter.frequency_hz")
    if not name:
        return ""
    parts = [name]
    if frequency:
        parts.append(f"{rounded(frequency / 1e6, 4)} MHz")
    if step:
        length = f" ({rounded(step / frequency * 1e9)} ns)" if frequency else ""
        parts.append(f"step {step:g} {'tick' if step == 1 else 'ticks'}{length}")
    return ", ".join(parts)


def _pinning(recording: Recording) -> str:
    unbound = run_conditions.why_unbound(recording)
    if unbound:
        return f"none ({unbound})"
    asked = sorted(set(recording.condition("cpu.asked")) - {"none"})
    if asked:
        return f"to CPU {' or '.join(asked)}"
    placed = any(
        each.bound_together
        for name in recording.variants
        for each in run_conditions.places_of(recording, name)
    )
    return "tasks that switch: to one CPU" if placed else ""


def _scheduling(recording: Recording) -> str:
    policies, nice = run_conditions.policies(recording), run_conditions.nice_values(recording)
    values = f"nice value {' or '.join(nice)}" if nice else ""
    return ", ".join(filter(None, (" or ".join(policies), values)))


def _preloaded_and_by(recording: Recording) -> str:
    return ", ".join(f"{names} ({by})" for by, names in run_conditions.preloaded(recording).items())


#: Facts in the order of the table.
_FACTS: tuple[tuple[str, Callable[[Recording], str]], ...] = (
    ("CPU", partial(_stated, ("machine.cpu",))),
    ("virtual machine", _virtual_or_container),
    ("CPUs", _cpus),
    ("OS kernel", partial(_stated, ("os",))),
    ("C library", partial(_stated, ("libc",))),
    ("filter of system calls", partial(_stated, ("seccomp",))),
    ("CPU quota", partial(_stated, ("cpu.quota",))),
    ("scheduling", _scheduling),
    ("preloaded libraries", _preloaded_and_by),
    ("compiler", partial(_stated, ("compiler", "compiler.version"))),
    ("optimisation", partial(_stated, ("flags",))),
    ("clock", _clock),
    ("clock of the OS", partial(_stated, ("machine.clock_source",))),
    ("pinning", _pinning),
    ("Ticklab", partial(_stated, ("ticklab",))),
)


def _core_clock(recordings: Sequence[Recording]) -> str:
    """The lowest and the highest speed of all runs; '' if no run knows it."""
    speeds = [known for each in recordings if (known := cpu_core.speeds_ghz(each))]
    if not speeds:
        return ""
    low, high = min(low for low, _ in speeds), max(high for _, high in speeds)
    ends = dict.fromkeys((f"{low:.2f}", f"{high:.2f}"))
    return f"{' to '.join(ends)} GHz, measured in each run"


def _when(recordings: Sequence[Recording]) -> str:
    times = sorted(filter(None, (each.conditions.get("created", "") for each in recordings)))
    ends = dict.fromkeys(text[:16].replace("T", " ") for text in (times[:1] + times[-1:]))
    return f"{' to '.join(ends)} (UTC)" if ends else ""


# The conditions that differ between two separate runs, as sentences next to their comparison.
#
# A condition that one of the recordings does not state is not compared.


def conditions_apart(first: Recording, second: Recording) -> tuple[str, ...]:
    """A sentence for each condition that differs; none for two variants of one run."""
    found = []
    for name, condition in _CONDITIONS:
        one, other = condition(first), condition(second)
        if one and other and one != other:
            found.append(f"The {name} was {one} in the first run, and {other} in the second.")
    return tuple(found)


def _or_none(recording: Recording, stated: str) -> str:
    """A condition that a recording states only where there is something to state."""
    return stated or ("none" if run_conditions.states_inherited(recording) else "")


def _core(recording: Recording) -> str:
    core = core_of(recording)
    if core is None:
        return ""
    if core.always_shared:
        return f"shared all the time: at best {rounded(core.additions, 2)} additions in a cycle"
    return "whole"


_VIRTUAL = {"True": "virtual", "False": "not virtual"}
_CONDITIONS: tuple[tuple[str, Callable[[Recording], str]], ...] = (
    ("scheduling policy", lambda run: " or ".join(run_conditions.policies(run))),
    ("nice value", lambda run: " or ".join(run_conditions.nice_values(run))),
    (
        "library loaded before the C library",
        lambda run: _or_none(run, " ".join(run_conditions.preloaded(run).values())),
    ),
    ("core", _core),
    ("CPU quota", lambda run: _or_none(run, _stated(("cpu.quota",), run))),
    ("filter of system calls (seccomp)", partial(_stated, ("seccomp",))),
    ("kind of machine", lambda run: _VIRTUAL.get(_stated(("machine.virtual",), run), "")),
    ("governor of the clock speed", partial(_stated, ("machine.governor",))),
)


# The short evidence that the measured event happened.
#
# Counts of the OS come first: of switches, of created tasks, of page faults. Without a count, the
# line through the samples is all the evidence.


def evidence_of(result: Result) -> str:
    """What shows that the event of this result happened; '' if there is no figure to prove."""
    calls = _system_calls(result)
    if calls is not None and not _switches(result) and result.estimate is not None:
        return "one trap each, result checked" if calls else "no system call"
    return evidence_of_any_c(result)


def evidence_of_any_c(result: Result) -> str:
    """The same without what only the kit's own C kernels are known to do.

    A broken C kernel may have the name of one of the kit and make no system call at all.
    """
    seen = counts.switches_of(result.recording, result.variant)
    if seen is not None:
        both = f"{seen.counted:,} switches counted, {seen.claimed:,} claimed"
        if run_conditions.why_unbound(result.recording):
            return f"{both}; not bound to one CPU"
        return both if seen.accounted_for else f"{both}: they disagree"
    if counted := _counts(result):
        return counted
    line = result.line
    if line is not None and result.estimate is not None:
        off = float(abs(line.residual / line.location).max())
        return f"no point is more than {rounded(100 * off, 1)} % off the line"
    return f"first sample of {result.estimate.processes} processes" if result.estimate else ""


def _counts(result: Result) -> str:
    """What the OS counted of created tasks, or of page faults that are the operation; '' if none.

    A C kernel that counts none in its samples shows them only in a run of this operation alone.
    """
    recording, variant = result.recording, result.variant
    made, faults = recording.totals(variant, "created", "children_faults")
    if made:
        counted = f", {faults:,} page faults of children counted" if faults is not None else ""
        return f"{made:,} tasks created{counted}"
    touched, faults = recording.totals(variant, "touched", "faults")
    if touched and faults is not None:
        return f"{faults:,} page faults counted, {touched:,} pages"
    faults = recording.total("task.main.minor_faults")
    if variant == "page-fault" and set(recording.variants) == {variant} and faults is not None:
        return f"{faults:,} page faults counted, {int(recording.batch.sum()):,} operations"
    return ""


def _switches(result: Result) -> bool:
    """Whether the variant claims switches, and the OS has counted them."""
    return counts.switches_of(result.recording, result.variant) is not None


def switches_agree(result: Result) -> bool:
    """Whether the OS counted as many switches as claimed, by tasks bound to one CPU."""
    if run_conditions.why_unbound(result.recording):
        return False
    seen = counts.switches_of(result.recording, result.variant)
    return seen is not None and seen.accounted_for


def _system_calls(result: Result) -> float | None:
    """The system calls of one operation, where the kit's own C kernel makes and checks them."""
    if result.recording.kernel != "system_call":
        return None
    return result.recording.number(f"variant.{result.variant}.system_calls")
