"""The panel: `lab.measure` with a slider, menus and buttons.

Its settings are a `labs.notebook.panel_runs.Form`. It measures by `measure.measure` on the Jupyter
kernel's own event loop, so that Cancel works during a run. The panel shows the line of Python that
does the same.
"""

from __future__ import annotations

import asyncio
import contextlib
import sys
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from labs import messages
from labs.files import CannotWrite
from labs.messages import Message
from labs.notebook import explain, panel_runs
from labs.notebook.panel_controls import Controls
from labs.notebook.panel_runs import Form, KeptRun, changes_as_text
from labs.notebook.unready_cells import SavedOutput
from labs.plots import style
from labs.recording.cut_short import CANCELLED, cut_short
from labs.recording.file import Recording
from labs.results import stopping
from labs.run import measure
from labs.run.plan import Plan
from labs.units import plural

if TYPE_CHECKING:
    from labs.notebook.measuring import Measuring
    from labs.notebook.run import Run


#: Progress is shown at most so often, in seconds: each change is a message to the page, and a page
#: that draws takes time from the run and from the plot after it.
_SHOW_EVERY_S = 0.1

_NO_LINE = "# The line appears here once every setting above can be used."


class Panel:
    """The panel of one C kernel.

    `run` is the last finished run, `kept` are the runs of this panel, also of earlier sessions, and
    `message` is the message on display. `timings` says how long the parts of the last run took, in
    ms: run, save, reduce, draw, and total, which is their sum.
    """

    def __init__(
        self, session: Measuring, kernel: str, names: Sequence[str] = (), save: str = "panel"
    ) -> None:
        self.session = session
        self.save = save
        self.controls = Controls(kernel, names, save)
        self.run: Run | None = None
        self.kept = panel_runs.read(session.folder, save, kernel)
        self.message: Message | None = self.controls.problem
        self.timings: dict[str, float] = {}
        self.saved = SavedOutput(kernel)
        self._shown: Form | None = None  # the settings of `run`
        self._task: asyncio.Task[None] | None = None
        self._progress = measure.Progress(0, 1)
        self._next_shown = 0.0
        self.controls.run.on_click(lambda _: self.start())
        self.controls.cancel.on_click(lambda _: self.cancel())
        self.controls.on_change(self._changed)
        self._show_line()
        self._show_runs()
        # Fonts are loaded here, not between the first click and its plot.
        style.warm_up()

    @property
    def form(self) -> Form | None:
        """What the panel is set to; None while a setting cannot be used."""
        return self.controls.form

    @property
    def running(self) -> bool:
        """Whether a run is under way."""
        return self._task is not None and not self._task.done()

    @property
    def stale(self) -> bool:
        """Whether the shown result is one of other settings than the panel shows."""
        return self._shown is not None and self._shown != self.form

    def start(self) -> None:
        """Begin a run; while one is under way, nothing."""
        if self.running:
            return
        form = self.form
        if form is None:
            self._refuse(Message("problem", "a setting cannot be used", self.controls.wrong))
            return
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            instead = f"Use the line of Python instead: {form.as_python()}"
            self._say(Message("problem", "a panel works in a notebook only", (instead,)))
            return
        self._task = loop.create_task(self._run(form))

    def cancel(self) -> None:
        """End the run that is under way, if there is one, and keep its finished processes."""
        if self._task is not None and self.running:
            self._task.cancel()
        else:
            self.controls.status("No run is under way.")

    async def finished(self) -> None:
        """Wait until no run is under way."""
        if self._task is not None:
            await asyncio.wait([self._task])

    async def _run(self, form: Form) -> None:
        """One run, from the settings to the plot; whatever happens, the panel stays usable."""
        self.controls.set_running(True)
        self.controls.status("Building …")
        self._progress = measure.Progress(0, 1)
        self._say(None)
        try:
            await self._measure_and_show(form)
        except asyncio.CancelledError:
            done = f"{self._progress.done:,} of {self._progress.total:,} samples"
            if self._progress.total == 1:
                done = "it began"
            self.controls.status(f"Cancelled after {done}. Nothing was saved.")
            self.controls.bar.bar_style = "warning"
        except (*explain.EXPECTED, messages.Refused) as error:
            message = explain.of_error(error)
            self.session.failed([self.save], message)
            self._refuse(message)
        except Exception as error:
            # A fault of ours would otherwise vanish with its task, and the button seem dead.
            why = (f"{type(error).__name__}: {error}", "Please report it.")
            self.controls.status("")
            self._say(Message("problem", "a fault of Ticklab itself", why))
        finally:
            self.controls.set_running(False)

    async def _measure_and_show(self, form: Form) -> None:
        plan = form.plan()
        at = [time.perf_counter()]
        recording = self.session.named(await self._measure(plan))
        at.append(time.perf_counter())
        path = None
        try:
            path = self.session.save(plan, recording, self.save)
        except (CannotWrite, ValueError) as error:
            self._say(explain.of_error(error))  # and go on: what was measured is not lost
        at.append(time.perf_counter())
        run = self.session.reduce(plan, recording, path)
        at.append(time.perf_counter())
        picture = run.plot().as_html()
        at.append(time.perf_counter())

        self.run = self.session.runs[self.save] = run
        self._shown = form
        self._mark_stale()
        self.controls.plot.value = picture
        self.controls.result.value = run._repr_html_()
        self.controls.bar.bar_style = "warning"
        if cut_short(recording) is None:
            self.controls.bar.value = self.controls.bar.max
            self.controls.bar.bar_style = "success"
        self.controls.status(_how_it_ended(recording, run.variant, plan, at[1] - at[0]))
        parts = zip(("run", "save", "reduce", "draw"), at[:-1], at[1:], strict=True)
        self.timings = {name: 1e3 * (end - begin) for name, begin, end in parts}
        self.timings["total"] = 1e3 * (at[-1] - at[0])
        # In a Jupyter kernel this waits until the messages to the page are out: the thread that
        # sends them would wait for what follows here. The run is over, so a Cancel that comes now
        # ends only this waiting.
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.to_thread(sys.stdout.flush)
        number = self.kept[-1].number + 1 if self.kept else 1
        self.kept = (*self.kept, KeptRun.of(number, form, run))[-panel_runs.MOST_RUNS :]
        self._show_runs()
        panel_runs.write(self.session.folder, self.save, self.kept)
        style.prepare_figure()

    async def _measure(self, plan: Plan) -> Recording:
        """The recording of `plan`; after Cancel, that of the processes that had finished."""
        kept: list[Recording] = []
        try:
            rule = stopping.rule_of((plan,))
            return await measure.measure(plan, self._tell, rule, kept.extend)
        except asyncio.CancelledError:
            if not kept:
                raise
            return kept[0]

    def _tell(self, progress: measure.Progress) -> None:
        self._progress = progress
        now = time.monotonic()
        if now < self._next_shown:
            return
        self._next_shown = now + _SHOW_EVERY_S
        self.controls.bar.max = progress.total
        self.controls.bar.value = progress.done
        share = progress.done / max(progress.total, 1)
        self.controls.status(
            f"{share:.0%}: {progress.done:,} of {progress.total:,} samples, warm-up included"
        )

    def _changed(self) -> None:
        """Show the line of Python for what is set now, and say at once if it will not do."""
        self._show_line()
        self._mark_stale()
        if self.running:
            return
        try:
            if (form := self.form) is not None:
                form.plan()
        except measure.BadPlan as error:
            self._say(explain.of_error(error))
        else:
            self._say(self.controls.problem)

    def _show_line(self) -> None:
        form = self.form
        self.controls.show_line(form.as_python() if form is not None else _NO_LINE)

    def _mark_stale(self) -> None:
        said = ""
        if self.stale and self._shown is not None:
            said = "A setting above cannot be used."
            if self.form is not None:
                changed = changes_as_text(self._shown, self.form)
                said = f"Changed since this run: {changed}. Press Run to measure again."
        self.controls.mark_stale(said)

    def _show_runs(self) -> None:
        """Show the comparison of the last runs and the table of all, here and in what is saved."""
        shown = self.kept[-1].number if self.kept and self.run is not None else None
        table = panel_runs.table_of(self.kept, shown) if self.kept else ""
        picture = panel_runs.picture_of(self.kept)
        compared = picture.as_html() if picture is not None else ""
        self.controls.runs.value, self.controls.comparison.value = table, compared
        result = self.controls.result.value, self.controls.plot.value
        self.saved.update(*result, compared, table)

    def _refuse(self, message: Message) -> None:
        """Say why nothing was measured; what an earlier run gave stays on display."""
        before = " Below is the run before." if self.run is not None else ""
        self.controls.status(f"Nothing was measured.{before}")
        self.controls.bar.bar_style = "danger"
        self._say(message)

    def _say(self, message: Message | None) -> None:
        self.message = message
        self.controls.say(message)

    def _ipython_display_(self) -> None:
        from IPython.display import display

        self.saved.show()
        widget = self.controls.widget._repr_mimebundle_()
        # For a page that shows no widgets, such as a saved notebook on another server.
        instead = "Run this cell: the panel appears here."
        display({**widget, "text/plain": instead}, raw=True)  # type: ignore[no-untyped-call]

    def __repr__(self) -> str:
        return f"panel, saved in {self.save}"


def _how_it_ended(recording: Recording, variant: str, plan: Plan, seconds: float) -> str:
    """What the panel says of a run that is over, which took so many seconds."""
    cut = cut_short(recording)
    if cut is not None and cut.by == CANCELLED:
        return f"Cancelled after {cut.whole} of {cut.planned} processes. The result is from these."
    if cut is not None:
        return f"Ended after {cut.whole} of {cut.planned} processes. The result is from these."
    taken = len(recording.samples(variant))
    added = len(recording.processes) - len(plan.shares())
    processes = plural(added, "process")
    more = f" The run added {processes}, because the core was shared." if added > 0 else ""
    return f"Done: {taken:,} samples in {seconds:.2g} s.{more}"
