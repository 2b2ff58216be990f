"""`labs report`: a student's own results over all labs, as one page, and as a PDF."""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

from labs.commands.progress import folder_of_labs
from labs.common.terminal import say
from labs.course import guide

FILE_NAME = "ticklab-report.html"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `labs report`."""
    parser.add_argument(
        "dir",
        nargs="?",
        type=Path,
        metavar="FOLDER",
        help="the folder of your labs (default: as for `labs progress`)",
    )
    parser.add_argument(
        "--pdf",
        action="store_true",
        help="print the page to a PDF too, by a Chromium, Chrome or Edge that is on this machine",
    )
    parser.add_argument(
        "--output",
        type=Path,
        metavar="FILE",
        help=f"the page (default: {FILE_NAME} in the folder of your labs)",
    )
    parser.add_argument("--name", default="", help="your name, to be printed below the title")


def run(arguments: argparse.Namespace) -> int:
    """Write the report; status 1 if there is nothing to report, or if a file was not written."""
    try:
        folder = folder_of_labs(arguments.dir)
    except (OSError, RuntimeError) as error:  # deleted current folder; no home folder
        say(f"labs report: {error}", file=sys.stderr)
        return 1
    if not any((folder / lab).is_dir() for lab in guide.labs()):
        say(
            f"labs report: there are no labs in {folder}; `labs start` makes a copy of the labs",
            file=sys.stderr,
        )
        return 1
    output = (arguments.output or folder / FILE_NAME).expanduser().absolute()
    # A process of its own: `labs` knows nothing of the grader, whose check the report shows.
    command = [
        sys.executable, "-m", "grader.own_report", str(folder), f"--output={output}",
        f"--name={arguments.name}", *(["--pdf"] if arguments.pdf else []),
    ]  # fmt: skip
    return subprocess.run(command, check=False).returncode
