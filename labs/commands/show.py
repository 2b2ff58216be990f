"""`labs show RECORDING` and `labs survey`: what saved runs say, as a page or in a terminal.

Everything comes from the recording alone, by the functions that show a run in a notebook.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from tqdm import tqdm

from labs.c_kernels.toolchain import NoCompiler
from labs.commands import outputs
from labs.commands.command_line import complain
from labs.course.account import with_account
from labs.files import CannotWrite
from labs.html import Table, page
from labs.machine.description import read_machine
from labs.messages import Refused
from labs.notebook.run import Run
from labs.plots.picture import Picture
from labs.recording.file import BadRecording, Recording, read
from labs.results import event_counts, remarks
from labs.results.results_compared import beside_a_table
from labs.survey import compare_report, survey
from labs.survey.survey import Row
from labs.terminal import columns, say
from labs.units import canonical

FAILED, USAGE = 1, 2
COMMAND = "labs show"

#: A page draws four plots of a variant; a file that somebody sent may name thousands of variants.
MOST_DRAWN = 20

_PAGE = Path(__file__).with_name("show.html.jinja")


def run_show(arguments: argparse.Namespace) -> int:
    """Write the page, or print the text; status 1 for a recording that cannot be read, or a page
    that cannot be written, 2 for a variant or a unit that is not in it."""
    try:
        unit = canonical(arguments.unit)
        recording = read(arguments.recording)
        names = _variants(arguments.variant, recording)
        shown = Run.of(recording, names, unit, arguments.recording.name)
    except ValueError as error:
        return complain(COMMAND, error, FAILED if isinstance(error, BadRecording) else USAGE)
    if arguments.form != "page":
        figures = (shown.results, str(arguments.recording))
        what: tuple[object, ...] = (shown,) if arguments.form == "text" else figures
        outputs.put(arguments.form, "show", *what, warnings=beside_a_table(shown.results))
        return 0
    if len(shown.results) > MOST_DRAWN:
        why = (
            f"{arguments.recording} holds {len(shown.results)} variants; "
            f"name at most {MOST_DRAWN} of them by --variant"
        )
        return complain(COMMAND, why, USAGE)
    # Not beside the recording: what lies in a lab's folder is handed in.
    place = arguments.output or Path(arguments.recording.with_suffix(".html").name)
    if not place.absolute().parent.is_dir():
        why = f"--output {place}: there is no folder {place.parent}"
        return complain(COMMAND, why, FAILED)
    try:
        outputs.write_page(place, "show", shown, arguments.recording.name)
    except CannotWrite as error:
        return complain(COMMAND, error, FAILED)
    for result in shown.results:
        say(result.sentence())
    say(f"  page: {place}")
    return 0


def _variants(asked: str, recording: Recording) -> tuple[str, ...]:
    """The variants that were asked for; none if all are. Raises ValueError for an unknown one."""
    names = tuple(filter(None, (name.strip() for name in asked.split(","))))
    for name in names:
        if name not in recording.variants:
            held = ", ".join(recording.variants)
            raise ValueError(f"this recording has no variant {name!r}; it has {held}")
    return names


def as_text(run: Run) -> str:
    """The values with what they rest on, the conditions, and the samples of each variant."""
    lines = remarks.in_lines(run.results, width=columns())
    lines += ["", _conditions(run).as_text(columns())]
    for result in run.results:
        lines += ["", run.table(result.variant).as_text(columns())]
    names = [result.variant for result in run.results]
    lines += event_counts.as_lines(run.recording, names, columns())
    return "\n".join(lines)


def page_of(run: Run, name: str) -> str:
    """The page that shows a run; `name` is that of its recording."""
    figures = sum(result.estimate is not None for result in run.results)
    return page(
        f"The recording {name}",
        COMMAND,
        _PAGE,
        run=run._repr_html_(),
        side_by_side=[run.compare()] if figures > 1 else [],
        variants=variants_shown(run),
        conditions=_conditions(run),
        absent=event_counts.lines_of_absent(run.recording),
    )


def variants_shown(run: Run, anchor: str = "variant") -> list[dict[str, object]]:
    """What a page shows of each variant: its plots, and the events counted, if any."""
    return [
        {
            "name": result.variant,
            "anchor": f"{anchor}-{number}",
            "evidence": run.evidence(result.variant),
            "pictures": list(_pictures(run, result.variant)),
            "counts": event_counts.table_of(run.recording, result.variant),
        }
        for number, result in enumerate(run.results, 1)
    ]


def _pictures(run: Run, variant: str) -> Iterator[Picture]:
    """Every plot that this variant has, with a table that fits a phone. Without a line, for
    example, there is no plot of one."""
    for plot in (run.plot_line, run.plot_processes, run.plot):
        try:
            yield plot(variant).narrowed()
        except Refused:
            continue


def _conditions(run: Run) -> Table:
    facts = remarks.configuration_of([run.recording])
    return Table("What the recording states", ("", ""), facts)


def run_survey(arguments: argparse.Namespace) -> int:
    """Measure everything and print the table; status 1 if nothing could be measured or saved."""
    if arguments.compare:
        return _compare(arguments)
    rows: list[Row] = []
    status = 0
    with tqdm(
        total=100, unit="%", leave=False, disable=None, file=sys.stderr, bar_format="{l_bar}{bar}|"
    ) as bar:

        def progress(share: float) -> None:
            bar.update(round(100 * share) - bar.n)

        try:
            for measurement, recording, found in survey.carry_out(arguments.quick, progress):
                rows += found
                if recording is None or arguments.save is None or status != 0:
                    continue
                try:
                    path = arguments.save / "recordings" / f"{measurement.file_name}.csv"
                    with_account(recording, path).write(path)
                except CannotWrite as error:
                    # The results can still be printed.
                    status = complain("labs survey", error)
        except NoCompiler as error:
            return complain("labs survey", error)
    outputs.put(arguments.form, "survey", rows)
    if arguments.save is not None and status == 0:
        status = _save(arguments.save / "index.html", "survey", rows, read_machine())
    return status or int(all(row.result is None for row in rows))


def _save(place: Path, command: str, *result: object) -> int:
    """Write the page of a result, and return the exit status."""
    try:
        outputs.write_page(place, command, *result)
    except CannotWrite as error:
        return complain("labs survey", error)
    say(f"page: {place}", file=sys.stderr)
    return 0


def _compare(arguments: argparse.Namespace) -> int:
    """Compare two saved surveys; status 1 if nothing can be compared or saved, 2 without both."""
    one, other = arguments.compare
    alike = one.resolve().name == other.resolve().name
    try:
        first, second = (
            compare_report.read_saved(each, str(each) if alike else "")
            for each in arguments.compare
        )
    except compare_report.NoSurvey as error:
        return complain("labs survey", error, USAGE)
    outputs.put(arguments.form, "survey --compare", first, second)
    save = arguments.save
    status = _save(save / "compared.html", "survey --compare", first, second) if save else 0
    return status or int(all(each.ratio is None for each in compare_report.pairs(first, second)))
