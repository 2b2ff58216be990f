"""Inline assembly in a piece of C: the trap instructions, and the registers loaded for them."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass

from tree_sitter import Node

from grader.facts.c.parse import Code, text_of

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


def assembly(code: Code) -> list[str]:
    """The text of each piece of inline assembly, with blanks for its escapes."""
    pieces = itertools.islice(code.of_type("gnu_asm_expression"), MOST_ASM)
    return [_assembly_of(each) for each in pieces]


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
