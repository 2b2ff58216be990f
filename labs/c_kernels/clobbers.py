"""Registers that inline assembly overwrites without telling the compiler."""

from __future__ import annotations

import re

#: x86-64: `syscall` keeps the address to return to in rcx and the flags in r11.
OVERWRITTEN_BY_SYSCALL = ("rcx", "r11")

#: An operand of assembly that the assembly writes into rcx, such as `"+c"(buffer)`.
_WRITES_RCX = re.compile(r'"[=+]&?c"')

#: Inline assembly is searched to this length; a longer one is not looked at.
MOST_CHARACTERS = 2_000

_ASM = re.compile(r"\b(?:asm|__asm__|__asm)\b")
_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)|//[^\n]*", re.DOTALL)


def missing(source: str) -> tuple[str, ...]:
    """The registers that a `syscall` in `source` overwrites without naming them as such.

    A clobber names one, and so does an operand that is written.
    """
    code = _COMMENT.sub(" ", source)
    for begin in _ASM.finditer(code):
        statement, end, _ = code[begin.start() : begin.start() + MOST_CHARACTERS].partition(");")
        if end and re.search(r"\bsyscall\b", statement):
            named = "rcx" if _WRITES_RCX.search(statement) else ""
            found = tuple(
                name
                for name in OVERWRITTEN_BY_SYSCALL
                if f'"{name}"' not in statement and name != named
            )
            if found:
                return found
    return ()
