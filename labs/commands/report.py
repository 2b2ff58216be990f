"""`labs report`: a student's own results over all labs, as one page, and as a PDF."""

from __future__ import annotations

import argparse
import subprocess

from labs.commands.arguments import REPORT
from labs.commands.progress import folder_of_labs
from labs.commands.said import complain
from labs.common import python
from labs.course import guide


def run(arguments: argparse.Namespace) -> int:
    """Write the report; status 1 if there is nothing to report, or if a file was not written."""
    try:
        folder = folder_of_labs(arguments.dir)
    except (OSError, RuntimeError) as error:  # deleted current folder; no home folder
        complain("labs report", error)
        return 1
    if not any((folder / lab).is_dir() for lab in guide.labs()):
        missing = f"there are no labs in {folder}; `labs start` makes a copy of the labs"
        complain("labs report", missing)
        return 1
    output = (arguments.output or folder / REPORT).expanduser().absolute()
    # A process of its own: `labs` knows nothing of the grader, whose check the report shows.
    command = python.command(
        "grader.own_report", str(folder), f"--output={output}",
        f"--name={arguments.name}", *(["--pdf"] if arguments.pdf else []),
    )  # fmt: skip
    return subprocess.run(command, cwd=python.NEUTRAL, check=False).returncode
