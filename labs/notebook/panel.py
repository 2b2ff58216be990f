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
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import ipywidgets as widgets

from labs import limits, messages
from labs.files import CannotWrite
from labs.html import inline
from labs.machine import surroundings
from labs.messages import Message
from labs.notebook import panel_runs, run_errors, typed_numbers
from labs.notebook.panel_runs import Form, KeptRun, changes_as_text
from labs.notebook.unready_cells import SavedOutput, style_of_widgets
from labs.recording.declared import Placement
from labs.recording.file import Recording
from labs.recording.run_conditions import CANCELLED, cut_short
from labs.results import stopping
from labs.run import measure, variants
from labs.run.declared_options import DEFAULT_WARMUP
from labs.run.plan import Plan
from labs.run.variants import Listed, Unasked
from labs.units import plural

if TYPE_CHECKING:
    from labs.notebook.measuring import Measuring
    from labs.notebook.run import Run

#: What the slider is and where it stands, for a screen reader.
SLIDER_WORDS = (
    '<span hidden class="ticklab-slider-words" data-name="'
    'Samples, on a logarithmic scale from {{ least }} to {{ most }}">{{ words }}</span>'
)
STATUS = '<div role="status" class="ticklab-quiet">{{ words }}</div>'
TITLE = '<span class="ticklab-title">Measure {{ kernel }}</span>'
LINE = (
    '<div class="ticklab-quiet">The same in one line of Python:</div>'
    '<pre class="ticklab-line"><code>{{ line }}</code></pre>'
)
STALE = '<div role="status"><strong>This result is of other settings.</strong> {{ words }}</div>'


#: A menu's value None would mean that nothing is chosen, and show nothing.
_NOT_PINNED = -1

_BUTTON = {"width": "auto", "min_width": "104px", "flex": "none"}


class Controls:
    """One field a setting, Run and Cancel, progress, and the places where results appear.

    `problem` is what is wrong with the C kernel itself: it does not build, or there is none.
    """

    def __init__(self, kernel: str, names: Sequence[str], save: str, unit: str) -> None:
        self._kernel, self._save, self._unit = kernel, save, unit
        self.problem: Message | None = None
        self._listed: dict[str, variants.Listed] = {}
        self._unasked = variants.Unasked()
        try:
            self._unasked, listed = variants.listing_of(Plan(kernel))
            self._listed = {each.name: each for each in listed}
        except run_errors.EXPECTED as error:
            self.problem = run_errors.of_error(error)
        self._usual_warmup = self._unasked.warmup
        self._make_fields(names)
        self.run = widgets.Button(
            description="Run", icon="play", button_style="primary", layout=_BUTTON
        )
        self.cancel = widgets.Button(description="Cancel", icon="stop", layout=_BUTTON)
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
            self._unit,
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
        self._status.value = inline(STATUS, words=said)

    def say(self, message: Message | None) -> None:
        """Show a message, or take the last one away."""
        self._said.value = message.as_html() if message is not None else ""

    def show_line(self, line: str) -> None:
        """Show the line of Python that does the same."""
        self._line.value = inline(LINE, line=line)

    def mark_stale(self, changed: str) -> None:
        """Mark the shown result as one of other settings, which `changed` names; '': of these."""
        self.stale.value = inline(STALE, words=changed) if changed else ""
        self.stale.layout.display = None if changed else "none"
        if changed:
            self._outcome.add_class("ticklab-stale")
        else:
            self._outcome.remove_class("ticklab-stale")

    def set_running(self, running: bool) -> None:
        """Show whether a run is under way. No button is switched off: it would lose the focus."""
        self.run.icon = "hourglass" if running else "play"
        self.run.tooltip = "A run is under way; Cancel ends it" if running else None
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
            min=panel_runs.LEAST_POWER,
            max=panel_runs.MOST_POWER,
            step=panel_runs.POWER_STEP,
            readout=False,
            tooltip="samples, on a logarithmic scale",
            layout=dict(CELL),
        )
        options = _variant_options(listed, names)
        self.variant = Menu("Variant", options)
        offered = [self._listed[name] for _, name in options if name in self._listed]
        two_cpus = any(each.declared.placement is Placement.TWO_CPUS for each in offered)
        self.cpu = Menu("CPU", _cpu_options())
        self.peer_cpu = Menu("Peer's CPU", _cpu_options()) if two_cpus else None
        about = "samples in each process, before"
        self.warmup = NumberBox("Warm-up", self._usual_warmup, (0, limits.MOST_WARMUP), about)
        about, usual = "fresh processes that share the samples", panel_runs.DEFAULT_PROCESSES
        self.processes = NumberBox("Processes", usual, (1, limits.MOST_PROCESSES), about)
        levels = [(f"-O{level}", f"-O{level}") for level in (0, 1, 2, 3)]
        self.optimisation = Menu("Optimisation", levels)
        self.optimisation.control.value = panel_runs.DEFAULT_FLAGS

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
        style = widgets.HTML(style_of_widgets(), layout={"display": "none"})
        title = widgets.HTML(inline(TITLE, kernel=self._kernel))
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
        self.variant.means(of_variant(chosen))
        self.cpu.means(of_cpu(chosen, can_pin=can_pin))
        self.warmup.means(of_warmup(chosen))
        usual = usual_warmup(chosen, self._unasked)
        if self.warmup.number == self._usual_warmup:
            self.warmup.show(usual)
        self._usual_warmup = usual
        self._check_warmup()
        if self.peer_cpu is not None:
            self.peer_cpu.means(of_peer_cpu(chosen, can_pin=can_pin))
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
        if number is None or not panel_runs.slider_agrees(number, change["new"]):
            self.samples.show(panel_runs.samples_at(change["new"]))

    def _typed(self) -> None:
        number = self.samples.number
        if number is not None:
            if not panel_runs.slider_agrees(number, self.slider.value):
                self.slider.value = panel_runs.slider_place(number)
            self._name_slider()

    def _name_slider(self) -> None:
        self._slider_words.value = inline(
            SLIDER_WORDS,
            least=f"{10**panel_runs.LEAST_POWER:,.0f}",
            most=f"{10**panel_runs.MOST_POWER:,.0f}",
            words=f"{typed_numbers.shown_number(self.samples.number or 0)} samples",
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


# What a C kernel declares says which settings have a meaning for a variant. A setting without one
# is greyed out, and the words say why. Other words say what leaving a choice open means for this
# variant.


@dataclass(frozen=True)
class Meaning:
    """Whether a setting has a meaning, and what there is to say about it."""

    usable: bool = True
    words: str = ""


USUAL = Meaning()


def of_variant(variant: Listed | None) -> Meaning:
    """About the variant itself: whether this machine can run it."""
    if variant is None or not variant.missing:
        return USUAL
    # The C kernel's reason may name its options, which a panel does not have.
    why = "" if "--" in variant.missing else f": {variant.missing}"
    return Meaning(words=f"This machine cannot run {variant.name}{why}.")


def of_cpu(variant: Listed | None, *, can_pin: bool) -> Meaning:
    """About the choice of a CPU; `can_pin`: this system can pin a task."""
    if not can_pin:
        return Meaning(False, "This system cannot pin a task to a CPU.")
    if variant is None:
        return USUAL
    name, placement = variant.name, variant.declared.placement
    if placement is Placement.CPUS_IN_TURN:
        return Meaning(
            False,
            f"{name} moves its tasks from one CPU to the next by itself, so there is nothing to "
            "choose.",
        )
    lowest = {Placement.ONE_CPU: "the lowest CPU", Placement.TWO_CPUS: "the two lowest"}
    if placement in lowest:
        where = lowest[placement]
        return Meaning(words=f"{name} always pins its tasks. Without a choice: on {where}.")
    return USUAL


def of_peer_cpu(variant: Listed | None, *, can_pin: bool) -> Meaning:
    """About the choice of a CPU for the second task."""
    cpu = of_cpu(variant, can_pin=can_pin)
    if variant is None or not cpu.usable:
        return cpu
    name, declared = variant.name, variant.declared
    if declared.placement is Placement.TWO_CPUS:
        return USUAL
    if declared.other_tasks == 0:
        return Meaning(False, f"{name} has no second task.")
    if declared.placement is Placement.ONE_CPU:
        return Meaning(False, f"{name} keeps both tasks on one CPU, so there is no second one.")
    return Meaning(False, f"{name} leaves it to the OS where the second task runs.")


def of_warmup(variant: Listed | None) -> Meaning:
    """About the samples of warm-up."""
    if variant is None or not variant.is_first_time:
        return USUAL
    words = f"{variant.name} measures first calls. A warm-up would use them up, so 0 is usual."
    return Meaning(words=words)


def usual_warmup(variant: Listed | None, unasked: Unasked) -> int:
    """The number of warm-up samples of the variant if its C kernel does what it does unasked."""
    return 0 if variant is not None and variant.is_first_time else unasked.warmup


_LABEL = {"description_width": "96px"}
CELL = {"width": "auto", "min_width": "0"}
_QUIET = '<div class="ticklab-quiet ticklab-note">{{ words }}</div>'
_WRONG = '<div class="ticklab-wrong" role="alert">{{ words }}</div>'


class Field:
    """A control with the line below it; `widget` holds both."""

    def __init__(self, control: Any) -> None:
        self.control = control
        self._note = widgets.HTML(layout={"display": "none", "margin": "0 2px 2px 100px"})
        self._meaning = Meaning()
        #: What is wrong with the value; '' if nothing is.
        self.wrong = ""
        self.widget = widgets.VBox([control, self._note], layout=dict(CELL))

    @property
    def usable(self) -> bool:
        """Whether the setting has a meaning now."""
        return self._meaning.usable

    def means(self, meaning: Meaning) -> None:
        """Grey the control out where it has no meaning, and say why."""
        self._meaning = meaning
        self.control.disabled = not meaning.usable
        self.control.tooltip = meaning.words or None
        self._show()

    def find_wrong(self, found: str) -> None:
        """Say beside the control what is wrong with its value; '' takes the words away."""
        self.wrong = found
        self._show()

    def on_change(self, call: Callable[[], None]) -> None:
        """Call `call` after each change of the value."""
        self.control.observe(lambda _: call(), "value")

    def _show(self) -> None:
        wrong = self.wrong if self._meaning.usable else ""
        template, said = (_WRONG, wrong) if wrong else (_QUIET, self._meaning.words)
        self._note.value = inline(template, words=said) if said else ""
        self._note.layout.display = None if said else "none"


class Menu(Field):
    """A setting that is chosen from a list of words, each with its value."""

    def __init__(self, label: str, options: Sequence[tuple[str, Any]]) -> None:
        words = [(text, value) for text, value in options]
        super().__init__(
            widgets.Dropdown(options=words, description=label, style=_LABEL, layout=dict(CELL))
        )

    @property
    def value(self) -> Any:
        """What is chosen."""
        return self.control.value


class NumberBox(Field):
    """A whole number that is typed; it is checked with every key.

    A text box and not a box for numbers: in a browser, those take 1e3 for 13 or for nothing.
    """

    def __init__(self, label: str, value: int, ends: tuple[int, int], hint: str) -> None:
        self._ends = ends
        self._hint = hint
        self.number: int | None = value
        control = widgets.Text(
            value=typed_numbers.shown_number(value),
            description=label,
            placeholder=f"{ends[0]:,} to {ends[1]:,}",
            tooltip=hint,
            continuous_update=True,
            style=_LABEL,
            layout=dict(CELL),
        )
        super().__init__(control)
        control.observe(lambda _: self._read(), "value")

    def means(self, meaning: Meaning) -> None:
        """As for every setting; without other words, the tooltip says what the number is."""
        super().means(meaning)
        self.control.tooltip = meaning.words or self._hint

    def show(self, number: int) -> None:
        """Show a number, unless the text there says the same."""
        if number != self.number:
            self.control.value = typed_numbers.shown_number(number)

    def _read(self) -> None:
        try:
            self.number = typed_numbers.read_number_within(self.control.value, *self._ends)
        except typed_numbers.NotAWholeNumber as error:
            self.number = None
            self.find_wrong(str(error))
        else:
            self.find_wrong("")


#: Progress is shown at most so often, in seconds: each change is a message to the page, and a page
#: that draws takes time from the run and from the plot after it.
_SHOW_EVERY_S = 0.1

_NO_LINE = "# The line appears here once every setting above can be used."


class Panel:
    """The panel of one C kernel.

    `run` is the last finished run, `kept` are the runs of this panel, also of earlier sessions, and
    `message` is the message on display.
    """

    def __init__(
        self,
        session: Measuring,
        kernel: str,
        names: Sequence[str] = (),
        save: str = "panel",
        unit: str = Form.unit,
    ) -> None:
        self.session = session
        self.save = save
        self.controls = Controls(kernel, names, save, unit)
        self.run: Run | None = None
        self.kept = panel_runs.read(session.folder, save, kernel)
        self.message: Message | None = self.controls.problem
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
        except (*run_errors.EXPECTED, messages.Refused) as error:
            message = run_errors.of_error(error)
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
        begin = time.perf_counter()
        recording = self.session.named(await self._measure(plan))
        seconds = time.perf_counter() - begin
        path = None
        try:
            path = self.session.save(plan, recording, self.save)
        except (CannotWrite, ValueError) as error:
            self._say(run_errors.of_error(error))  # and go on: what was measured is not lost
        run = self.session.reduce(plan, recording, path, form.unit)
        picture = run.evidence().as_figure()

        self.run = self.session.runs[self.save] = run
        self._shown = form
        self._mark_stale()
        self.controls.plot.value = picture
        self.controls.result.value = run._repr_html_()
        self.controls.bar.bar_style = "warning"
        if cut_short(recording) is None:
            self.controls.bar.value = self.controls.bar.max
            self.controls.bar.bar_style = "success"
        self.controls.status(_how_it_ended(recording, run.variant, plan, seconds))
        # In a Jupyter kernel this waits until the messages to the page are out: the thread that
        # sends them would wait for what follows here. The run is over, so a Cancel that comes now
        # ends only this waiting.
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.to_thread(sys.stdout.flush)
        number = self.kept[-1].number + 1 if self.kept else 1
        self.kept = (*self.kept, KeptRun.of(number, form, run))[-panel_runs.MOST_RUNS :]
        self._show_runs()
        panel_runs.write(self.session.folder, self.save, self.kept)

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
            self._say(run_errors.of_error(error))
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
        drawing = panel_runs.drawing_of(self.kept)
        compared = drawing.as_figure() if drawing is not None else ""
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
    if cut is not None:
        ended = "Cancelled" if cut.by == CANCELLED else "Ended"
        return f"{ended} after {cut.whole} of {cut.planned} processes. The result is from these."
    taken = len(recording.samples(variant))
    added = len(recording.processes) - len(plan.shares())
    processes = plural(added, "process")
    more = f" The run added {processes}, because the core was shared." if added > 0 else ""
    return f"Done: {taken:,} samples in {seconds:.2g} s.{more}"
