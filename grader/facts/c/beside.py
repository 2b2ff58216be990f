"""What a student's C does beside the operation that it is to time."""

from __future__ import annotations

import bisect
import re

from tree_sitter import Node

from grader.facts.c import parts
from grader.facts.c.calls import calls
from grader.facts.c.parse import Code, parsed
from grader.facts.c.readings import has_loop

_LOOPS = ("for_statement", "while_statement", "do_statement")
_CREATES = re.compile(r"clone3?|pthread_create|thrd_create")

#: Functions that neither wake a task nor put one to sleep: they ask, print or get memory.
_IDLE = re.compile(
    r"get(?:p|pp|t|u|eu|g|eg|pg|s)id|getpgrp|getcpu|getrusage|gettimeofday|sysconf|time|clock"
    r"|v?f?printf|f?puts|f?putc|putchar|perror|fflush|s?rand(?:om)?|malloc|calloc|realloc|free"
)
#: Functions that go through memory: a small block for a call's argument, or a whole stack.
_FILLS = re.compile(r"mem(?:set|cpy|move)|bzero")
#: Whoever sends a signal to a thread must name it first.
_SIGNALS = frozenset({"kill", "tgkill", "SYS_tgkill", "SYS_tkill", "SYS_kill", "__NR_tgkill"})


def looping_task(source: str) -> str | None:
    """The function that `source` hands to a new task and that holds a loop; None if none does."""
    code = parsed(source).code
    bodies = dict(parts.functions(code))
    for call in calls(code):
        if not _CREATES.fullmatch(call.name):
            continue
        for argument in call.arguments:
            name = argument.rpartition(")")[2].strip("& ")
            if name in bodies and has_loop(Code((bodies[name],))):
                return name
    return None


def has_loop_without_call(code: Code) -> bool:
    """Whether `code` holds a loop in which nothing is called: it only takes time."""
    places = sorted(
        [each.node.start_byte for each in calls(code)]
        + [each.start_byte for each in code.of_type("gnu_asm_expression")]
    )
    return any(not _holds_one(places, loop) for loop in code.of_type(*_LOOPS))


def idle_call(code: Code) -> str | None:
    """The first function called that neither wakes nor waits, nor names whom a signal is for."""
    if not _SIGNALS.isdisjoint(code.words):
        return None
    return next((each.name for each in calls(code) if _IDLE.fullmatch(each.name)), None)


def filling_call(code: Code) -> str | None:
    """The first function called that fills or copies memory; None if none is."""
    return next((each.name for each in calls(code) if _FILLS.fullmatch(each.name)), None)


def _holds_one(places: list[int], node: Node) -> bool:
    found = bisect.bisect_left(places, node.start_byte)
    return found < len(places) and places[found] < node.end_byte
