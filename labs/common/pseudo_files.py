"""Read the small text files in which an OS shows its state, such as those in /proc and /sys."""

from __future__ import annotations

import math
from pathlib import Path

from labs.common.limits import MOST_CPUS

_MOST = 1 << 20  # no such file is longer, but a file at a wrong path may be


def text_of(file: Path) -> str | None:
    """The text of the file, without white space and zero bytes around it; None if unreadable."""
    try:
        with file.open("rb") as opened:
            content = opened.read(_MOST)
    except (OSError, ValueError):
        return None
    return content.decode("utf-8", "replace").strip().strip("\0").strip() or None


def words_of(file: Path) -> list[str]:
    """The words of the file; an empty list if it cannot be read."""
    return (text_of(file) or "").split()


def number_in(word: str) -> float | None:
    """The finite number that `word` spells, or None."""
    try:
        number = float(word)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def cpu_list(text: str) -> tuple[int, ...] | None:
    """CPU numbers from the OS kernel's notation, such as 0-3,8; None for any other text."""
    cpus: set[int] = set()
    named = 0
    for item in text.strip().split(","):
        first, _, last = item.partition("-")
        if not first.isdecimal() or (last and not last.isdecimal()) or len(first + last) > 12:
            return None
        span = range(int(first), int(last or first) + 1)
        named += len(span)
        if not span or named > MOST_CPUS:
            return None
        cpus.update(span)
    return tuple(sorted(cpus))
