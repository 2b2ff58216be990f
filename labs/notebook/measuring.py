"""Measure in a lab's folder.

Carry out a plan, show progress, save the recording, keep the run.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from labs import messages
from labs.course import figures, predictions
from labs.course.account import with_account
from labs.course.guide import Asked, HeldBack
from labs.files import CannotWrite
from labs.html import inline
from labs.messages import Message, Refused, show
from labs.notebook import run_errors, unready_cells
from labs.recording.file import Recording, state_of
from labs.results import results_compared, stopping
from labs.run.measure import Progress, measure_in_turns_now
from labs.run.plan import Plan, c_beside

if TYPE_CHECKING:
    from labs.notebook.run import Run
    from labs.plots.style import Mark


# What draws is imported where it is used: `start` need not wait until it is loaded.


class Measuring:
    """Measures in one folder. `runs` holds the runs made here, by the name they are saved under."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.runs = unready_cells.Runs()
        #: The warnings that would give away the answer to a question of this lab.
        self.held_back: tuple[HeldBack, ...] = ()
        #: The recordings whose place a newer one has taken, by its path in the folder.
        self._before: dict[str, Recording] = {}
        #: The recording saved last under each name, with the state of its file after that.
        self._last_saved: dict[str, tuple[tuple[int, ...] | None, Recording]] = {}
        #: The predictions that this lab asks for.
        self.asked: Mapping[str, Asked] = {}

    def carry_out(self, plan: Plan, save: str | None = None, unit: str = "ns") -> Run:
        """Carry out `plan`, wait for it, save its recording and return the run.

        Raises Refused, in plain words, for everything a student can do something about.
        """
        return self.carry_out_in_turns((plan,), (save,), unit)[0]

    def carry_out_in_turns(
        self, plans: Sequence[Plan], saves: Sequence[str | None], unit: str = "ns"
    ) -> list[Run]:
        """As `carry_out`, for plans whose processes take turns; `saves` has a name for each.

        An interrupt keeps and saves the processes that had finished, and is raised like any other:
        it is to end the cell, and whatever would follow.
        """
        both = zip(plans, saves, strict=True)
        names = [figures.recording_name(save or name_for(plan)) for plan, save in both]
        asked = plans[0]
        try:
            measured, interrupted = _measured(plans, names, unit)
            for asked, name, recording in zip(plans, names, measured, strict=True):
                self._save_and_keep(asked, name, recording, unit)
        except run_errors.EXPECTED as error:
            unknown = next(filter(None, map(run_errors.of_unknown_variants, plans)), None)
            message = unknown or run_errors.of_error(error, asked.source, asked.first_line)
            self.failed(names, message)
            raise Refused(message) from None
        except KeyboardInterrupt:
            message = run_errors.of_interrupt(asked.kernel_name, asked.source)
            self.failed(names, message)
            if not messages.in_notebook():
                raise
            raise Refused(message) from None
        runs = [self.runs[name] for name in names]
        if not interrupted:
            return runs
        if not messages.in_notebook():
            raise KeyboardInterrupt
        sentences = [result.sentence() for run in runs for result in run.results]
        raise Refused(run_errors.of_kept(measured[0], names, sentences))

    def _save_and_keep(self, plan: Plan, name: str, measured: Recording, unit: str) -> None:
        """Save a recording as `name`, and keep its run."""
        recording = self.named(measured)
        path = None
        try:
            path = self.save(plan, recording, name)
        except (CannotWrite, ValueError) as error:
            show(run_errors.of_error(error))  # and go on: what was measured is not lost
        self.keep(name, self.reduce(plan, recording, path, unit))

    def failed(self, names: Sequence[str], message: Message) -> None:
        """Note that a run which was to be saved under each of `names` failed with `message`.

        An earlier run of that name is then shown and checked as what it is.
        """
        for name in names:
            figures.note_failure(self.folder, name, message.heading)
            if name in self.runs:
                self.runs[name].later.failure = message.heading

    def keep(self, name: str, run: Run) -> None:
        """Keep `run` as the newest one of this name; warnings that give answers away wait."""
        run.later.folder = self.folder
        run.later.held_back = {
            each.warning: each.until for each in self.held_back if each.run == name
        }
        self.runs[name] = run

    def reduce(self, plan: Plan, recording: Recording, path: str | None, unit: str = "ns") -> Run:
        """The run that `recording` holds. Raises what reducing raises."""
        from labs.notebook.run import Run

        # By what it measures: a broken C kernel, or the student's own, may have any file name.
        marks = self.marks(recording.kernel, plan.variants or recording.variants)
        # A cell of C takes options as a terminal does; other C was measured by a call of Python.
        run = Run.of(recording, plan.variants, unit, path, marks, python=plan.shown_as != "cell")
        if path is None or (before := self._before.pop(path, None)) is None:
            return run
        return replace(run, contradicts=results_compared.disagreements(before, run.results))

    def named(self, recording: Recording) -> Recording:
        """`recording` with the account that made it, as it is to be saved in this lab's folder."""
        return with_account(recording, self.folder / figures.RECORDINGS / f"{recording.kernel}.csv")

    def save(self, plan: Plan, recording: Recording, name: str) -> str:
        """Save a recording as `name`, with the C if that is the student's own.

        Returns its path below the lab's folder. A recording with which a figure was handed in is
        kept under another name. Raises files.CannotWrite, ValueError.
        """
        folder, path = self.folder / figures.RECORDINGS, f"{figures.RECORDINGS}/{name}.csv"
        before = self._saved_before(folder / f"{name}.csv")
        figures.make_room(self.folder, name)
        beside = c_beside(plan, recording, folder / f"{name}.csv")
        if plan.source is not None:
            beside[folder / f"{name}.c"] = plan.source.encode()
        recording.write(folder / f"{name}.csv", beside)
        self._last_saved[name] = state_of(folder / f"{name}.csv"), recording
        figures.forget_failure(self.folder, name)
        if before is not None:
            self._before[path] = before
        return path

    def _saved_before(self, path: Path) -> Recording | None:
        """The recording at `path`, which is not read again if this notebook wrote it last."""
        state, recording = self._last_saved.get(path.stem, (None, None))
        return recording if state == state_of(path) else results_compared.saved_at(path)

    def marks(self, kernel: str, variants: Sequence[str]) -> dict[str, Mark]:
        """By variant the prediction that counts of the figure named after it, to be drawn.

        If all of its predictions are late, the newest one is drawn, as a late one.

        A figure of `procedure_call args0` is procedure-call-args0, or the end of that: call-args0.
        Of a prediction with another id, the lab's guide says what measures it.
        """
        from labs.plots.style import Mark

        try:
            known = predictions.read(self.folder)
        except predictions.BadPredictions:
            return {}
        marks = {}
        for variant in variants:
            whole = f"-{kernel}-{variant}".replace("_", "-")
            named = [
                name
                for name in known
                if whole.endswith(f"-{name}")
                or (name in self.asked and self.asked[name].measured == f"{kernel} {variant}")
            ]
            if named:
                made, late = predictions.shown(known[max(named, key=len)])
                name = "your late prediction" if late else "your prediction"
                marks[variant] = Mark(made.value, made.unit, name)
        return marks


def _measured(
    plans: Sequence[Plan], names: Sequence[str], unit: str
) -> tuple[Sequence[Recording], bool]:
    """The recordings of the plans, which are to be saved under `names`, and whether an interrupt
    ended them after some processes had finished."""
    kept: list[Recording] = []
    narrower = any(plan.within is not None for plan in plans)
    with ProgressLine(", ".join(dict.fromkeys(names)), narrower=narrower) as line:
        rule = stopping.rule_of(plans, unit)
        try:
            return measure_in_turns_now(plans, line.heard, rule, line.show, kept.extend), False
        except KeyboardInterrupt:
            if not kept:
                raise
            return kept, True


#: A run that is over sooner, in seconds, shows no line.
AFTER_S = 0.7
#: The line changes at most so often, in seconds: what prints each change would fill a page.
EVERY_S = 2.0


class ProgressLine:
    """The line of the run that is called `name`; outside a notebook it shows nothing.

    `heard` may be called from any thread, `show` only from the thread that runs the cell: the
    output of another thread may end in another cell.
    """

    def __init__(self, name: str, *, narrower: bool = False) -> None:
        """`narrower` says that added processes are to narrow an interval.

        Otherwise they take the place of those that shared their core.
        """
        self._name = name
        self._narrower = narrower
        self._at: Progress | None = None
        self._planned = 0  # the samples that were to be taken at first
        self._begin = time.monotonic()
        self._next_s = AFTER_S
        self._handle: Any = None

    def __enter__(self) -> ProgressLine:
        return self

    def heard(self, at: Progress) -> None:
        """Remember how far the run is."""
        self._planned = self._planned or at.total
        self._at = at

    def show(self) -> None:
        """Show how far the run is, once it has lasted for a while."""
        seconds = time.monotonic() - self._begin
        if seconds < self._next_s or not messages.in_notebook():
            return
        self._next_s = seconds + EVERY_S
        self._display(self.words(seconds))

    def words(self, seconds: float) -> str:
        """The line after so many seconds."""
        return f"{self._name}: {self._how_far()}, {seconds:.0f} s"

    def _how_far(self) -> str:
        at = self._at
        if at is None:
            return "building"
        if at.done == 0:
            return "running, no sample yet"
        if at.total > self._planned:  # a share of what grows would stay near 100 %
            why = " for a narrower interval" if self._narrower else ", because the core was shared"
            return f"{at.done:,} samples with the warm-up, adding processes{why}"
        if at.done >= at.total:
            return f"all {at.total:,} samples with the warm-up are taken; looking at the C"
        share = at.done / at.total
        return f"{share:.0%}, {at.done:,} of {at.total:,} samples with the warm-up"

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Remove the words: the result follows."""
        if self._handle is not None:
            self._display("")

    def _display(self, words: str) -> None:
        from IPython.display import display

        bundle = {"text/plain": words}
        if words:
            bundle["text/html"] = str(inline('<p role="status">{{ words }}</p>', words=words))
        if self._handle is None:
            self._handle = display(bundle, raw=True, display_id=True)  # type: ignore[no-untyped-call]
        else:
            self._handle.update(bundle, raw=True)


def name_for(plan: Plan) -> str:
    """The default name of a recording: its variant, or its C kernel if it has several variants."""
    return plan.variants[0] if len(plan.variants) == 1 else plan.kernel_name
