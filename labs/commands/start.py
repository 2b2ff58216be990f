"""The command `labs start`: make the student's own copy of the labs and open it in JupyterLab."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from labs.commands.arguments import DEFAULT
from labs.commands.said import in_language
from labs.commands.serve import CannotServe, serve
from labs.common import paths
from labs.common.terminal import say
from labs.course.student_copy import CannotUpdateCopy, CopyChanges, is_copy, update_copy
from labs.languages import chosen

FIRST = "00-start-here/00-start-here.ipynb"


def run(arguments: argparse.Namespace) -> int:
    """Make or update the copy, then serve it until Control-C. The exit status is 0, or 1 on error.

    Standard output has only the address; reports and errors go to standard error.
    """
    try:
        folder = _folder(arguments.dir)
        done = update_copy(paths.released(), folder, arguments.language or "")
        _report(done, folder)
        if arguments.no_lab:
            return 0
        _say("Starting JupyterLab. To end it, press Control-C here.")
        first = FIRST if (folder / FIRST).is_file() else None
        if arguments.language or done.language != chosen.ENGLISH:
            chosen.keep(done.language)  # what its notebooks show, too
        serve(folder, first, arguments.port, browser=not arguments.no_browser)
    except (paths.PartMissing, CannotUpdateCopy, CannotServe) as error:
        _say(str(error))
        return 1
    return 0


def _folder(asked: Path | None) -> Path:
    """The student's folder: the one asked for, else this one if it is a copy, else the default."""
    try:
        if asked is None:
            asked = Path.cwd() if is_copy(Path.cwd()) else Path(DEFAULT)
        return asked.expanduser().absolute()
    except (OSError, RuntimeError) as error:  # deleted current folder; no home folder
        raise CannotUpdateCopy(
            f"There is no folder for your labs: {error}. Name one: labs start DIR"
        ) from error


def _report(done: CopyChanges, folder: Path) -> None:
    if done.manifest_lost:
        _say(
            ".ticklab.json cannot be read, so Ticklab no longer knows which files you changed. "
            "It keeps every file that differs from ours."
        )
    if done.added:
        _say(f"Put {_count(done.added)} in {folder}.")
    elif not done.updated and not done.newer:
        _say(f"Your labs are in {folder}.")
    if done.language != chosen.ENGLISH and (done.added or done.updated):
        _say(f"Their language is {done.language}. What is not translated yet is in English.")
    if done.updated:
        _say(f"Updated {_count(done.updated)} that you had not changed in {folder}.")
    for yours, newer in done.newer:
        _say(
            f"Kept your {folder / yours}; the newer version is in the same folder: "
            f"{Path(newer).name}"
        )


def _count(files: list[str]) -> str:
    return f"{len(files)} file{'' if len(files) == 1 else 's'}"


def _say(line: str) -> None:
    say(in_language(line), file=sys.stderr)
