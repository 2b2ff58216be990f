"""Parse C into syntax trees with tree-sitter, which also reads C with mistakes and unknown macros.

A student wrote the text, so it may be anything. The parser's own steps are counted, because some
texts take it a time that grows with the square of their length. A count gives the same outcome on
every machine; a limit of time would not.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass

import tree_sitter_c
from tree_sitter import Language, Node, Parser, Range

#: The parser counts one step for about 100 of its operations, and we count one for each piece of
#: the text. A C kernel of this kit takes about 100 steps, and 5,000 take a second at most.
MOST_STEPS = 5_000
PIECE = 4_096

#: A tree with more nodes is not read: every question walks over all of them. The longest C kernel
#: of this kit has 4,000, and as much C as we read has 30,000.
MOST_NODES = 40_000

#: At most this many macros are parsed.
MOST_MACROS = 300

#: Of nested expressions, each has the text of all inside it: only so many bytes of each are used.
MOST_QUOTED = 400

_LANGUAGE = Language(tree_sitter_c.language())
_DEFINITIONS = ("preproc_def", "preproc_function_def")


@dataclass(frozen=True, eq=False)
class Code:
    """A piece of C: the topmost nodes of its syntax trees, in order."""

    nodes: tuple[Node, ...] = ()

    @functools.cached_property
    def everything(self) -> tuple[Node, ...]:
        """All nodes of the piece, each one before its children; no node twice."""
        return tuple(each for node in self.nodes for each in _below(node))

    @functools.cached_property
    def words(self) -> frozenset[str]:
        """The names and keywords in the piece, without those in comments and strings."""
        return frozenset(
            text_of(each)
            for each in self.everything
            if not each.child_count and each.type not in ("comment", "string_content")
        )

    @functools.cached_property
    def strings(self) -> tuple[str, ...]:
        """The contents of all strings, as written."""
        return tuple(text_of(each) for each in self.everything if each.type == "string_content")

    def of_type(self, *types: str) -> Iterator[Node]:
        """The nodes of these types."""
        return (each for each in self.everything if each.type in types)


@dataclass(frozen=True, eq=False)
class Source:
    """One C file: its code without the macros, and the bodies of the macros by name.

    `readable` is False if it takes too many steps or has too many nodes. Then there is no code.
    """

    text: str
    readable: bool
    code: Code
    macros: tuple[tuple[str, Code], ...]

    @functools.cached_property
    def whole(self) -> Code:
        """All code of the file, macros included."""
        bodies = (node for _, body in self.macros for node in body.nodes)
        return Code((*self.code.nodes, *bodies))


class _TooMuchError(Exception):
    """The text takes more steps or has more nodes than we allow."""


class _Parse:
    """One text, parsed as a whole or in parts, with one limit of steps for all of them."""

    def __init__(self, content: bytes) -> None:
        self.content = content
        self.steps = 0

    def root(self, ranges: list[Range] | None = None) -> Node:
        parser = Parser(_LANGUAGE)
        if ranges is not None:
            parser.included_ranges = ranges
        try:
            counted = parser.parse(self._next_piece, progress_callback=self._is_too_much)
        except ValueError as error:
            raise _TooMuchError from error
        if self.steps > MOST_STEPS or counted.root_node.descendant_count > MOST_NODES:
            raise _TooMuchError
        # Steps are counted only where the text is handed over in pieces; and only where it is
        # handed over whole, its nodes know their text.
        return parser.parse(self.content, counted).root_node

    def _next_piece(self, at: int, _: object) -> bytes:
        """A piece of the text; this is a step too, because the parser may read it again and again.

        An empty piece is the end of the text.
        """
        self.steps += 1
        return self.content[at : at + PIECE] if self.steps <= MOST_STEPS else b""

    def _is_too_much(self, _at: int, _has_error: bool) -> bool:
        self.steps += 1
        return self.steps > MOST_STEPS


# Every pitfall asks for the same text.
@functools.lru_cache(maxsize=8)
def parsed(text: str) -> Source:
    """The syntax trees of `text`."""
    content = text.encode("utf-8", "replace")
    parse = _Parse(content)
    try:
        root = parse.root()
        definitions = [each for each in _below(root) if each.type in _DEFINITIONS][:MOST_MACROS]
        # The grammar ends a macro at its first comment and takes the rest for code.
        if any(child.type == "comment" for each in definitions for child in each.children):
            root = parse.root(_outside(content, definitions))
        macros = tuple(
            (name, Code((parse.root([_range(*_body(content, each))]),)))
            for each in definitions
            if (name := _text_of_field(each, "name"))
        )
    except _TooMuchError:
        return Source(text, False, Code(), ())
    return Source(text, True, Code((root,)), macros)


def text_of(node: Node) -> str:
    """The text of a node, as written."""
    return (node.text or b"").decode("utf-8", "replace")


def one_line(node: Node) -> str:
    """The text of a node, with single blanks for all white space; no more than its beginning."""
    return " ".join((node.text or b"")[:MOST_QUOTED].decode("utf-8", "replace").split())


def _text_of_field(node: Node, name: str) -> str:
    child = node.child_by_field_name(name)
    return "" if child is None else text_of(child)


def _below(node: Node) -> Iterator[Node]:
    """The node and all nodes below it. No recursion: a student's C may be nested at any depth."""
    waiting = [node]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += reversed(node.children)


def _body(content: bytes, definition: Node) -> tuple[int, int]:
    """Where the body of a macro begins and ends: at a line end without a backslash before it."""
    before = definition.child_by_field_name("parameters") or definition.child_by_field_name("name")
    begin = end = before.end_byte if before is not None else definition.start_byte
    while True:
        end = content.find(b"\n", end)
        if end < 0:
            return begin, len(content)
        if not content[begin:end].removesuffix(b"\r").endswith(b"\\"):
            return begin, end
        end += 1


def _outside(content: bytes, definitions: list[Node]) -> list[Range]:
    """The parts of the text that are in none of the macros."""
    ranges, at = [], 0
    for each in definitions:
        if each.start_byte > at:
            ranges.append(_range(at, each.start_byte))
        at = max(at, _body(content, each)[1])
    ranges.append(_range(at, len(content)))
    return ranges


def _range(begin: int, end: int) -> Range:
    # Nothing here uses rows and columns, so we do not count them.
    return Range((0, begin), (0, end), begin, end)
