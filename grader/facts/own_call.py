"""The system call that a student makes by hand in own_call.h, and what runs beside it.

The text says which functions of the C library the timed code names. The recording says which
functions the built program imports: a line that never runs is in the text, but the compiler leaves
it out. Recordings of older kits do not say this, and nothing is said of them here.
"""

from __future__ import annotations

import re

from grader.cases.case import Case
from grader.facts.c import calls, parts
from grader.facts.c.parse import Code, text_of
from grader.facts.sources import own_source

KERNEL, MACRO = "own_call", "MEASURE_OWN_CALL"

#: By variant, the call that the lab asks for by name.
ASKED = {"gettimeofday": "gettimeofday"}

_NAME = re.compile(r"(?:SYS|__NR)_(\w+)")
_NULL = re.compile(r"(?:\(\w+ ?\*?\) ?)?(?:0L?|NULL)")


def measured(case: Case) -> Code | None:
    """The timed C; None if it is unknown, or if the recording states no imports."""
    if not case.spec.own or case.spec.kernel != KERNEL or imports(case) is None:
        return None
    source = own_source(case)
    code = parts.measured_by(source, MACRO) if source is not None else Code()
    return code if code.nodes else None


def imports(case: Case) -> frozenset[str] | None:
    """The functions that the program takes from libraries; None if the recording says nothing."""
    stated = case.recording.conditions.get("program.imports")
    return None if stated is None else frozenset(stated.split())


def made_by_hand(case: Case, code: Code) -> bool:
    """Whether `code` enters the OS kernel by a trap of this recording's machine."""
    system = " ".join(case.recording.condition("os")).split()
    return calls.enters_by_hand(code, system[-1] if system else "")


def of_library(case: Case, code: Code) -> list[str]:
    """The functions named like system calls that `code` calls and that the program imports."""
    return [name for name in calls.functions_of_library(code) if name in (imports(case) or ())]


def other_call(case: Case, code: Code) -> str | None:
    """What is called in place of the call that the lab asks for, as text; None if it is called."""
    asked = ASKED.get(case.spec.variant)
    words = (_NAME.fullmatch(text_of(each)) for each in code.of_type("identifier"))
    named = list(dict.fromkeys(word[1] for word in words if word is not None))
    if asked is None or not named:
        return None
    if asked not in named:
        return f"the call number of {named[0]}"
    if any(_stores_nowhere(each, asked) for each in calls.calls(code)):
        return f"{asked} with a null pointer, which stores no time"
    return None


def _stores_nowhere(call: calls.Call, asked: str) -> bool:
    """Whether this makes the call `asked` by number, with a null pointer for its result."""
    if call.name not in ("trap", "syscall") or len(call.arguments) < 2:
        return False
    number = _NAME.fullmatch(call.arguments[0])
    return number is not None and number[1] == asked and bool(_NULL.fullmatch(call.arguments[1]))
