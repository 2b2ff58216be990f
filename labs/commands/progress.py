"""`labs progress`: what the student has done in all labs, and what comes next."""

from __future__ import annotations

import argparse
from pathlib import Path

from labs.commands.arguments import DEFAULT
from labs.commands.said import complain
from labs.common import terminal
from labs.common.terminal import say, say_json
from labs.course import comparison, guide, progress
from labs.course.catalogue.names import folder_meant
from labs.course.student_copy import is_copy
from labs.languages.words import words


def run(arguments: argparse.Namespace) -> int:
    """Print one line for each lab, and in the folder of a lab its steps.

    The exit status is 0, or 1 if there are no labs.
    """
    try:
        folder = folder_of_labs(arguments.dir)
    except (OSError, RuntimeError) as error:  # deleted current folder; no home folder
        complain("labs progress", error)
        return 1
    if arguments.dir is not None and not folder.is_dir():
        there = folder_meant(folder)
        complain("labs progress", f"there is no folder {folder}{there}")
        return 1
    labs = progress.of_labs(folder)
    if not any(each.here for each in labs):
        missing = f"there are no labs in {folder}; `labs start` makes a copy of the labs"
        complain("labs progress", missing)
        return 1
    guesses = comparison.calibration(comparison.of_labs(folder))
    here = _lab_asked_for(arguments.dir)
    following = progress.what_next(labs, here)
    if arguments.json:
        entries = [each.as_json() for each in labs]
        result = {"labs": entries, "next": following or None, "guesses": guesses}
        say_json(result)
        return 0
    for each in labs:
        if each.lab == here:
            say("\n".join([f"{each.lab}: {each.heading()}", *each.lines(), ""]))
    say(progress.table(labs, here).as_text(terminal.columns()))
    every = all(each.here for each in labs)
    done = words("You have done all labs.") if every else words("You have done all labs here.")
    say(f"\n{words('Next')}: {following}" if following else f"\n{done}")
    if guesses:
        say(" ".join(map(words, guesses)))
    return 0


def _lab_asked_for(asked: Path | None) -> str:
    """The lab whose folder was asked for, or is the current one; '' if it is none."""
    name = (asked.expanduser().absolute() if asked is not None else Path.cwd()).name
    return name if name in guide.labs() else ""


def folder_of_labs(asked: Path | None) -> Path:
    """The folder that holds the lab folders: the one asked for, this one, or the default."""
    if asked is not None:
        asked = asked.expanduser().absolute()
        return asked.parent if asked.name in guide.labs() else asked
    here = Path.cwd()
    if here.name in guide.labs():
        return here.parent
    holds_some = is_copy(here) or any((here / lab).is_dir() for lab in guide.labs())
    return here if holds_some else Path(DEFAULT).expanduser().absolute()
