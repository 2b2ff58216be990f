"""What a notebook holds as `lab`: predict, measure, submit, and see how far one has come.

from labs import start
lab = start("01-timer-overhead")
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from labs.c_kernels import region, toolchain
from labs.common import messages
from labs.common.messages import Message, Refused, show
from labs.common.table import Table
from labs.course import guide
from labs.machine import description
from labs.notebook import beside_class, ckernel, explain, handed_in, missing_names, submit, waiting
from labs.notebook.arguments import checked
from labs.notebook.cards import MachineCard, MeasuredRegion
from labs.notebook.course import answer, way_through_labs
from labs.notebook.course.predicting import Predicting
from labs.notebook.measure_options import DEFAULTS, TURNS_DEFAULTS, chosen_of, with_options
from labs.notebook.measuring import Measuring
from labs.notebook.recording_names import recording_name
from labs.run import broken
from labs.run.options import plan_of

# What draws is imported where it is used: `start` need not wait until it is loaded.
if TYPE_CHECKING:
    from typing_extensions import Unpack

    from labs.notebook.broken_pair import Pair, Repair
    from labs.notebook.measure_options import MeasureOptions, TurnsOptions
    from labs.notebook.panel.panel import Panel
    from labs.notebook.run import Run
    from labs.results.results_compared import Comparison


def start(name: str, folder: Path | None = None) -> Session:
    """Begin the lab `name` in `folder` (the current one): shows this machine, adds `%%ckernel`."""
    session = _begin[-1](name, Path.cwd() if folder is None else Path(folder))
    show(MachineCard(session.machine))
    if messages.shell() is not None:
        ckernel.register(session, waiting.register())
        missing_names.register()
    return session


def begin_with(make: Callable[[str, Path], Session]) -> None:
    """Have `start` begin the sessions that `make` makes from a lab's name and folder.

    This is for a program that runs a notebook by itself, such as the builder of the pages. It calls
    this in a cell before the first one. The notebook says only `start("01-timer-overhead")`, so it
    cannot pass another session on. The effect ends with the Jupyter kernel of that notebook.
    """
    _begin.append(make)


@checked
class Session(Predicting, Measuring):
    """One lab in one folder. `runs` holds the runs made here, by the name they are saved under."""

    def __init__(self, name: str, folder: Path) -> None:
        super().__init__(folder)
        self.name = name
        self.machine = description.read_machine()
        self._guide = guide.of_lab(name)
        self.held_back, self.asked = self._guide.held_back, self._guide.predictions
        self._shown: dict[str, int] = {}
        self._panels: dict[str, Panel] = {}

    def __repr__(self) -> str:
        return f"lab {self.name} in {self.folder}"

    def answer(self, name: str, text: str = "") -> None:
        """Keep what you think, in your own words, and show it beside the explanation.

        Never graded. Every version is kept. Raises Refused.
        """
        show(answer.answered(self.folder, self._guide, name, text, self.runs.values()))

    def show_c(self, kernel: str) -> None:
        """Show the measured region of a C kernel, or of a .c file. Raises Refused."""
        try:
            path = toolchain.c_kernel_source(kernel)
            timed = region.measured_region(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise Refused(explain.of_error(error)) from None
        show(MeasuredRegion(path.name, timed))

    @with_options(DEFAULTS)
    def measure(
        self,
        kernel: str,
        variant: str | Sequence[str] = (),
        *more: object,
        **options: Unpack[MeasureOptions],
    ) -> Run:
        """Measure, save the recording, and return the run.

        `variant` is one variant or several, separated by commas. The samples of several variants
        are interleaved. These are the options with their defaults; give them by name:

        samples=None      how many samples of each variant all processes take together (None: the
                          usual number of the C kernel, which is 10,000 unless it is slow)
        processes=10      how many fresh processes to run
        cpu=None          the CPU to pin to (None: only what the C kernel itself pins)
        peer_cpu=None     the CPU to pin the second task to, if the C kernel has one
        batches=()        how many operations a sample holds, such as (16, 32, 64) (empty: the
                          usual sizes of the C kernel)
        warmup=100        how many samples each process takes first, which do not count; a variant
                          that measures first times takes none, unless you give another number
        flags="-O2"       options for the compiler, such as "-O0"
        unit="ns"         the unit of the result: ticks, cycles, ns, us, ms, s
        spread=0          over how many seconds the processes begin, so that one run sees more
                          states of the machine
        within=None       add processes until half of the 95 % interval's width is at most this
                          many percent of the value (None: add none)
        at_most=10        for how many seconds to add processes
        replace=3         for how many seconds at most to add processes in place of those that
                          shared their core with something else (0: replace none)
        time_limit=120    after how many seconds to end the run
        patience=10       after how many seconds without a sample to end C of your own; time in
                          which it waits for a CPU does not count
        save=None         save as `recordings/SAVE.csv` (None: use the name of the variant)

        Raises Refused, in plain words, for everything that a student can correct.
        """
        chosen = chosen_of("measure", options, DEFAULTS)
        save, unit = chosen.pop("save"), chosen.pop("unit")
        try:
            plan = plan_of(kernel, variant, *more, **chosen)
        except Refused as refused:
            # Without a plan the default name is a guess: the only variant, or the C kernel.
            guess = variant if variant and isinstance(variant, str) else kernel
            self.failed([save or guess], refused.message)
            raise
        run = self.carry_out(plan, save, unit)
        show(*explain.of_lacks(run.recording))
        return run

    @with_options(TURNS_DEFAULTS)
    def measure_in_turns(
        self,
        runs: Mapping[str, tuple[str, str | Sequence[str]]],
        **options: Unpack[TurnsOptions],
    ) -> list[Run]:
        """Measure several C kernels whose fresh processes take turns, and return their runs.

        Use it for figures that you want to compare: whatever the machine does meets all of them.
        `runs` maps the name to save under to a C kernel and its variants:

        lab.measure_in_turns({"one": ("process_switch", "pipe-pinned"), ...}, samples=2_000)

        The options are those of `measure`, without `save`. Raises as `measure` does.
        """
        if not runs or any(isinstance(each, str) or len(each) != 2 for each in runs.values()):
            usage = 'lab.measure_in_turns({"name": ("system_call", "getppid, getpid"), ...})'
            raise Refused(Message("problem", "name a C kernel and its variants", (usage,)))
        chosen = chosen_of("measure_in_turns", options, TURNS_DEFAULTS)
        unit = chosen.pop("unit")
        try:
            plans = [plan_of(kernel, names, **chosen) for kernel, names in runs.values()]
        except Refused as refused:
            self.failed(list(runs), refused.message)
            raise
        done = self.carry_out_in_turns(plans, list(runs), unit)
        for run in done:
            show(*explain.of_lacks(run.recording))
        return done

    def compare(
        self, first: Run | Comparison, second: Run | Comparison, *, times: float = 1.0
    ) -> Comparison:
        """How `first` compares with `times` the `second`: which is larger, or neither.

        lab.compare(run["args8"], run["args4"]) prints one sentence. It also has `difference`,
        `difference_interval` and `unit`, `ratio` and `ratio_interval`, and `distinguishable`.
        Variants of one run are compared process by process. With `times=0.5`, the question is
        whether the first is more or less than half of the second. Two comparisons can be compared
        too: their differences. Raises Refused if one has no figure.
        """
        from labs.notebook import comparing

        return comparing.compare(first, second, times)

    def compare_class(self, file: str = "class.csv") -> Table:
        """Your figures of this lab next to those of your class, from the file that your instructor
        hands out. The file names nobody. Raises Refused."""
        return beside_class.beside_class(self.folder, file)

    def broken(self, name: str, *, repair: Repair | None = None, unit: str = "ns") -> Pair:
        """Run the broken C kernel `name` and its repaired twin, save both, and show them.

        `repair` is a C kernel and its variants, such as ("system_call", "getppid, invalid"), to run
        in place of the twin. The recordings are `recordings/broken-NAME.csv` and
        `recordings/repaired-NAME.csv`. Raises Refused.
        """
        from labs.notebook.broken_pair import Pair, plans, words_of

        try:
            kernel = broken.find(name)
            wrong, right = plans(kernel, repair)
        except (broken.NoSuchBroken, ValueError, OSError) as error:
            raise Refused(explain.of_error(error)) from None
        runs = (
            self.carry_out(wrong, f"broken-{name}", unit),
            self.carry_out(right, f"repaired-{name}", unit),
        )
        return Pair(kernel, *runs, repair=words_of(right) if repair else ())

    def panel(self, kernel: str, variants: Sequence[str] = (), *, save: str = "panel") -> Panel:
        """The same as `measure`, with sliders, menus and buttons."""
        from labs.notebook.panel.panel import Panel

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

    def conclude(
        self, figure: str, value: float, unit: str = "choice", run: Run | str | None = None
    ) -> None:
        """Submit a conclusion: its number, or what follows from other figures, as a ratio does.

        Its evidence is `run`, as in `figure`, where the lab names one for it. Without a run, the
        evidence is the recordings of the figures that it follows from. Submitting again replaces
        it. Raises Refused.
        """
        if run is not None:
            show(submit.figure(self.folder, self._guide, figure, value, unit, run))
            return
        show(submit.conclusion(self.folder, self._guide, figure, value, unit))

    def hint(self, topic: str = "", rung: int | None = None) -> None:
        """Show the next hint of `topic`, or up to number `rung`; the last is nearly the answer.

        Raises Refused for no topic, or another, naming those there are.
        """
        asked = rung if rung is not None else self._shown.get(topic, 0) + 1
        self._shown[topic] = way_through_labs.hint(self._guide, topic, asked)

    def hand_in(self) -> None:
        """Check this lab once more, pack it, and submit it where its course has an exchange.

        What is handed in is the notebook as last saved. Raises Refused.
        """
        show(handed_in.handed_in(self.folder))

    def progress(self) -> None:
        """Show what is done in this lab and what comes next, and how far the other labs are."""
        way_through_labs.progress_of(self.folder, self.name, self._guide)

    def wrap_up(self) -> None:
        """Show prediction against result over all labs so far, and how far off the guesses are."""
        way_through_labs.wrap_up(self.folder.parent)


#: What `start` makes sessions with: the last one. See `begin_with`.
_begin: list[Callable[[str, Path], Session]] = [Session]
