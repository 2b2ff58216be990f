"""The one way to a terminal: nothing that anybody wrote into a file can command it.

A terminal takes some characters for commands: they move the cursor, change the title of the window,
or write on the clipboard. The name of a file, a unit or a condition of a recording may hold them.
So every line for a terminal or a log goes through `safe`; ruff's rule T201 finds a bare `print`.
"""

from __future__ import annotations

import json
import logging
import math
import os
import re
import sys
from collections.abc import Mapping
from typing import Any, TextIO

from labs.common.wrapped import wrapped

#: The width of a terminal that does not state it, and the least that lines are broken for.
_USUAL_COLUMNS, _FEWEST_COLUMNS = 80, 40

#: Control characters but the line feed and the tab, marks that turn the direction of writing, and
#: halves of characters, which no terminal can show.
_COMMANDS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
_COLOUR = re.compile(r"\\x1b(\[[0-9;]{0,12}m)")


class NobodyReads(Exception):
    """The reader of the output has gone, as `head` has once it has its lines.

    It is no OSError: a command that reports errors of files would report it, to nobody.
    """


def safe(text: str) -> str:
    """`text` with every character that commands a terminal in the form `\\x1b`."""
    return _COMMANDS.sub(lambda found: ascii(found[0])[1:-1], text)


def columns(stream: TextIO | None = None) -> int | None:
    """How wide the terminal is that `stream` (default: standard output) writes to.

    None if it writes to something else, such as a file or a pipe. $COLUMNS names another width.
    """
    stream = sys.stdout if stream is None else stream
    try:
        if stream is None or not stream.isatty():
            return None
        asked = os.environ.get("COLUMNS", "")
        if asked.isdecimal() and int(asked) > 0:
            return max(int(asked), _FEWEST_COLUMNS)
        return max(os.get_terminal_size(stream.fileno()).columns or _USUAL_COLUMNS, _FEWEST_COLUMNS)
    except (OSError, ValueError):  # closed, or no device of the OS
        return _USUAL_COLUMNS


def say(text: object = "", *, file: TextIO | None = None, colours: bool = False) -> None:
    """Prints `text` safely, to standard output or to `file`. In a terminal, its lines are broken
    between words so that they fit. Raises NobodyReads.

    `colours` keeps the sequences that colour a text, where the kit itself has put them.
    """
    shown = safe(str(text))
    if colours:
        shown = _COLOUR.sub("\x1b\\1", shown)
    width = columns(file)
    if width is not None:
        shown = wrapped(shown, width)
    _put(shown, file)


def say_json(stated: object) -> None:
    """Prints `stated` as JSON to standard output. No line is broken: a program may read it."""
    _put(safe(json.dumps(without_infinities(stated), indent=2, allow_nan=False)))


def without_infinities(stated: object) -> object:
    """`stated` with null for each number that JSON does not have: NaN and the infinities."""
    if isinstance(stated, float):
        return stated if math.isfinite(stated) else None
    if isinstance(stated, Mapping):
        return {key: without_infinities(value) for key, value in stated.items()}
    if isinstance(stated, list | tuple):
        return [without_infinities(value) for value in stated]
    return stated


def _put(text: str, file: TextIO | None = None) -> None:
    try:
        print(text, file=file or sys.stdout, flush=True)
    except BrokenPipeError as error:
        raise NobodyReads from error


def keep_logs_safe() -> None:
    """Has every message that this process logs go through `safe`; a second call changes nothing.

    nbgrader logs names that students chose, and logs to the instructor's terminal.
    """
    make = logging.getLogRecordFactory()
    if getattr(make, "is_safe", False):
        return

    def safe_record(*args: Any, **kwargs: Any) -> logging.LogRecord:
        record = make(*args, **kwargs)
        try:
            record.msg, record.args = safe(record.getMessage()), ()
        except (TypeError, ValueError):  # a wrong format: logging itself reports it
            record.msg = safe(str(record.msg))
        return record

    safe_record.is_safe = True  # type: ignore[attr-defined]
    logging.setLogRecordFactory(safe_record)
