"""Which functions a piece of C calls, with which arguments, and whether it uses the results."""

from __future__ import annotations

import functools
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

from tree_sitter import Node

from grader.facts.c.assembly import has_inline_assembly
from grader.facts.c.parse import Code, one_line, text_of

#: Calls of a clock that the C library makes through the vDSO, if there is one.
_CLOCKS = frozenset({"gettimeofday", "clock_gettime", "clock_getres", "time", "getcpu"})

#: System calls that take an argument and can be refused, as a student would write them.
_NEED_AN_ARGUMENT = frozenset({"setuid", "setgid", "seteuid", "setpgid", "kill", "dup"})
_REFUSABLE = _NEED_AN_ARGUMENT | {
    *("trap", "read", "write", "open", "close", "lseek", "ioctl", "fcntl", "syscall"),
}
_TAKE_NOTHING = frozenset(
    {
        *("getpid", "getppid", "gettid", "getuid", "geteuid", "getgid", "getegid", "getpgrp"),
        *("setsid", "sched_yield", "fork", "vfork", "pause", "sync", "vhangup", "munlockall"),
        "inotify_init",
    }
)
_NUMBER = re.compile(r"(?:SYS_|__NR_)(\w+)")

#: Functions of the C library with the name of a system call that they make or may make.
_OF_LIBRARY = frozenset(
    {
        *("read", "pread", "readv", "preadv", "pread64", "preadv2", "write", "lseek", "recv"),
        *("gettimeofday", "clock_gettime", "time", "getpid", "getppid", "getgid", "getpgid"),
        *("getpgrp", "gettid", "getuid", "geteuid", "getegid", "setuid", "setgid"),
    }
)
_BY_NUMBER = frozenset({"trap", "syscall"})
#: By the machine's name, the instructions that enter its OS kernel, or data that may encode one.
_ENTERING = {
    r"x86_64|amd64|i.86": re.compile(r"\b(?:syscall|sysenter|int)\b|\.\w+"),
    r"aarch64|arm64": re.compile(r"\bsvc\b|\.\w+"),
    r"riscv": re.compile(r"\b(?:ecall|scall)\b|\.\w+"),
}
#: Expressions whose value is that of their last part, or its negation.
_PASS_ON = ("cast_expression", "unary_expression", "parenthesized_expression", "comma_expression")
_CREATIONS = frozenset({"fork", "vfork", "clone", "posix_spawn", "posix_spawnp", "pthread_create"})


@dataclass(frozen=True)
class Call:
    """One call. `name` is empty if no name is called but a computed address.

    `text` is the whole call and `arguments` are its arguments, as written, with single blanks.
    `ignored` says that nothing uses the result.
    """

    name: str
    text: str
    arguments: tuple[str, ...]
    ignored: bool
    node: Node = field(repr=False, compare=False)


def calls(code: Code) -> tuple[Call, ...]:
    """All calls in `code`, in the order of its text."""
    return _calls(code)


@functools.lru_cache(maxsize=32)  # a Code is equal only to itself
def _calls(code: Code) -> tuple[Call, ...]:
    ignored = {each.id for each in _ignored(code)}
    return tuple(
        _call(each, each.id in ignored) for each in code.of_type("call_expression")
    ) + tuple(_macro(each) for each in code.of_type("macro_type_specifier"))


def called(code: Code, names: Collection[str]) -> str | None:
    """The first of these functions that `code` calls; None if it calls none."""
    return next((each.name for each in calls(code) if each.name in names), None)


def enters_by_hand(code: Code, machine: str) -> bool:
    """Whether `code` enters the OS kernel itself, and not through a function named like the call.

    It may do so with a trap instruction of `machine` (a name from uname; for an unknown machine,
    any inline assembly counts), or by number with trap() of the kit or syscall() of the C library.
    syscall() is a function too, but like trap() it always makes the call with this number.
    """
    if called(code, _BY_NUMBER) is not None:
        return True
    if not has_inline_assembly(code):
        return False
    entering = next((e for name, e in _ENTERING.items() if re.search(name, machine)), None)
    return entering is None or any(entering.search(text) for text in code.strings)


def functions_of_library(code: Code) -> list[str]:
    """The functions of the C library that `code` calls and that are named like system calls."""
    return list(dict.fromkeys(each.name for each in calls(code) if each.name in _OF_LIBRARY))


def creation(code: Code) -> str | None:
    """The name of the first function called in `code` that creates a task."""
    return called(code, _CREATIONS)


def clocks_of_library(code: Code) -> list[str]:
    """The names of the library functions that read a clock."""
    return list(dict.fromkeys(each.name for each in calls(code) if each.name in _CLOCKS))


def calls_without_argument(code: Code) -> list[str]:
    """The calls without their required argument, as written."""
    return [each.text.replace(" ", "") for each in calls(code) if _lacks_argument(each)]


def results_ignored(code: Code) -> list[str]:
    """The calls that can be refused and whose result is ignored, as written."""
    return [
        each.text
        for each in calls(code)
        if each.ignored and each.name in _REFUSABLE and not _takes_nothing(each)
    ]


def calls_an_address(code: Code) -> bool:
    """Whether `code` calls what lies at an address, or has a pointer by which it can."""
    variables = {name for each in code.of_type("pointer_declarator") if (name := _declared(each))}
    if any(not each.name or each.name in variables for each in calls(code)):
        return True
    pointers = ("parenthesized_declarator", "abstract_parenthesized_declarator")
    return any(
        child.type in pointers
        for each in code.of_type("function_declarator", "abstract_function_declarator")
        for child in each.children
    )


def _declared(pointer: Node) -> str | None:
    name = pointer.child_by_field_name("declarator")
    return text_of(name) if name is not None and name.type == "identifier" else None


def _lacks_argument(call: Call) -> bool:
    if call.name in _NEED_AN_ARGUMENT:
        return not call.arguments
    number = _number(call) if call.name == "syscall" and len(call.arguments) == 1 else None
    return number is not None and number not in _TAKE_NOTHING


def _takes_nothing(call: Call) -> bool:
    return call.name in _BY_NUMBER and _number(call) in _TAKE_NOTHING


def _number(call: Call) -> str | None:
    found = _NUMBER.fullmatch(call.arguments[0]) if call.arguments else None
    return found[1] if found is not None else None


def _call(node: Node, ignored: bool) -> Call:
    function, arguments = (node.child_by_field_name(name) for name in ("function", "arguments"))
    while function is not None and function.type == "parenthesized_expression":
        function = next((each for each in function.named_children), None)
    is_name = function is not None and function.type == "identifier"
    return Call(
        text_of(function) if is_name and function is not None else "",
        one_line(node),
        tuple(
            one_line(each)
            for each in (arguments.named_children if arguments is not None else ())
            if each.type != "comment"
        ),
        ignored,
        node,
    )


def _macro(node: Node) -> Call:
    """What may be a type made by a macro, or a macro that is used without a semicolon."""
    name = node.child_by_field_name("name")
    arguments = tuple(one_line(each) for each in node.named_children if each != name)
    return Call("" if name is None else text_of(name), one_line(node), arguments, False, node)


def _ignored(code: Code) -> Iterator[Node]:
    """The expressions whose values nothing uses, behind parentheses, `!` and casts to void."""
    waiting: list[Node] = []
    for statement in code.of_type("expression_statement"):
        waiting += statement.named_children[:1]
    for comma in code.of_type("comma_expression"):
        left = comma.child_by_field_name("left")
        waiting += [left] if left is not None else []
    while waiting:
        node = waiting.pop()
        yield node
        if node.type in _PASS_ON:
            waiting += node.named_children[-1:]
