"""What a notebook holds as `lab`: predict, measure, submit, and see how far one has come.

from labs import start
lab = start("01-timer-overhead")
"""

from __future__ import annotations

import datetime
import functools
import inspect
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar

from labs import messages
from labs.c_kernels import toolchain
from labs.course import class_figures, figures, guide, in_class
from labs.course.answers import is_blank
from labs.course.class_figures import ALL_MACHINES, BadClassFigures, ClassFigure
from labs.course.figures import BadFigures, Figure
from labs.course.guide import Guide
from labs.course.progress import about_unknown_figure
from labs.files import CannotWrite, read_bounded
from labs.hand_in.hand_in import CannotHandIn, carry_out
from labs.html import Table
from labs.machine import description
from labs.messages import Message, Quiet, Refused, in_notebook, in_place_of, refused, show
from labs.notebook import ckernel_magic, run_errors, unready_cells, way_through_labs
from labs.notebook.measuring import Measuring
from labs.notebook.predicting import AnswerForm, Predicting
from labs.paths import PartMissing
from labs.recording.file import BadRecording, read
from labs.recording.run_conditions import kind_in_file, kind_of_all
from labs.results.result import result_of
from labs.results.results_compared import Comparison
from labs.run import broken, declared_options
from labs.run.variants import plan_of
from labs.terminal import suggestion
from labs.units import converted, rounded, unit_symbol, with_unit

if TYPE_CHECKING:
    # What draws is imported where it is used: `start` need not wait until it is loaded.
    from typing_extensions import Unpack

    from labs.notebook.broken_pair import Pair, Repair
    from labs.notebook.panel import Panel
    from labs.notebook.run import Run
    from labs.results.results_compared import Comparison

# Wrong arguments of a call of `lab` are reported with the arguments to write instead.

Class = TypeVar("Class", bound=type)

#: Where a function keeps the signature that it has, if it shows another one.
OWN_SIGNATURE = "own_signature"
#: A longer value is no example.
_LONGEST = 60


def checked(cls: Class) -> Class:
    """Have each public method of a class raise Refused where Python would raise TypeError for its
    arguments."""
    for name, function in inspect.getmembers(cls, inspect.isfunction):
        if not name.startswith("_"):
            setattr(cls, name, _with_check(function))
    return cls


def _with_check(function: Callable[..., Any]) -> Callable[..., Any]:
    shown = inspect.signature(function)
    own = getattr(function, OWN_SIGNATURE, shown)

    @functools.wraps(function)
    def call(*args: object, **options: object) -> object:
        try:
            own.bind(*args, **options)
            known = options.keys() <= shown.parameters.keys()
        except TypeError:
            known = False
        if not known:
            raise Refused(_message(function.__name__, shown, args[1:], options))
        return function(*args, **options)

    return call


def _message(
    method: str, signature: inspect.Signature, args: Sequence[object], options: Mapping[str, object]
) -> Message:
    """What is wrong with these arguments; `args` does not hold the object itself."""
    known = [each for each in signature.parameters.values() if each.name != "self"]
    plain = [each for each in known if each.kind is each.POSITIONAL_OR_KEYWORD]
    named = [each.name for each in known if each.kind is each.KEYWORD_ONLY]
    takes = ", ".join([*(each.name for each in plain), *(f"{name}=..." for name in named)])
    usage = f"It takes: lab.{method}({takes})."
    names = [each.name for each in known]
    for name in options:
        if name not in names:
            words = f"lab.{method} has no option {name!r}{suggestion(name, names)}"
            return Message("problem", words.rstrip("."), (usage,))
    if len(args) > len(plain):
        extra = args[len(plain) :]
        free = [name for name in named if name not in options]
        if len(extra) > len(free):
            return Message("problem", f"lab.{method} does not take so many values", (usage,))
        by_name = [f"{name}={_shown(each)}" for name, each in zip(free, extra, strict=False)]
        given = [f"{name}={_shown(each)}" for name, each in options.items()]
        line = ", ".join([*map(_shown, args[: len(plain)]), *by_name, *given])
        return Message(
            "problem",
            f"lab.{method} takes {' and '.join(free[: len(extra)])} by name",
            (f"Write it like this: lab.{method}({line}).",),
        )
    for each in plain[: len(args)]:
        if each.name in options:
            words = f"lab.{method} was given {each.name} twice"
            return Message("problem", words, (usage,))
    needed = [each.name for each in plain[len(args) :] if each.default is each.empty]
    lacking = " and ".join(name for name in needed if name not in options)
    return Message("problem", f"lab.{method} needs {lacking}", (usage,))


def _shown(value: object) -> str:
    """A value as a student writes it, or `...` for what is too long or no plain value."""
    if not isinstance(value, str | int | float):
        return "..."
    text = json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)
    return text if len(text) <= _LONGEST else "..."


# The options of `lab.measure`: their names, types and defaults.

Function = TypeVar("Function", bound=Callable[..., Any])


class TurnsOptions(TypedDict, total=False):
    """What may be chosen of one run, and of several whose processes take turns."""

    #: Samples of each variant, shared out among the fresh processes; None: the C kernel's default.
    samples: int | None
    #: The CPU to pin to; None: not pinned.
    cpu: int | None
    #: The CPU to pin the other task to; None: not pinned.
    peer_cpu: int | None
    #: How many operations a sample holds, such as (16, 32, 64); (): the usual sizes.
    batches: Sequence[int]
    #: Samples before the others, in each process, that do not count.
    warmup: int
    #: How many fresh processes there are.
    processes: int
    #: Options of the compiler.
    flags: str
    #: The unit of the result: ticks, cycles, ns, us, ms, s.
    unit: str
    #: The processes begin evenly over so many seconds.
    spread: float
    #: In percent: add processes until the 95 % interval is so narrow; None: add none.
    within: float | None
    #: For how many seconds processes are added.
    at_most: float
    #: For how many seconds at most processes are added in place of those that shared their core.
    replace: float
    #: The run is ended after so many seconds.
    time_limit: float
    #: C of a student's own is ended if it takes no sample for so many seconds.
    patience: float


class MeasureOptions(TurnsOptions, total=False):
    """What may be chosen of one run."""

    #: The name of the recording; None: it is called after its variant.
    save: str | None


TURNS_DEFAULTS = TurnsOptions(
    samples=None,
    cpu=None,
    peer_cpu=None,
    batches=(),
    warmup=declared_options.DEFAULT_WARMUP,
    processes=10,
    flags="-O2",
    unit="ns",
    spread=0,
    within=None,
    at_most=declared_options.DEFAULT_AT_MOST_S,
    replace=declared_options.DEFAULT_REPLACE_S,
    time_limit=declared_options.DEFAULT_TIME_LIMIT_S,
    patience=declared_options.DEFAULT_PATIENCE_S,
)
DEFAULTS = MeasureOptions(**TURNS_DEFAULTS, save=None)


def with_options(defaults: Mapping[str, object]) -> Callable[[Function], Function]:
    """Let a function that takes these options as `**options` show each by name, with its default:
    JupyterLab completes them and lists them on Shift-Tab."""

    def show(function: Function) -> Function:
        own = inspect.signature(function)
        kinds = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
        named = [p for p in own.parameters.values() if p.kind not in kinds]
        options = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default)
            for name, default in defaults.items()
        ]
        setattr(function, OWN_SIGNATURE, own)
        function.__signature__ = own.replace(parameters=[*named, *options])  # type: ignore[attr-defined]
        return function

    return show


#: The verdict on a figure of a lab folder, which displays itself: `grader.check`.
Check = Callable[[str, Path], Any]


def start(name: str, check: Check | None = None, folder: Path | None = None) -> Session:
    """Begin the lab `name` in `folder` (the current one): shows this machine, adds `%%ckernel`.

    With `check`, each figure is judged as soon as it is handed in.
    """
    session = _begin[-1](name, Path.cwd() if folder is None else Path(folder))
    session.check = check
    show(MachineCard(session.machine))
    if messages.shell() is not None:
        ckernel_magic.register(session, unready_cells.register_waiting())
        unready_cells.register_missing_names()
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
        self.check: Check | None = None
        self._shown: dict[str, int] = {}
        self._panels: dict[str, Panel] = {}
        self._member: in_class.Member | None = None

    def __repr__(self) -> str:
        return f"lab {self.name} in {self.folder}"

    def answer(self, name: str, text: str = "") -> None:
        """Keep what you think, in your own words, and show it beside the explanation.

        Without a text, show a form for it. Never graded. Every version is kept. Raises Refused.
        """
        if is_blank(text) and in_notebook():
            keep = functools.partial(way_through_labs.answered, self.folder, self._guide, name)
            AnswerForm(lambda text: keep(text, self.runs.values())).display()
            return
        show(way_through_labs.answered(self.folder, self._guide, name, text, self.runs.values()))

    def show_c(self, kernel: str) -> None:
        """Show the measured region of a C kernel, or of a .c file. Raises Refused."""
        try:
            path = toolchain.c_kernel_source(kernel)
            timed = toolchain.measured_region(toolchain.text_of_c(path))
        except (OSError, ValueError) as error:
            raise Refused(run_errors.of_error(error)) from None
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
        chosen: dict[str, Any] = {**options}
        save, unit = chosen.pop("save", None), chosen.pop("unit", "ns")
        try:
            plan = plan_of(kernel, variant, *more, **chosen)
        except Refused as error:
            # Without a plan the default name is a guess: the only variant, or the C kernel.
            guess = variant if variant and isinstance(variant, str) else kernel
            self.failed([save or guess], error.message)
            raise
        run = self.carry_out(plan, save, unit)
        show(*run_errors.of_lacks(run.recording))
        return run

    @with_options(TURNS_DEFAULTS)
    def measure_in_turns(
        self, runs: Mapping[str, tuple[str, str | Sequence[str]]], **options: Unpack[TurnsOptions]
    ) -> list[Run]:
        """Measure several C kernels whose fresh processes take turns, and return their runs.

        Use it for figures that you want to compare: whatever the machine does meets all of them.
        `runs` maps the name to save under to a C kernel and its variants:

        lab.measure_in_turns({"one": ("process_switch", "pipe-pinned"), ...}, samples=2_000)

        The options are those of `measure`, without `save`. Raises as `measure` does.
        """
        if not runs or any(isinstance(each, str) or len(each) != 2 for each in runs.values()):
            usage = 'lab.measure_in_turns({"name": ("system_call", "getppid, getpid"), ...})'
            raise refused("name a C kernel and its variants", usage)
        chosen: dict[str, Any] = {**options}
        unit = chosen.pop("unit", "ns")
        try:
            plans = [plan_of(kernel, names, **chosen) for kernel, names in runs.values()]
        except Refused as error:
            self.failed(list(runs), error.message)
            raise
        done = self.carry_out_in_turns(plans, list(runs), unit)
        for run in done:
            show(*run_errors.of_lacks(run.recording))
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
        from labs.notebook.run import compare

        return compare(first, second, times)

    def compare_class(self, file: str = "class.csv") -> Table:
        """Your figures of this lab next to those of your class, from the file that your instructor
        hands out. The file names nobody. Raises Refused."""
        return beside_class(self.folder, file)

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
            raise Refused(run_errors.of_error(error)) from None
        runs = (
            self.carry_out(wrong, f"broken-{name}", unit),
            self.carry_out(right, f"repaired-{name}", unit),
        )
        return Pair(kernel, *runs, repair=words_of(right) if repair else ())

    def panel(
        self, kernel: str, variants: Sequence[str] = (), *, save: str = "panel", unit: str = "ns"
    ) -> Panel:
        """The same as `measure`, with sliders, menus and buttons."""
        from labs.notebook.panel import Panel

        earlier = self._panels.get(save)
        if earlier is not None:
            earlier.cancel()  # its cell was run again: nobody sees it any more
        name = figures.recording_name(save)
        self._panels[save] = Panel(self, kernel, tuple(variants), name, unit)
        return self._panels[save]

    def figure(
        self, figure: str, value: float, unit: str = "", run: Run | str | None = None
    ) -> None:
        """Submit a figure with its evidence: a run, a recording's name, or None. Raises Refused.

        Shows what the grader says of it. Submitting again replaces it.
        """
        self._show_stored(figure, store_figure(self.folder, self._guide, figure, value, unit, run))

    def conclude(
        self, figure: str, value: float, unit: str = "choice", run: Run | str | None = None
    ) -> None:
        """Submit a conclusion: its number, or what follows from other figures, as a ratio does.

        Its evidence is `run`, as in `figure`, where the lab names one for it. Without a run, the
        evidence is the recordings of the figures that it follows from. Submitting again replaces
        it. Raises Refused.
        """
        if run is not None:
            self.figure(figure, value, unit, run)
            return
        stored = store_conclusion(self.folder, self._guide, figure, value, unit)
        self._show_stored(figure, stored)

    def _show_stored(self, figure: str, stored: Message) -> None:
        """What was stored, and what the grader says of it: one message of one colour."""
        if self.check is None or stored.tone != "stored":
            show(stored)
            return
        line = " ".join((f"{stored.heading[0].upper()}{stored.heading[1:]}.", *stored.sentences))
        show(self.check(figure, self.folder), Quiet(line))

    def hint(self, topic: str = "", rung: int | None = None) -> None:
        """Show the next hint of `topic`, or up to number `rung`; the last is nearly the answer.

        Raises Refused for no topic, or another, naming those there are.
        """
        asked = rung if rung is not None else self._shown.get(topic, 0) + 1
        self._shown[topic] = way_through_labs.hint(self._guide, topic, asked)

    def join(self, code: str = "", address: str = "", *, send: bool = True) -> None:
        """Join the class that works together, with the code and the address on the wall.

        Shows what leaves this machine before it leaves, and again whenever something new does:
        predictions, figures with intervals, the kind of machine, codes of findings. No name, and no
        recording. With `send=False`, it shows this and joins nothing. Raises Refused.
        """
        findings = functools.partial(codes_in, self.check)
        try:
            if not send:
                show(in_class.shared_from(self.folder, findings(self.folder)).as_table())
                return
            if self._member is not None:
                self._member.end()
            tell = in_place_of(Quiet("Asking the class ..."))
            member = in_class.Member(self.folder, code, address, findings, tell)
            show(member.join())
            self._member = member
        except run_errors.EXPECTED as error:
            raise Refused(run_errors.of_error(error)) from None

    def leave(self) -> None:
        """Leave the class: it forgets what you shared. Raises Refused."""
        if self._member is None:
            raise refused("you are in no class", "lab.join joins one.")
        show(self._member.leave())
        self._member = None

    def hand_in(self) -> None:
        """Check this lab once more, pack it, and submit it where its course has an exchange.

        What is handed in is the notebook as last saved. Raises Refused.
        """
        show(Quiet("Checking the figures and packing the lab ..."))
        show(handed_in(self.folder))

    def progress(self) -> None:
        """Show what is done in this lab and what comes next, and how far the other labs are."""
        way_through_labs.progress_of(self.folder, self.name, self._guide)

    def wrap_up(self) -> None:
        """Show prediction against result in this lab, and how far off all guesses were."""
        way_through_labs.wrap_up(self.folder.parent, self.folder.name)


def codes_in(check: Check | None, folder: Path) -> dict[str, tuple[str, ...]]:
    """The codes of the findings on each figure in `folder`; none if it cannot be checked."""
    try:
        verdicts = check("", folder).verdicts if check else ()
    except Refused:
        return {}
    return {each.figure: tuple(finding.code for finding in each.findings) for each in verdicts}


#: What `start` makes sessions with: the last one. See `begin_with`.
_begin: list[Callable[[str, Path], Session]] = [Session]


def handed_in(folder: Path) -> Message:
    """Hand in the lab in `folder`, and say what was handed in. Raises Refused."""
    try:
        report = carry_out(folder)
    except (CannotHandIn, CannotWrite, PartMissing) as error:
        raise Refused(run_errors.of_error(error)) from None
    sentences = report.lines()
    for notebook in folder.glob("*.ipynb"):
        saved = datetime.datetime.fromtimestamp(notebook.stat().st_mtime)
        sentences.append(
            f"{notebook.name} is handed in as it was saved at {saved:%H:%M:%S}. If you have "
            "changed it since, save it and run this cell again."
        )
    complete = not (report.missing or report.failed or report.trouble)
    heading = "handed in" if report.submitted else "packed to be handed in"
    return Message("done" if complete else "note", heading, tuple(sentences))


#: Each lab shows this card first. In a narrow window, JupyterLab breaks lines of plain output at
#: any character, even within numbers. With this style it breaks them at spaces if possible.
_OUTPUT_STYLE = (
    "<style>.jp-OutputArea-output.jp-RenderedText pre "
    "{word-break: normal; overflow-wrap: anywhere}</style>"
)


class MachineCard:
    """The card of this machine, with what it cannot show."""

    def __init__(self, shown: description.Machine) -> None:
        self.machine = shown

    def _repr_html_(self) -> str:
        return _OUTPUT_STYLE + self.machine._repr_html_()

    def __repr__(self) -> str:
        return self.machine.card()


class MeasuredRegion:
    """The measured lines of a C kernel; a notebook highlights them in its own theme."""

    def __init__(self, file: str, code: str) -> None:
        self.file, self.code = file, code

    def _repr_markdown_(self) -> str:
        heading = f"The measured region of `{self.file}`:"
        return f"{heading}\n\n```c\n{self.code}\n```"

    def __repr__(self) -> str:
        heading = f"The measured region of {self.file}:"
        return f"{heading}\n\n{self.code}"


# Figures and conclusions with their evidence, and figures beside those of the class.


def store_figure(
    folder: Path, guide: Guide, name: str, value: float, unit: str, run: Run | str | None
) -> Message:
    """Store the figure `name` in `folder`; it replaces an earlier one. Raises Refused.

    The evidence `run` is a run, the name of a recording, or None.
    """
    if hasattr(value, "recording") or not unit:
        how = f'lab.figure("{name}", run.value, run.unit, run)'
        advice = f"Give a value and a unit, as in {how}."
        raise refused("figure not stored", advice)
    _refuse_no_unit(unit, f'lab.figure("{name}", value, unit, run)', "the fourth place is the run")
    _refuse_no_choice(guide, name, value, unit)
    recording = None if run is None else _evidence(folder, run)
    evidence = (
        f"Evidence: {recording}."
        if recording is not None
        else "It has no recording, and without a recording the grader cannot check a figure."
    )
    if recording is not None and figures.failed_later(folder, recording):
        evidence += f" {figures.EARLIER_RUN}"
    _store(folder, figures.Figure(name, value, unit, recording))
    return _stored(guide, name, f"figure stored: {name} = {_value_text(value, unit)}", evidence)


def store_conclusion(folder: Path, guide: Guide, name: str, value: float, unit: str) -> Message:
    """Store a conclusion from other figures, whose recordings are its evidence. Raises Refused."""
    form = f'lab.conclude("{name}", {"number" if name in guide.choices else "value, unit"})'
    _refuse_no_unit(unit, form, "it needs no run: its evidence is the figures that it follows from")
    _refuse_no_choice(guide, name, value, unit)
    _store(folder, figures.Figure(name, value, unit, None))
    evidence = "Its evidence is the recordings of the figures that it follows from."
    return _stored(guide, name, f"conclusion stored: {name} = {_value_text(value, unit)}", evidence)


def _refuse_no_unit(unit: object, form: str, place: str) -> None:
    """Raises Refused if `unit` is no text, such as a run: `form` is what to write."""
    if not isinstance(unit, str):
        what = f"figure not stored: the third place is a unit, not a {type(unit).__name__}"
        raise refused(what, f"Write it like this: {form}; {place}.")


def _refuse_no_choice(guide: Guide, name: str, value: float, unit: str) -> None:
    """Raises Refused if `name` is a conclusion and `value` is not the number of one."""
    texts = guide.choices.get(name)
    if texts is None:
        return
    numbers = range(1, len(texts) + 1)
    if unit == figures.CHOICE and value in numbers:
        return
    what = (
        f"{name} is the number of a conclusion, 1 to {len(texts)}, without a unit of time"
        if unit != figures.CHOICE
        else f"{name} has no conclusion {value!r}"
    )
    listed = tuple(f"{number}. {text}" for number, text in zip(numbers, texts, strict=True))
    raise refused(f"figure not stored: {what}", *listed)


def _value_text(value: float, unit: str) -> str:
    """A value with its unit; the number of a conclusion is shown without its unit `choice`."""
    return rounded(value, 5) if unit == figures.CHOICE else with_unit(rounded(value, 5), unit)


def _evidence(folder: Path, run: Run | str) -> str:
    """The path of a run's recording, or of the recording with this name. Raises Refused."""
    if isinstance(run, str):
        path = f"{figures.RECORDINGS}/{figures.recording_name(run)}.csv"
    elif not hasattr(run, "recording_path"):
        what = f"the evidence of a figure is a run, not a {type(run).__name__}"
        raise refused(what, *_instead_of(run))
    elif run.recording_path is None:
        raise refused("the run is not saved", "Measure again when saving is possible.")
    else:
        path = run.recording_path
    if not (folder / path).is_file():
        there = sorted(each.stem for each in (folder / figures.RECORDINGS).glob("*.csv"))
        hint = f"There is {', '.join(there)}." if there else "There is none yet: measure first."
        raise refused(f"there is no {path} in {folder}", hint)
    if not isinstance(run, str) and not _holds(folder / path, run.recording.as_bytes()):
        newest = f'`lab.runs["{Path(path).stem}"]`'
        words = (
            "You have since measured again under this name, or another program changed the file.",
            f"Take value and run from the newest run, {newest}, or repeat the cells that gave this "
            "run.",
        )
        raise refused(f"{path} does not hold this run any more", *words)
    return path


def _instead_of(given: object) -> tuple[str, ...]:
    """What to pass as evidence instead of what is no run; empty if nothing is known of it."""
    if hasattr(given, "repaired"):
        return ("This holds two runs: write `.broken` or `.repaired` after its name.",)
    if isinstance(given, Comparison):
        why = "A comparison only says which number or value to hand in."
        return (why, f"Pass a run that you compared: one with {given.first} or {given.second}.")
    return ()


def _holds(path: Path, content: bytes) -> bool:
    try:
        return read_bounded(path, len(content)) == content
    except OSError:
        return False


def _store(folder: Path, figure: figures.Figure) -> None:
    try:
        figures.put(folder, figure)
    except (ValueError, CannotWrite) as error:
        message = replace(run_errors.of_error(error), heading="figure not stored")
        raise Refused(message) from None


def _stored(guide: Guide, name: str, heading: str, evidence: str) -> Message:
    """The message about a stored figure, with a note if the lab asks for no figure of this name."""
    unknown = about_unknown_figure(name, guide)
    where = f"It is in {figures.FILE_NAME}."
    return (
        Message("note", heading, (unknown, evidence, where))
        if unknown
        else Message("stored", heading, (evidence, where))
    )


_HEADER = ("figure", "yours", "class: median", "middle half", "yours is", "on machines like yours")


def beside_class(folder: Path, file: str) -> Table:
    """A row for each figure of the class: the student's own, the class's, and where it lies.

    `file` is in the lab folder `folder`. Raises Refused if a file cannot be read, with what to do.
    """
    try:
        known = class_figures.read_class(folder / file)
        own = figures.read(folder)
    except FileNotFoundError:
        raise refused(
            f"there is no {file} here",
            "It holds the figures of your class, without names. Your instructor makes it with "
            f"`grader report {folder.name}`.",
            f"Put it into the folder {folder.name}, next to the notebook, and run this cell again.",
        ) from None
    except BadClassFigures as error:
        raise refused("the figures of your class cannot be read", f"{error}.") from None
    except BadFigures as error:
        raise refused("your figures cannot be read", f"{error}.") from None
    machines = {
        name: kind_in_file(folder / each.recording)
        for name, each in own.items()
        if isinstance(each, Figure) and each.recording
    }
    common = kind_of_all(machines.values())  # what follows from other figures has no recording
    rows = []
    for every in (row for row in known if row.machine == ALL_MACHINES):
        mine = own.get(every.figure)
        value = converted(mine.value, mine.unit, every.unit) if isinstance(mine, Figure) else None
        machine = machines.get(every.figure, common)
        at_most = isinstance(mine, Figure) and _is_upper_limit(folder, mine)
        like = [row for row in known if (row.figure, row.machine) == (every.figure, machine)]
        rows.append(
            (
                every.figure,
                ("at most " if at_most else "") + _own_text(mine, value, every.unit),
                f"{rounded(every.median)} {unit_symbol(every.unit)}",
                every.middle_half,
                "" if value is None else _place(value, every, at_most),
                f"{like[0].middle_half} ({machine}; {like[0].count:,})" if like else "",
            )
        )
    most = max((row.count for row in known), default=0)
    caption = (
        f"Your figures and those of your class: up to {most:,} accepted figures each. Half of them "
        "lie in the middle half. Machines differ, so a figure outside of it can be right."
    )
    return Table(caption, _HEADER, tuple(rows)).without_empty()


def _own_text(figure: object, value: float | None, unit: str) -> str:
    if not isinstance(figure, Figure):
        return "not handed in" if figure is None else "cannot be read"
    if value is None:
        return f"{rounded(figure.value)} {unit_symbol(figure.unit)}"
    return f"{rounded(value)} {unit_symbol(unit)}"


def _is_upper_limit(folder: Path, figure: Figure) -> bool:
    """Whether its run shared the core all the time, so that a whole core would give it or less."""
    try:
        recording = read(folder / (figure.recording or ""))
        estimates = [result_of(recording, name, "ns").estimate for name in recording.variants]
    except (OSError, BadRecording):
        return False
    return any(each is not None and each.at_most for each in estimates)


def _place(value: float, row: ClassFigure, at_most: bool) -> str:
    if value < row.quarter:
        return "below it"
    if at_most:
        return "not known: the core was shared"
    return "above it" if value > row.three_quarters else "in it"
