"""Find system calls and measured code in a C source, which is read as text, never built or run.

A student wrote the text, so it may be anything. A pattern that does not match finds nothing.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from labs.c_kernels import toolchain

#: At most this many pieces of inline assembly are examined.
MOST_ASM = 100

_PREPROCESSOR = re.compile(r"^[ \t]*#[^\n]*$", re.MULTILINE)
# A comment or string that is never closed ends with the text or the line. Without this rule, the
# pattern would search to the end for each of many, which takes minutes.
_COMMENT_OR_STRING = re.compile(
    r'/\*.*?(?:\*/|\Z)|//[^\n]*|("(?:[^"\\\n]|\\.)*(?:"|(?=\n)|\Z|\\\Z))', re.DOTALL
)
_BLANKS = re.compile(r"\s+")
_ASM = re.compile(r"\b(?:asm|__asm|__asm__)\s*(?:volatile|__volatile__)?\s*\(")
_OPERAND = re.compile(r'"([=+&%]*)([A-Za-z])"\s*\(\s*(\w*)')
_MOVED_TO = re.compile(r"\bmov\w*\s+[^,\n]{1,200},\s*%+(\w+)")
_BOUND = re.compile(r'\b(\w+)\s+(?:asm|__asm|__asm__)\s*\(\s*"(\w+)"\s*\)')
_LETTERS = {"a": "rax", "b": "rbx", "c": "rcx", "d": "rdx", "S": "rsi", "D": "rdi"}
_LONG_NAMES = {"eax": "rax", "ebx": "rbx", "ecx": "rcx", "edx": "rdx", "esi": "rsi", "edi": "rdi"}

#: Calls of a clock that the C library makes through the vDSO, if there is one.
_CLOCKS = re.compile(r"\b(gettimeofday|clock_gettime|clock_getres|time|getcpu)\s*\(")

#: System calls that take an argument and can be refused, as a student would write them.
_REFUSABLE = r"trap|read|write|open|close|lseek|setuid|setgid|seteuid|setpgid|kill|dup|ioctl|fcntl"
_EMPTY = re.compile(
    r"(?:\breturn\s+|[^\w\s]\s*)((?:setuid|setgid|seteuid|setpgid|kill|dup)\s*\(\s*\))"
)
_BY_NUMBER_ALONE = re.compile(r"\bsyscall\s*\(\s*(?:SYS_|__NR_)(\w+)\s*\)")
_TAKE_NOTHING = (
    *("getpid", "getppid", "gettid", "getuid", "geteuid", "getgid", "getegid", "getpgrp", "setsid"),
    *("sched_yield", "fork", "vfork", "pause", "sync", "vhangup", "munlockall", "inotify_init"),
)
_IGNORED = re.compile(
    rf"(?:[;{{}}]|\)[ \t]*\n)\s*(?:\(\s*void\s*\)\s*!?\s*)?"
    rf"((?:{_REFUSABLE}|syscall)\s*\([^;]{{0,300}}\))\s*;"
)

#: Functions of the C library with the name of a system call that they make or may make.
_OF_LIBRARY = re.compile(
    r"\b(p?readv?|pread64|preadv2|write|lseek|recv|gettimeofday|clock_gettime|time"
    r"|getp?pid|getp?gid|getpgrp|gettid|gete?uid|getegid|setuid|setgid)\s*\("
)
_BY_NUMBER = re.compile(r"\b(?:trap|syscall)\s*\(")
_INLINE = re.compile(r"\b(?:asm|__asm|__asm__)\b")
_STRING = re.compile(r'"((?:[^"\\\n]|\\.)*)(?:"|(?=\n)|\Z|\\\Z)', re.DOTALL)
#: By the machine's name, the instructions that enter its OS kernel, or data that may encode one.
_ENTERING = {
    r"x86_64|amd64|i.86": re.compile(r"\b(?:syscall|sysenter|int)\b|\.\w+"),
    r"aarch64|arm64": re.compile(r"\bsvc\b|\.\w+"),
    r"riscv": re.compile(r"\b(?:ecall|scall)\b|\.\w+"),
}

_MACRO = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)((?:[^\\\n]|\\.)*)", re.MULTILINE | re.DOTALL)
_CREATION = re.compile(r"\b(fork|vfork|clone|posix_spawnp?|pthread_create)\s*\(")
_FUNCTION = re.compile(r"\b(\w+)\s*\([^;{}()]*\)\s*\{")


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


# Every pitfall asks for the same text.
@functools.lru_cache(maxsize=8)
def without_comments(text: str) -> str:
    """`text` with every comment replaced by a blank, and white space shortened outside strings.

    What is left of white space is one line end, if it held one, or else one blank. So a pattern
    with `\\s*` has at most one character to try there, and the time to search the text grows only
    with its length, whoever wrote it.
    """
    # Code at even places, strings at odd ones; comments are part of the code around them.
    parts: list[list[str]] = [[]]
    end = 0
    for match in _COMMENT_OR_STRING.finditer(text):
        parts[-1].append(text[end : match.start()])
        end = match.end()
        if match[1] is None:
            parts[-1].append(" ")
        else:
            parts += [[match[1]], []]
    parts[-1].append(text[end:])
    joined = ("".join(part) for part in parts)
    return "".join(
        part if place % 2 else _BLANKS.sub(_one_blank, part) for place, part in enumerate(joined)
    )


def _one_blank(blanks: re.Match[str]) -> str:
    return "\n" if "\n" in blanks[0] else " "


def measured_region(source: str | None) -> str:
    """The measured lines of `source`, without comments; empty if there are none."""
    return _region(source or "") or ""


def has_region(source: str) -> bool:
    """Whether the C marks its measured region; if not, a header of the kit times its function."""
    return "measured region begins" in source


def timed(source: str) -> str:
    """The timed code without comments: the measured region and the functions that it reaches.

    If the source has no marks, it is one function that a header of the kit times. The result is
    then the whole source.
    """
    code = without_comments(source)
    region = _region(source)
    if region is None:
        return code
    return _reached(region, _bodies(code))


def measured_by(source: str, macro: str) -> str:
    """The arguments of the kit's `macro`, without comments; empty if the source does not use it.

    The result includes the functions and macros that they reach, in all preprocessor branches.
    """
    code = without_comments(source)
    arguments = re.findall(rf"\b{macro}\s*\(([^(){{}};]*)\)", code)
    return _reached("\n".join(arguments), itertools.chain(_bodies(code), _MACRO.findall(code)))


def enters_by_hand(code: str, machine: str) -> bool:
    """Whether `code` enters the OS kernel itself, and not through a function named like the call.

    It may do so with a trap instruction of `machine` (a name from uname; for an unknown machine,
    any inline assembly counts), or by number with trap() of the kit or syscall() of the C library.
    syscall() is a function too, but like trap() it always makes the call with this number.
    """
    if _BY_NUMBER.search(_STRING.sub("", code)):
        return True
    if not _INLINE.search(code):
        return False
    entering = next((e for name, e in _ENTERING.items() if re.search(name, machine)), None)
    return entering is None or any(entering.search(text) for text in _STRING.findall(code))


def functions_of_library(code: str) -> list[str]:
    """The functions of the C library that `code` calls and that are named like system calls."""
    return list(dict.fromkeys(_OF_LIBRARY.findall(_STRING.sub("", code))))


def creation(code: str) -> str | None:
    """The name of the first function called in `code` that creates a task."""
    found = _CREATION.search(code)
    return found[1] if found is not None else None


def clocks_of_library(text: str) -> list[str]:
    """The names of the library functions that read a clock."""
    return list(dict.fromkeys(_CLOCKS.findall(without_comments(text))))


def calls_without_argument(text: str) -> list[str]:
    """The calls without their required argument, as written."""
    code = without_comments(text)
    found = [match[1] for match in _EMPTY.finditer(code)]
    found += [m[0] for m in _BY_NUMBER_ALONE.finditer(code) if m[1] not in _TAKE_NOTHING]
    return [re.sub(r"\s+", "", each) for each in found]


def results_ignored(text: str) -> list[str]:
    """The calls that can be refused and whose result is ignored, as written."""
    code = _PREPROCESSOR.sub("", without_comments(text))
    found = [match[1] for match in _IGNORED.finditer(code)]
    return [
        re.sub(r"\s+", " ", each)
        for each in found
        if not any(re.search(rf"SYS_{name}\b", each) for name in _TAKE_NOTHING)
    ]


def trap_instructions(text: str) -> list[TrapInstruction]:
    """Every `syscall` or `svc` in inline assembly, with the registers loaded for it."""
    code = without_comments(text)
    bound = dict(_BOUND.findall(code))
    found = []
    for match in itertools.islice(_ASM.finditer(code), MOST_ASM):
        body = re.sub(r"\\[nt]", " ", _in_parentheses(code, match.end()))
        instruction = re.search(r"\b(syscall|svc)\b", body)
        if instruction is None:
            continue
        loaded = {_LONG_NAMES.get(name, name) for name in _MOVED_TO.findall(body)}
        for modifiers, letter, variable in _OPERAND.findall(body):
            if "=" not in modifiers:
                loaded.add(bound.get(variable) or _LETTERS.get(letter, letter))
        found.append(TrapInstruction(instruction[1], frozenset(loaded)))
    return found


def _in_parentheses(code: str, begin: int) -> str:
    """The text from `begin` to the parenthesis that closes the one before `begin`."""
    depth = 1
    for place in range(begin, min(begin + 4_000, len(code))):
        depth += {"(": 1, ")": -1}.get(code[place], 0)
        if depth == 0:
            return code[begin:place]
    return ""


def _reached(begin: str, parts: Iterable[tuple[str, str]]) -> str:
    """The text `begin`, and all `parts` whose names occur in it or in parts already reached."""
    unreached: dict[str, list[str]] = {}
    for name, text in parts:
        unreached.setdefault(name, []).append(text)
    reached = [begin]
    for part in reached:  # the loop appends to this list
        named = dict.fromkeys(name for name in re.findall(r"\w+", part) if name in unreached)
        for name in named:
            reached += unreached.pop(name)
    return "\n".join(reached)


def _bodies(code: str) -> Iterator[tuple[str, str]]:
    """The name and the body of each function that `code` defines.

    It takes one pass over all braces, even if many of them are never closed. A function inside the
    body of another one is not listed by itself.
    """
    opened: list[int] = []
    closed_at: dict[int, int] = {}
    for brace in re.finditer(r"[{}]", code):
        if brace[0] == "{":
            opened.append(brace.end())
        elif opened:
            closed_at[opened.pop()] = brace.start()
    past = 0
    for match in _FUNCTION.finditer(code):
        if match.end() in closed_at and match.end() > past:
            past = closed_at[match.end()]
            yield match[1], code[match.end() : past]


def _region(source: str) -> str | None:
    """The measured lines without comments; None if the marks are missing."""
    try:
        return without_comments(toolchain.measured_region(source))
    except ValueError:
        return None
