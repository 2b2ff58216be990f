"""The one way to a terminal: nothing that anybody wrote into a file can command it.

A terminal takes some characters for commands: they move the cursor, change the title of the window,
or write on the clipboard. The name of a file, a unit or a condition of a recording may hold them.
So every line for a terminal or a log goes through `safe`; ruff's rule T201 finds a bare `print`.
"""

from __future__ import annotations

import logging
import re
import sys
from typing import Any, TextIO

#: Control characters but the line feed and the tab, marks that turn the direction of writing, and
#: halves of characters, which no terminal can show.
_COMMANDS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
_COLOUR = re.compile(r"\\x1b(\[[0-9;]{0,12}m)")


def safe(text: str) -> str:
    """`text` with every character that commands a terminal in the form `\\x1b`."""
    return _COMMANDS.sub(lambda found: ascii(found[0])[1:-1], text)


def say(text: object = "", *, file: TextIO | None = None, colours: bool = False) -> None:
    """Prints `text` safely, to standard output or to `file`.

    `colours` keeps the sequences that colour a text, where the kit itself has put them.
    """
    shown = safe(str(text))
    if colours:
        shown = _COLOUR.sub("\x1b\\1", shown)
    print(shown, file=file or sys.stdout, flush=True)


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
