"""`labs hint`, `labs progress` and `labs report`: the next hint, what is done, own results.

`labs hint` gives hints in the order of `lab.hint`. How many were shown is kept in the cache folder,
so that the same command shows one more each time. `labs report` writes one page over all labs, or
on a question of one's own, also as a PDF.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from labs import json_text, limits, paths, terminal
from labs.c_kernels.catalogue import SOURCES
from labs.commands.arguments import DEFAULT, REPORT
from labs.commands.command_line import complain
from labs.commands.start import is_copy
from labs.course import guide, predicted_and_found, progress
from labs.course.lab_names import folder_meant, lab_meant, labs
from labs.files import CannotWrite, read_bounded, write_atomically
from labs.html import in_columns
from labs.terminal import say, say_json, suggestion

FILE_NAME = "hints-shown.json"
USAGE = 2

#: What a hint names of the notebook, and what does the same in a terminal.
_IN_TERMINAL = (
    (re.compile(r"lab\.broken\(\"(\w+)\"\)"), r"labs broken \1"),
    (re.compile(r"lab\.compare\b"), "labs compare A B"),
    (re.compile(r"the first cell(?= (?:prints|shows) the machine)", re.I), "labs show FILE --text"),
)


def run_hint(arguments: argparse.Namespace) -> int:
    """Show the hints; the exit status is 0, or 2 for a lab or a topic that there is not."""
    lab = lab_meant(arguments.lab)
    if lab is None:
        why = f"no lab {arguments.lab!r}{suggestion(arguments.lab, labs())}"
        return complain("labs hint", why, USAGE)
    hints, seen = guide.of_lab(lab).hints, _Seen(lab)
    if not arguments.topic:
        return _topics(lab, hints, seen, arguments.json)
    rungs = hints.get(arguments.topic)
    if rungs is None:
        others = suggestion(arguments.topic, tuple(hints)) if hints else "; it has no hints"
        return complain("labs hint", f"{lab} has no hint {arguments.topic!r}{others}", USAGE)
    asked = arguments.rung if arguments.rung is not None else seen.of(arguments.topic) + 1
    texts = guide.numbered_hints(rungs, asked)
    seen.now(arguments.topic, len(texts))
    if arguments.json:
        say_json({"lab": lab, "topic": arguments.topic, "of": len(rungs), "hints": texts})
        return 0
    heading = guide.heading_of_hints(len(texts), rungs, "run the command again")
    say(heading)
    say("\n".join(texts))
    for line in _in_terminal(rungs[: len(texts)]):
        say(line)
    return 0


def _in_terminal(texts: Sequence[str]) -> Iterator[str]:
    """What to use here in place of what the hints name of the notebook."""
    for of_notebook, command in _IN_TERMINAL:
        found = of_notebook.search(" ".join(texts))
        if found is not None:
            same = "In a terminal, use `{command}` in place of {found}."
            call = f"`{found[0]}`" if "." in found[0] else "the first cell"
            yield same.format(command=found.expand(command), found=call)


def _topics(lab: str, hints: Mapping[str, tuple[str, ...]], seen: _Seen, as_json: bool) -> int:
    """Print what the hints of a lab are for."""
    if as_json:
        rows = [{"topic": name, "of": len(hints[name]), "shown": seen.of(name)} for name in hints]
        say_json({"lab": lab, "topics": rows})
    elif hints:
        shown = [
            (f"  {name}", f"{seen.of(name)} of {len(rungs)} shown") for name, rungs in hints.items()
        ]
        say("\n".join([f"The hints of {lab}:", *in_columns(shown)]))
        say(f"`labs hint {lab} {next(iter(hints))}` shows the next one.")
    else:
        say(f"{lab} has no hints.")
    return 0


class _Seen:
    """How many hints of each topic of a lab were shown in a terminal."""

    def __init__(self, lab: str) -> None:
        self._lab = lab
        self._file: Path | None = None
        self._known: dict[str, int] = {}
        with contextlib.suppress(paths.CacheNotWritable, OSError, ValueError):
            self._file = paths.cache() / FILE_NAME
            content = read_bounded(self._file, limits.MOST_JSON_BYTES)
            stated = json_text.parse_json(json_text.text_of(content))
            if isinstance(stated, dict):
                self._known = {k: v for k, v in stated.items() if isinstance(v, int)}

    def of(self, topic: str) -> int:
        """How many were shown."""
        return min(max(self._known.get(f"{self._lab} {topic}", 0), 0), guide.RUNGS)

    def now(self, topic: str, count: int) -> None:
        """Note that so many were shown. Where nothing can be written, the next run starts anew."""
        self._known[f"{self._lab} {topic}"] = count
        if self._file is not None:
            with contextlib.suppress(CannotWrite):
                write_atomically(self._file, json.dumps(self._known).encode())


def run_progress(arguments: argparse.Namespace) -> int:
    """Print one line for each lab. In the folder of a lab print its steps, and elsewhere the map.

    The exit status is 0, or 1 if there are no labs.
    """
    try:
        folder = folder_of_labs(arguments.dir)
    except (OSError, RuntimeError) as error:  # deleted current folder; no home folder
        return complain("labs progress", error)
    if arguments.dir is not None and not folder.is_dir():
        there = folder_meant(folder)
        return complain("labs progress", f"there is no folder {folder}{there}")
    labs = progress.of_labs(folder)
    if not any(each.here for each in labs):
        missing = f"there are no labs in {folder}; `labs start` makes a copy of the labs"
        return complain("labs progress", missing)
    guesses = predicted_and_found.calibration(predicted_and_found.of_labs(folder))
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
    if not here:
        with contextlib.suppress(paths.PartMissing):
            say(progress.map_of_labs().as_text(terminal.columns()) + "\n")
    say(progress.table(labs, here).as_text(terminal.columns()))
    every = all(each.here for each in labs)
    done = "You have done all labs." if every else "You have done all labs here."
    say(f"\nNext: {following}" if following else f"\n{done}")
    if guesses:
        say(" ".join(guesses))
    return 0


def _lab_asked_for(asked: Path | None) -> str:
    """The lab whose folder was asked for, or is the current one; '' if it is none."""
    name = (asked.expanduser().absolute() if asked is not None else Path.cwd()).name
    return name if name in labs() else ""


def folder_of_labs(asked: Path | None) -> Path:
    """The folder that holds the lab folders: the one asked for, this one, or the default."""
    if asked is not None:
        asked = asked.expanduser().absolute()
        return asked.parent if asked.name in labs() else asked
    here = Path.cwd()
    if here.name in labs():
        return here.parent
    holds_some = is_copy(here) or any((here / lab).is_dir() for lab in labs())
    return here if holds_some else Path(DEFAULT).expanduser().absolute()


def run_report(arguments: argparse.Namespace) -> int:
    """Write the report; status 1 if there is nothing to report, or if a file was not written.

    C files are measured first, into a new folder of recordings; then the status may be that of
    `labs measure`.
    """
    files, ended = [str(each) for each in arguments.what if str(each).endswith(SOURCES)], 0
    if len(arguments.what) > max(len(files), 1):
        return complain("labs report", "name C or C++ files, or one folder", USAGE)
    try:
        if files:
            # Here: other commands need nothing that measures.
            from labs.commands import measure

            folder, ended = measure.measured_into_folder(files, arguments)
            if folder is None:
                return ended
        else:
            folder = folder_of_labs(next(iter(arguments.what), None))
    except (OSError, RuntimeError) as error:  # deleted current folder; no home folder
        return complain("labs report", error)
    of_labs = any((folder / lab).is_dir() for lab in labs())
    if not of_labs and not any(folder.glob("*.csv")):
        missing = (
            f"there are no labs and no recordings in {folder}; `labs start` makes a copy of the "
            "labs, and `labs record` makes a recording"
        )
        return complain("labs report", missing)
    output = (arguments.output or folder / REPORT).expanduser().absolute()
    # A process of its own: `labs` knows nothing of the grader, whose check the report shows.
    command = paths.python_command(
        "grader.own_report", str(folder.absolute()), f"--output={output}",
        f"--name={arguments.name}", *(["--pdf"] if arguments.pdf else []),
        *([] if of_labs else [f"--question={arguments.unit}"]),
    )  # fmt: skip
    with paths.start(command) as report:
        return report.wait() or ended
