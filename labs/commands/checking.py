"""`labs watch`, `labs hand-in` and `labs join`: check a lab, hand it in, share it with a class.

`labs watch` checks whenever figures or recordings change, until Control-C. It asks the OS for the
files' times a few times a second, so it needs no other package, and works on file systems that
report no changes, such as those of a hub.
"""

from __future__ import annotations

import argparse
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from labs.commands.command_line import USAGE, complain
from labs.course import in_class
from labs.course.figures import FILE_NAME, RECORDINGS, is_of_lab
from labs.course.handed_in import CannotCheck, Checked, check
from labs.course.lab_names import folder_meant, labs
from labs.files import CannotWrite
from labs.hand_in.hand_in import CannotHandIn, carry_out
from labs.terminal import say, say_json

#: How often files are looked at, and for how long they must stay as they are before a check: a
#: notebook writes several files one after the other.
EVERY_S, QUIET_S = 0.3, 0.6
_MOST_FILES = 2_000

#: The time and the size of each file by its path.
Seen = dict[Path, tuple[int, int]]
#: The verdicts on the figures of a lab folder, by figure.
Verdicts = dict[str, Checked]


def run_watch(arguments: argparse.Namespace) -> int:
    """Check, and check again after each change. Control-C ends it with the exit status 0."""
    folders = folders_of(arguments.dir)
    if not arguments.dir.is_dir():
        there = folder_meant(arguments.dir)
        return complain("labs watch", f"there is no folder {arguments.dir}{there}", USAGE)
    if not folders:
        why = (
            f"{arguments.dir.absolute()} is not the folder of a lab, and holds none; "
            "`labs start` makes a copy of the labs"
        )
        return complain("labs watch", why, USAGE)
    which = folders[0].name if len(folders) == 1 else f"{len(folders)} labs"
    say(f"Watching {which}. To end it, press Control-C.")
    try:
        watch = Watch(folders, by_figure)
        for line in watch.first():
            say(line)
        for changed in changes(folders):
            for line in watch.again(changed):
                say(line)
    except KeyboardInterrupt:
        say("")  # the terminal has printed ^C
    return 0


def folders_of(folder: Path) -> list[Path]:
    """The folder itself if it is a lab's, else those of the labs in it."""
    folder = folder.absolute()
    if is_of_lab(folder):
        return [folder]
    return [folder / lab for lab in labs() if (folder / lab).is_dir()]


def changes(
    folders: list[Path], sleep: Callable[[float], None] = time.sleep
) -> Iterator[list[Path]]:
    """The folders in which a file changed, each time after it has been quiet. Never ends."""
    known = {folder: seen(folder) for folder in folders}
    while True:
        sleep(EVERY_S)
        now = {folder: seen(folder) for folder in folders}
        changed = [folder for folder in folders if now[folder] != known[folder]]
        if not changed:
            continue
        while True:
            sleep(QUIET_S)
            later = {folder: seen(folder) for folder in folders}
            if later == now:
                break
            now = later
        changed = [folder for folder in folders if now[folder] != known[folder]]
        known = now
        if changed:
            yield changed


def seen(folder: Path) -> Seen:
    """The files that a check of the lab reads. One that is gone meanwhile is left out."""
    found: Seen = {}
    try:
        paths = [folder / FILE_NAME, *sorted((folder / RECORDINGS).iterdir())[:_MOST_FILES]]
    except OSError:
        paths = [folder / FILE_NAME]
    for path in paths:
        if path.name.startswith("."):
            continue  # a file that is being written
        try:
            status = path.stat()
        except OSError:
            continue
        found[path] = (status.st_mtime_ns, status.st_size)
    return found


@dataclass
class Watch:
    """What was said of each lab folder, so that only what changed is printed."""

    folders: list[Path]
    check: Callable[[Path], Verdicts]
    _known: dict[Path, Verdicts] = field(default_factory=dict)

    def first(self) -> Iterator[str]:
        """The points of each lab, as it is now."""
        for folder in self.folders:
            try:
                self._known[folder] = self.check(folder)
            except CannotCheck as error:
                yield f"{folder.name}: {error!s}"
            else:
                yield points(folder, self._known[folder])

    def again(self, changed: list[Path]) -> Iterator[str]:
        """What the check says now of figures of which it said something else before."""
        for folder in changed:
            before = self._known.get(folder, {})
            try:
                now = self.check(folder)
            except CannotCheck as error:
                yield f"{_clock()} {folder.name}: {error!s}"
                continue
            self._known[folder] = now
            new = [verdict for name, verdict in now.items() if verdict != before.get(name)]
            gone = [name for name in before if name not in now]
            if not new and not gone:
                yield f"{_clock()} {folder.name}: checked again, nothing changed"
                continue
            yield f"{_clock()} {points(folder, now)}"
            yield from (line for verdict in new for line in lines_on(verdict))
            yield from (f"  {name}: withdrawn" for name in gone)
            if any(verdict.handed_in and verdict.findings for verdict in new):
                more = "`grader check` shows the evidence of each finding, and what decides."
                yield f"  {more}"


def lines_on(verdict: Checked) -> list[str]:
    """The outcome of a figure, its findings, and the reason."""
    codes = ", ".join(verdict.findings)
    if not verdict.handed_in:
        return [f"  ○ {verdict.figure}: not handed in"]
    if verdict.outcome == "not graded":
        head = f"  ? {verdict.figure}: not graded"
    else:
        mark = "✓" if verdict.outcome == "passed" else "✗"
        got, most = verdict.points, verdict.max_points
        gained = f"{verdict.outcome}, {got:g} of {most:g} points"
        head = f"  {mark} {verdict.figure}: {gained}"
    return [head, f"    {f'[{codes}] ' if codes else ''}{verdict.reason}"]


def points(folder: Path, verdicts: Verdicts) -> str:
    """The points of a lab."""
    if not verdicts:
        return f"{folder.name}: no figure yet"
    got = sum(verdict.points for verdict in verdicts.values())
    most = sum(verdict.max_points for verdict in verdicts.values())
    passed = sum(verdict.outcome == "passed" for verdict in verdicts.values())
    gained = f"{passed} of {len(verdicts)} figures passed, {got:g} of {most:g} points"
    return f"{folder.name}: {gained}"


def by_figure(folder: Path) -> Verdicts:
    """What the check says of each figure of a lab folder. Raises CannotCheck."""
    return {verdict.figure: verdict for verdict in check(folder)}


def _clock() -> str:
    return time.strftime("%H:%M:%S")


SOMETHING_MISSING, FAILED = 1, 2


def run_hand_in(arguments: argparse.Namespace) -> int:
    """Hand in and print what was done. The status is 1 if something is missing or not right yet."""
    try:
        report = carry_out(arguments.dir, submit=not arguments.no_submit)
    except (CannotHandIn, CannotWrite) as error:
        return complain("labs hand-in", error, FAILED)
    if arguments.json:
        say_json(report.as_json())
    else:
        say("\n".join(report.lines()))
    wrong = report.missing or report.failed or report.misplaced or report.trouble
    return SOMETHING_MISSING if wrong else 0


def run_join(arguments: argparse.Namespace) -> int:
    """Join, and send what is new. The exit status is 0, 1 without a class, 2 without a lab."""
    folder = arguments.dir.absolute()
    if folder.name not in labs():
        why = f"{folder} is not the folder of a lab{folder_meant(arguments.dir)}"
        return complain("labs join", why, USAGE)
    try:
        if arguments.show:
            say(in_class.shared_from(folder, _findings(folder)).as_table())
            return 0
        member = in_class.Member(folder, arguments.code, arguments.address, _findings, say)
        say(member.leave() if arguments.leave else member.join())
        if not arguments.leave:
            say("To send nothing more, press Control-C. What you shared stays until you leave.")
            threading.Event().wait()
    except (OSError, ValueError) as error:
        return complain("labs join", error)
    except KeyboardInterrupt:
        say("")  # the terminal has printed ^C
    return 0


def _findings(folder: Path) -> dict[str, tuple[str, ...]]:
    """The findings on each figure, as the check gives them; none if it cannot check."""
    try:
        return {each.figure: each.findings for each in check(folder)}
    except CannotCheck:
        return {}
