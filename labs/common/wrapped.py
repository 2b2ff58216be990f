"""Text broken between words, and never inside a figure or a command: in a terminal, on a page."""

from __future__ import annotations

import re

#: Stands for a space at which no line may end.
_KEPT = "\xa0"
_UNITS = "ns|µs|us|ms|s|min|ticks?|cycles?|bytes?|KB|MB|GB|kB|MHz|GHz|times|%"
_FIGURE = re.compile(rf"(?<=\d) (?=(?:{_UNITS})(?![\w/]))|(?<=±) (?=\d)|(?<=\d) (?=±)")
_RANGE = re.compile(r"(?<=\d) (to|bis|a) (?=[-−]?\d)")
#: As German writes `95 % interval`; a line may end at a hyphen.
_HYPHENS = re.compile(r"(?<=\d)-%-(?=\w)")
_KEPT_HYPHEN = "\u2011"
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
    text = _RANGE.sub(f"{_KEPT}\\1{_KEPT}", text)
    return _FIGURE.sub(_KEPT, text).split(" ")


def unbroken(text: str) -> str:
    """A text for a page, on which no line ends between a number and its unit.

    A range may be broken: columns are narrow on a phone. Code between backticks stays as it is,
    because a reader may copy it.
    """
    found, end = "", 0
    for code in _CODE.finditer(text):
        found += _kept(text[end : code.start()]) + code[0]
        end = code.end()
    return found + _kept(text[end:])


def _kept(text: str) -> str:
    return _HYPHENS.sub(f"{_KEPT_HYPHEN}%{_KEPT_HYPHEN}", _FIGURE.sub(_KEPT, text))


def _whole(code: str, columns: int) -> str:
    """A command that fits into one line is kept in one."""
    return code.replace(" ", _KEPT) if len(code) <= columns else code


def _length(text: str) -> int:
    return len(_COLOUR.sub("", text))
