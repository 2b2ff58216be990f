"""A run as the notebook has it: its figure, its warnings, its plots, and where it was saved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from labs.analysis.estimate import Estimate
from labs.analysis.net import parts_of
from labs.common.html import filled
from labs.common.messages import Message, Refused
from labs.common.table import Table
from labs.notebook import in_python
from labs.plots import by_process, distribution, picture
from labs.plots.picture import Picture
from labs.plots.plot import Mark
from labs.recording import proof
from labs.recording.file import Recording
from labs.recording.proof import Switches
from labs.results import compared
from labs.results.result import Result, result_of
from labs.results.run_warnings import RunWarning

_RUN = Path(__file__).with_name("run.html.jinja")


@dataclass(frozen=True, eq=False, repr=False)
class Run:
    """What one run of a C kernel gave: one result a variant, the first being its own.

    `recording_path` is where the recording lies below the lab's folder, None where it is not saved;
    `predictions` holds by variant what was predicted of it. `python` says that it was asked for by
    arguments of `lab.measure`, and not by options: what to try is told so too.
    """

    recording: Recording
    results: tuple[Result, ...]
    recording_path: str | None = None
    predictions: Mapping[str, Mark] = field(default_factory=dict)
    python: bool = False

    @classmethod
    def of(
        cls,
        recording: Recording,
        variants: Sequence[str] = (),
        unit: str = "ns",
        recording_path: str | None = None,
        predictions: Mapping[str, Mark] | None = None,
        *,
        python: bool = False,
    ) -> Run:
        """The run that `recording` holds, with its variants in the order asked for."""
        names = tuple(variants) or _order(recording)
        results = tuple(_result(recording, name, unit, python) for name in names)
        return cls(recording, results, recording_path, predictions or {}, python)

    @property
    def variant(self) -> str:
        """The variant that the figure is of."""
        return self.results[0].variant

    @property
    def unit(self) -> str:
        """The unit of `value`, `interval` and `step`."""
        return self.results[0].unit

    @property
    def value(self) -> float:
        """The figure. Raises Refused, in plain words, where the run gives none."""
        return self._estimate.value

    @property
    def interval(self) -> tuple[float, float]:
        """The figure's 95 % interval. Raises Refused where there is no figure."""
        return self._estimate.low, self._estimate.high

    @property
    def parts(self) -> Mapping[str, float]:
        """What the figure is made of, in its unit: `whole` operation as timed, `baseline`, `net`.

        Raises Refused where there is no figure, or nothing is subtracted for it.
        """
        figure, net = self._estimate, self.results[0].net
        if net is None or net.baseline is None:
            why = f"From {self.variant} nothing is subtracted."
            raise Refused(Message("problem", "the figure has no parts", (why,)))
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
        """What the kit says of this run by itself."""
        return tuple(dict.fromkeys(each for result in self.results for each in result.warnings))

    @property
    def modes(self) -> tuple[str, ...]:
        """One sentence for each variant whose processes fall into two groups, which differ."""
        found = (
            compared.modes_in_words(each.variant, each.estimate)
            for each in self.results
            if each.estimate is not None
        )
        return tuple(filter(None, found))

    @property
    def switches(self) -> Switches:
        """The switches that its variant claims, and those that the OS counted. Raises Refused."""
        found = proof.of_variant(self.recording, self.variant)
        if found is None:
            why = f"{self.variant} claims no switch, or this OS counts none"
            raise Refused(Message("problem", "there are no switches to count", (f"{why}.",)))
        return found

    def result(self, variant: str | None = None) -> Result:
        """The result of one variant; of the first where none is named. Raises Refused."""
        for result in self.results:
            if variant in (None, result.variant):
                return result
        names = ", ".join(result.variant for result in self.results)
        raise Refused(Message("problem", f"this run has no variant {variant!r}; it has {names}"))

    def __getitem__(self, variant: str) -> Run:
        """The same run, seen from another of its variants."""
        chosen = self.result(variant)
        others = tuple(result for result in self.results if result is not chosen)
        return replace(self, results=(chosen, *others))

    def in_unit(self, unit: str) -> Run:
        """The same run in another unit: ticks, cycles, ns, us, ms, s. Raises Refused."""
        try:
            results = tuple(
                _result(self.recording, each.variant, unit, self.python) for each in self.results
            )
        except ValueError as error:
            raise Refused(Message("problem", f"not in {unit!r}", (str(error),))) from None
        return replace(self, results=results)

    def plot(self, variant: str | None = None) -> Picture:
        """Every sample in the order taken, the warm-up marked, the prediction as a line."""
        chosen = self.result(variant)
        # A switch foretold is no line to lay across round trips, or rounds of eight.
        whole = parts_of(self.recording, chosen.variant) == 1
        prediction = self._prediction(chosen) if whole else None
        return picture.of_samples(self.recording, chosen.variant, chosen.unit, prediction)

    def plot_line(self, variant: str | None = None) -> Picture:
        """The line T(k) = overhead + k * cost, and below it what the points miss it by."""
        chosen = self.result(variant)
        if chosen.line is None:
            raise Refused(Message("problem", "there is no line to draw", (chosen.no_figure,)))
        return picture.of_line(chosen)

    def plot_ecdf(self, variant: str | None = None) -> Picture:
        """The distribution of the samples: which share of them is no longer than x."""
        chosen = self.result(variant)
        try:
            return distribution.of_variant(self.recording, chosen.variant, chosen.unit)
        except ValueError as error:
            raise Refused(Message("problem", "there is nothing to draw", (f"{error}.",))) from None

    def plot_processes(self, variant: str | None = None) -> Picture:
        """What each process gave by itself, and which were set aside."""
        chosen = self.result(variant)
        try:
            return by_process.of_result(chosen)
        except ValueError as error:
            raise Refused(Message("problem", "there is nothing to draw", (f"{error}.",))) from None

    def compare(self) -> Picture:
        """The figures of all variants of this run side by side, with their intervals."""
        return picture.of_estimates(self.results, self._prediction(self.results[0]))

    def table(self, variant: str | None = None) -> Table:
        """The samples of a variant as a table: one row a batch size, and the warm-up."""
        chosen = self.result(variant)
        return picture.samples_table(self.recording, chosen.variant, chosen.unit)

    def _prediction(self, result: Result) -> Mark | None:
        """What was predicted of a variant, where it can be shown in the result's unit."""
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
        if result.estimate is None:
            words = [f"{result.recording.kernel} {result.variant}: {result.no_figure}."]
            words += [
                f"Likely: {each.likely_cause}. Try: {each.try_this}."
                for each in result.warnings
                if each.symptom == result.no_figure
            ]
            words.append(
                "Or run the cell that measured it again: another program may have been in the way."
            )
            raise Refused(Message("problem", "this run gives no figure", tuple(words)))
        return result.estimate

    def _repr_html_(self) -> str:
        return filled(
            _RUN,
            sentences=[result.sentence() for result in self.results],
            warnings=self.warnings,
            saved_in=self.recording_path,
        )

    def __repr__(self) -> str:
        lines = [result.sentence() for result in self.results]
        lines += [f"warning: {warning}" for warning in self.warnings]
        lines.append(f"saved in {self.recording_path}" if self.recording_path else "not saved")
        return "\n".join(lines)


def _result(recording: Recording, variant: str, unit: str, python: bool) -> Result:
    """The result of one variant, which tells options as arguments where `python` is asked for."""
    result = result_of(recording, variant, unit)
    if not python:
        return result
    warnings = tuple(
        replace(each, try_this=in_python.options(each.try_this)) for each in result.warnings
    )
    return replace(result, no_figure=in_python.options(result.no_figure), warnings=warnings)


def _order(recording: Recording) -> tuple[str, ...]:
    """The variants as they were asked for, and then the others: rows come in random order."""
    asked = [name.strip() for name in recording.conditions.get("variants", "").split(",")]
    named = [name for name in asked if name in recording.variants]
    return tuple(dict.fromkeys([*named, *recording.variants]))
