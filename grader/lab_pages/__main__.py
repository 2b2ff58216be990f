"""Builds the pages of all labs.

    python -m grader.lab_pages build/html
    python -m grader.lab_pages --record 03-system-call

The second command makes the recordings of a lab for the pages and for the tests of grading. It runs
the author's notebook on this machine, with short runs, and saves them under tests/fixtures/honest,
in place of those of an earlier run. If something went wrong, an earlier run stays.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from grader.lab_pages import HONEST, NOTEBOOKS, build, record
from labs import paths
from labs.course import figures
from labs.terminal import say


def main(words: list[str] | None = None) -> int:
    """The command line; status 1 if a page lacks something, or if a lab could not be recorded."""
    parser = argparse.ArgumentParser(
        prog="python -m grader.lab_pages", description="pages of the labs"
    )
    parser.add_argument("destination", nargs="?", type=Path, help="folder for the pages")
    parser.add_argument("--record", metavar="LAB", help="run this lab and keep its recordings")
    chosen = parser.parse_args(words)
    if (chosen.destination is None) == (chosen.record is None):
        parser.error("give a folder for the pages, or --record LAB")
    if not any(NOTEBOOKS.glob("*/*.ipynb")):
        say(
            f"pages: there are no labs with solutions in {NOTEBOOKS}. The pages are made from "
            "them. They are in the repository of Ticklab and not in the installed package. Run "
            "`make html` in the repository.",
            file=sys.stderr,
        )
        return 1
    try:
        if chosen.record is not None:
            if not (NOTEBOOKS / chosen.record).is_dir():
                parser.error(f"there is no lab {chosen.record} in {NOTEBOOKS}")
            troubles = _recorded(chosen.record)
        else:
            troubles = build(paths.released(), chosen.destination)
    except (OSError, RuntimeError) as error:
        say(f"pages: {error}", file=sys.stderr)
        return 1
    for trouble in troubles:
        say(f"pages: {trouble}", file=sys.stderr)
    return 1 if troubles else 0


def _recorded(lab: str) -> list[str]:
    """Run a lab, say what became of its recordings, and return what went wrong."""
    folder = HONEST / lab
    there_before = (folder / figures.FILE_NAME).is_file()
    done = record(NOTEBOOKS / lab, folder)
    if done.troubles:
        stays = ", and the earlier run stays" if there_before else ""
        said = f"nothing is saved in {folder}{stays}"
        return [*(f"{lab}, {cell}: {why}" for cell, why in done.troubles.items()), said]
    replaced = ", in place of an earlier run" if there_before else ""
    say(f"pages: the run of {lab} is saved in {folder}{replaced}")
    return []


if __name__ == "__main__":
    sys.exit(main())
