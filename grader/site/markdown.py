"""Pieces of MyST Markdown, for pages that are made."""

from __future__ import annotations

import re
from collections.abc import Sequence

from labs.common.html import code_spans

_NAME_OF_C = re.compile(r"`|\w+(\(\)|_)")
_MARKS = re.compile(r"([\\*_<>\[\]{}|$#~^])")


def escaped(text: str) -> str:
    """Text of the kit, which means the same in Markdown; code stays between its backticks."""
    parts = code_spans(" ".join(text.split()))
    return "".join(
        f"`{part}`" if is_code else _MARKS.sub(r"\\\1", part).replace("`", r"\`")
        for part, is_code in parts
    )


def sentence(text: str) -> str:
    """The text with a capital letter at its beginning and a full stop at its end.

    A name of C at its beginning stays as it is: `getpid()`.
    """
    if not _NAME_OF_C.match(text):
        text = text[:1].upper() + text[1:]
    return text if text.endswith((".", "!", "?")) else f"{text}."


def code(text: str, language: str = "c", caption: str = "") -> str:
    """A block of code, with a caption if there is one."""
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
    options = f":caption: {_one_line(caption)}\n\n" if caption else ""
    return f"{fence}{{code-block}} {language}\n{options}{text.strip(chr(10))}\n{fence}\n"


def plot(name: str, alt: str, caption: str, width: int) -> str:
    """A plot in the file `name`, with what it is for those who cannot see it, and a caption."""
    return (
        f":::{{figure}} {name}\n:alt: {_one_line(alt)}\n:width: {width}px\n:figclass: plot\n\n"
        f"{caption}\n:::\n"
    )


def side_by_side(parts: Sequence[str], named: str = "") -> str:
    """The parts next to each other, or one below the other on a narrow page."""
    return f"::::{{container}} {f'pair {named}'.strip()}\n" + "\n".join(parts) + "::::\n"


def _one_line(text: str) -> str:
    return " ".join(text.split())
