"""The widgets of a panel and their layout; what they do is in :mod:`labs.notebook.panel.panel`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import ipywidgets as widgets

from labs.common import limits
from labs.common.html import inline
from labs.common.messages import Message
from labs.languages.words import words
from labs.machine import surroundings
from labs.notebook import explain
from labs.notebook.panel import form as panel_form
from labs.notebook.panel import looks, meaning, numbers
from labs.notebook.panel.fields import CELL, Field, Menu, NumberBox
from labs.notebook.panel.form import Form
from labs.recording.declared import Placement
from labs.run import variants
from labs.run.declared_options import DEFAULT_WARMUP
from labs.run.plan import Plan

#: A menu's value None would mean that nothing is chosen, and show nothing.
_NOT_PINNED = -1

_BUTTON = {"width": "auto", "min_width": "104px", "flex": "none"}


class Controls:
    """One field a setting, Run and Cancel, progress, and the places where results appear.

    `problem` is what is wrong with the C kernel itself: it does not build, or there is none.
    """

    def __init__(self, kernel: str, names: Sequence[str], save: str) -> None:
        self._kernel, self._save = kernel, save
        self.problem: Message | None = None
        self._listed: dict[str, variants.Listed] = {}
        self._unasked = variants.Unasked()
        try:
            self._unasked, listed = variants.listing_of(Plan(kernel))
            self._listed = {each.name: each for each in listed}
        except explain.EXPECTED as error:
            self.problem = explain.of_error(error)
        self._usual_warmup = self._unasked.warmup
        self._make_fields(names)
        self.run = widgets.Button(
            description=words("Run"), icon="play", button_style="primary", layout=_BUTTON
        )
        self.cancel = widgets.Button(description=words("Cancel"), icon="stop", layout=_BUTTON)
        self.bar = widgets.IntProgress(
            value=0, min=0, max=1, layout={"flex": "1 1 120px", "width": "auto"}
        )
        self._line = widgets.HTML(layout={"margin": "8px 2px 2px 2px"})
        self._status, self._said = widgets.HTML(), widgets.HTML()
        self._slider_words = widgets.HTML(layout={"display": "none"})
        self.stale, self.result, self.plot = widgets.HTML(), widgets.HTML(), widgets.HTML()
        self.comparison, self.runs = widgets.HTML(), widgets.HTML()
        self._outcome = widgets.VBox([self.stale, self.result, self.plot])
        self.mark_stale("")
        self.status("Ready.")
        self.say(self.problem)
        self.widget = self._lay_out()
        self._chosen()
        self._name_slider()
        self.slider.observe(self._slid, "value")
        self.samples.on_change(self._typed)
        self.warmup.on_change(self._check_warmup)
        for menu in (self.variant, self.cpu, self.peer_cpu):
            if menu is not None:
                menu.on_change(self._chosen)

    @property
    def form(self) -> Form | None:
        """What the controls are set to; None while a number cannot be used.

        A setting that has no meaning for the variant is left at what is usual.
        """
        counts = (self.samples.number, self.warmup.number, self.processes.number)
        if self.wrong or None in counts:
            return None
        return Form(
            self._kernel,
            self.variant.value or "",
            counts[0] or 0,
            _cpu_of(self.cpu),
            _cpu_of(self.peer_cpu),
            counts[1] or 0,
            counts[2] or 0,
            self.optimisation.value,
            self._save,
        )

    @property
    def wrong(self) -> tuple[str, ...]:
        """What is wrong with the settings, each with the name of its control."""
        return tuple(
            f"{each.control.description}: {each.wrong}"
            for each in self.fields()
            if each.usable and each.wrong
        )

    def on_change(self, call: Callable[[], None]) -> None:
        """Call `call` after each change of a setting."""
        for field in self.fields():
            field.on_change(call)

    def fields(self) -> list[Field]:
        """The settings in the order of their places, which is that of the Tab key."""
        every = (
            self.samples, self.variant, self.cpu, self.peer_cpu, self.warmup, self.processes,
            self.optimisation,
        )  # fmt: skip
        return [field for field in every if field is not None]

    def status(self, said: str) -> None:
        """Say how far things are, where a screen reader hears it without being asked."""
        self._status.value = inline(looks.STATUS, words=said)

    def say(self, message: Message | None) -> None:
        """Show a message, or take the last one away."""
        self._said.value = message.as_html() if message is not None else ""

    def show_line(self, line: str) -> None:
        """Show the line of Python that does the same."""
        self._line.value = inline(looks.LINE, line=line)

    def mark_stale(self, changed: str) -> None:
        """Mark the shown result as one of other settings, which `changed` names; '': of these."""
        self.stale.value = inline(looks.STALE, words=changed) if changed else ""
        self.stale.layout.display = None if changed else "none"
        if changed:
            self._outcome.add_class("ticklab-stale")
        else:
            self._outcome.remove_class("ticklab-stale")

    def set_running(self, running: bool) -> None:
        """Show whether a run is under way. No button is switched off: it would lose the focus."""
        self.run.icon = "hourglass" if running else "play"
        self.run.tooltip = words("A run is under way; Cancel ends it") if running else None
        if running:
            self.bar.value, self.bar.max, self.bar.bar_style = 0, 1, ""

    def _make_fields(self, names: Sequence[str]) -> None:
        listed = list(self._listed.values())
        self.samples = NumberBox(
            "Samples", self._unasked.samples, (1, limits.MOST_SAMPLES), "samples per variant"
        )
        self.slider = widgets.FloatLogSlider(
            value=self._unasked.samples,
            base=10,
            min=panel_form.LEAST_POWER,
            max=panel_form.MOST_POWER,
            step=panel_form.POWER_STEP,
            readout=False,
            tooltip=words("samples, on a logarithmic scale"),
            layout=dict(CELL),
        )
        options = _variant_options(listed, names)
        self.variant = Menu("Variant", options)
        offered = [self._listed[name] for _, name in options if name in self._listed]
        two_cpus = any(each.declared.placement is Placement.TWO_CPUS for each in offered)
        self.cpu = Menu("CPU", _cpu_options())
        self.peer_cpu = Menu("Peer's CPU", _cpu_options()) if two_cpus else None
        self.warmup = NumberBox(
            "Warm-up",
            self._usual_warmup,
            (0, limits.MOST_WARMUP),
            "samples in each process, before",
        )
        self.processes = NumberBox(
            "Processes",
            panel_form.DEFAULT_PROCESSES,
            (1, limits.MOST_PROCESSES),
            "fresh processes that share the samples",
        )
        levels = [(f"-O{level}", f"-O{level}") for level in (0, 1, 2, 3)]
        self.optimisation = Menu("Optimisation", levels)
        self.optimisation.control.value = panel_form.DEFAULT_FLAGS

    def _lay_out(self) -> Any:
        samples, *others = self.fields()
        grid = widgets.GridBox(
            [samples.widget, self.slider, *(field.widget for field in others)],
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
        # The line stands below the buttons: where it grows by a line, Run must not move away from
        # under the mouse.
        style = widgets.HTML(looks.STYLE + looks.SCRIPT, layout={"display": "none"})
        title = widgets.HTML(inline(looks.TITLE, kernel=self._kernel))
        panel = widgets.VBox(
            [
                style, title, grid, self._slider_words, buttons, self._status, self._line,
                self._said, self._outcome, self.comparison, self.runs,
            ],
            layout={"width": "100%"},
        )  # fmt: skip
        panel.add_class("ticklab-panel")
        return panel

    def _chosen(self) -> None:
        """Say what each setting means for the chosen variant, and grey out what means nothing."""
        chosen = self._listed.get(self.variant.value)
        can_pin = surroundings.allowed_cpus() is not None
        self.variant.means(meaning.of_variant(chosen))
        self.cpu.means(meaning.of_cpu(chosen, can_pin=can_pin))
        self.warmup.means(meaning.of_warmup(chosen))
        usual = meaning.usual_warmup(chosen, self._unasked)
        if self.warmup.number == self._usual_warmup:
            self.warmup.show(usual)
        self._usual_warmup = usual
        self._check_warmup()
        if self.peer_cpu is not None:
            self.peer_cpu.means(meaning.of_peer_cpu(chosen, can_pin=can_pin))
            self.peer_cpu.find_wrong(
                "The two tasks need a CPU each: choose another one, here or for the first task."
                if _cpu_of(self.peer_cpu) == self._first_cpu()
                else ""
            )

    def _check_warmup(self) -> None:
        """The default number stands for whatever is usual, so it cannot be asked for elsewhere."""
        default = DEFAULT_WARMUP
        if self.warmup.number == default:
            self.warmup.find_wrong(
                ""
                if self._usual_warmup == default
                else f"{default} stands for the usual warm-up, which is {self._usual_warmup} here: "
                "choose another number."
            )

    def _first_cpu(self) -> int:
        """The CPU of the first of two tasks: without a choice, C kernels take the lowest."""
        chosen = _cpu_of(self.cpu)
        lowest = min(surroundings.allowed_cpus() or {_NOT_PINNED})
        return lowest if chosen is None else chosen

    def _slid(self, change: Mapping[str, Any]) -> None:
        number = self.samples.number
        if number is None or not panel_form.slider_agrees(number, change["new"]):
            self.samples.show(panel_form.samples_at(change["new"]))

    def _typed(self) -> None:
        number = self.samples.number
        if number is not None:
            if not panel_form.slider_agrees(number, self.slider.value):
                self.slider.value = panel_form.slider_place(number)
            self._name_slider()

    def _name_slider(self) -> None:
        self._slider_words.value = inline(
            looks.SLIDER_WORDS,
            least=f"{10**panel_form.LEAST_POWER:,.0f}",
            most=f"{10**panel_form.MOST_POWER:,.0f}",
            words=words("{number_1} samples").format(
                number_1=numbers.shown_number(self.samples.number or 0)
            ),
        )


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


def _cpu_options() -> list[tuple[str, int]]:
    """The CPUs that this process may use, after 'not pinned'."""
    allowed = surroundings.allowed_cpus()
    if allowed is None:
        return [("not pinned (this system cannot)", _NOT_PINNED)]
    return [("not pinned", _NOT_PINNED), *((f"CPU {cpu}", cpu) for cpu in sorted(allowed))]


def _cpu_of(menu: Menu | None) -> int | None:
    if menu is None or not menu.usable or menu.value == _NOT_PINNED:
        return None
    return int(menu.value)
