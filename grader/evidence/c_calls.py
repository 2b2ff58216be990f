"""What a piece of C does: which functions it calls, how it waits, and how it reads clocks."""

from __future__ import annotations

import bisect
import functools
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

from tree_sitter import Node

from grader.evidence.c_tree import Code, has_inline_assembly, one_line, parsed, text_of

#: Calls of a clock that the C library makes through the vDSO, if there is one.
_CLOCKS = frozenset({"gettimeofday", "clock_gettime", "clock_getres", "time", "getcpu"})

#: System calls that take an argument and can be refused, as a student would write them.
_NEED_AN_ARGUMENT = frozenset({"setuid", "setgid", "seteuid", "setpgid", "kill", "dup"})
_REFUSABLE = _NEED_AN_ARGUMENT | {
    *("trap", "read", "write", "open", "close", "lseek", "ioctl", "fcntl", "syscall")
}
_TAKE_NOTHING = frozenset(
    {
        *("getpid", "getppid", "gettid", "getuid", "geteuid", "getgid", "getegid", "getpgrp"),
        *("setsid", "sched_yield", "fork", "vfork", "pause", "sync", "vhangup", "munlockall"),
        "inotify_init",
    }
)
_CALL_NUMBER = re.compile(r"(?:SYS_|__NR_)(\w+)")

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


@functools.lru_cache(maxsize=32)  # a Code is equal only to itself
def calls(code: Code) -> tuple[Call, ...]:
    """All calls in `code`, in the order of its text."""
    ignored = {each.id for each in _ignored(code)}
    found = [_call(each, each.id in ignored) for each in code.of_type("call_expression")]
    return (*found, *(_macro(each) for each in code.of_type("macro_type_specifier")))


def called(code: Code, names: Collection[str]) -> str | None:
    """The first of these functions that `code` calls; None if it calls none."""
    return next((each.name for each in calls(code) if each.name in names), None)


def enters_by_hand(code: Code, machine: str) -> bool:
    """Whether `code` enters the OS kernel itself, and not through a function named like the call.

    It may do so with a trap instruction of `machine` (a name from uname; for an unknown machine,
    any inline assembly counts), or with trap() of the kit. syscall() always enters the OS kernel
    too, but the C library does it.
    """
    if called(code, ("trap",)) is not None:
        return True
    if not has_inline_assembly(code):
        return False
    entering = next((e for name, e in _ENTERING.items() if re.search(name, machine)), None)
    return entering is None or any(entering.search(text) for text in code.strings)


def functions_of_library(code: Code) -> list[str]:
    """The functions of the C library that make system calls, as `code` calls them: each once.

    They are those named like system calls, and syscall(), which makes the call with a number.
    """
    names = _OF_LIBRARY | {"syscall"}
    return list(dict.fromkeys(each.name for each in calls(code) if each.name in names))


def always_enter(code: Code) -> list[str]:
    """The calls, as written, that only the OS kernel can answer: of ids, and those by number."""
    return [
        each.text
        for each in calls(code)
        if each.name in _BY_NUMBER or each.name in _OF_LIBRARY & _TAKE_NOTHING
    ]


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
    number = _call_number(call) if call.name == "syscall" and len(call.arguments) == 1 else None
    return number is not None and number not in _TAKE_NOTHING


def _takes_nothing(call: Call) -> bool:
    return call.name in _BY_NUMBER and _call_number(call) in _TAKE_NOTHING


def _call_number(call: Call) -> str | None:
    found = _CALL_NUMBER.fullmatch(call.arguments[0]) if call.arguments else None
    return found[1] if found is not None else None


def _call(node: Node, ignored: bool) -> Call:
    function, arguments = (node.child_by_field_name(name) for name in ("function", "arguments"))
    while function is not None and function.type == "parenthesized_expression":
        function = next(iter(function.named_children), None)
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


# How a piece of C lets another task run: locks, signals, and waits that end by themselves.

_LOCK = re.compile(r"(?:pthread_(?:mutex|spin)|mtx)_(?:try|timed)?lock")
_UNLOCK = re.compile(r"(?:pthread_(?:mutex|spin)|mtx)_unlock")
_SIGNAL = re.compile(r"(?:pthread_cond|cnd)_(?:signal|broadcast)")
#: What could hand the turn over beside a lock, or wait for it.
_OTHERWISE = re.compile(
    r"sem_\w+|read|write|syscall|p?poll|p?select|kill|pthread_kill"
    r"|(?:pthread_cond|cnd|pthread_barrier)_\w+"
)
_TIMED = re.compile(
    r"u?sleep|(?:clock_)?nanosleep|thrd_sleep|(?:pthread_cond|cnd|sem)_(?:timed|clock)wait"
    r"|p?poll|p?select|epoll_p?wait|sigtimedwait"
)


def only_locks(code: Code) -> bool:
    """Whether `code` takes and gives back a lock and does nothing else that could hand over."""
    names = {each.name for each in calls(code)}
    locks, unlocks = (any(map(kind.fullmatch, names)) for kind in (_LOCK, _UNLOCK))
    return locks and unlocks and not any(map(_OTHERWISE.fullmatch, names))


def signals_under_lock(code: Code) -> bool:
    """Whether `code`, as it is written, signals between a lock and the unlock after it."""
    held = False
    for call in sorted(calls(code), key=lambda each: each.node.start_byte):
        if held and _SIGNAL.fullmatch(call.name):
            return True
        taken = _LOCK.fullmatch(call.name) is not None
        held = taken or (held and _UNLOCK.fullmatch(call.name) is None)
    return False


def wait_with_an_end(code: Code) -> str | None:
    """The first function called that sleeps for a time, or waits until one; None if none is."""
    return next((each.name for each in calls(code) if _TIMED.fullmatch(each.name)), None)


def posts_what_it_waits_for(region: Code) -> bool:
    """Whether `region` waits for the same semaphore that it posts."""
    waited, posted = (
        {each.arguments for each in calls(region) if each.name == name}
        for name in ("sem_wait", "sem_post")
    )
    return bool(waited & posted)


# What a student's C does with its readings of a clock: in which order, and what it subtracts.

_READS = re.compile(r"counter_\w+|clock_\w+|gettimeofday")
_BY_INSTRUCTION = re.compile(r"\brdtscp?\b")
_NAMED_LIKE_A_CLOCK = re.compile(r"counter|tsc|clock|time|now|ticks|_ns")
_CONSTANT = re.compile(r"(\d{1,12}(?:\.\d{1,12})?)[uUlLfF]{0,3}")
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
        if (number := _constant(value)) is not None:
            numbers[name] = number
        elif _holds_one(clocks, value):
            readings.add(name)
    differences = {name for name, value in values if _ends_in_difference(value, readings)}
    for left, right in _subtractions(code):
        what = _bare(left)
        if text_of(what) not in differences and not _is_difference(what, readings):
            continue
        constant = _bare(right)
        number = _constant(constant)
        if number is not None and float(number) > 1:
            return number
        named = numbers.get(text_of(constant))
        if named is not None and float(named) > 1:
            return f"{text_of(constant)} = {named}"
    return None


def _assignments(code: Code) -> Iterator[tuple[str, Node]]:
    """Each variable that gets a value, with the value."""
    for each in code.of_type("init_declarator", "assignment_expression"):
        sides = ("declarator", "value") if each.type == "init_declarator" else ("left", "right")
        target, value = (each.child_by_field_name(side) for side in sides)
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


def _constant(node: Node) -> str | None:
    found = _CONSTANT.fullmatch(text_of(_bare(node)))
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
