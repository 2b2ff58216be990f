"""The system call that a student makes by hand in own_call.h, and what runs beside it.

The text says which functions of the C library the timed code names. The recording says which
functions the built program imports: a line that never runs is in the text, but the compiler leaves
it out. Recordings of older kits do not say this, and nothing is said of them here.
"""

from __future__ import annotations

import re

from grader.cases.case import Case
from grader.facts import c_source
from grader.facts.sources import own_source

KERNEL, MACRO = "own_call", "MEASURE_OWN_CALL"

#: By variant, the call that the lab asks for by name.
ASKED = {"gettimeofday": "gettimeofday"}

_BY_NAME = re.compile(r"\b(?:SYS|__NR)_(\w+)")
_NOWHERE = (
    r"\b(?:trap|syscall)\s*\(\s*(?:SYS|__NR)_{}\s*,\s*(?:\(\w+\s*\*?\)\s*)?(?:0L?|NULL)\s*[,)]"
)


def measured(case: Case) -> str | None:
    """The timed C; None if it is unknown, or if the recording states no imports."""
    if not case.spec.own or case.spec.kernel != KERNEL or imports(case) is None:
        return None
    source = own_source(case)
    return None if source is None else c_source.measured_by(source, MACRO) or None


def imports(case: Case) -> frozenset[str] | None:
    """The functions that the program takes from libraries; None if the recording says nothing."""
    stated = case.recording.conditions.get("program.imports")
    return None if stated is None else frozenset(stated.split())


def made_by_hand(case: Case, code: str) -> bool:
    """Whether `code` enters the OS kernel by a trap of this recording's machine."""
    system = " ".join(case.recording.condition("os")).split()
    return c_source.enters_by_hand(code, system[-1] if system else "")


def of_library(case: Case, code: str) -> list[str]:
    """The functions named like system calls that `code` calls and that the program imports."""
    return [name for name in c_source.functions_of_library(code) if name in (imports(case) or ())]


def other_call(case: Case, code: str) -> str | None:
    """What is called in place of the call that the lab asks for, as text; None if it is called."""
    asked = ASKED.get(case.spec.variant)
    named = list(dict.fromkeys(_BY_NAME.findall(code)))
    if asked is None or not named:
        return None
    if asked not in named:
        return f"the call number of {named[0]}"
    if re.search(_NOWHERE.format(asked), code):
        return f"{asked} with a null pointer, which stores no time"
    return None
