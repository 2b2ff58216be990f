"""Writes the report of a student's own results, or of recordings. `labs report` starts it.

python -m grader.own_report ~/ticklab-labs --output ~/report.html --pdf
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

from grader.own_report import COMMAND, labs_in, page, question, summary
from labs import paths
from labs.commands.command_line import complain
from labs.course import predicted_and_found
from labs.files import CannotWrite, write_atomically
from labs.html import generator, refuse_others, write_page
from labs.terminal import say

DONE, FAILED = 0, 1


def main(words: list[str] | None = None) -> int:
    """Write the report; status 1 if there is nothing to report, or if a file was not written."""
    parser = argparse.ArgumentParser(prog="python -m grader.own_report", description=__doc__)
    parser.add_argument("folder", type=Path, help="the folder that holds the labs")
    parser.add_argument("--output", type=Path, required=True, help="the page")
    parser.add_argument("--pdf", action="store_true", help="print the page to a PDF next to it")
    parser.add_argument("--name", default="", help="the author's name")
    parser.add_argument("--question", metavar="UNIT", help="the folder holds recordings")
    asked = parser.parse_args(words)
    labs = [] if asked.question else labs_in(asked.folder)
    if not asked.question and not any(lab.begun for lab in labs):
        complain(COMMAND, f"no lab in {asked.folder} has a figure or a text yet")
        return FAILED
    try:
        refuse_others(asked.output, COMMAND)  # before the work
        if asked.question:
            text, said = question.page(asked.folder, asked.question, asked.name)
        else:
            text = page(labs, predicted_and_found.of_labs(asked.folder), asked.name)
            said = summary(labs)
        write_page(asked.output, text, COMMAND)
        say(f"page: {asked.output}")
        for sentence in said:
            say(textwrap.fill(sentence, 80, break_on_hyphens=False))
        if asked.pdf:
            place = asked.output.with_suffix(".pdf")
            refuse_others(place, COMMAND)
            write_pdf(place, printed(asked.output), COMMAND)
            say(f"PDF: {place}")
    except CannotWrite as error:
        complain(COMMAND, error.strerror or str(error))
        return FAILED
    except ValueError as error:  # no recording, or no such unit
        complain(COMMAND, error)
        return FAILED
    except NoPdf as error:
        complain(COMMAND, f"no PDF: {error}")
        return FAILED
    return DONE


def write_pdf(path: Path, content: bytes, command: str) -> None:
    """Write a PDF that `command` made; its last line is a comment that says so.

    Raises CannotWrite.
    """
    refuse_others(path, command)
    write_atomically(path, content.rstrip() + f"\n% {generator(command)}\n".encode())


# A browser that is already on this machine prints a page: Chromium, Chrome or Edge.

_TIME_LIMIT_S = 120.0
_NAMES = (
    "chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome",
    "microsoft-edge", "microsoft-edge-stable", "msedge",
)  # fmt: skip
_ON_MACOS = tuple(
    Path("/Applications") / f"{name}.app" / "Contents" / "MacOS" / name
    for name in ("Google Chrome", "Chromium", "Microsoft Edge")
)
#: No window, no network of its own, and nothing written outside the folder that it gets.
_OPTIONS = (
    "--headless", "--disable-gpu", "--no-first-run", "--no-default-browser-check",
    "--disable-extensions", "--disable-background-networking", "--disable-component-update",
    "--disable-sync", "--no-pdf-header-footer",
)  # fmt: skip


class NoPdf(RuntimeError):
    """No PDF could be made; the message says why and what to do."""


def browser() -> str | None:
    """The program of a browser that can print; None if there is none."""
    found = next(filter(None, map(paths.program, _NAMES)), None)
    return found or next((str(path) for path in _ON_MACOS if path.is_file()), None)


def printed(page: Path) -> bytes:
    """The PDF of the page in the file `page`. Raises NoPdf."""
    program = browser()
    by_hand = f"open {page} in a browser and print it to a PDF"
    if program is None:
        raise NoPdf(f"no Chromium, Chrome or Edge was found here; {by_hand}")
    # Beside the page: some browsers may read and write in the user's own folders only.
    try:
        # A browser may still write there when it has ended.
        with tempfile.TemporaryDirectory(
            prefix="ticklab-pdf-", dir=page.parent, ignore_cleanup_errors=True
        ) as folder:
            made = Path(folder).absolute() / "page.pdf"
            command = [
                program, *_OPTIONS, *_as_root(), f"--user-data-dir={made.with_name('browser')}",
                f"--print-to-pdf={made}", page.resolve().as_uri(),
            ]  # fmt: skip
            done = paths.run(command, _TIME_LIMIT_S)
            content = made.read_bytes() if made.is_file() else b""
    except subprocess.TimeoutExpired as error:
        raise NoPdf(f"{program} took longer than {_TIME_LIMIT_S:g} s; {by_hand}") from error
    except OSError as error:
        raise NoPdf(f"{program} could not print ({error.strerror or error}); {by_hand}") from error
    if not content.startswith(b"%PDF-"):
        last = (done.stderr.strip().splitlines() or ["it wrote no PDF"])[-1]
        raise NoPdf(f"{program} could not print ({last[:200]}); {by_hand}")
    return content


def _as_root() -> tuple[str, ...]:
    """Chromium refuses to run as root with its sandbox; the page is our own and runs nothing."""
    return ("--no-sandbox",) if hasattr(os, "geteuid") and os.geteuid() == 0 else ()


if __name__ == "__main__":
    sys.exit(main())
