"""Registers that inline assembly overwrites without telling the compiler."""

from __future__ import annotations

import re

#: x86-64: `syscall` keeps the address to return to in rcx and the flags in r11.
OVERWRITTEN_BY_SYSCALL = ("rcx", "r11")

#: Inline assembly is searched to this length; a longer one is not looked at.
MOST_CHARACTERS = 2_000

_ASM = re.compile(r"\b(?:asm|__asm__|__asm)\b")


def missing(source: str) -> tuple[str, ...]:
    """The registers that a `syscall` in `source` overwrites and does not name as clobbered."""
    for begin in _ASM.finditer(source):
        statement, end, _ = source[begin.start() : begin.start() + MOST_CHARACTERS].partition(");")
        if end and re.search(r"\bsyscall\b", statement):
            found = tuple(name for name in OVERWRITTEN_BY_SYSCALL if f'"{name}"' not in statement)
            if found:
                return found
    return ()
