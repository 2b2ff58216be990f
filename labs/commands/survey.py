"""`labs survey`: measure everything on this machine, or compare two surveys that were saved."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from tqdm import tqdm

from labs.c_kernels.toolchain import NoCompiler
from labs.commands.ending import complain
from labs.course.account import with_account
from labs.files import CannotWrite
from labs.machine.description import read_machine
from labs.survey import compare_report, survey, survey_report
from labs.survey.survey import Row
from labs.terminal import columns, say, say_json
from labs.web_page import write_page

USAGE = 2


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
                    complain("labs survey", error.strerror or str(error))
                    status = 1
        except NoCompiler as error:
            complain("labs survey", error)
            return 1
    if arguments.json:
        say_json([_as_json(row) for row in rows])
    else:
        say(survey_report.text(rows, columns() or survey.COLUMNS))
    if arguments.save is not None and status == 0:
        try:
            place = arguments.save / "index.html"
            write_page(place, survey_report.page(rows, read_machine()), survey_report.COMMAND)
            say(f"page: {place}", file=sys.stderr)
        except CannotWrite as error:
            complain("labs survey", error.strerror or str(error))
            status = 1
    return status or int(all(row.result is None for row in rows))


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
        complain("labs survey", error)
        return USAGE
    entries = compare_report.as_json(first, second)
    if arguments.json:
        say_json(entries)
    else:
        say(compare_report.text(first, second, columns() or survey.COLUMNS))
    if arguments.save is not None:
        try:
            place = arguments.save / "compared.html"
            write_page(place, compare_report.page(first, second), compare_report.COMMAND)
            say(f"page: {place}", file=sys.stderr)
        except CannotWrite as error:
            complain("labs survey", error.strerror or str(error))
            return 1
    return int(all(each["ratio"] is None for each in entries))


def _as_json(row: Row) -> dict[str, Any]:
    """A row as `labs measure --json` prints it, with the published figures added."""
    entry: dict[str, Any]
    if row.result is None:
        entry = {
            "kernel": row.measurement.kernel,
            "variant": row.variant,
            "value": None,
            "method": row.why_not,
        }
    else:
        entry = row.result.as_json()
    entry["proof"] = row.proof()
    entry["flags"] = list(row.measurement.flags)
    entry["published"] = [
        {
            "report": each.report,
            "machine": each.machine,
            "value": each.value,
            "unit": each.unit,
            "suspect": each.suspect,
        }
        for each in row.published
    ]
    return entry
