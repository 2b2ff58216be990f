"""Numbers as a student types them, with a reply that helps where the text is no number."""

from __future__ import annotations

import math
import re
from decimal import Decimal

from labs.units import spelled

_NUMBER = re.compile(r"[+-]?(?:\d+(?:_\d+)*\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
_WITH_UNIT = re.compile(rf"({_NUMBER.pattern})\s*([A-Za-zµμ×%]+)")
_WITH_COMMA = re.compile(r"\d+,\d+")
_LONGEST = 40
_MOST_EXACT = 1e15


class NotANumber(ValueError):
    """The text is no number of 0 or more; the message says what to write."""


def number(text: str) -> float:
    """The number in `text`: `200`, `0.5`, `1e3`. Raises NotANumber."""
    text = text.strip()
    if not text:
        raise NotANumber("write a number, such as 200 or 1e3")
    if _NUMBER.fullmatch(text):
        value = float(text)
        if not math.isfinite(value):
            raise NotANumber(f"{text[:_LONGEST]} is too large")
        if value < 0:
            raise NotANumber("write a number of 0 or more")
        return value
    if _WITH_COMMA.fullmatch(text):
        raise NotANumber(
            f"{text[:_LONGEST]} may mean two numbers: write {text.replace(',', '.')[:_LONGEST]}, "
            f"or {text.replace(',', '')[:_LONGEST]}"
        )
    if found := split(text):
        raise NotANumber(f"write only {found[0]} here, and choose {found[1]} as the unit")
    raise NotANumber(f"{text[:_LONGEST]!r} is no number; write one such as 200 or 1e3")


def share(text: str) -> float | None:
    """The share in `text`, from 0 to 1 or with a percent sign: `0.7`, `70 %`; None if it is empty.

    Raises NotANumber.
    """
    text = text.strip()
    if not text:
        return None
    try:
        found = number(text.removesuffix("%").strip()) / (100 if text.endswith("%") else 1)
    except NotANumber:
        found = math.inf
    if found > 1:
        raise NotANumber("write how sure you are from 0 (a guess) to 1 (certain), such as 0.7")
    return found


def split(text: str) -> tuple[str, str] | None:
    """A number and its unit out of one text such as `200 ns`; None if it is not that."""
    match = _WITH_UNIT.fullmatch(text.strip())
    return (match[1], spelled(match[2])) if match is not None else None


def whole(value: float) -> float:
    """The number without its decimal point, if it is whole and not very large: 1000, not 1000.0."""
    return int(value) if abs(value) < _MOST_EXACT and value == int(value) else value


def as_python(value: float) -> str:
    """The number as in a line of Python."""
    return repr(whole(value))


def as_text(value: float) -> str:
    """The number for a reader: 1,000."""
    plain = whole(value)
    return f"{plain:,}" if isinstance(plain, int) else f"{value:,.6g}"


# Whole numbers as people type them: 10000, 10,000, 10_000, 10 000, 1e4, 10k.

#: Longer text is no number that a panel takes.
_LONGEST_TYPED = 24
_SPACES = " \N{NO-BREAK SPACE}\N{THIN SPACE}\N{NARROW NO-BREAK SPACE}"
_GROUPED = re.compile(rf"[+-]?[0-9]{{1,3}}([,'{_SPACES}])[0-9]{{3}}(?:\1[0-9]{{3}})*")
_LIKE_THOUSANDS = re.compile(r"[0-9]{1,3}(?:\.[0-9]{3})+")
_DECIMAL = re.compile(r"[+-]?[0-9]+(?:_[0-9]+)*(?:\.[0-9]+)?(?:[eE]\+?[0-9]{1,2})?")
_POWERS = {"k": "e3", "K": "e3", "M": "e6"}


class NotAWholeNumber(ValueError):
    """A text is no whole number; the message says what to type."""


def read_number(text: str) -> int:
    """The whole number that `text` says. Raises NotAWholeNumber."""
    words = text.strip()
    if not words:
        raise NotAWholeNumber("Type a whole number, such as 10,000.")
    if len(words) <= _LONGEST_TYPED and _LIKE_THOUSANDS.fullmatch(words):
        whole = int(words.replace(".", ""))
        raise NotAWholeNumber(f"“{words}” is not a whole number. Did you mean {whole:,}?")
    plain = words.replace("\N{MINUS SIGN}", "-")
    if grouped := _GROUPED.fullmatch(plain):
        plain = plain.replace(grouped[1], "")
    plain = plain[:-1] + _POWERS.get(plain[-1], plain[-1])
    if len(words) <= _LONGEST_TYPED and _DECIMAL.fullmatch(plain):
        value = Decimal(plain)
        if value == value.to_integral_value():
            return int(value)
    shown = words if len(words) <= _LONGEST_TYPED else f"{words[:_LONGEST_TYPED]}…"
    raise NotAWholeNumber(
        f"“{shown}” is not a whole number. You can write ten thousand as 10000, 10,000, 1e4 or 10k."
    )


def read_number_within(text: str, least: int, most: int) -> int:
    """The number that `text` says, from `least` to `most`. Raises NotANumber."""
    number = read_number(text)
    if not least <= number <= most:
        size = "small" if number < least else "large"
        raise NotAWholeNumber(
            f"{text.strip()} is too {size}: choose a whole number from {least:,} to {most:,}."
        )
    return number


def shown_number(number: int) -> str:
    """A number as a panel shows it, which `read_number` reads."""
    return f"{number:,}"
