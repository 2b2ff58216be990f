"""A student's own results over all labs, as one page: `labs report`."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from grader.evidence.other_numbers import SUBJECTS
from grader.evidence.sources import released_sources
from grader.figures import LABS
from grader.figures.case import Case
from grader.figures.expected import Expected, values_by_recording, values_by_relation
from grader.figures.spec import CHOICE, FigureSpec, Quantity
from grader.figures.verdict import MARKS, NOT_HANDED_IN, Outcome, Verdict
from grader.judging.lab_folder import examined
from grader.with_nbgrader.pages.student_text import student_html
from labs import limits, views
from labs.analysis.confidence import Estimate
from labs.course import answers, guide, predicted_and_found, published
from labs.course.predicted_and_found import Compared, with_factor
from labs.course.predictions import RIGHT_WITHIN
from labs.files import read_bounded
from labs.html import Table, filled, inline
from labs.html import page as whole_page
from labs.messages import Refused
from labs.notebook.run import Run
from labs.plots import picture
from labs.plots.guesses import Guess, calibration_picture
from labs.plots.picture import Picture
from labs.recording.file import Recording
from labs.results import remarks
from labs.results.result import REASONS, Result, result_of, sensible
from labs.units import plural, rounded, rounded_apart

# The page, and its summary for the terminal.

COMMAND = "labs report"
TITLE = "What operations of the operating system cost"

_PAGE = Path(__file__).with_name("report.html.jinja")
_FIGURES = Path(__file__).with_name("figures.html.jinja")


@dataclass(frozen=True, eq=False)
class Section:
    """One lab of the report, with the table of its figures as HTML, and its pictures."""

    lab: Lab
    figures: str
    pictures: tuple[Picture, ...]
    published: tuple[Picture, ...]


def page(labs: Sequence[Lab], guesses: tuple[Compared, ...], name: str = "") -> str:
    """The whole report as one self-contained HTML page; `name` is its author's, if any."""
    begun = [lab for lab in labs if lab.begun]
    compared: set[str] = set()
    sections = [_section(lab, compared) for lab in begun]
    recordings = [each for lab in begun for each in lab.recordings]
    return whole_page(
        TITLE,
        COMMAND,
        _PAGE,
        name=name,
        summary=summary(labs),
        configuration=configuration(recordings),
        several=_several_machines(begun),
        sections=sections,
        against=_against([PUBLISHED[kernel] for kernel in PUBLISHED if kernel in compared]),
        predictions=_by_lab(guesses),
        calibration=predicted_and_found.calibration(guesses),
        guesses=list(plot_of_guesses(guesses)),
        incomplete=[lab for lab in labs if lab.here and lab.missing],
        absent=[lab for lab in labs if not lab.here],
    )


def summary(labs: Sequence[Lab]) -> list[str]:
    """How many figures pass the check, and how many do not or are missing, in sentences."""
    rows = [row for lab in labs if lab.here for row in lab.rows]
    passed = sum(row.passed for row in rows)
    there = sum(row.handed_in for row in rows)
    said = [
        f"{passed} of {len(rows)} figures {'passes' if passed == 1 else 'pass'} the check; "
        f"{there - passed} "
        f"{'does' if there - passed == 1 else 'do'} not, and {len(rows) - there} "
        f"{'is' if len(rows) - there == 1 else 'are'} not handed in."
    ]
    absent = [lab.name for lab in labs if not lab.here]
    if absent:
        said.append(f"There is no folder of {', '.join(absent)}.")
    return said


def configuration(recordings: Sequence[Recording]) -> Table:
    """What the recordings state of the machine, the compiler and the run."""
    return Table("What the recordings state", ("", ""), remarks.configuration_of(recordings))


def _several_machines(begun: Sequence[Lab]) -> str:
    """A sentence if the figures are of several machines: they must not be compared then."""
    machines: dict[str, list[str]] = {}
    for lab in begun:
        for each in lab.recordings:
            cpu, system = (each.conditions.get(key, "") for key in ("machine.cpu", "os"))
            labs = machines.setdefault(", ".join(filter(None, (cpu, system))), [])
            labs.extend([lab.title] if lab.title not in labs else [])
    if len(machines) < 2:
        return ""
    listed = "; ".join(f"{machine}: {', '.join(some)}" for machine, some in machines.items())
    return f"The figures come from {len(machines)} machines or OS kernels. {listed}."


def _section(lab: Lab, compared: set[str]) -> Section:
    """The section of a lab; `compared` has the C kernels whose published figures were shown."""
    there = [row for row in lab.rows if row.handed_in]
    pictures, beside = plots_of_lab(there), plots_among_published(there, compared)
    return Section(lab, filled(_FIGURES, rows=lab.rows), tuple(pictures), tuple(beside))


def _against(quantities: Collection[str]) -> Table:
    """What speaks against the published figures of these quantities, each reason once."""
    found: dict[str, dict[str, None]] = {}
    for quantity in quantities:
        for each in published.settled(published.figures(quantity)):
            for suspicion in each.suspicions:
                found.setdefault(suspicion.reason, {})[f"{each.report}: {each.quantity}"] = None
    return Table(
        "What speaks against the published figures",
        ("published by", "what speaks against it"),
        tuple(("; ".join(figures), reason) for reason, figures in found.items()),
    )


def _by_lab(guesses: tuple[Compared, ...]) -> Table:
    """Predictions against results, without the column of labs: its name begins the row."""
    whole = predicted_and_found.table(guesses)
    rows = tuple((f"{row[0][:2]} {row[1]}", *row[2:]) for row in whole.rows)
    return Table(whole.caption, ("lab and prediction", *whole.header[2:]), rows).without_empty()


# One row of the report for each figure: what its recording gives, in every unit, and how.
#
# The values come from the same functions as the verdict: `grader.figures` for what a figure is, and
# `labs.results` for the estimate that the student's run showed.

#: The units of the report, in the order of its columns.
UNITS = ("ns", "cycles", "ticks")


@dataclass(frozen=True, eq=False)
class FigureRow:
    """A figure that a lab asks for: its question, its verdict, and the case behind it, if any."""

    spec: FigureSpec
    verdict: Verdict
    case: Case | None

    @property
    def handed_in(self) -> bool:
        """Whether there is a figure at all."""
        return self.verdict.in_words != NOT_HANDED_IN

    @property
    def passed(self) -> bool:
        """Whether the check accepts the figure."""
        return self.verdict.outcome is Outcome.PASSED

    @property
    def check(self) -> str:
        """What the check says, in a word, with its sign."""
        return f"{MARKS[self.verdict.in_words]} {self.verdict.in_words}"

    @property
    def result(self) -> Result | None:
        """The result of the figure's own recording; None for a relation of other figures."""
        return None if self.case is None or self.case.others else self.case.result

    def values(self) -> tuple[str, str, str]:
        """Value with interval in ns, core cycles and ticks; a ratio or a choice has one value."""
        if self.case is None:
            return ("", "", "")
        if self.spec.unit == CHOICE:
            return (_conclusion(self.case), "", "")
        if not (self.spec.is_time or self.spec.quantity is Quantity.STEP):
            return (_text(self._value(self.spec.unit), self.spec.unit), "", "")
        found = [_text(self._value(unit), unit) for unit in UNITS]
        return (found[0], found[1], found[2])

    def _value(self, unit: str) -> Expected | Estimate | None:
        """The figure in `unit`; None if the recording gives none, or none in this unit."""
        case = self.case
        assert case is not None  # the caller has seen to it
        spec = replace(self.spec, unit=unit)
        try:
            if case.others:
                operands = [each.as_operand() for each in case.others]
                found = list(values_by_relation(spec, operands, unit))
            else:
                found = values_by_recording(spec, case.results, unit)
        except ValueError:  # core cycles of unknown length
            return None
        if not found:
            return None
        shown = self._as_shown(unit)
        alike = shown is not None and math.isclose(shown.value, found[0].value, rel_tol=1e-9)
        return shown if alike else found[0]

    def _as_shown(self, unit: str) -> Estimate | None:
        """The estimate that the student's run shows in `unit`."""
        if self.result is None or not self.spec.is_time:
            return None
        return result_of(self.result.recording, self.result.variant, unit).estimate

    def samples(self) -> str:
        """A sentence: how many samples the figure uses, from how many processes."""
        result = self.result
        if result is None:
            return f"Samples: those of {', '.join(self.spec.of)}." if self.case else ""
        every, kept = len(result.recording.processes), f"{result.n:,}"
        used = result.estimate.processes if result.estimate is not None else every
        if used != every:
            return f"Samples: {kept} from {used} of {every} processes."
        return f"Samples: {kept} from {plural(every, 'process')}."

    def set_aside(self) -> str:
        """What was set aside and why."""
        if self.result is None:
            return ""
        reasons = [REASONS[why].format(count=f"{n:,}") for why, n in self.result.set_aside.items()]
        return "; ".join(reasons) or "none"

    def evidence(self) -> str:
        """How it was proved that the measured event happened."""
        if self.result is None:
            return ""
        if self.spec.demonstrates:
            return "none: this figure repeats a mistake on purpose"
        if not self._of_released_c():
            return remarks.evidence_of_any_c(self.result) or self.result.why_unnamed
        return remarks.evidence_of(self.result) or self.result.why_unnamed

    def _of_released_c(self) -> bool:
        """Whether a C kernel of the kit was measured, and none that is wrong on purpose."""
        assert self.result is not None  # the caller has seen to it
        return self.result.recording.conditions.get("source.sha256") in released_sources()

    def in_doubt(self) -> list[str]:
        """What the check found against the figure, in sentences; empty if it passed."""
        if self.passed:
            return []
        said = [self.verdict.note] if self.verdict.note else []
        if not self.verdict.findings:
            return [*said, self.verdict.reason]
        return said + [f"{f.symptom} {f.evidence} [{f.code}]" for f in self.verdict.findings]

    def as_submitted(self) -> str:
        """The figure as it was handed in."""
        return self.case.as_submitted() if self.case is not None else ""


def _conclusion(case: Case) -> str:
    """The conclusion that the student chose."""
    number = case.figure.value
    choices = case.spec.choices
    if number != int(number) or not 1 <= number <= len(choices):
        return f"no conclusion has the number {rounded(number, 6)}"
    return f"“{choices[int(number) - 1].text}”"


def _text(of: Expected | Estimate | None, unit: str) -> str:
    """A value with its interval, without its unit; a count has no interval."""
    if of is None:
        return "–"
    sign = f" {unit}" if unit == "times" else ""
    if of.low == of.high:
        return f"{rounded(of.value)}{sign}"
    if sign:
        value, low, high = rounded_apart(of.value, of.low, of.high, 1.0)
    else:
        value, low, high = sensible(Estimate(of.value, of.low, of.high, unit, "", 0, 0))
    return f"{value}{sign} ({low} to {high})"


# The plots of a lab in the report: its runs as the labs show them, the line, published figures.

View = Callable[..., Picture]

#: By C kernel: the view of its runs; those of other C kernels are drawn side by side.
_VIEWS: dict[str, View] = {
    "first_iteration": views.cold_to_warm,
    "procedure_call": views.arguments,
    "process_switch": views.placement,
    "thread_switch": views.placement,
    "switch_footprint": views.footprint,
}
#: By C kernel of the kit: the beginning of the published quantity to compare with.
PUBLISHED = {kernel: name for kernel, name in SUBJECTS.items() if not kernel.startswith("own_")}


def plots_of_lab(rows: Sequence[FigureRow]) -> Iterator[Picture]:
    """The runs of the figures, and the line of the first figure that has one."""
    by_view: dict[View, list[Run]] = {}
    for run in _runs(rows):
        if run.recording.kernel in _VIEWS:
            by_view.setdefault(_VIEWS[run.recording.kernel], []).append(run)
    drawn: set[str] = set()
    for view, some in by_view.items():
        shown = list(_drawn(partial(view, *some)))
        yield from shown
        if shown and view is not views.cold_to_warm:  # which has no figure in it
            drawn |= {run.recording.kernel for run in some}
    for results in _side_by_side(rows, drawn):
        yield from _drawn(partial(picture.of_estimates, results))
    for row in rows:
        if row.result is not None and row.result.line is not None and row.result.line.straight:
            yield from _drawn(partial(picture.of_line, row.result))
            break


def _side_by_side(rows: Sequence[FigureRow], drawn: Collection[str]) -> list[list[Result]]:
    """By C kernel, the results that figures are about, each once; not of those `drawn` already.

    Without those that repeat a mistake: their variants have the names of the right ones.
    """
    found: dict[str, dict[tuple[int, str], Result]] = {}
    for row in rows:
        if row.case is None or row.case.others or row.spec.demonstrates:
            continue
        recording = row.case.recording
        for name in row.spec.variants:
            result = row.case.results[name]
            if recording.kernel not in drawn and result.estimate is not None:
                found.setdefault(recording.kernel, {})[id(recording), name] = result
    return [[*some.values()] for some in found.values()]


def plots_among_published(rows: Sequence[FigureRow], shown: set[str]) -> Iterator[Picture]:
    """The first time of each C kernel next to the published figures of the same quantity.

    C kernels in `shown` are left out, and those that are drawn are added to it.
    """
    for row in rows:
        kernel = row.spec.kernel
        if row.result is None or kernel in shown or kernel not in PUBLISHED:
            continue
        if not row.spec.is_time or row.spec.demonstrates or row.result.estimate is None:
            continue
        shown.add(kernel)
        run = Run(row.result.recording, (row.result,))
        yield from _drawn(partial(views.among_published, run, PUBLISHED[kernel]))


def plot_of_guesses(every: tuple[Compared, ...]) -> Iterator[Picture]:
    """What was found, divided by what was predicted, of all predictions that have a figure."""
    made = [
        Guess(f"{row.lab}: {row.id}", factor, row.predicted.sure, row.late)
        for row, factor in with_factor(every)
    ]
    yield from _drawn(partial(calibration_picture, made, RIGHT_WITHIN))


def _runs(rows: Sequence[FigureRow]) -> list[Run]:
    """The runs of the figures, each with all the variants that were asked for."""
    found = [row.case.recording for row in rows if row.case and not row.case.others]
    return [Run.of(recording) for recording in {id(each): each for each in found}.values()]


def _drawn(draw: Callable[[], Picture]) -> Iterator[Picture]:
    """What `draw` gives; nothing if these runs have nothing that could be drawn."""
    try:
        yield draw().narrowed()
    except (Refused, ValueError):
        return


# Everything that the report shows of each lab, read from the student's folders.
#
# Nothing here measures, and nothing is left out: what is missing or unreadable is reported as such.


@dataclass(frozen=True)
class OwnText:
    """A text by the student: what it is about, and the text as clean HTML."""

    about: str
    html: str


@dataclass(frozen=True, eq=False)
class Lab:
    """One lab of the student: its figures, texts, and what is missing, a sentence each.

    `here` says whether there is a folder of it.
    """

    name: str
    here: bool
    rows: tuple[FigureRow, ...] = ()
    texts: tuple[OwnText, ...] = ()
    missing: tuple[str, ...] = field(default=())

    @property
    def title(self) -> str:
        """The lab's name for a heading: `03 System call`."""
        number, _, topic = self.name.partition("-")
        return f"{number} {topic.replace('-', ' ').capitalize()}"

    @property
    def begun(self) -> bool:
        """Whether there is anything of this lab to show."""
        return bool(self.texts) or any(row.handed_in for row in self.rows)

    @property
    def recordings(self) -> tuple[Recording, ...]:
        """The recordings of its figures, each once."""
        found = [row.case.recording for row in self.rows if row.case is not None]
        return tuple({id(each): each for each in found}.values())


def labs_in(folder: Path) -> list[Lab]:
    """Every lab that has figures, in the order taught; `folder` holds the lab folders."""
    return [_lab(folder / name, name) for name in LABS]


def _lab(folder: Path, name: str) -> Lab:
    if not folder.is_dir():
        return Lab(name, here=False)
    verdicts, cases = examined(folder, name)
    rows = tuple(
        FigureRow(spec, verdict, case if isinstance(case := cases.get(spec.id), Case) else None)
        for spec, verdict in zip(LABS[name], verdicts, strict=True)
    )
    missing = [f"{row.spec.asked} ({row.spec.id})" for row in rows if not row.handed_in]
    answered, troubles = _answers(folder, name)
    written, more = _report(folder, name)
    return Lab(name, True, rows, (*answered, *written), (*missing, *troubles, *more))


def _answers(folder: Path, name: str) -> tuple[list[OwnText], list[str]]:
    """The newest version of each answer; and what is missing."""
    try:
        known = answers.read(folder)
    except (answers.BadAnswers, OSError) as error:
        return [], [f"the answers cannot be read: {error}"]
    asked = {step.name: step.do for step in guide.of_lab(name).steps if step.kind == "answer"}
    texts = [
        OwnText(asked.get(answer, answer), _plain(versions[-1].text))
        for answer, versions in known.items()
    ]
    missing = [do for answer, do in asked.items() if answer not in known]
    return texts, [f"an answer: {do}" for do in missing]


def _report(folder: Path, name: str) -> tuple[list[OwnText], list[str]]:
    """The texts in the notebook that the student has written; and what is missing."""
    notebook = answers.notebook_in(folder)
    if notebook is None:
        return [], [f"the notebook {name}.ipynb, with the report"]
    try:
        content = read_bounded(notebook, limits.MOST_NOTEBOOK_BYTES)
    except OSError as error:
        return [], [f"the notebook cannot be read: {error.strerror or error}"]
    texts, empty = answers.texts(content), answers.empty(content, name)
    written = [
        OwnText(_about_cell(cell), student_html(text[: limits.MOST_ANSWER], {}))
        for cell, text in texts.items()
        if cell not in empty
    ]
    return written, [f"the text of the cell {name} is not written yet" for name in empty]


def _about_cell(cell: str) -> str:
    return "The report in the notebook" if cell == "report" else f"The cell {cell} of the notebook"


def _plain(text: str) -> str:
    """A text without markup, as HTML."""
    return inline("<pre>{{ text }}</pre>", text=text)
