"""What a student's C does with its readings of a clock: in which order, and what it subtracts."""

from __future__ import annotations

import bisect
import functools
import re
from collections.abc import Iterator

from tree_sitter import Node

from grader.facts.c.calls import calls
from grader.facts.c.parse import Code, parsed, text_of

_READS = re.compile(r"counter_\w+|clock_\w+|gettimeofday")
_BY_INSTRUCTION = re.compile(r"\brdtscp?\b")
_NAMED_LIKE_A_CLOCK = re.compile(r"counter|tsc|clock|time|now|ticks|_ns")
_NUMBER = re.compile(r"(\d{1,12}(?:\.\d{1,12})?)[uUlLfF]{0,3}")
_LOOPS = ("for_statement", "while_statement", "do_statement")


def has_loop(code: Code) -> bool:
    """Whether `code` holds a loop."""
    return any(code.of_type(*_LOOPS))


def has_volatile_variable(code: Code) -> bool:
    """Whether `code` declares a variable that is volatile."""
    return any(
        text_of(part) == "volatile"
        for each in code.of_type("declaration")
        for part in each.children
    )


def reads_in_loop(region: Code) -> bool:
    """Whether the first reading of a clock comes after the beginning of a loop."""
    loops = [each.start_byte for each in region.of_type("for", "while", "do")]
    readings = [each.node.start_byte for each in calls(region) if _READS.fullmatch(each.name)]
    readings += [
        each.start_byte
        for each in region.of_type("string_content", "identifier")
        if _BY_INSTRUCTION.search(text_of(each))
    ]
    return bool(loops and readings) and min(loops) < min(readings)


@functools.lru_cache(maxsize=8)
def subtracted_constant(source: str) -> str | None:
    """The number, or the name of one, that `source` takes off a difference of two readings."""
    read = parsed(source)
    code = read.whole
    numbers = {name: number for name, body in read.macros if (number := _only_number(body))}
    clocks = _places_of_clocks(code)
    readings: set[str] = set()
    values: list[tuple[str, Node]] = []
    for name, value in _assignments(code):
        values.append((name, value))
        if (number := _number(value)) is not None:
            numbers[name] = number
        elif _holds_one(clocks, value):
            readings.add(name)
    differences = {name for name, value in values if _ends_in_difference(value, readings)}
    for left, right in _subtractions(code):
        what = _bare(left)
        if text_of(what) not in differences and not _is_difference(what, readings):
            continue
        constant = _bare(right)
        number = _number(constant)
        if number is not None and float(number) > 1:
            return number
        named = numbers.get(text_of(constant))
        if named is not None and float(named) > 1:
            return f"{text_of(constant)} = {named}"
    return None


def _assignments(code: Code) -> Iterator[tuple[str, Node]]:
    """Each variable that gets a value, with the value."""
    for each in code.of_type("init_declarator", "assignment_expression"):
        kind = "declarator" if each.type == "init_declarator" else "left"
        target, value = (
            each.child_by_field_name(kind),
            each.child_by_field_name("value" if kind == "declarator" else "right"),
        )
        operator = each.child_by_field_name("operator")
        if target is None or value is None or (operator is not None and operator.type != "="):
            continue
        if target.type == "identifier":
            yield text_of(target), value


def _subtractions(code: Code) -> Iterator[tuple[Node, Node]]:
    """Both sides of each `a - b` and `a -= b`."""
    expressions = code.of_type("binary_expression", "assignment_expression")
    return (sides for each in expressions if (sides := _subtracted(each)) is not None)


def _subtracted(node: Node) -> tuple[Node, Node] | None:
    """Both sides of the expression if it is a subtraction."""
    left, right = (node.child_by_field_name(name) for name in ("left", "right"))
    operator = node.child_by_field_name("operator")
    if operator is None or operator.type not in ("-", "-=") or left is None or right is None:
        return None
    return left, right


def _bare(node: Node) -> Node:
    """The expression without parentheses and casts around it."""
    while node.type in ("parenthesized_expression", "cast_expression") and node.named_children:
        node = node.named_children[-1]
    return node


def _number(node: Node) -> str | None:
    found = _NUMBER.fullmatch(text_of(_bare(node)))
    return found[1] if found is not None else None


def _only_number(body: Code) -> str | None:
    """The number that is all of a macro, in parentheses or not."""
    text = " ".join(text_of(node) for node in body.nodes).strip()
    found = re.match(r"\(?\s*(\d{1,12}(?:\.\d{1,12})?)", text)
    return found[1] if found is not None else None


def _places_of_clocks(code: Code) -> list[int]:
    """Where the calls of functions begin that are named like a clock."""
    named = (each for each in calls(code) if _NAMED_LIKE_A_CLOCK.search(each.name))
    return sorted(each.node.start_byte for each in named)


def _holds_one(places: list[int], node: Node) -> bool:
    """Whether one of the places lies in the node. We do not walk nodes: they may be nested."""
    found = bisect.bisect_left(places, node.start_byte)
    return found < len(places) and places[found] < node.end_byte


def _is_difference(node: Node, readings: set[str]) -> bool:
    """Whether the expression is a later reading, or a call, less an earlier reading."""
    sides = _subtracted(node) if node.type == "binary_expression" else None
    if sides is None:
        return False
    later, earlier = (_bare(each) for each in sides)
    return text_of(earlier) in readings and (
        text_of(later) in readings or later.type == "call_expression"
    )


def _ends_in_difference(value: Node, readings: set[str]) -> bool:
    """Whether the value is a difference of readings, or the last part of it is one."""
    value = _bare(value)
    right = value.child_by_field_name("right")
    return _is_difference(value, readings) or (
        right is not None and _is_difference(_bare(right), readings)
    )
