"""The view of the machine code of timed regions: does an instruction stand after the work?"""

from __future__ import annotations

import re
from collections.abc import Sequence

from labs.c_kernels import toolchain
from labs.common.messages import Message
from labs.common.units import times
from labs.views.gather import refused

#: A row of equal additions is longer than any other code of a timed region.
_FEWEST_ADDITIONS = 9
_ADDITION = r"[^\n]*\badd\b[^\n]*\n"
_WORK = re.compile(rf"(?:{_ADDITION}){{{_FEWEST_ADDITIONS},}}")
_IN_PLACE = "    ... the additions ...\n"


def instruction(kernel: str, functions: Sequence[str], name: str) -> Message:
    """The machine code of `functions` of a C kernel, and where the instruction `name` occurs in it.

    A long row of additions is shown as one line. For each function, a sentence counts the
    instruction before that row and after it. Raises Refused for an unknown C kernel, or if `name`
    cannot be the name of an instruction.
    """
    wanted = name.strip().lower() if isinstance(name, str) else ""
    if not re.fullmatch(r"[a-z][a-z0-9.]*", wanted):
        raise refused(f"{name!r} is not the name of an instruction", 'A name is a text: "add".')
    chosen = [functions] if isinstance(functions, str) else list(functions)
    try:
        program = toolchain.build(toolchain.c_kernel_source(kernel), ("-O2", "-fno-inline"))
    except (OSError, toolchain.NoCompiler, toolchain.CompileError) as error:
        raise refused(f"there is no machine code of {kernel}", f"{error}.") from None
    sentences: list[str] = []
    shown: list[str] = []
    for each in chosen:
        try:
            code = toolchain.disassembly(program, each)
        except LookupError as why:
            sentences.append(f"{each}: {why}.")
            continue
        before, work, after = parted(code)
        shown.append(f"{each}:\n{before}{_IN_PLACE if work else ''}{after.rstrip()}")
        sentences.append(_about(each, wanted, before, after))
    heading = f"where {wanted} occurs in the machine code"
    return Message("note", heading, tuple(sentences), "\n\n".join(shown))


def parted(code: str) -> tuple[str, str, str]:
    """The lines before the row of additions, that row, and the lines after it."""
    found = _WORK.search(code if code.endswith("\n") else code + "\n")
    if found is None:
        return code, "", ""
    return code[: found.start()], found[0], code[found.end() :]


def _about(function: str, instruction: str, before: str, after: str) -> str:
    """One sentence: how often the instruction occurs before the additions and after them."""
    pattern = rf"(?<![\w.]){re.escape(instruction)}(?![\w.])"
    early, late = (len(re.findall(pattern, code)) for code in (before, after))
    if early and late:
        return (
            f"In {function}, {instruction} occurs {times(early)} before the additions and "
            f"{times(late)} after the additions."
        )
    if early:
        return f"In {function}, {instruction} occurs {times(early)} before the additions."
    if late:
        return f"In {function}, {instruction} occurs {times(late)} after the additions."
    return f"In {function}, {instruction} occurs nowhere."
