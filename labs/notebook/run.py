"""A run in a notebook: figure, warnings, plots, path of its recording; and two runs compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NoReturn

from labs.analysis.confidence import Estimate
from labs.analysis.net_cost import parts_of
from labs.course import answers, published
from labs.html import Table, filled
from labs.messages import refused, running_cell
from labs.plots import by_process, picture, style
from labs.plots.figure_svg import Drawing, Mark, evidence_drawing, value_drawing
from labs.plots.picture import Picture
from labs.recording import counts
from labs.recording.counts import Switches
from labs.recording.file import Recording
from labs.results import remarks
from labs.results.result import Result, result_of, sensible
from labs.results.results_compared import Comparison, compared_at_one_clock, differences_compared
from labs.results.run_warnings import RunWarning
from labs.units import NANOSECONDS, factor_text, is_number, unit_symbol


@dataclass
class Later:
    """What happened after a run. All views of one run (other variants, other units) share this.

    `failure` is the message of a later run of its name that failed. `held_back` maps the code of a
    warning to the question whose answer it would give away; `folder` holds the answers. `told_in`
    maps a variant to the last cell that showed its warnings and conditions.
    """

    failure: str = ""
    held_back: Mapping[str, str] = field(default_factory=dict)
    folder: Path | None = None
    told_in: dict[str, int] = field(default_factory=dict)

    def note(self) -> str:
        """The sentence that is shown with everything of the earlier run; empty if none failed."""
        if not self.failure:
            return ""
        return f"This is the earlier run; a later one of this name failed ({self.failure})."

    def open_questions(self) -> dict[str, str]:
        """By code, the warnings that are still held back, each with its question."""
        if not self.held_back or self.folder is None:
            return {}
        try:
            answered = answers.read(self.folder)
        except ValueError:
            return {}
        return {code: name for code, name in self.held_back.items() if name not in answered}


#: So many figures of a run are drawn beside its sentences; `run.compare()` draws any number.
MOST_VALUES = 5
_RUN = Path(__file__).with_name("run.html.jinja")


@dataclass(frozen=True, eq=False, repr=False)
class Run:
    """One run of a C kernel: one result for each variant. The first result gives its figure.

    `recording_path` is the recording's path in the lab's folder, or None if it is not saved.
    `predictions` holds the prediction of each variant. `python` says that the student used
    arguments of `lab.measure` and not options, so that advice names arguments too. `later` says
    whether this is an earlier run. `chosen` says that a variant was asked for by name, so that only
    this one is printed. `contradicts` has sentences on the run before, if both cannot be true.
    """

    recording: Recording
    results: tuple[Result, ...]
    recording_path: str | None = None
    predictions: Mapping[str, style.Mark] = field(default_factory=dict)
    python: bool = False
    later: Later = field(default_factory=Later)
    chosen: bool = False
    contradicts: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        recording: Recording,
        variants: Sequence[str] = (),
        unit: str = "ns",
        recording_path: str | None = None,
        predictions: Mapping[str, style.Mark] | None = None,
        *,
        python: bool = False,
    ) -> Run:
        """The run in `recording`, with its variants in the order of the request."""
        names = tuple(variants) or tuple(dict.fromkeys((*recording.asked, *recording.variants)))
        results = tuple(_result(recording, name, unit, python) for name in names)
        return cls(recording, results, recording_path, predictions or {}, python)

    @property
    def variant(self) -> str:
        """The variant of the figure."""
        return self.results[0].variant

    @property
    def unit(self) -> str:
        """The unit of `value`, `interval` and `step`."""
        return self.results[0].unit

    @property
    def value(self) -> float:
        """The figure. Raises Refused with a plain message if the run gives none."""
        return self._estimate.value

    @property
    def interval(self) -> tuple[float, float]:
        """The figure's 95 % interval. Raises Refused if there is no figure."""
        return self._estimate.low, self._estimate.high

    @property
    def parts(self) -> Mapping[str, float]:
        """The parts of the figure, in its unit: the `whole` operation as timed, `baseline`, `net`.

        Raises Refused if there is no figure, or if nothing is subtracted for it.
        """
        figure, net = self._estimate, self.results[0].net
        if net is None or net.baseline is None:
            why = f"Nothing is subtracted from {self.variant}."
            raise refused("the figure has no parts", why)
        per_unit = self.results[0].clock.ticks_in(self.unit)
        return {
            "whole": net.whole.value / per_unit,
            "baseline": net.baseline.value / per_unit,
            "net": figure.value,
        }

    @property
    def step(self) -> float:
        """The step of the clock that was read."""
        return self.results[0].clock.step / self.results[0].clock.ticks_in(self.unit)

    @property
    def warnings(self) -> tuple[RunWarning, ...]:
        """The warnings of all results of this run, also those that are shown as conditions only."""
        return tuple(dict.fromkeys(each for result in self.results for each in result.warnings))

    @property
    def modes(self) -> tuple[str, ...]:
        """One sentence for each variant whose processes fall into two groups that differ."""
        return tuple(filter(None, (each.modes() for each in self.results)))

    @property
    def switches(self) -> Switches:
        """The switches that the variant claims and those that the OS counted. Raises Refused."""
        found = counts.switches_of(self.recording, self.variant)
        if found is None:
            why = f"{self.variant} claims no switch, or this OS counts none"
            raise refused("there are no switches to count", f"{why}.")
        return found

    def result(self, variant: str | None = None) -> Result:
        """The result of one variant (default: the first). Raises Refused."""
        for result in self.results:
            if variant in (None, result.variant):
                return result
        names = ", ".join(result.variant for result in self.results)
        raise refused(f"this run has no variant {variant!r}; it has {names}")

    def __getitem__(self, variant: str) -> Run:
        """The same run with another of its variants as the first."""
        chosen = self.result(variant)
        others = tuple(result for result in self.results if result is not chosen)
        return replace(self, results=(chosen, *others), chosen=True)

    def _no_arithmetic(self, _: object) -> NoReturn:
        """A run is no number. Raises Refused, which says what is."""
        words = (
            "Write `.value` after each run: `one.value / other.value`.",
            "`lab.compare(one, other)` gives the difference and the ratio with their intervals.",
        )
        raise refused("a run is not a number: calculate with its value", *words)

    __add__ = __sub__ = __mul__ = __truediv__ = _no_arithmetic
    __radd__ = __rsub__ = __rmul__ = __rtruediv__ = _no_arithmetic

    def in_unit(self, unit: str) -> Run:
        """The same run in another unit: ticks, cycles, ns, us, ms, s. Raises Refused."""
        try:
            results = tuple(
                _result(self.recording, each.variant, unit, self.python) for each in self.results
            )
        except ValueError as error:
            raise refused(f"not in {unit!r}", str(error)) from None
        return replace(self, results=results)

    def plot(self, variant: str | None = None) -> Picture:
        """Plot every sample in the order taken, with marks for the warm-up and the prediction."""
        chosen = self.result(variant)
        # A prediction about one switch does not fit a plot of round trips or of rounds of eight.
        whole = parts_of(self.recording, chosen.variant) == 1
        prediction = self.prediction(chosen) if whole else None
        drawn = picture.of_samples(self.recording, chosen.variant, chosen.unit, prediction)
        return self._noted(drawn, chosen)

    def evidence(self, variant: str | None = None) -> Drawing:
        """The line T(k), and what each sample says of the figure, with the figure among them."""
        return evidence_drawing(self.recording, self.result(variant).variant)

    def _values(self) -> Drawing | None:
        """The printed figures with their predictions on one axis; None if there are too many."""
        shown = [each for each in self._printed if each.estimate is not None]
        if not 1 <= len(shown) <= MOST_VALUES or len({each.unit for each in shown}) > 1:
            return None
        marks = []
        printed: list[float] = []
        if len(shown) == 1 and shown[0].unit in NANOSECONDS:
            (one,), flags = shown, self.recording.conditions.get("flags", "")
            found = published.of_variant(self.recording.kernel, one.variant, flags)
            printed = [each.ns / NANOSECONDS[one.unit] for each in found]
        for each in shown:
            assert each.estimate is not None  # chosen so
            marks.append(Mark.of(each.variant, each.estimate))
            predicted = self.prediction(each)
            if predicted is not None:
                value = predicted.into(each.unit, each.clock)
                name = predicted.name if len(shown) == 1 else f"predicted for {each.variant}"
                marks.append(Mark(name, value, "predicted"))
        return value_drawing(marks, shown[0].unit, published=printed)

    def _headline(self) -> tuple[str, ...]:
        """What was measured, its value, and its interval with how far off a prediction was.

        Nothing without a figure: the sentence says why.
        """
        result = self._printed[0]
        if result.estimate is None:
            return ()
        value, low, high = sensible(result.estimate)
        unit, predicted = unit_symbol(result.unit), self.prediction(result)
        name = f"{result.recording.kernel} {result.variant}: {result.what}"
        beside = f"95 % interval {low} to {high} {unit}"
        if predicted is not None and result.estimate.low > 0 and predicted.value > 0:
            factor = predicted.into(result.unit, result.clock) / result.estimate.value
            beside += f"; {predicted.name} was {factor_text(factor)}"
        return name, f"{value} {unit}", beside

    def plot_line(self, variant: str | None = None) -> Picture:
        """Plot the line T(k) = overhead + k * cost, and below it the residuals."""
        chosen = self.result(variant)
        if chosen.line is None:
            raise refused("there is no line to draw", chosen.no_figure)
        return self._noted(picture.of_line(chosen), chosen)

    def plot_processes(self, variant: str | None = None) -> Picture:
        """Plot the result of each process, and mark those that were set aside."""
        chosen = self.result(variant)
        try:
            drawn = by_process.by_process_picture(chosen)
        except ValueError as error:
            raise refused("there is nothing to draw", f"{error}.") from None
        return self._noted(drawn, chosen)

    def compare(self) -> Picture:
        """Plot the figures of all variants of this run side by side, with their intervals."""
        known = {each.variant: self.prediction(each) for each in self.results}
        marks = {variant: mark for variant, mark in known.items() if mark is not None}
        drawn = picture.of_estimates(self.results, marks)
        return self._noted(drawn, *self.results)

    def table(self, variant: str | None = None) -> Table:
        """The samples of a variant as a table: one row for each batch size, and the warm-up."""
        chosen = self.result(variant)
        return picture.samples_table(self.recording, chosen.variant, chosen.unit)

    def _noted(self, drawn: Picture, *shown: Result) -> Picture:
        """The picture with the note on an earlier run, and with the warnings of what it shows,
        unless the cell has shown them with the run."""
        cell = running_cell()
        if cell is None or any(self.later.told_in.get(each.variant) != cell for each in shown):
            drawn = drawn.with_remarks(self.told(shown))
        return replace(drawn, note=self.later.note())

    def told(self, results: Sequence[Result] = ()) -> tuple[Result, ...]:
        """The results (none given: all of the run) without the warnings still held back."""
        held = self.later.open_questions()
        return tuple(
            replace(each, told=tuple(one for one in each.warnings if one.code not in held))
            for each in results or self.results
        )

    def _held(self) -> str:
        """The sentence that a warning is held back until a question is answered; '' if none is."""
        held = self.later.open_questions()
        questions = dict.fromkeys(held[each.code] for each in self.warnings if each.code in held)
        shown = " and ".join(f'lab.answer("{name}", ...)' for name in questions)
        return f"What this run says of its cause is shown after your own words: {shown}." * bool(
            shown
        )

    def prediction(self, result: Result) -> style.Mark | None:
        """The prediction of a variant, if it can be converted into the result's unit."""
        prediction = self.predictions.get(result.variant)
        if prediction is None:
            return None
        try:
            prediction.into(result.unit, result.clock)
        except ValueError:
            return None
        return prediction

    @property
    def _estimate(self) -> Estimate:
        result = self.results[0]
        if result.estimate is None or result.less_than_nothing:
            why = result.no_figure or f"a negative cost, {result.value_as_text()}, is no figure"
            words = [f"{result.recording.kernel} {result.variant}: {why}."]
            told = self.told((result,))[0].loud
            # What the operation does wrong comes first: it may be why there is no line.
            for each in sorted(told, key=lambda warning: warning.symptom == result.no_figure):
                seen = "" if each.symptom == result.no_figure else f"{each.symptom}. "
                words.append(f"{seen}Likely: {each.likely_cause}. Try: {each.try_this}.")
            words.append(
                "Or run the measuring cell again: another program may have disturbed the run."
            )
            raise refused("this run gives no figure", *words)
        return result.estimate

    @property
    def _printed(self) -> tuple[Result, ...]:
        """The results that are printed: the one that was asked for by name, or all of the run."""
        return self.results[:1] if self.chosen else self.results

    def _repr_html_(self) -> str:
        told = self.told(self._printed)
        drawn, said, held = self._values(), remarks.of_results(told), self._held()
        doubts = (*said.warnings, *said.quiet, *self.contradicts, *remarks.shared(told))
        doubts += tuple(filter(None, (each.aside_as_text() for each in told)))
        if (cell := running_cell()) is not None:
            self.later.told_in.update(dict.fromkeys((each.variant for each in told), cell))
        return filled(
            _RUN,
            quiet=not (doubts or held or self.later.failure),
            headline=self._headline() if len(self._printed) == 1 else (),
            picture=drawn.as_html() if drawn is not None else "",
            note=self.later.note(),
            sentences=[result.sentence() for result in self._printed],
            contradicts=self.contradicts,
            remarks=said.as_html(),
            held=held,
            saved_in=self.recording_path,
        )

    def __repr__(self) -> str:
        lines = [self.later.note()] if self.later.failure else []
        lines += [result.sentence() for result in self._printed]
        lines += remarks.of_results(self.told(self._printed)).as_lines()
        lines += self.contradicts
        lines += [held] if (held := self._held()) else []
        lines.append(f"saved in {self.recording_path}" if self.recording_path else "not saved")
        return "\n".join(lines)


def _result(recording: Recording, variant: str, unit: str, python: bool) -> Result:
    """The result of one variant; with `python`, its advice names arguments and not options."""
    result = result_of(recording, variant, unit)
    return result.for_python() if python else result


_USAGE = 'Write it like this: lab.compare(run, other), or lab.compare(run["x"], run["y"]).'


_NO_FIGURE = (
    "Write the name of this run on a line of its own: the run's warnings say what to try. Measure "
    "it again, then compare."
)
_TOO_LITTLE = (
    "Without a page fault a touch takes a few ns, too little for a figure: compare what the OS "
    "counted, by `views.page_faults`."
)
_UNITS = "Give both the same unit first, as in `run.in_unit('ns')`."
_PLAIN = "Write it like this: lab.compare(lab.compare(a, b), lab.compare(c, d), times=2)."


def compare(first: object, second: object, times: float) -> Comparison:
    """How `first` compares with `times` the `second`. Raises Refused."""
    if not (is_number(times) and times > 0):
        advice = "To compare with half of the second, write times=0.5."
        raise refused(f"times must be a number above 0, not {times!r}", advice)
    try:
        if isinstance(first, Run) and isinstance(second, Run):
            saved = _saved_as(first), _saved_as(second)
            results = first.result(), second.in_unit(first.unit).result()
            return _noted(compared_at_one_clock(*results, times, saved), first, second)
        if isinstance(first, Comparison) and isinstance(second, Comparison):
            return differences_compared(first, second, times)
    except ValueError as error:
        why = str(error).removesuffix(".")
        sentences = (f"{why}.", _advice(first, second))
        raise refused("these cannot be compared", *sentences) from None
    what = "lab.compare takes two runs, or a run by two of its variants"
    raise refused(what, _USAGE)


def _advice(first: object, second: object) -> str:
    """What to do about two that cannot be compared."""
    runs = (each.result() for each in (first, second) if isinstance(each, Run))
    missing = [each for each in runs if each.estimate is None]
    if any(counts.made_no_page_fault(each.recording, each.variant) for each in missing):
        return _TOO_LITTLE
    if missing:
        return _NO_FIGURE
    shares = (isinstance(each, Comparison) and each.times != 1 for each in (first, second))
    return _PLAIN if any(shares) else _UNITS


def _saved_as(run: Run) -> str:
    """The name of the run's recording; '' if it is not saved."""
    return Path(run.recording_path).stem if run.recording_path else ""


def _noted(found: Comparison, *runs: Run) -> Comparison:
    """The comparison, which says so if one of its runs is an earlier one."""
    notes = dict.fromkeys(note for run in runs if (note := run.later.note()))
    return replace(found, modes=(*notes, *found.modes)) if notes else found
