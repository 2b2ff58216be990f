"""The result of a run: the estimate of its figure, its warnings, and one plain sentence.

The command line, the panel, the notebook and the grader all take their figure from here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from labs.analysis import cpu_core
from labs.analysis.confidence import CannotEstimate, Estimate
from labs.analysis.line import Line, fit_line
from labs.analysis.net_cost import Net, first_time, net_cost
from labs.analysis.thresholds import WIDEST
from labs.messages import Advice, Option, advice
from labs.recording import counts, declared
from labs.recording.file import Recording
from labs.results import run_warnings
from labs.results.modes import modes
from labs.results.run_warnings import RunWarning, of_width
from labs.results.warning_thresholds import MANY_ASIDE
from labs.units import NANOSECONDS, Clock, canonical, fixed, plural, rounded

__all__ = ["REASONS", "WIDEST", "Result", "result_of", "sensible"]


#: For a reader: how many samples are set aside, and why.
REASONS = {
    "shared": "{count} while the core was shared",
    "preempted": "{count} preempted by other programs",
    "far": "{count} far from the others",
}


#: Why there is no figure if no interval can be told.
ALL_THE_SAME = advice(
    "all processes gave exactly the same, so the steps of this clock hide how they differ; use "
    "larger batch sizes ({option}), or a finer clock",
    option=Option("batch", ...),
)

#: Below this, six decimals show too little of a value.
SMALL = 1e-4
#: Below this, a value that may be 0 is about 0.
TINY = 0.01


@dataclass(frozen=True, eq=False)
class Result:
    """The result of one variant of a recording.

    `estimate` is in the unit that was asked for. It is None if there is no figure, and `no_figure`
    then says why. `line` is in ticks, and None if no line could be fitted. If the estimate is a
    cost, `net` states in ticks what was subtracted. `told` are warnings in the place of those
    of the run: fewer, or in other words.
    """

    recording: Recording
    variant: str
    unit: str
    clock: Clock
    line: Line | None
    estimate: Estimate | None
    why_none: Advice | str = ""
    net: Net | None = None
    python: bool = False
    told: tuple[RunWarning, ...] | None = None

    @cached_property
    def warnings(self) -> tuple[RunWarning, ...]:
        """The warnings of the run about this figure, found when they are first asked for."""
        found = self._found() if self.told is None else self.told
        return tuple(replace(each, python=True) if self.python else each for each in found)

    def _found(self) -> Iterator[RunWarning]:
        line = self.line
        if self.estimate is not None:
            yield from of_width(self.recording, self.estimate)
        elif line is not None and (line.straight or line.overhead.half_width == 0):
            line = None  # no figure was made from it
        if line is None:
            yield from run_warnings.of_recording(self.recording, self.variant)
        else:
            figure = line.overhead if self.net is None else self.net.net
            yield from run_warnings.of_run(self.recording, line, figure)

    @property
    def has_baseline(self) -> bool:
        """Whether a baseline is subtracted from it."""
        return self.net is not None and self.net.baseline is not None

    @property
    def no_figure(self) -> str:
        """Why there is no figure, with options as the reader writes them; '' where there is one."""
        why = self.why_none
        return why if isinstance(why, str) else why.worded(python=self.python)

    @property
    def why_unnamed(self) -> str:
        """Why there is no figure, for a sentence that has already named the variant."""
        return self.no_figure.removeprefix(f"{self.variant}: ")

    def for_python(self) -> Result:
        """The same result for a reader who writes options as arguments of `lab.measure`."""
        return replace(self, python=True)

    @property
    def loud(self) -> tuple[RunWarning, ...]:
        """The warnings on which a reader should act. Core cycles are the way out of `clock-speed`,
        so in this unit nothing is left to do."""
        followed = "clock-speed" if self.unit == "cycles" else ""
        return tuple(each for each in self.warnings if not each.quiet and each.code != followed)

    @property
    def less_than_nothing(self) -> bool:
        """Whether the kit's own C gives a negative cost that is not about 0: a disturbed run.

        In a student's C it may be a mistake that the grader can name.
        """
        if self.net is None or self.clock.core_cycle_ticks is None:
            return False
        cycles = self.net.net.into("cycles", self.clock)
        below = cycles.value < 0 and cycles.low <= -1
        return below and run_warnings.is_the_kits(self.recording)

    @property
    def n(self) -> int:
        """How many samples the figure uses; if there is no figure, how many are steady."""
        if self.estimate is not None:
            return self.estimate.n
        return len(self.recording.samples(self.variant))

    @property
    def set_aside(self) -> dict[str, int]:
        """How many samples were set aside, for each key of `REASONS` that has any."""
        counts = self.line.set_aside if self.line is not None else {}
        return {
            why: int(counts[why].sum()) for why in REASONS if why in counts and counts[why].any()
        }

    @property
    def what(self) -> str:
        """What the estimate is, for a sentence."""
        if declared.is_first_time(self.recording, self.variant):
            return "extra cost of the first time"
        return "overhead" if declared.is_overhead(self.recording, self.variant) else "cost"

    def value_as_text(self) -> str:
        """The value with its interval and unit, rounded as the interval allows."""
        if self.estimate is None:
            return "no figure"
        value, low, high = sensible(self.estimate)
        return f"{value} {self.unit} (95 % interval {low} to {high} {self.unit})"

    def modes(self, name: str = "") -> str:
        """A sentence on the two costs of this variant, called `name`; '' if it has one."""
        by = self.estimate.by_process if self.estimate is not None else None
        found = modes(self.recording, by) if by is not None else None
        return found.sentence(name or self.variant) if found is not None else ""

    def sentence(self, name: str = "") -> str:
        """The result in one plain sentence, which begins with `name`, or with its C kernel."""
        name = name or f"{self.recording.kernel} {self.variant}"
        if self.estimate is None:
            return f"{name}: no figure: {self.why_unnamed}."
        return (
            f"{name}: {self.what} {self.value_as_text()}, {self.samples_as_text()}; "
            f"the clock steps by {self.step_as_text()}."
        )

    def samples_as_text(self) -> str:
        """How many samples of how many processes the figure uses, and why it uses no more."""
        every = len(self.recording.processes)
        used = self.estimate.processes if self.estimate is not None else every
        of = f"{used} of " if used != every else ""
        aside = self.aside_as_text()
        why = [f"too few left of {every - used}"] if of else []
        why += [f"set aside: {aside}"] if aside else []
        each = f" ({'; '.join(why)})" if why else ""
        return f"{self.n_as_text()} samples from {of}{plural(every, 'process')}{each}"

    def n_as_text(self) -> str:
        """How many samples the figure uses, of how many if some were set aside."""
        aside = sum(self.set_aside.values()) if self.estimate is not None else 0
        return f"{self.n:,} of {self.n + aside:,}" if aside else f"{self.n:,}"

    def step_as_text(self) -> str:
        """The step of the clock in the unit of the result, and in ns for other units of time."""
        unit = "ns" if self.unit in NANOSECONDS else self.unit
        return f"{rounded(self.clock.step / self.clock.ticks_in(unit))} {unit}"

    def aside_as_text(self) -> str:
        """How many samples were set aside and why; '' if it is no more than a few."""
        aside = self.set_aside
        if sum(aside.values()) < MANY_ASIDE * (self.n + sum(aside.values())):
            return ""
        each = (REASONS[why].format(count=f"{count:,}") for why, count in aside.items())
        return ", ".join(each)

    def as_json(self, saved: str | None = None) -> dict[str, Any]:
        """The object that `labs measure --json` prints; `saved` is the recording's path."""
        estimate, line = self.estimate, self.line
        per_unit = self.clock.ticks_in(self.unit)
        result: dict[str, Any] = {
            "kernel": self.recording.kernel,
            "variant": self.variant,
            "value": estimate.value if estimate else None,
            "unit": self.unit,
            "interval": [estimate.low, estimate.high] if estimate else None,
            "method": estimate.method if estimate else self.no_figure,
            "n": self.n,
            "set_aside": self.set_aside,
            "believable": estimate is not None and estimate.is_believable(),
            "step": self.clock.step / per_unit,
            "step_ticks": self.clock.step,
            "ticks_per_unit": per_unit,
        }
        if line is not None:
            result["line"] = {
                "overhead": line.overhead.into(self.unit, self.clock).value,
                "cost": line.cost.into(self.unit, self.clock).value,
                "empty": line.empty.into(self.unit, self.clock).value if line.empty else None,
                "batch": line.batch.tolist(),
                "mean": (line.location / per_unit).tolist(),
                "residual": (line.residual / per_unit).tolist(),
                "straight": line.straight,
            }
        if speeds := cpu_core.speeds_ghz(self.recording):
            result["core_ghz"] = list(speeds)
        result |= self._in_cycles() | self._subtraction() | self._proof()
        result["conditions"] = {
            **self.recording.conditions,
            "processes": [dict(process) for process in self.recording.processes],
        }
        result["warnings"] = [
            {
                "code": warning.code,
                "symptom": warning.symptom,
                "likely_cause": warning.likely_cause,
                "try_this": warning.try_this,
                "quiet": warning.quiet,
            }
            for warning in self.warnings
        ]
        result["recording"] = saved
        return result

    def _in_cycles(self) -> dict[str, Any]:
        """The same figure in core cycles, which does not depend on the clock speed."""
        if self.estimate is None or self.clock.core_cycle_ticks is None:
            return {}
        cycles = self
        if self.unit != "cycles":
            cycles = result_of(self.recording, self.variant, "cycles")
        if cycles.estimate is None:
            return {}
        interval = [cycles.estimate.low, cycles.estimate.high]
        return {"core_cycles": {"value": cycles.estimate.value, "interval": interval}}

    def _subtraction(self) -> dict[str, Any]:
        """The value before the subtraction, the whole round trip, and the subtracted baseline."""
        if self.net is None:
            return {}
        entries: dict[str, Any] = {
            "unsubtracted": self.net.unsubtracted.into(self.unit, self.clock).value
        }
        if self.net.parts == 2:
            entries["round_trip"] = self.net.whole.into(self.unit, self.clock).value
        if self.net.baseline is not None:
            entries["baseline"] = {
                "variant": self.net.baseline_variant,
                "value": self.net.baseline.into(self.unit, self.clock).value,
                "times": self.net.times,
            }
        return entries

    def _proof(self) -> dict[str, Any]:
        """The switches of this variant that the C kernel claims and that the OS counted."""
        claimed, counted = counts.switches(self.recording, self.variant)
        if claimed is None or counted is None:
            return {}
        return {"switches": {"claimed": claimed, "counted": counted}}


def result_of(recording: Recording, variant: str | None = None, unit: str = "ns") -> Result:
    """The result of `variant` (default: the first) in `unit`.

    Raises KeyError if the recording has no such variant, units.UnknownUnit, and
    recording.BadRecording if the recording does not describe the clock.
    """
    unit = canonical(unit)
    name = variant if variant is not None else (*recording.asked, *recording.variants, "")[0]
    clock = recording.clock(name) if name in recording.variants else recording.samples(name).clock
    clock.ticks_in(unit)  # raises ValueError for core cycles of unknown length
    line: Line | None = None
    net: Net | None = None
    try:
        if declared.is_first_time(recording, name):
            figure = first_time(recording, name)
            if not recording.samples(name).ticks.any():
                return Result(recording, name, unit, clock, None, None, ALL_THE_SAME)
            return Result(recording, name, unit, clock, None, figure.into(unit, clock))
        # Samples are converted to core cycles with the clock speed at which they were taken.
        one_speed = unit == "cycles"
        line = fit_line(recording, name, one_speed=one_speed)
        if line.straight and not declared.is_overhead(recording, name):
            net = net_cost(recording, line, one_speed=one_speed)
    except CannotEstimate as error:
        return Result(recording, name, unit, clock, line, None, error.why)
    figure = line.overhead if net is None else net.net
    if figure.half_width == 0:
        return Result(recording, name, unit, clock, line, None, ALL_THE_SAME)
    if not line.straight:
        why = run_warnings.no_line_warning(recording, line).symptom
        return Result(recording, name, unit, clock, line, None, why)
    return Result(
        recording, name, unit, clock, line, figure.into(unit, clock).of_any_run(), net=net
    )


def with_ends(estimate: Estimate, sign: str) -> str:
    """Value and interval for a plot, as they are: the value need not lie in the middle.

    `sign` is that of the unit.
    """
    value, low, high = sensible(estimate)
    return f"{value} ({low} to {high}) {sign}"


def sensible(estimate: Estimate) -> tuple[str, str, str]:
    """Value, low and high as text, rounded to the second digit of the half-width.

    What six decimals would not show, such as nanoseconds in seconds, has an exponent. A small value
    whose interval holds 0 is about 0: its digits would be noise.
    """
    three, width = (estimate.value, estimate.low, estimate.high), estimate.half_width
    small = max(abs(estimate.low), abs(estimate.high)) < SMALL
    decimals = 0
    while decimals < 6 and width * 10**decimals < 9.5:
        decimals += 1
    exact = width <= 0 or small
    value, low, high = (
        rounded(each, 4 if small else 3) if exact else fixed(each, decimals) for each in three
    )
    return "about 0" if is_about_0(estimate) else value, low, high


def is_about_0(estimate: Estimate) -> bool:
    """Whether the value is small and may be 0, so that its digits would be noise."""
    return estimate.low < 0 < estimate.high and abs(estimate.value) < TINY


# What an author would report who notices no mistake in the run.


#: From so far off the line on, its points are no line to anybody, and their author takes a mean.
NO_LINE_AT_ALL = 0.15


def naive_value(result: Result) -> float:
    """The value that the author of a broken measurement would report, in the unit of the result."""
    return naive_estimate(result).value


def naive_estimate(result: Result) -> Estimate:
    """The naive value: the kit's own estimate, if there is one, else that of a line that bends a
    little, else the mean time of all samples, cold ones included, divided by the operations of a
    sample. A mere mean has no interval, and is taken as exact.
    """
    if result.estimate is not None:
        return result.estimate
    line = result.line
    if line is not None and not line.straight and abs(line.worst_point()[1]) < NO_LINE_AT_ALL:
        of_overhead = declared.is_overhead(result.recording, result.variant)
        bent = line.overhead if of_overhead else line.cost
        return replace(bent.into(result.unit, result.clock), method="line through its samples")
    value = mean_of_all(result.recording, result.variant, result.unit)
    return Estimate(value, value, value, result.unit, "mean of all its samples", result.n, 1)


def mean_of_all(recording: Recording, variant: str, unit: str) -> float:
    """The mean of every sample of `variant`, warm-up included, for one operation, in `unit`."""
    mine = recording.rows_of(variant)
    operations = recording.batch[mine].clip(min=1).sum()
    clock = result_of(recording, variant, unit).clock
    return float(recording.ticks[mine].sum() / operations) / clock.ticks_in(unit)
