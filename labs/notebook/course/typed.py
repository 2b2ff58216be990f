"""Numbers as a student types them, with a reply that helps where the text is no number."""

from __future__ import annotations

import math
import re

from labs.common.units import UnknownUnit, canonical

_NUMBER = re.compile(r"[+-]?(?:\d+(?:_\d+)*\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
_WITH_UNIT = re.compile(rf"({_NUMBER.pattern})\s*([A-Za-zµμ×%]+)")
_WITH_COMMA = re.compile(r"\d+,\d+")
_LONGEST = 40
_LARGE = 1e15


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


def percent(text: str) -> float | None:
    """The share in `text`, given in percent: `70` and `70 %` are 0.7; None if it is empty.

    Raises NotANumber.
    """
    text = text.strip().removesuffix("%").strip()
    if not text:
        return None
    try:
        share = number(text) / 100
    except NotANumber as error:
        raise NotANumber("write how sure you are as a number from 0 to 100") from error
    if share > 1:
        raise NotANumber("nobody is surer than 100 %: write a number from 0 to 100")
    return share


def split(text: str) -> tuple[str, str] | None:
    """A number and its unit out of one text such as `200 ns`; None if it is not that."""
    match = _WITH_UNIT.fullmatch(text.strip())
    if match is None:
        return None
    try:
        return match[1], canonical(match[2])
    except UnknownUnit:
        return match[1], match[2]


def whole(value: float) -> float:
    """The number without its decimal point, if it is whole and not very large: 1000, not 1000.0."""
    return int(value) if abs(value) < _LARGE and value == int(value) else value


def as_python(value: float) -> str:
    """The number as in a line of Python."""
    return repr(whole(value))


def as_text(value: float) -> str:
    """The number for a reader: 1,000."""
    plain = whole(value)
    return f"{plain:,}" if isinstance(plain, int) else f"{value:,.6g}"
