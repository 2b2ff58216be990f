"""System calls in a case: which are claimed, what the cheapest one costs, and a student's own call.

A call with a number that does not exist enters the OS kernel, does nothing there and returns. Its
cost is the floor: no trap costs much less, though a call that fails at once may cost a little less.
If a recording has it, it was measured interleaved with the other variants.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from grader.evidence import c_calls, c_tree
from grader.evidence.c_tree import Code, text_of
from grader.evidence.sources import own_source
from grader.figures.case import Case
from labs.results.result import Result
from labs.units import rounded

#: C kernels whose operation is one system call, after the subtraction of an empty loop.
KERNELS = frozenset({"system_call", "own_call"})

FLOOR = "invalid"

#: Variants of these kernels that make no system call on purpose.
WITHOUT = ("loop", "gettimeofday-vdso", "monotonic-vdso")


def claiming(case: Case) -> Iterator[tuple[str, Result, float]]:
    """The variants of the figure that claim system calls: name, result, calls per operation.

    Not those whose estimate is no cost, such as what a first call takes more than later ones.
    """
    for name in case.spec.variants:
        claimed, result = case.recording.number(f"variant.{name}.system_calls"), case.results[name]
        if claimed and claimed >= 1 and (result.net is not None or result.estimate is None):
            yield name, result, claimed


def floor(case: Case) -> float | None:
    """The floor in this recording, in ns; None if it was not measured."""
    return cost(case, FLOOR) if FLOOR in case.results else None


def floor_about(case: Case) -> float | None:
    """The floor in ns, roughly if its points lie on no line; None if it was not measured."""
    return cost_about(case, FLOOR) if FLOOR in case.results else None


def cost(case: Case, variant: str) -> float | None:
    """The net cost of one operation of `variant`, in ns; None if there is no figure."""
    estimate = case.results[variant].estimate
    return None if estimate is None else estimate.value


def cost_about(case: Case, variant: str) -> float | None:
    """The net cost of `variant` in ns; roughly, and rather too much, if its points lie on no line.

    In that case, take the batch size whose median sample gives the least time per operation, with
    nothing subtracted. This value is no figure, but it is good enough to recognise a time far below
    every trap. On a busy machine the floor is the first to leave its line, and what makes no system
    call must not pass because of this. None without a batch size above 0.
    """
    exact = cost(case, variant)
    if exact is not None:
        return exact
    samples = case.recording.samples(variant)
    sizes = sorted(set(samples.batch.tolist()) - {0})
    each = [float(np.median(samples.ticks[samples.batch == k])) / k for k in sizes]
    return min(each) / samples.clock.ticks_in("ns") if each else None


def with_floor(case: Case, variant: str) -> str:
    """The cost of the variant, and the floor of its run if there is one, as a clause."""
    own = _in_words(case, variant)
    if own is None:
        return f"{variant} gives no figure"
    least = _in_words(case, FLOOR) if FLOOR in case.results and variant != FLOOR else None
    if least is None:
        return f"{variant} costs {own}"
    return f"{variant} costs {own}; a call that does not exist costs {least}"


def _in_words(case: Case, variant: str) -> str | None:
    """What the variant costs, "about" where it lies on no line; None if nothing is known."""
    own = cost_about(case, variant)
    about = "" if cost(case, variant) is not None else "about "
    return None if own is None else f"{about}{rounded(own)} ns"


# The system call that a student makes by hand in own_call.h, and what runs beside it.
#
# The text says which functions of the C library the timed code names. The recording says which
# functions the built program imports: a line that never runs is in the text, but the compiler
# leaves it out.

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
    code = c_tree.measured_by(source, MACRO) if source is not None else Code()
    return code if code.nodes else None


def imports(case: Case) -> frozenset[str] | None:
    """The functions that the program takes from libraries; None if the recording says nothing."""
    stated = case.recording.conditions.get("program.imports")
    return None if stated is None else frozenset(stated.split())


def made_by_hand(case: Case, code: Code) -> bool:
    """Whether `code` enters the OS kernel by a trap of this recording's machine."""
    system = " ".join(case.recording.condition("os")).split()
    return c_calls.enters_by_hand(code, system[-1] if system else "")


def of_library(case: Case, code: Code) -> list[str]:
    """The functions named like system calls that `code` calls and that the program imports.

    Not syscall(): each program of the kit imports it, so its line in `code` may be one that never
    runs. If it runs beside a trap, the OS kernel gets two calls for one.
    """
    named = imports(case) or frozenset()
    return [name for name in c_calls.functions_of_library(code) if name in named - {"syscall"}]


def other_call(case: Case, code: Code) -> str | None:
    """What is called in place of the call that the lab asks for, as text; None if it is called."""
    asked = ASKED.get(case.spec.variant)
    words = (_NAME.fullmatch(text_of(each)) for each in code.of_type("identifier"))
    named = list(dict.fromkeys(word[1] for word in words if word is not None))
    if asked is None or not named:
        return None
    if asked not in named:
        return f"the call number of {named[0]}"
    if any(_stores_nowhere(each, asked) for each in c_calls.calls(code)):
        return f"{asked} with a null pointer, which stores no time"
    return None


def _stores_nowhere(call: c_calls.Call, asked: str) -> bool:
    """Whether this makes the call `asked` by number, with a null pointer for its result."""
    if call.name not in ("trap", "syscall") or len(call.arguments) < 2:
        return False
    number = _NAME.fullmatch(call.arguments[0])
    return number is not None and number[1] == asked and bool(_NULL.fullmatch(call.arguments[1]))
