"""What a notebook holds as `lab`: predict, measure, submit, and see how far one has come.

from labs import start
lab = start("01-timer-overhead")
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from labs.c_kernels import toolchain
from labs.common import messages
from labs.common.files import CannotWrite, write_atomically
from labs.common.messages import Message, Refused, Tone, show
from labs.common.units import rounded
from labs.course import comparison, figure_ids, figures, guide, predictions, progress
from labs.machine import description
from labs.notebook import explain, missing_names, submit
from labs.notebook.cards import MachineCard, MeasuredRegion
from labs.notebook.recording_names import name_for, recording_name
from labs.recording.file import Recording
from labs.results import stopping
from labs.run import broken
from labs.run.measure import measure_in_turns_now
from labs.run.options import plan_of
from labs.run.plan import DEFAULT_AT_MOST_S, Plan

if TYPE_CHECKING:
    from labs.notebook.broken_pair import Pair
    from labs.notebook.panel import Panel
    from labs.notebook.run import Run
    from labs.results.compared import Comparison


def start(name: str, folder: Path | None = None) -> Session:
    """Begin the lab `name` in `folder` (the current one): shows this machine, adds `%%ckernel`."""
    session = Session(name, Path.cwd() if folder is None else Path(folder))
    show(MachineCard(session.machine))
    if messages.shell() is not None:
        from labs.notebook import ckernel

        ckernel.register(session)
        missing_names.register()
    return session


class Session:
    """One lab in one folder. `runs` holds the runs made here, by the name they are saved under."""

    def __init__(self, name: str, folder: Path) -> None:
        self.name = name
        self.folder = folder
        self.machine = description.read_machine()
        self.runs = missing_names.Runs()
        self._guide = guide.of_lab(name)
        self._shown: dict[str, int] = {}
        self._panels: dict[str, Panel] = {}

    def __repr__(self) -> str:
        return f"lab {self.name} in {self.folder}"

    def predict(
        self,
        figure: str,
        value: float,
        unit: str = "",
        *,
        because: str = "",
        sure: float | None = None,
    ) -> None:
        """Store what you expect of a figure, why, and how sure you are, from 0 to 1.

        Never graded for being right. Predicting again keeps the earlier one too. Raises Refused.
        """
        given = predictions.Prediction(value, unit, because, sure)
        try:
            if not unit:
                raise ValueError(f'name the unit too: lab.predict("{figure}", {value}, "ns")')
            stored = predictions.put(self.folder, figure, given)
        except (ValueError, CannotWrite) as error:
            told = replace(explain.of_error(error), heading="prediction not stored")
            raise Refused(told) from None
        words = [f"At {_time(stored.when)}; it is never graded for being right."]
        if not because.strip(" ."):
            words.append('A reason helps later: because="I counted the instructions".')
        strange = [figure_ids.message_for(figure, self._guide), predictions.strange_unit(unit)]
        strange = [each for each in strange if each]
        tone: Tone = "note" if strange else "done"
        heading = f"prediction stored: {figure} = {rounded(value, 6)} {unit}"
        show(Message(tone, heading, (*strange, *words)))

    def show_c(self, kernel: str) -> None:
        """Show the measured region of a C kernel, or of a .c file. Raises Refused."""
        try:
            path = toolchain.c_kernel_source(kernel)
            region = toolchain.measured_region(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise Refused(explain.of_error(error)) from None
        show(MeasuredRegion(path.name, region))

    def measure(
        self,
        kernel: str,
        variant: str | Sequence[str] = (),
        *,
        samples: int = 10_000,
        cpu: int | None = None,
        peer_cpu: int | None = None,
        batches: Sequence[int] = (),
        warmup: int = 100,
        processes: int = 10,
        flags: str = "-O2",
        unit: str = "ns",
        within: float | None = None,
        at_most: float = DEFAULT_AT_MOST_S,
        save: str | None = None,
    ) -> Run:
        """Measure, save the recording, and return the run.

        `variant` is one or several, separated by commas: several are interleaved. The recording
        goes to `recordings/SAVE.csv`; without `save` it is called after its variant.

        samples      of each variant, shared out among `processes` fresh ones
        cpu          pin to this CPU (None: not pinned); `peer_cpu` is that of the other task
        batches      how many operations an interval holds, as (16, 32, 64): () for the usual sizes
        warmup       samples before the others, in each process, that do not count
        flags        for the compiler, such as "-O0"
        unit         ticks, cycles, ns, us, ms, s
        within       add processes until the 95 % interval reaches at most so many percent to
                     either side of the value (None: add none), for `at_most` seconds

        Raises Refused, in plain words, for everything a student can do something about.
        """
        plan = plan_of(
            kernel,
            variant,
            samples=samples,
            cpu=cpu,
            peer_cpu=peer_cpu,
            batches=batches,
            warmup=warmup,
            processes=processes,
            flags=flags,
            within=within,
            at_most=at_most,
        )
        run = self.carry_out(plan, save, unit)
        show(*explain.of_lacks(run.recording))
        return run

    def measure_in_turns(
        self,
        runs: Mapping[str, tuple[str, str | Sequence[str]]],
        *,
        flags: str = "-O2",
        unit: str = "ns",
        **options: Any,
    ) -> list[Run]:
        """Measure several C kernels whose fresh processes take turns, and return their runs.

        For figures that are to be compared: whatever the machine does meets all of them. `runs`
        says by the name to save under which C kernel, and which of its variants:

        lab.measure_in_turns({"one": ("process_switch", "pipe-pinned"), ...}, samples=2_000)

        All else as `measure`.
        """
        if not runs or any(isinstance(each, str) or len(each) != 2 for each in runs.values()):
            usage = 'lab.measure_in_turns({"name": ("system_call", "getppid, getpid"), ...})'
            raise Refused(Message("problem", "name a C kernel and its variants", (usage,)))
        plans = [plan_of(kernel, names, flags=flags, **options) for kernel, names in runs.values()]
        done = self.carry_out_in_turns(plans, list(runs), unit)
        for run in done:
            show(*explain.of_lacks(run.recording))
        return done

    def carry_out(self, plan: Plan, save: str | None = None, unit: str = "ns") -> Run:
        """Carry out `plan` and wait for it; as `measure`, for a plan made elsewhere."""
        return self.carry_out_in_turns((plan,), (save,), unit)[0]

    def carry_out_in_turns(
        self, plans: Sequence[Plan], saves: Sequence[str | None], unit: str = "ns"
    ) -> list[Run]:
        """As `carry_out`, for plans whose processes take turns; `saves` has a name for each."""
        both = zip(plans, saves, strict=True)
        names = [recording_name(save or name_for(plan)) for plan, save in both]
        asked = plans[0]
        try:
            recordings = measure_in_turns_now(plans, enough=stopping.rule_of(plans, unit))
            for asked, name, recording in zip(plans, names, recordings, strict=True):
                path = None
                try:
                    path = self.save(asked, recording, name)
                except (CannotWrite, ValueError) as error:
                    show(explain.of_error(error))  # and go on: what was measured is not lost
                self.runs[name] = self.reduce(asked, recording, path, unit)
        except explain.EXPECTED as error:
            unknown = next(filter(None, map(explain.of_unknown_variants, plans)), None)
            raise Refused(
                unknown or explain.of_error(error, asked.source, asked.first_line)
            ) from None
        except KeyboardInterrupt:
            if not messages.in_notebook():
                raise
            raise Refused(explain.of_interrupt(asked.kernel_name)) from None
        return [self.runs[name] for name in names]

    def compare(self, first: Run, second: Run) -> Comparison:
        """How `first` compares with `second`: which is larger, how many times, or neither.

        lab.compare(run["args8"], run["args4"]) prints one sentence. It also has `difference`,
        `difference_interval` and `unit`, `ratio` and `ratio_interval`, and `told_apart`. Variants
        of one run are compared process by process. Raises Refused where one has no figure.
        """
        from labs.notebook.run import Run
        from labs.results.compared import compared

        if not all(isinstance(each, Run) for each in (first, second)):
            usage = 'lab.compare(run["args8"], run["args4"])'
            what = "lab.compare takes two runs, or a run by two of its variants"
            raise Refused(Message("problem", what, (f"Write it like this: {usage}.",)))
        try:
            return compared(first.result(), second.in_unit(first.unit).result())
        except ValueError as error:
            why = str(error).removesuffix(".")
            raise Refused(Message("problem", "these cannot be compared", (f"{why}.",))) from None

    def broken(self, name: str, *, unit: str = "ns") -> Pair:
        """Run the broken C kernel `name` and its repaired twin, save both, and show them.

        The recordings are `recordings/broken-NAME.csv` and `recordings/repaired-NAME.csv`. Raises
        Refused.
        """
        from labs.notebook.broken_pair import Pair, plans

        try:
            kernel = broken.find(name)
            wrong, right = plans(kernel)
        except (broken.NoSuchBroken, ValueError, OSError) as error:
            raise Refused(explain.of_error(error)) from None
        runs = (
            self.carry_out(wrong, f"broken-{name}", unit),
            self.carry_out(right, f"repaired-{name}", unit),
        )
        return Pair(kernel, *runs)

    def reduce(self, plan: Plan, recording: Recording, path: str | None, unit: str = "ns") -> Run:
        """The run that `recording` holds. Raises what reducing raises."""
        from labs.notebook.run import Run

        # By what it measures: a broken C kernel, or the student's own, may have any file name.
        marks = self.marks(recording.kernel, plan.variants or recording.variants)
        # In a cell of C the options stand as a terminal has them.
        return Run.of(recording, plan.variants, unit, path, marks, python=plan.source is None)

    def save(self, plan: Plan, recording: Recording, name: str) -> str:
        """Save a recording as `name`, with its source if that came from a cell.

        Returns its path below the lab's folder. Raises files.CannotWrite, ValueError.
        """
        folder = self.folder / figures.RECORDINGS
        if plan.source is not None:
            write_atomically(folder / f"{name}.c", plan.source.encode())
        recording.write(folder / f"{name}.csv")
        return f"{figures.RECORDINGS}/{name}.csv"

    def marks(self, kernel: str, variants: Sequence[str]) -> dict[str, Any]:
        """By variant the newest prediction of the figure named after it, to be drawn.

        A figure of `procedure_call args0` is procedure-call-args0, or the end of that: call-args0.
        """
        from labs.plots.plot import Mark

        try:
            known = predictions.read(self.folder)
        except predictions.BadPredictions:
            return {}
        marks = {}
        for variant in variants:
            whole = f"-{kernel}-{variant}".replace("_", "-")
            named = [name for name in known if whole.endswith(f"-{name}")]
            if named:
                newest = known[max(named, key=len)][-1]
                marks[variant] = Mark(newest.value, newest.unit)
        return marks

    def panel(self, kernel: str, variants: Sequence[str] = (), *, save: str = "panel") -> Panel:
        """The same as `measure`, with sliders, menus and buttons."""
        from labs.notebook.panel import Panel

        earlier = self._panels.get(save)
        if earlier is not None:
            earlier.cancel()  # its cell was run again: nobody sees it any more
        self._panels[save] = Panel(self, kernel, tuple(variants), recording_name(save))
        return self._panels[save]

    def figure(
        self, figure: str, value: float, unit: str = "", run: Run | str | None = None
    ) -> None:
        """Submit a figure with its evidence: a run, a recording's name, or None. Raises Refused.

        Submitting again replaces it.
        """
        show(submit.figure(self.folder, self._guide, figure, value, unit, run))

    def conclude(self, figure: str, value: float, unit: str = "choice") -> None:
        """Submit what follows from other figures: the number of a conclusion, a ratio ("times").

        Its evidence is the recordings of those figures. Submitting again replaces it. Raises
        Refused.
        """
        show(submit.conclusion(self.folder, self._guide, figure, value, unit))

    def hint(self, topic: str = "", rung: int | None = None) -> None:
        """Show the next hint of `topic`, or up to number `rung`; the last is nearly the answer.

        Raises Refused for no topic, or another, naming those there are.
        """
        rungs = self._guide.hints.get(topic)
        if rungs is None:
            known = ", ".join(f'lab.hint("{name}")' for name in self._guide.hints) or "no hints"
            what = f"no hint {topic!r} in this lab" if topic else "name what the hint is for"
            raise Refused(Message("problem", f"{what}; there is {known}"))
        shown = rung if rung is not None else self._shown.get(topic, 0) + 1
        shown = min(max(shown, 1), len(rungs))
        self._shown[topic] = shown
        words = tuple(f"{number}. {text}" for number, text in enumerate(rungs[:shown], start=1))
        more = "" if shown == len(rungs) else "; run the cell again for the next"
        show(Message("note", f"hint {shown} of {len(rungs)}{more}", words))

    def progress(self) -> None:
        """Show what is done in this lab and what comes next, and how far the other labs are."""
        mine = progress.of_lab(self.folder, self.name, self._guide)
        if mine.trouble:
            raise Refused(Message("problem", "how far you are cannot be said", (mine.trouble,)))
        lines = tuple(
            f"{'✓ done' if is_done else '○ open'}: {step.do}" for step, is_done in mine.steps
        )
        heading = f"{mine.done} of {len(mine.steps)} steps done"
        heading += f"; next: {mine.next.do}" if mine.next else "; all of them"
        show(Message("done" if mine.finished else "note", heading, lines))
        others = progress.of_labs(self.folder.parent)
        if any(each.here and each.lab != self.name for each in others):
            show(progress.table(others, self.name))

    def wrap_up(self) -> None:
        """Show prediction against result over all labs so far, and how far off the guesses are."""
        rows = comparison.of_labs(self.folder.parent)
        if not rows:
            show(Message("note", "no predictions yet", ("`lab.predict(...)` stores one.",)))
            return
        show(comparison.table(rows))
        told = comparison.calibration(rows)
        if told:
            show(Message("note", told[0].removesuffix("."), told[1:]))


def _time(when: str) -> str:
    return when.replace("T", " ").removesuffix("+00:00") + " UTC"
