"""Writes the report of a student's own results. `labs report` starts it.

python -m grader.own_report ~/ticklab-labs --output ~/report.html --pdf
"""

from __future__ import annotations

import argparse
import sys
import textwrap
from pathlib import Path

from grader.own_report import student_report
from grader.own_report.student_report import COMMAND, page, summary
from labs import web_page
from labs.commands.command_line import complain
from labs.course import comparison
from labs.files import CannotWrite
from labs.terminal import say

DONE, FAILED = 0, 1


def main(words: list[str] | None = None) -> int:
    """Write the report; status 1 if there is nothing to report, or if a file was not written."""
    parser = argparse.ArgumentParser(prog="python -m grader.own_report", description=__doc__)
    parser.add_argument("folder", type=Path, help="the folder that holds the labs")
    parser.add_argument("--output", type=Path, required=True, help="the page")
    parser.add_argument("--pdf", action="store_true", help="print the page to a PDF next to it")
    parser.add_argument("--name", default="", help="the author's name")
    asked = parser.parse_args(words)
    labs = student_report.labs_in(asked.folder)
    if not any(lab.begun for lab in labs):
        complain(COMMAND, f"no lab in {asked.folder} has a figure or a text yet")
        return FAILED
    try:
        web_page.refuse_others(asked.output, COMMAND)  # before the work
        text = page(labs, comparison.of_labs(asked.folder), asked.name)
        web_page.write_page(asked.output, text, COMMAND)
        say(f"page: {asked.output}")
        for sentence in summary(labs):
            say(textwrap.fill(sentence, 80, break_on_hyphens=False))
        if asked.pdf:
            place = asked.output.with_suffix(".pdf")
            web_page.refuse_others(place, COMMAND)
            web_page.write_pdf(place, web_page.printed(asked.output), COMMAND)
            say(f"PDF: {place}")
    except CannotWrite as error:
        complain(COMMAND, error.strerror or str(error))
        return FAILED
    except web_page.NoPdf as error:
        complain(COMMAND, f"no PDF: {error}")
        return FAILED
    return DONE


if __name__ == "__main__":
    sys.exit(main())
