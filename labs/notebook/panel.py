"""The panel: `lab.measure` with a slider, menus and buttons.

A front and nothing more: its settings are a :class:`labs.notebook.panel_form.Form`, measuring is
`measure.measure`, on the Jupyter kernel's own event loop, so that Cancel is heard while a run goes
on. The panel shows the line of Python that does the same.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from labs.common import messages
from labs.common.files import CannotWrite
from labs.common.messages import Message
from labs.notebook import explain
from labs.notebook.panel_controls import Controls
from labs.notebook.panel_form import Form
from labs.plots import image
from labs.run import measure

if TYPE_CHECKING:
    from labs.notebook.measuring import Measuring
    from labs.notebook.run import Run


class Panel:
    """The panel of one C kernel.

    `run` is the last finished run, and `message` is the message on display. `timings` says how long
    the parts of that run took, in ms: run, save, reduce, draw, and total, which is their sum.
    """

    def __init__(
        self, session: Measuring, kernel: str, names: Sequence[str] = (), save: str = "panel"
    ) -> None:
        self.session = session
        self.save = save
        self.controls = Controls(kernel, names, save)
        self.run: Run | None = None
        self.message: Message | None = self.controls.problem
        self.timings: dict[str, float] = {}
        self._task: asyncio.Task[None] | None = None
        self._progress = measure.Progress(0, 1)
        self.controls.run.on_click(lambda _: self.start())
        self.controls.cancel.on_click(lambda _: self.cancel())
        self.controls.on_change(self._changed)
        self.controls.show_line(self.form.as_python())
        # Fonts are loaded here, not between the first click and its plot.
        image.warm_up()

    @property
    def form(self) -> Form:
        """What the panel is set to."""
        return self.controls.form

    @property
    def running(self) -> bool:
        """Whether a run is under way."""
        return self._task is not None and not self._task.done()

    def start(self) -> None:
        """Begin a run; while one is under way, nothing."""
        if self.running:
            return
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            words = f"Use the line of Python instead: {self.form.as_python()}"
            self._say(Message("problem", "a panel works in a notebook only", (words,)))
            return
        self._task = loop.create_task(self._run())

    def cancel(self) -> None:
        """End the run that is under way, if there is one, with its processes."""
        if self._task is not None:
            self._task.cancel()

    async def finished(self) -> None:
        """Wait until no run is under way."""
        if self._task is not None:
            await asyncio.wait([self._task])

    async def _run(self) -> None:
        """One run, from the settings to the plot; whatever happens, the panel stays usable."""
        self.controls.set_running(True)
        self.controls.status("Building …")
        self._progress = measure.Progress(0, 1)
        self._say(None)
        try:
            await self._measure_and_show()
        except asyncio.CancelledError:
            done = f"{self._progress.done:,} of {self._progress.total:,} samples"
            if self._progress.total == 1:
                done = "it began"
            self.controls.status(f"Cancelled after {done}. Nothing was saved.")
            self.controls.bar.bar_style = "warning"
        except (*explain.EXPECTED, messages.Refused) as error:
            before = " Below is the run before." if self.run is not None else ""
            self.controls.status(f"Nothing was measured.{before}")
            self.controls.bar.bar_style = "danger"
            message = explain.of_error(error)
            self.session.failed([self.save], message)
            self._say(message)
        except Exception as error:
            # A fault of ours would otherwise vanish with its task, and the button seem dead.
            words = (f"{type(error).__name__}: {error}", "Please report it.")
            self.controls.status("")
            self._say(Message("problem", "a fault of Ticklab itself", words))
        finally:
            self.controls.set_running(False)

    async def _measure_and_show(self) -> None:
        plan = self.form.plan()
        at = [time.perf_counter()]
        recording = await measure.measure(plan, self._tell)
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
        self.controls.result.value = run._repr_html_()
        self.controls.plot.value = picture
        self.controls.bar.value = self.controls.bar.max
        self.controls.bar.bar_style = "success"
        taken = len(recording.samples(run.variant))
        self.controls.status(f"Done: {taken:,} samples in {at[1] - at[0]:.2g} s.")
        parts = zip(("run", "save", "reduce", "draw"), at[:-1], at[1:], strict=True)
        self.timings = {name: 1e3 * (end - begin) for name, begin, end in parts}
        self.timings["total"] = 1e3 * (at[-1] - at[0])

    def _tell(self, progress: measure.Progress) -> None:
        self._progress = progress
        self.controls.bar.max = progress.total
        self.controls.bar.value = progress.done
        share = progress.done / max(progress.total, 1)
        self.controls.status(
            f"{share:.0%}: {progress.done:,} of {progress.total:,} samples, warm-up included"
        )

    def _changed(self) -> None:
        """Show the line of Python for what is set now, and say at once if it will not do."""
        self.controls.show_line(self.form.as_python())
        if self.running:
            return
        try:
            self.form.plan()
        except measure.BadPlan as error:
            self._say(explain.of_error(error))
        else:
            self._say(self.controls.problem)

    def _say(self, message: Message | None) -> None:
        self.message = message
        self.controls.say(message)

    def _repr_mimebundle_(self, **options: Any) -> Any:
        return self.controls.widget._repr_mimebundle_(**options)
