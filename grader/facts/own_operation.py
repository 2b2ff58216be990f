"""What lab 11's C kernel counted of a student's operation, and whether the kit made the count.

`kernels_c/own_question.h` compares the count of the student's function with each sample, and tries
the function after the last one. What a C prints by itself is its own claim, and no count.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass

from tree_sitter import Node

from grader.cases.case import Case
from grader.facts import c_tree
from grader.facts.c_calls import calls
from grader.facts.c_tree import Code, parsed, text_of
from grader.facts.sources import own_source
from labs import paths

KERNEL, MACRO, OPERATION = "own_question", "MEASURE_OWN_QUESTION", "operation"

#: Names by which a C writes to its standard output, where the header states the counts.
_OUTPUT = frozenset(
    {
        *("printf", "vprintf", "puts", "putchar", "putc", "dprintf", "vdprintf"),
        *("stdout", "STDOUT_FILENO"),
    }
)
#: How the keys begin under which the counts are stated.
_KEY = "variant."


@dataclass(frozen=True)
class Trial:
    """What the student's function counted in one process, after the last sample: where nothing was
    done, of `tried` operations, and of as many baselines."""

    tried: float
    idle: float
    of_operation: float
    of_baseline: float


def asks(case: Case) -> bool:
    """Whether the figure is the cost of the student's own operation, whose happening is counted."""
    return (
        case.spec.own
        and not case.others
        and case.spec.kernel == KERNEL
        and case.spec.variant == OPERATION
    )


def trials(case: Case) -> tuple[Trial, ...]:
    """One trial for each process; none if a process states none."""
    columns = [
        _of_processes(case, key)
        for key in ("tried", "counted_idle", "counted_of_operation", "counted_of_baseline")
    ]
    if len({len(each) for each in columns}) > 1:
        return ()
    return tuple(Trial(*row) for row in zip(*columns, strict=True))


def _of_processes(case: Case, key: str) -> list[float]:
    """What each process states; empty if one of them states nothing."""
    name, processes = f"variant.{OPERATION}.{key}", len(case.recording.processes)
    known = case.recording.numbers(name)
    if name in case.recording.conditions:
        known *= processes
    return known if len(known) == processes else []


def in_samples(case: Case) -> tuple[int, int | None]:
    """The operations that the samples hold, and those that were counted; None: not stated."""
    held = int(case.recording.samples(OPERATION).batch.sum())
    return held, case.recording.total(f"variant.{OPERATION}.counted_operations")


def claims_by_itself(case: Case) -> str | None:
    """Why the counts of the recording may be the C's own words, as text; None if they are counts.

    Says nothing of C that nobody can read.
    """
    text = own_source(case)
    if text is None or not parsed(text).readable:
        return None
    source = parsed(text)
    defined = sorted({name for name, _ in source.macros} & _of_the_kit())
    if defined:
        return f"defines {defined[0]} in place of the kit"
    if not _arguments(text):
        return f"does not measure by {MACRO} of the kit"
    if any(name == "main" for name, _ in c_tree.functions(source.whole)):
        return "has a main() of its own"
    words = sorted(_OUTPUT & source.whole.words)
    if words:
        return f"names {words[0]}, which writes where the counts are stated"
    if any(_KEY in each for each in source.whole.strings):
        return "holds a text like those that state the counts"
    return None


@functools.cache
def _of_the_kit() -> frozenset[str]:
    """What compares, counts and prints in the kit: a C that defines it anew measures by itself."""
    header = parsed((paths.kernels_c() / f"{KERNEL}.h").read_text(encoding="utf-8"))
    functions = (name for name, _ in c_tree.functions(header.code))
    macros = (name for name, _ in header.macros if name != "_GNU_SOURCE")
    return frozenset({*functions, *macros, *_OUTPUT, "stop"})


def counts_itself(case: Case) -> tuple[str, str] | None:
    """The variable that the operation counts up and that alone is its evidence, and a call that it
    stands beside; None if the evidence looks at anything else.

    An operation that is nothing but a change of this variable is seen by it. A function that is
    handed to a call is called by it: what such a function counts, the call has done. What the
    baseline calls too is not what is asked about.
    """
    text = own_source(case)
    arguments = _arguments(text) if text is not None else ()
    if text is None or len(arguments) < 5:
        return None
    whole, counted = (c_tree.reached_from(text, arguments[each]) for each in (1, 4))
    if calls(counted):
        return None  # it asks somebody else
    own = {function for function, _ in c_tree.functions(parsed(text).whole)}
    handed = frozenset(own & whole.words - {each.name for each in calls(whole)})
    operation = c_tree.reached_from(text, arguments[1], handed)
    by_calls = {name for each in handed for name in _names(c_tree.reached_from(text, each))}
    seen_by_both = _names(whole) & _names(counted)
    counters = ({*_counted_up(operation)} & seen_by_both) - by_calls
    if len(counters) != 1 or seen_by_both - counters:
        return None
    (name,) = counters
    in_baseline = {each.text for each in calls(c_tree.reached_from(text, arguments[3]))}
    beside = [
        each.name
        for each in calls(operation)
        if each.name
        and each.name not in own
        and each.text not in in_baseline
        and not _is_atomic(each.name)
        and name not in Code((each.node,)).words
    ]
    return (name, beside[0]) if beside else None


def _arguments(text: str) -> tuple[str, ...]:
    """The functions that the C hands to the kit's macro."""
    return c_tree.arguments_of(text, MACRO)


def _names(code: Code) -> frozenset[str]:
    """The variables and functions that a piece of C names."""
    return frozenset(text_of(each) for each in code.of_type("identifier"))


def _counted_up(code: Code) -> Iterator[str]:
    """The variables that the code changes by a fixed amount, whatever else happens."""
    for each in code.of_type("update_expression"):
        yield from _plain(each.child_by_field_name("argument"))
    for each in code.of_type("assignment_expression"):
        right, operator = (each.child_by_field_name(name) for name in ("right", "operator"))
        fixed = right is not None and right.type == "number_literal"
        if fixed and operator is not None and text_of(operator) in ("+=", "-="):
            yield from _plain(each.child_by_field_name("left"))
    for call in calls(code):
        if _is_atomic(call.name) and call.arguments:
            yield call.arguments[0].strip("&() ")


def _is_atomic(called: str) -> bool:
    """Whether this is a built-in function that changes a variable, and no call."""
    return "atomic" in called or called.startswith("__sync_")


def _plain(node: Node | None) -> Iterator[str]:
    if node is not None and node.type == "identifier":
        yield text_of(node)
