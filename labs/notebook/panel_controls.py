"""The widgets of a panel and their layout; what they do is in :mod:`labs.notebook.panel`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import ipywidgets as widgets

from labs.common.html import inline
from labs.common.messages import Message
from labs.machine import surroundings
from labs.notebook import explain, panel_form
from labs.notebook.panel_form import Form
from labs.recording.declared import Placement
from labs.run import variants

#: In the colours of the page that it stands in, light or dark.
_STYLE = """<style>
.ticklab-panel { border: 1px solid var(--jp-border-color2, #ccc); border-radius: 6px;
  padding: 12px min(16px, 2vw) 14px; max-width: 760px; box-sizing: border-box; }
.ticklab-panel .widget-label { text-align: left; color: var(--jp-content-font-color1, inherit); }
.ticklab-panel .widget-html-content { line-height: 1.45; flex: 1 1 0; min-width: 0; }
.ticklab-panel select { background-image: url("data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/\
2000/svg' viewBox='0 0 18 18'%3E%3Cpath fill='%23808080' d='M5 7l4 4 4-4z'/%3E%3C/svg%3E"); }
.ticklab-panel table { font-size: clamp(11px, 2vw, 13px); }
.ticklab-panel .ticklab-title { font-weight: 600; }
.ticklab-panel .ticklab-quiet { color: var(--jp-content-font-color2, #555); }
.ticklab-panel .ticklab-line { margin: 0; padding: 6px 10px; border-radius: 4px; user-select: text;
  background: var(--jp-layout-color2, #eee); color: var(--jp-content-font-color1, inherit);
  font-family: var(--jp-code-font-family, monospace); font-size: var(--jp-code-font-size, 13px);
  line-height: 1.5; white-space: pre-wrap; word-break: normal; overflow-wrap: anywhere; }
.ticklab-panel :is(button, input, select, summary, .noUi-handle):focus-visible {
  outline: 2px solid var(--jp-brand-color1, #1976d2); outline-offset: 1px; }
.ticklab-panel button:disabled { opacity: .45; }
.ticklab-panel .slider-container { overflow: visible; }
</style>"""

#: JupyterLab takes the arrow keys for moving between cells even where the focus is in a menu or on
#: a slider, and letters for cutting and copying cells; Lumino leaves an element with this attribute
#: alone. ipywidgets sets no attributes, and gives a slider no name, so that a script must.
_KEYS = """<img hidden alt="" src="data:," onerror="
  document.addEventListener('focusin', (event) => {
    const control = event.target;
    if (!control.matches('.ticklab-panel select, .ticklab-panel .noUi-handle')) return;
    control.setAttribute('data-lm-suppress-shortcuts', 'true');
    if (control.matches('.noUi-handle'))
      control.setAttribute('aria-label', 'Samples, as a power of ten');
  })">"""

#: A menu's value None would mean that nothing is chosen, and show nothing.
_STATUS = '<div role="status" class="ticklab-quiet">{{ words }}</div>'
_LINE = (
    '<div class="ticklab-quiet">The same in one line of Python:</div>'
    '<pre class="ticklab-line"><code>{{ line }}</code></pre>'
)

_NOT_PINNED = -1

_LABEL = {"description_width": "96px"}
_CELL = {"width": "auto", "min_width": "0"}
_BUTTON = {"width": "104px", "flex": "none"}


class Controls:
    """One widget a setting, Run and Cancel, progress, and the places where results appear.

    `problem` is what is wrong with the C kernel itself: it does not build, or there is none.
    """

    def __init__(self, kernel: str, names: Sequence[str], save: str) -> None:
        self._kernel, self._save = kernel, save
        self.problem: Message | None = None
        listed: tuple[variants.Listed, ...] = ()
        try:
            listed = variants.of_kernel(kernel)
        except explain.EXPECTED as error:
            self.problem = explain.of_error(error)
        self.samples = _number("Samples", panel_form.DEFAULT_SAMPLES, "samples per variant")
        self.slider = widgets.FloatLogSlider(
            value=panel_form.DEFAULT_SAMPLES,
            base=10,
            min=panel_form.LEAST_POWER,
            max=panel_form.MOST_POWER,
            step=panel_form.POWER_STEP,
            readout=False,
            tooltip="samples, on a logarithmic scale",
            layout=dict(_CELL),
        )
        self.variant = _menu("Variant", _variant_options(listed, names))
        cpus = _cpu_options()
        self.cpu = _menu("CPU", cpus)
        self.peer_cpu = _menu("Peer's CPU", cpus) if _has_two_cpus(listed) else None
        self.warmup = _number(
            "Warm-up", panel_form.DEFAULT_WARMUP, "samples in each process, before"
        )
        self.processes = _number(
            "Processes", panel_form.DEFAULT_PROCESSES, "fresh processes that share the samples"
        )
        levels = [(f"-O{level}", f"-O{level}") for level in (0, 1, 2, 3)]
        self.optimisation = _menu("Optimisation", levels)
        self.optimisation.value = panel_form.DEFAULT_FLAGS
        self.run = widgets.Button(
            description="Run", icon="play", button_style="primary", layout=_BUTTON
        )
        self.cancel = widgets.Button(
            description="Cancel", icon="stop", disabled=True, layout=_BUTTON
        )
        self.bar = widgets.IntProgress(
            value=0, min=0, max=1, layout={"flex": "1 1 120px", "width": "auto"}
        )
        self._line = widgets.HTML(layout={"margin": "8px 2px 2px 2px"})
        self._status, self._said = widgets.HTML(), widgets.HTML()
        self.result, self.plot = widgets.HTML(), widgets.HTML()
        self.status("Ready.")
        self.say(self.problem)
        self.widget = self._lay_out()
        self.slider.observe(self._slid, "value")
        self.samples.observe(self._typed, "value")

    @property
    def form(self) -> Form:
        """What the controls are set to."""
        return Form(
            self._kernel,
            self.variant.value or "",
            self.samples.value,
            _cpu_of(self.cpu),
            _cpu_of(self.peer_cpu),
            self.warmup.value,
            self.processes.value,
            self.optimisation.value,
            self._save,
        )

    def on_change(self, call: Callable[[], None]) -> None:
        """Call `call` after each change of a setting."""
        for control in self._settings():
            control.observe(lambda _: call(), "value")

    def status(self, words: str) -> None:
        """Say how far things are, where a screen reader hears it without being asked."""
        self._status.value = inline(_STATUS, words=words)

    def say(self, message: Message | None) -> None:
        """Show a message, or take the last one away."""
        self._said.value = message.as_html() if message is not None else ""

    def show_line(self, line: str) -> None:
        """Show the line of Python that does the same."""
        self._line.value = inline(_LINE, line=line)

    def set_running(self, running: bool) -> None:
        """Swap which of Run and Cancel can be pressed."""
        self.run.disabled = running
        self.cancel.disabled = not running
        if running:
            self.bar.value, self.bar.max, self.bar.bar_style = 0, 1, ""

    def _settings(self) -> list[Any]:
        """The controls in the order of their places, which is that of the Tab key."""
        every = (
            self.samples, self.slider, self.variant, self.cpu, self.peer_cpu, self.warmup,
            self.processes, self.optimisation,
        )  # fmt: skip
        return [control for control in every if control is not None]

    def _lay_out(self) -> Any:
        title = widgets.HTML(
            inline('<span class="ticklab-title">Measure {{ kernel }}</span>', kernel=self._kernel)
        )
        grid = widgets.GridBox(
            self._settings(),
            layout={
                "width": "100%",
                "grid_template_columns": "repeat(auto-fit, minmax(min(280px, 100%), 1fr))",
                "grid_gap": "4px 28px",
            },
        )
        buttons = widgets.HBox(
            [self.run, self.cancel, self.bar],
            layout={
                "width": "100%",
                "align_items": "center",
                "margin": "10px 0 0 0",
                "flex_flow": "row wrap",
            },
        )
        style = widgets.HTML(_STYLE + _KEYS, layout={"display": "none"})
        panel = widgets.VBox(
            [
                style, title, grid, self._line, buttons, self._status, self._said, self.result,
                self.plot,
            ],
            layout={"width": "100%"},
        )  # fmt: skip
        panel.add_class("ticklab-panel")
        return panel

    def _slid(self, change: Mapping[str, Any]) -> None:
        if not panel_form.slider_agrees(self.samples.value, change["new"]):
            self.samples.value = panel_form.samples_at(change["new"])

    def _typed(self, change: Mapping[str, Any]) -> None:
        if not panel_form.slider_agrees(change["new"], self.slider.value):
            self.slider.value = panel_form.slider_place(change["new"])


def _variant_options(
    listed: Sequence[variants.Listed], names: Sequence[str]
) -> list[tuple[str, str]]:
    """Words for the menu with their values: those asked for, or all that this machine can do."""
    missing = {each.name for each in listed if each.missing}
    chosen = names or [each.name for each in listed if not each.missing]
    options = [
        (f"{name} (not on this machine)" if name in missing else name, name) for name in chosen
    ]
    return options or [("the first", "")]


def _has_two_cpus(listed: Sequence[variants.Listed]) -> bool:
    """Whether a variant has a second task on a CPU of its own, which one may then choose."""
    return any(each.declared.placement is Placement.TWO_CPUS for each in listed)


def _cpu_options() -> list[tuple[str, int]]:
    """The CPUs that this process may use, after 'not pinned'."""
    allowed = surroundings.allowed_cpus()
    if allowed is None:
        return [("not pinned (this system cannot)", _NOT_PINNED)]
    return [("not pinned", _NOT_PINNED), *((f"CPU {cpu}", cpu) for cpu in sorted(allowed))]


def _cpu_of(menu: Any) -> int | None:
    return None if menu is None or menu.value == _NOT_PINNED else int(menu.value)


def _menu(label: str, options: Sequence[tuple[str, Any]]) -> Any:
    return widgets.Dropdown(options=options, description=label, style=_LABEL, layout=dict(_CELL))


def _number(label: str, value: int, tooltip: str) -> Any:
    return widgets.IntText(
        value=value,
        description=label,
        tooltip=tooltip,
        continuous_update=True,
        style=_LABEL,
        layout=dict(_CELL),
    )
