"""Write to a terminal, and suggest the word that was meant there.

Lines fit its width, and no character in them can command it. A terminal takes some characters for
commands: they move the cursor, change the title of the window, or write on the clipboard. The name
of a file, a unit or a condition of a recording may hold them. So every line for a terminal or a log
goes through `safe`; ruff's rule T201 finds a bare `print`.
"""

from __future__ import annotations

import argparse
import codecs
import io
import json
import logging
import math
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO

#: The width of a terminal that does not state it, and the least that lines are broken for.
_USUAL_COLUMNS, _FEWEST_COLUMNS = 80, 40

#: What no reader sees: control characters but the line feed and the tab, marks that turn the
#: direction of writing, halves of characters, letters without width or ink, selectors of a variant,
#: and the tags that spell a hidden text.
UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    "\u2028-\u202e\u2060-\u206f\u2800\u3164\ud800-\udfff\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb"
    "\U000e0000-\U000e0fff]"
)
_COLOUR_CODE = re.compile(r"\\x1b(\[[0-9;]{0,12}m)")


class NobodyReads(Exception):
    """The reader of the output has gone, as `head` has once it has its lines.

    It is no OSError: a command that reports errors of files would report it, to nobody.
    """


def safe(text: str) -> str:
    """`text` with every character that nobody sees, or that commands a terminal, as `\\x1b`."""
    lines = text.replace("\r\n", "\n")  # of Windows
    return UNSEEN.sub(lambda found: ascii(found[0])[1:-1], lines)


#: Not in code: there a comma or a bracket follows the number.
_MICROSECONDS = re.compile(r"(?<=\d)([ \xa0])us\b")
#: A number below 0 that a unit or the end of a range follows, so that it is no code.
_MINUS = re.compile(r"(?<![\w-])-(?=[\d.,]*\d[ \xa0](?:[%×]|(?:ns|µs|ms|s|ticks?|cycles?|to)\b))")


def typeset(text: str) -> str:
    """`text` as a reader sees it: safe, and with the signs that are typed in letters: µs, a minus.

    A command between backticks stays as it is typed.
    """
    shown = _MICROSECONDS.sub(r"\1µs", safe(text))
    return "".join(
        part if part.startswith("`") else _MINUS.sub("\N{MINUS SIGN}", part)
        for part in re.split(f"({_CODE.pattern})", shown)
    )


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
    shown = typeset(str(text))
    if colours:
        shown = _COLOUR_CODE.sub("\x1b\\1", shown)
    width = columns(file)
    if width is not None:
        shown = wrapped(shown, width)
    _put(shown, file)


def say_result(text: str) -> None:
    """Prints a result whose first line is the answer: in a terminal, that line is bold."""
    answer, _, more = text.partition("\n")
    if in_colour(sys.stdout):
        _put(f"\x1b[1m{wrapped(typeset(answer), columns() or _USUAL_COLUMNS)}\x1b[0m")
    else:
        say(answer)
    if more:
        say(more)


def in_colour(stream: TextIO) -> bool:
    """Whether to print in colour: only to a terminal, unless NO_COLOR is set (no-color.org)."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


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


#: What stands for a letter of ours that an encoding does not have.
_PLAIN = {
    "µ": "u", "×": "x", "±": "+/-", "−": "-", "–": "-", "…": "...", "·": ".", "→": "->",
    "≤": "<=", "≥": ">=", "“": '"', "”": '"', "’": "'", "‘": "'", "\xa0": " ", "\u2011": "-",
    "✓": "+", "✗": "x", "█": "#", "─": "-", "│": "|", "━": "-", "●": "*",
}  # fmt: skip


def print_in_any_encoding() -> None:
    """Has standard output and error replace what their encoding lacks, in place of a traceback."""
    codecs.register_error("ticklab", _replaced)
    for stream in (sys.stdout, sys.stderr):
        # In the locale C, Python keeps bytes that it could not read, and nothing else.
        lossless = ("strict", "surrogateescape")
        if isinstance(stream, io.TextIOWrapper) and stream.errors in lossless:
            stream.reconfigure(errors="ticklab")


def _replaced(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    letters = error.object[error.start : error.end]
    return "".join(_PLAIN.get(each, "?") for each in letters), error.end


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


# Text for a terminal or a page is broken between words, and never inside a figure or a command.

#: Stands for a space at which no line may end.
_KEPT = "\xa0"
_UNITS = "ns|µs|us|ms|s|min|ticks?|cycles?|bytes?|KB|MB|GB|kB|MHz|GHz|times|%"
_FIGURE = re.compile(rf"(?<=\d) (?=(?:{_UNITS})(?![\w/]))|(?<=±) (?=\d)|(?<=\d) (?=±)")
_RANGE = re.compile(r"(?<=\d) to (?=[-−]?\d)")
_CODE = re.compile(r"`[^`]+`")
_COLOUR = re.compile(r"\x1b\[[0-9;]{0,12}m")
_ITEM = re.compile(r"(?:\d{1,2}\.|[-✓✗○◐?]) ")
#: The lines after the first one are indented by this much more.
_FURTHER = 2


def wrapped(text: str, columns: int) -> str:
    """`text` with each line broken so that it fits `columns`; a word that is longer stays whole."""
    return "\n".join(broken for line in text.split("\n") for broken in lines_of(line, columns))


def lines_of(line: str, columns: int, further: int | None = None) -> list[str]:
    """One line as lines of at most `columns`; all but the first are indented by `further` more.

    Without `further`, they begin below the text of an item such as `1. Look at ...`.
    """
    if _length(line) <= columns:
        return [line]
    margin = len(line) - len(line.lstrip(" "))
    if further is None:
        item = _ITEM.match(line[margin:])
        further = len(item[0]) if item else _FURTHER
    words = parts(line[margin:], columns - margin - further)
    found, now = [], " " * margin + words[0]
    for word in words[1:]:
        if _length(now) + 1 + _length(word) <= columns:
            now += " " + word
        else:
            found.append(now.rstrip(" "))
            now = " " * (margin + further) + word
    return [each.replace(_KEPT, " ") for each in (*found, now.rstrip(" "))]


def parts(text: str, columns: int) -> list[str]:
    """What `text` can be broken into: its words, each figure with its unit, and each command."""
    text = _CODE.sub(lambda found: _whole(found[0], columns), text)
    text = _RANGE.sub(f"{_KEPT}to{_KEPT}", text)
    return _FIGURE.sub(_KEPT, text).split(" ")


def unbroken(text: str) -> str:
    """A text for a page, on which no line ends between a number and its unit.

    A range may be broken: columns are narrow on a phone. Code between backticks stays as it is,
    because a reader may copy it.
    """
    found, end = "", 0
    for code in _CODE.finditer(text):
        found += _FIGURE.sub(_KEPT, text[end : code.start()]) + code[0]
        end = code.end()
    return found + _FIGURE.sub(_KEPT, text[end:])


def _whole(code: str, columns: int) -> str:
    """A command that fits into one line is kept in one."""
    return code.replace(" ", _KEPT) if len(code) <= columns else code


def _length(text: str) -> int:
    return len(_COLOUR.sub("", text))


# Suggest known words: for a misspelt word, and to a shell when somebody presses Tab.

#: From this similarity on, we take one name for a misspelling of the other.
SPELT_ALIKE = 0.7
#: More names than this are not listed: they would hide what is wrong.
_MOST_LISTED = 60


def meant(word: str, known: Sequence[str], alike: float = SPELT_ALIKE) -> str:
    """The known word that is most like `word`; '' if none is."""
    # Here: few commands are misspelt, and difflib takes as long to load as they do.
    import difflib

    # A very long word is like none, and comparing it would take long.
    close = difflib.get_close_matches(word[:200], known, n=1, cutoff=alike)
    return close[0] if close else ""


def suggestion(word: str, known: Sequence[str]) -> str:
    """The end of a sentence about an unknown word: a similar known word, or all known words."""
    close = meant(word, known)
    if close:
        return f": did you mean {close}?"
    if len(known) > _MOST_LISTED:
        return f"; there are {len(known)}, such as {', '.join(known[:3])}."
    listed = ", ".join(known)
    return f"; there is {listed}." if known else "; there is none."


# A shell asks argcomplete when somebody presses Tab, and argcomplete asks these functions.

#: Takes what is typed so far as `prefix`, and the arguments before it as `parsed_args`.
Completer = Callable[..., Sequence[str]]

#: More names are not offered: a shell would ask whether to show them.
_MOST = 1_000


def complete_with(action: argparse.Action, completer: Completer) -> None:
    """Have a shell complete the values of `action` by what `completer` returns."""
    action.completer = completer  # type: ignore[attr-defined]


def one_of(names: Callable[[], Sequence[str]]) -> Completer:
    """A completer that offers these names, whatever is typed."""
    return lambda **_: names()


def offered_folders(prefix: str, **_: object) -> list[str]:
    """The folders that begin with `prefix`."""
    return [name for name, is_folder in _entries_at(prefix) if is_folder]


def offered_files(*suffixes: str) -> Completer:
    """A completer that offers files with these suffixes, and the folders that may hold some."""
    return lambda prefix, **_: [
        name for name, is_folder in _entries_at(prefix) if is_folder or name.endswith(suffixes)
    ]


def _entries_at(prefix: str) -> Iterator[tuple[str, bool]]:
    """The entries of the folder that `prefix` names, as one types them; folders end in a slash."""
    typed = prefix.rpartition("/")[0] + "/" if "/" in prefix else ""
    try:
        found = list(os.scandir(Path(typed).expanduser() if typed else "."))
    except (OSError, RuntimeError, ValueError):
        return
    for entry in sorted(found, key=lambda entry: entry.name)[:_MOST]:
        if not entry.name.startswith("."):
            is_folder = entry.is_dir()
            yield f"{typed}{entry.name}{'/' if is_folder else ''}", is_folder
