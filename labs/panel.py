"""The panel: `lab.measure` with sliders, menus and buttons.

A front and nothing more: settings are a :class:`labs.panel_form.Form`, measuring is
`measure.measure`, on the Jupyter kernel's own event loop, so that Cancel is heard while a run goes
on. The panel shows the line of Python that does the same.
"""

from __future__ import annotations

import asyncio
import html
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import ipywidgets as widgets

from labs import measure, messages, panel_form, surroundings, variants
from labs.files import CannotWrite
from labs.messages import Message
from labs.panel_form import Form

if TYPE_CHECKING:
    from labs.run import Run
    from labs.session import Session

#: What the last click cost, in milliseconds: run, save, reduce, draw, and the total of these.
timings: dict[str, float] = {}

#: In the colours of the page that it stands in, light or dark.
_STYLE = """<style>
.ticklab-panel { border: 1px solid var(--jp-border-color2, #ccc); border-radius: 6px;
  padding: 12px 16px; max-width: 760px; box-sizing: border-box; }
.ticklab-panel .widget-label { color: var(--jp-content-font-color1, inherit); }
.ticklab-panel .ticklab-controls { column-gap: 28px; row-gap: 4px; }
.ticklab-panel .ticklab-title { font-weight: 600; }
.ticklab-panel .ticklab-line { margin: 0; padding: 6px 10px; border-radius: 4px; user-select: text;
  background: var(--jp-layout-color2, #eee); color: var(--jp-content-font-color1, inherit);
  font-family: var(--jp-code-font-family, monospace); font-size: var(--jp-code-font-size, 13px);
  line-height: 1.5; white-space: pre-wrap; overflow-wrap: anywhere; }
.ticklab-panel .widget-html-content { line-height: 1.45; }
.ticklab-panel :focus-visible { outline: 2px solid var(--jp-brand-color1, #1976d2);
  outline-offset: 1px; }
.ticklab-panel button:disabled { opacity: .45; }
</style>"""

_LABEL = {"description_width": "96px"}


class Panel:
    """The panel of one C kernel. `run` is the last finished run, `message` what was last said."""

    def __init__(
        self, session: Session, kernel: str, names: Sequence[str] = (), save: str = "panel"
    ) -> None:
        self.session = session
        self.kernel = kernel
        self.save = save
        self.run: Run | None = None
        self.message: Message | None = None
        self._task: asyncio.Task[None] | None = None
        self._make_controls(names)
        self.widget = self._lay_out()
        self._watch()
        self._changed()
        # Fonts and matplotlib are loaded here, not between the first click and its plot.
        from labs import plot

        plot.warm_up()

    @property
    def running(self) -> bool:
        """Whether a run is under way."""
        return self._task is not None and not self._task.done()

    @property
    def form(self) -> Form:
        """What the controls are set to."""
        return Form(
            self.kernel,
            self.variant.value or "",
            self.samples.value,
            self.cpu.value,
            self.peer_cpu.value if self.peer_cpu is not None else None,
            self.warmup.value,
            self.processes.value,
            self.optimisation.value,
            self.save,
        )

    def start(self) -> None:
        """Begin a run; while one is under way, nothing."""
        if self.running:
            return
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            words = "Use the line of Python below instead."
            self._say(Message("problem", "a panel works in a notebook only", (words,)))
            return
        self._task = loop.create_task(self._run())

    def cancel(self) -> None:
        """End the run that is under way, if there is one, with its processes."""
        if self._task is not None and not self._task.done():
            self._task.cancel()

    async def finished(self) -> None:
        """Wait until no run is under way."""
        if self._task is not None:
            await asyncio.wait([self._task])

    async def _run(self) -> None:
        self._set_running(True)
        try:
            await self._measure_and_show()
        except asyncio.CancelledError:
            self._status("Cancelled. Nothing was saved.")
            self.bar.bar_style = "warning"
        except (*messages.EXPECTED, messages.Refused) as error:
            self._status("")
            self._say(messages.of_error(error))
        finally:
            self._set_running(False)

    async def _measure_and_show(self) -> None:
        plan = self.form.plan()
        self._say(None)
        self._status("Building …")
        at = [time.perf_counter()]
        recording = await measure.measure(plan, self._progress)
        at.append(time.perf_counter())
        path = None
        try:
            path = self.session.save(plan, recording, self.save)
        except (CannotWrite, ValueError) as error:
            self._say(messages.of_error(error))  # and go on: what was measured is not lost
        at.append(time.perf_counter())
        run = self.session.reduce(plan, recording, path)
        at.append(time.perf_counter())
        self.run = self.session.runs[self.save] = run
        picture = run.plot().as_html()
        at.append(time.perf_counter())
        self.result.value = run._repr_html_()
        self.plot.value = picture
        seconds = at[1] - at[0]
        self._status(f"Done: {run.results[0].n:,} samples in {seconds:.2g} s.")
        self.bar.value = self.bar.max
        self.bar.bar_style = "success"
        steps = zip(("run", "save", "reduce", "draw"), at, at[1:], strict=False)
        timings.clear()
        timings.update({name: 1e3 * (end - begin) for name, begin, end in steps})
        timings["total"] = 1e3 * (at[-1] - at[0])

    def _progress(self, progress: measure.Progress) -> None:
        self.bar.max = progress.total
        self.bar.value = progress.done
        share = progress.done / max(progress.total, 1)
        self._status(f"{share:.0%}: {progress.done:,} of {progress.total:,} intervals")

    def _set_running(self, running: bool) -> None:
        self.run_button.disabled = running
        self.cancel_button.disabled = not running
        if running:
            self.bar.value, self.bar.max, self.bar.bar_style = 0, 1, ""

    def _status(self, words: str) -> None:
        self.status.value = f'<span role="status">{html.escape(words)}</span>'

    def _say(self, message: Message | None) -> None:
        self.message = message
        self.said.value = message.as_html() if message is not None else ""

    def _make_controls(self, names: Sequence[str]) -> None:
        message = None
        try:
            listed = variants.of_kernel(self.kernel)
        except messages.EXPECTED as error:
            listed, message = (), messages.of_error(error)
        self.variant = _menu("Variant", _variant_options(listed, names), "which one to measure")
        self.slider = widgets.FloatLogSlider(
            value=panel_form.DEFAULT_SAMPLES,
            base=10,
            min=panel_form.LEAST_POWER,
            max=panel_form.MOST_POWER,
            step=panel_form.POWER_STEP,
            readout=False,
            description="Samples",
            tooltip="number of samples, on a logarithmic scale",
            style=_LABEL,
            layout={"flex": "1 1 260px", "width": "auto", "min_width": "0"},
        )
        self.samples = _number("", panel_form.DEFAULT_SAMPLES, "number of samples in all")
        self.samples.layout = {"width": "96px"}
        cpus = _cpu_options()
        self.cpu = _menu("CPU", cpus, "the CPU to pin the measuring task to")
        self.peer_cpu = (
            _menu("Peer's CPU", cpus, "the CPU to pin the second task to")
            if variants.has_peer(self.kernel)
            else None
        )
        self.warmup = _number("Warm-up", panel_form.DEFAULT_WARMUP, "intervals before, a process")
        self.processes = _number(
            "Processes", panel_form.DEFAULT_PROCESSES, "fresh processes to spread the samples over"
        )
        self.optimisation = _menu(
            "Optimisation",
            [(f"-O{level}", f"-O{level}") for level in (0, 1, 2, 3)],
            "how hard the compiler tries",
        )
        self.optimisation.value = panel_form.DEFAULT_FLAGS
        wide = {"width": "104px"}
        self.run_button = widgets.Button(
            description="Run", icon="play", button_style="primary", layout=wide
        )
        self.cancel_button = widgets.Button(
            description="Cancel", icon="stop", disabled=True, layout=wide
        )
        self.bar = widgets.IntProgress(
            value=0, min=0, max=1, layout={"flex": "1 1 120px", "width": "auto"}
        )
        self.status, self.said, self.line = widgets.HTML(), widgets.HTML(), widgets.HTML()
        self.result, self.plot = widgets.HTML(), widgets.HTML()
        self._status("")
        self._say(message)

    def _lay_out(self) -> Any:
        title = widgets.HTML(f'<span class="ticklab-title">{html.escape(self.kernel)}</span>')
        samples = widgets.HBox([self.slider, self.samples], layout={"width": "100%"})
        pairs = [self.variant, self.cpu, self.peer_cpu, self.warmup, self.processes]
        controls = widgets.Box(
            [each for each in (*pairs, self.optimisation) if each is not None],
            layout={"display": "flex", "flex_flow": "row wrap", "width": "100%"},
        )
        controls.add_class("ticklab-controls")
        buttons = widgets.HBox(
            [self.run_button, self.cancel_button, self.bar],
            layout={"width": "100%", "align_items": "center", "margin": "8px 0 0 0"},
        )
        style = widgets.HTML(_STYLE, layout={"display": "none"})
        panel = widgets.VBox(
            [
                style, title, samples, controls, buttons, self.status, self.line, self.said,
                self.result, self.plot,
            ],
            layout={"width": "100%"},
        )  # fmt: skip
        panel.add_class("ticklab-panel")
        return panel

    def _watch(self) -> None:
        self.run_button.on_click(lambda _: self.start())
        self.cancel_button.on_click(lambda _: self.cancel())
        self.slider.observe(self._slid, "value")
        self.samples.observe(self._typed, "value")
        for control in (self.variant, self.cpu, self.peer_cpu, self.optimisation):
            if control is not None:
                control.observe(self._changed, "value")
        for control in (self.samples, self.warmup, self.processes):
            control.observe(self._changed, "value")

    def _slid(self, change: Mapping[str, Any]) -> None:
        if not panel_form.slider_agrees(self.samples.value, change["new"]):
            self.samples.value = panel_form.samples_at(change["new"])

    def _typed(self, change: Mapping[str, Any]) -> None:
        if not panel_form.slider_agrees(change["new"], self.slider.value):
            self.slider.value = panel_form.slider_place(change["new"])

    def _changed(self, _: object = None) -> None:
        """Show the line of Python for what is set now, and say at once if it will not do."""
        line = html.escape(self.form.as_python())
        self.line.value = f'<pre class="ticklab-line"><code>{line}</code></pre>'
        if self.running:
            return
        try:
            self.form.plan()
        except measure.BadPlan as error:
            self._say(messages.of_error(error))
        else:
            if _ is not None:
                self._say(None)

    def _repr_mimebundle_(self, **options: Any) -> Any:
        return self.widget._repr_mimebundle_(**options)


def _variant_options(
    listed: Sequence[variants.Listed], names: Sequence[str]
) -> list[tuple[str, str]]:
    """Names for the menu with their values; those asked for, or all that this machine can do."""
    by_name = {each.name: each for each in listed}
    chosen = names or [each.name for each in listed if not each.missing]
    options = []
    for name in chosen:
        known = by_name.get(name)
        about = "" if known is None else known.missing and f"not here: {known.missing}"
        options.append((f"{name} ({about})" if about else name, name))
    return options or [("its first", "")]


def _cpu_options() -> list[tuple[str, int | None]]:
    """The CPUs that this process may use, after 'not pinned'."""
    allowed = surroundings.allowed_cpus()
    if allowed is None:
        return [("not pinned (this system cannot)", None)]
    return [("not pinned", None), *((f"CPU {cpu}", cpu) for cpu in sorted(allowed))]


_SIZED = {"flex": "1 1 280px", "width": "auto", "max_width": "350px"}


def _menu(label: str, options: Sequence[tuple[str, Any]], tooltip: str) -> Any:
    return widgets.Dropdown(
        options=options, description=label, tooltip=tooltip, style=_LABEL, layout=dict(_SIZED)
    )


def _number(label: str, value: int, tooltip: str) -> Any:
    return widgets.IntText(
        value=value, description=label, tooltip=tooltip, style=_LABEL, layout=dict(_SIZED)
    )
