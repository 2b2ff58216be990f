"""The report as one page: configuration, figures, evidence, plots, predictions, what is missing."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.own_report import plots
from grader.own_report.gather import Lab
from labs.common.html import filled
from labs.common.table import Table
from labs.course import comparison, published
from labs.course.comparison import Compared
from labs.languages.words import of_reader, words
from labs.pages.page import page as whole_page
from labs.plots.picture import Picture
from labs.recording.file import Recording
from labs.results import configuration

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
        words(TITLE),
        COMMAND,
        _PAGE,
        name=name,
        summary=summary(labs),
        configuration=_configuration(recordings),
        several=_several_machines(begun),
        sections=sections,
        against=_against(
            [plots.PUBLISHED[kernel] for kernel in plots.PUBLISHED if kernel in compared]
        ),
        predictions=_by_lab(guesses),
        calibration=comparison.calibration(guesses),
        guesses=list(plots.guesses(guesses)),
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


def _configuration(recordings: Sequence[Recording]) -> Table:
    return Table("What the recordings state", ("", ""), configuration.of_recordings(recordings))


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
    return f"{words(f'The figures come from {len(machines)} machines or OS kernels.')} {listed}."


def _section(lab: Lab, compared: set[str]) -> Section:
    """The section of a lab; `compared` has the C kernels whose published figures were shown."""
    there = [row for row in lab.rows if row.handed_in]
    return Section(
        lab,
        filled(_FIGURES, rows=lab.rows, heading=of_reader().heading),
        tuple(plots.of_lab(there)),
        tuple(plots.published(there, compared)),
    )


def _against(quantities: Collection[str]) -> Table:
    """What speaks against the published figures of these quantities, each reason once."""
    found: dict[str, dict[str, None]] = {}
    for quantity in quantities:
        for each in published.settled(published.figures(quantity)):
            for suspicion in each.suspicions:
                figure = f"{each.report}: {words(each.quantity)}"
                found.setdefault(suspicion.reason, {})[figure] = None
    return Table(
        "What speaks against the published figures",
        ("published by", "what speaks against it"),
        tuple(("; ".join(figures), reason) for reason, figures in found.items()),
    )


def _by_lab(guesses: tuple[Compared, ...]) -> Table:
    """Predictions against results, without the column of labs: its name begins the row."""
    whole = comparison.table(guesses)
    rows = tuple((f"{row[0][:2]} {row[1]}", *row[2:]) for row in whole.rows)
    return Table(whole.caption, ("lab and prediction", *whole.header[2:]), rows).without_empty()
