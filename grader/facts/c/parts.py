"""The parts of a student's C: the measured lines, and what is reached from them."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator

from tree_sitter import Node

from grader.facts.c.parse import Code, Source, parsed, text_of

_BEGINS, _ENDS = "measured region begins", "measured region ends"


def whole(text: str | None) -> Code:
    """All code of the text, macros included; empty without a text."""
    return parsed(text).whole if text is not None else Code()


@functools.lru_cache(maxsize=8)
def measured_region(text: str | None) -> Code:
    """The measured lines; empty if there are none."""
    return _region(parsed(text)) or Code() if text is not None else Code()


def has_region(text: str) -> bool:
    """Whether the C marks its measured region; if not, a header of the kit times its function."""
    return _BEGINS in text


@functools.lru_cache(maxsize=8)
def timed(text: str) -> Code:
    """The timed code: the measured region, and the functions and macros that it reaches.

    If the source has no marks, it is one function that a header of the kit times. The result is
    then the whole source.
    """
    source = parsed(text)
    region = _region(source)
    return source.whole if region is None else _reached(region, source)


@functools.lru_cache(maxsize=8)
def measured_by(text: str, macro: str) -> Code:
    """The arguments of the kit's `macro`; empty if the source does not use it.

    The result includes the functions and macros that they reach, in all preprocessor branches.
    """
    source = parsed(text)
    return _reached(Code(tuple(_handed_to(source.code, macro))), source)


def arguments_of(text: str, macro: str) -> tuple[str, ...]:
    """The names that the source hands to the kit's `macro`, in order; none without it."""
    return tuple(text_of(each) for each in _handed_to(parsed(text).code, macro))


@functools.lru_cache(maxsize=8)
def reached_from(text: str, function: str, without: frozenset[str] = frozenset()) -> Code:
    """The bodies of `function` and of the functions and macros that it reaches.

    Nothing is reached by way of the functions `without`.
    """
    source = parsed(text)
    begin = tuple(body for name, body in _named(source) if name == function)
    return _reached(Code(begin), source, without)


def functions(code: Code) -> Iterator[tuple[str, Node]]:
    """The name and the body of each function that `code` defines."""
    for each in code.of_type("function_definition"):
        body, declarator = (each.child_by_field_name(name) for name in ("body", "declarator"))
        while declarator is not None and declarator.type != "identifier":
            inner = declarator.child_by_field_name("declarator")
            declarator = inner if inner is not None else _first_named(declarator)
        if body is not None and declarator is not None:
            yield text_of(declarator), body


def _first_named(node: Node) -> Node | None:
    """The declarator in parentheses, or an attribute, has no name of a field."""
    return next((each for each in node.named_children if "declarator" in each.type), None)


def _handed_to(code: Code, macro: str) -> Iterator[Node]:
    """The names between the parentheses after each `macro`, however the parser took them."""
    leaves = [each for each in code.everything if not each.child_count and each.type != "comment"]
    inside = False
    for before, leaf in zip([None, *leaves], leaves, strict=False):
        if before is not None and text_of(before) == macro and text_of(leaf) == "(":
            inside = True
        elif inside and text_of(leaf) in ")(;{}":
            inside = False
        elif inside and leaf.is_named:
            yield leaf


def _reached(begin: Code, source: Source, without: frozenset[str] = frozenset()) -> Code:
    """The code `begin`, and all functions and macros whose names occur in what is reached."""
    unreached: dict[str, list[Node]] = {}
    for name, body in _named(source):
        if name in without:
            continue
        unreached.setdefault(name, []).append(body)
    reached = list(begin.nodes)
    places = {(node.start_byte, node.end_byte) for node in reached}
    for node in reached:  # the loop appends to this list
        for word in Code((node,)).words & unreached.keys():
            found = unreached.pop(word)
            reached += [each for each in found if (each.start_byte, each.end_byte) not in places]
    return Code(tuple(reached))


def _named(source: Source) -> Iterable[tuple[str, Node]]:
    yield from functions(source.code)
    for name, body in source.macros:
        for node in body.nodes:
            yield from ((name, node), *functions(Code((node,))))


def _region(source: Source) -> Code | None:
    """The code between the two marks; None if one of them is missing."""
    content = source.text.encode("utf-8", "replace")
    begin = content.find(_BEGINS.encode())
    line = content.find(b"\n", begin) if begin >= 0 else -1
    end = content.find(_ENDS.encode(), line) if line >= 0 else -1
    if end < 0:
        return None
    return Code(tuple(_within(source.whole, line, end)))


def _within(code: Code, begin: int, end: int) -> Iterator[Node]:
    """The topmost nodes that lie between two places."""
    waiting = list(reversed(code.nodes))
    while waiting:
        node = waiting.pop()
        if begin <= node.start_byte and node.end_byte <= end:
            yield node
        elif node.start_byte < end and node.end_byte > begin:
            waiting += reversed(node.children)
