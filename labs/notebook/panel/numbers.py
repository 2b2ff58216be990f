"""Whole numbers as people type them: 10000, 10,000, 10_000, 10 000, 1e4, 10k."""

from __future__ import annotations

import re
from decimal import Decimal

#: Longer text is no number that a panel takes.
_LONGEST = 24
_MINUS = re.compile(r"\A[-\N{MINUS SIGN}]")
_SPACES = " \N{NO-BREAK SPACE}\N{THIN SPACE}\N{NARROW NO-BREAK SPACE}"
_GROUPED = re.compile(rf"[0-9]{{1,3}}([,'{_SPACES}])[0-9]{{3}}(?:\1[0-9]{{3}})*")
_UNDERSCORED = re.compile(r"[0-9]+(?:_[0-9]+)*")
_SCALED = re.compile(r"([0-9]+(?:\.[0-9]+)?)(?:[eE]\+?([0-9]{1,2})|([kKM]))")
_LIKE_THOUSANDS = re.compile(r"[0-9]{1,3}(?:\.[0-9]{3})+")
_POWERS = {"k": 3, "K": 3, "M": 6}


class NotANumber(ValueError):
    """A text is no whole number; the message says what to type."""


def read_number(text: str) -> int:
    """The whole number that `text` says. Raises NotANumber."""
    words = text.strip()
    if not words:
        raise NotANumber("Type a whole number, such as 10,000.")
    if len(words) <= _LONGEST:
        sign = -1 if _MINUS.match(words) else 1
        found = _without_sign(_MINUS.sub("", words).removeprefix("+").strip())
        if found is not None:
            return sign * found
        if _LIKE_THOUSANDS.fullmatch(words):
            whole = words.replace(".", "")
            raise NotANumber(f"“{words}” is not a whole number. Did you mean {int(whole):,}?")
    shown = words if len(words) <= _LONGEST else f"{words[:_LONGEST]}…"
    raise NotANumber(
        f"“{shown}” is not a whole number. You can write ten thousand as 10000, 10,000, 1e4 or 10k."
    )


def read_number_within(text: str, least: int, most: int) -> int:
    """The number that `text` says, from `least` to `most`. Raises NotANumber."""
    number = read_number(text)
    if not least <= number <= most:
        size = "small" if number < least else "large"
        raise NotANumber(
            f"{text.strip()} is too {size}: choose a whole number from {least:,} to {most:,}."
        )
    return number


def shown_number(number: int) -> str:
    """A number as a panel shows it, which `read_number` reads."""
    return f"{number:,}"


def _without_sign(words: str) -> int | None:
    if _UNDERSCORED.fullmatch(words):
        return int(words.replace("_", ""))
    if grouped := _GROUPED.fullmatch(words):
        return int(words.replace(grouped[1], ""))
    scaled = _SCALED.fullmatch(words)
    if scaled is None:
        return None
    digits, power, letter = scaled.groups()
    value = Decimal(digits).scaleb(int(power) if power else _POWERS[letter])
    return int(value) if value == value.to_integral_value() else None
