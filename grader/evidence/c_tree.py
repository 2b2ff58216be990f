"""Parse C with tree-sitter, and find its measured lines, what they reach, and inline assembly.

The parser also reads C with mistakes and unknown macros. A student wrote the text, so it may be
anything. The parser's own steps are counted, because some texts take it a time that grows with the
square of their length. A count gives the same outcome on every machine; a limit of time would not.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import tree_sitter_c
from tree_sitter import Language, Node, Parser, Range

#: The parser counts one step for about 100 of its operations, and we count one for each piece of
#: the text. A C kernel of this kit takes about 100 steps, and 5,000 take a second at most.
MOST_TREE_STEPS = 5_000
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
        return Code((*self.code.nodes, *(node for _, body in self.macros for node in body.nodes)))


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
        if self.steps > MOST_TREE_STEPS or counted.root_node.descendant_count > MOST_NODES:
            raise _TooMuchError
        # Steps are counted only where the text is handed over in pieces; and only where it is
        # handed over whole, its nodes know their text.
        return parser.parse(self.content, counted).root_node

    def _next_piece(self, at: int, _: object) -> bytes:
        """A piece of the text; this is a step too, because the parser may read it again and again.

        An empty piece is the end of the text.
        """
        self.steps += 1
        return self.content[at : at + PIECE] if self.steps <= MOST_TREE_STEPS else b""

    def _is_too_much(self, _at: int, _has_error: bool) -> bool:
        self.steps += 1
        return self.steps > MOST_TREE_STEPS


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


# The parts of a student's C: the measured lines, and what is reached from them.

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
def reached_from(text: str, function: str) -> Code:
    """The bodies of `function` and of the functions and macros that it reaches."""
    source = parsed(text)
    begin = tuple(body for name, body in _named(source) if name == function)
    return _reached(Code(begin), source)


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


def _reached(begin: Code, source: Source) -> Code:
    """The code `begin`, and all functions and macros whose names occur in what is reached."""
    unreached: dict[str, list[Node]] = {}
    for name, body in _named(source):
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
    return None if end < 0 else Code(tuple(_within(source.whole, line, end)))


def _within(code: Code, begin: int, end: int) -> Iterator[Node]:
    """The topmost nodes that lie between two places."""
    waiting = list(reversed(code.nodes))
    while waiting:
        node = waiting.pop()
        if begin <= node.start_byte and node.end_byte <= end:
            yield node
        elif node.start_byte < end and node.end_byte > begin:
            waiting += reversed(node.children)


# Inline assembly in a piece of C: the trap instructions, and the registers loaded for them.

#: At most this many pieces of inline assembly are examined.
MOST_ASM = 100

_KEYWORDS = frozenset({"asm", "__asm", "__asm__"})
_CONSTRAINT = re.compile(r"([=+&%]*)([A-Za-z])")
_MOVED_TO = re.compile(r"\bmov\w*\s+[^,\n]{1,200},\s*%+(\w+)")
_LETTERS = {"a": "rax", "b": "rbx", "c": "rcx", "d": "rdx", "S": "rsi", "D": "rdi"}
_LONG_NAMES = {"eax": "rax", "ebx": "rbx", "ecx": "rcx", "edx": "rdx", "esi": "rsi", "edi": "rdi"}


@dataclass(frozen=True)
class TrapInstruction:
    """One trap in inline assembly: `syscall` or `svc`, and the registers loaded for it."""

    instruction: str
    loaded: frozenset[str]

    @property
    def first_argument_missing(self) -> bool:
        """Whether arguments are loaded, but none in the register of the first argument."""
        if self.instruction == "svc":
            return "x1" in self.loaded and "x0" not in self.loaded
        return bool(self.loaded & {"rbx", "rcx"}) and "rdi" not in self.loaded


def has_inline_assembly(code: Code) -> bool:
    """Whether the keyword of inline assembly is in `code`."""
    return not _KEYWORDS.isdisjoint(code.words)


def trap_instructions(code: Code) -> list[TrapInstruction]:
    """Every `syscall` or `svc` in inline assembly, with the registers loaded for it."""
    bound = _bound_registers(code)
    found = []
    for each in itertools.islice(code.of_type("gnu_asm_expression"), MOST_ASM):
        text = _assembly_of(each)
        instruction = re.search(r"\b(syscall|svc)\b", text)
        if instruction is None:
            continue
        loaded = {_LONG_NAMES.get(name, name) for name in _MOVED_TO.findall(text)}
        operands = Code((each,)).of_type("gnu_asm_output_operand", "gnu_asm_input_operand")
        loaded |= {name for operand in operands if (name := _loaded_by(operand, bound))}
        found.append(TrapInstruction(instruction[1], frozenset(loaded)))
    return found


def _assembly_of(node: Node) -> str:
    """The text of a piece of inline assembly, with blanks for its escapes."""
    code = node.child_by_field_name("assembly_code")
    parts = Code((code,) if code is not None else ()).of_type("string_content", "escape_sequence")
    return "".join(" " if each.type == "escape_sequence" else text_of(each) for each in parts)


def _loaded_by(operand: Node, bound: dict[str, str]) -> str | None:
    """The register that the operand puts a value in; None if it only takes one out."""
    constraint, value = (operand.child_by_field_name(name) for name in ("constraint", "value"))
    letters = _CONSTRAINT.search(text_of(constraint)) if constraint is not None else None
    if letters is None or "=" in letters[1]:
        return None
    variable = text_of(value) if value is not None else ""
    return bound.get(variable) or _LETTERS.get(letters[2], letters[2])


def _bound_registers(code: Code) -> dict[str, str]:
    """The register of each variable that is declared as `register long x __asm__("rdi")`."""
    bound = {}
    for before, each in itertools.pairwise(code.everything):
        if each.type == "gnu_asm_expression" and before.type == "identifier":
            bound[text_of(before)] = _assembly_of(each).strip()
    return bound
