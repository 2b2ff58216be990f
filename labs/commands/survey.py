"""`labs survey`: measure everything on this machine, or compare two surveys that were saved."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tqdm import tqdm

from labs.c_kernels.toolchain import NoCompiler
from labs.commands import outputs
from labs.commands.command_line import complain
from labs.course.account import with_account
from labs.files import CannotWrite
from labs.machine.description import read_machine
from labs.survey import compare_report, survey
from labs.survey.survey import Row
from labs.terminal import say

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
