"""`labs new`: a C kernel of one's own, which is `starter.c.txt` with a call of a function.

Its arguments are made new for each operation. The prototype of the function says of which types
they are.
"""

from __future__ import annotations

import errno
import os
import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from labs.c_kernels.catalogue import C_PLUS_PLUS, SOURCES
from labs.c_kernels.toolchain import arguments_of, c_kernel_names
from labs.files import CannotWrite

_STARTER = Path(__file__).with_name("starter.c.txt")
#: The name becomes that of a file and of a program, and it stands in C and in the recording.
_NEW_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,39}")
#: `int f(const char *text, size_t length)`: what it returns, its name, and its arguments.
_PROTOTYPE = re.compile(
    r"\s*(?:extern\s+)?(?P<returns>[\w:<>\s*&]+?[\s*&])(?P<name>[\w:]+)\s*\((?P<arguments>.*)\)"
    r"(?:\s*noexcept)?\s*;?\s*",
    re.DOTALL,
)
_INTEGER = (
    r"(?:(?:unsigned|signed|char|short|int|long|bool|_Bool|char8_t)\b ?)+"
    r"|(?:std::)?(?:u?int(?:8|16|32|64|ptr|max)_t|s?size_t|ptrdiff_t)"
)
_SCALAR = re.compile(rf"(?:const )?(?P<type>(?:{_INTEGER})|float|double) ?(?P<name>\w*)")
_POINTER = re.compile(
    rf"(?P<const>const )?(?P<type>(?:{_INTEGER})|float|double|void) ?"
    r"(?:\*(?: ?(?:const|restrict|__restrict))* ?(?P<name>\w*)|(?P<array>\w*)\[\d*\])"
)
#: A type that only the header knows, by value.
_NAMED = re.compile(r"(?:const )?(?P<type>(?:enum )?[A-Za-z_][\w:]*) ?(?P<name>\w*)")
_STRING = re.compile(r"(?:const )?std::(?:string|string_view) ?&? ?(?P<name>\w*)")
_WIDEST, _MOST_LINES = 100, 40
#: A number that says how long an argument before it is, or how much room it has.
_LENGTH = re.compile(r"n|.*(?:len|size|count|bytes|num|cap).*", re.IGNORECASE)

#: Numbers of which a function knows few: of any other, it may do nothing.
_FEW = {"1": re.compile(r"(?:\w*_)?(?:level|quality)", re.IGNORECASE),
        "0": re.compile(r"(?:\w*_)?(?:flags?|mode|options?)", re.IGNORECASE)}  # fmt: skip

_EXAMPLE = "return strlen(in->text); /* put your function in its place */"


@dataclass(frozen=True)
class _Argument:
    """One argument: how it stands in the call, the field that holds it, how its `i`-th part is
    filled, and whether the function may change it."""

    call: str
    field: str = ""
    filled: str = ""
    changed: bool = False


def source_of_new(name: str, function: str = "", header: str = "", threads: int = 1) -> str:
    """The source of a new C kernel `name`, which ends in `.c` or as C++ does, or in neither.

    It calls the function of a prototype, which `header` declares. With two threads, another one
    calls it all the time. Raises ValueError if something cannot be used: the message says what can.
    """
    stem, suffix = _parts(name)
    if not _NEW_NAME.fullmatch(stem):
        raise ValueError(
            f"{stem!r} cannot be the name of a C kernel: give a letter and then at most 39 "
            "letters, digits and underscores, such as pipe_write"
        )
    if stem in c_kernel_names():
        raise ValueError(
            f"Ticklab has a C kernel {stem}, and recordings of both would have the same name: "
            "choose another"
        )
    called, returns, body = "strlen", "size_t", _EXAMPLE
    arguments = [_text_of("text", changed=False)]
    includes = ['#include "harness.h"', *(['#include "other_thread.h"'] if threads > 1 else [])]
    if suffix == ".c":
        includes.insert(0, "#define _GNU_SOURCE")
    if function:
        called, returns, arguments = _parsed(function, suffix)
        call = f"{called}({', '.join(each.call for each in arguments)});"
        body = f"{call} return 0;" if returns == "void" else f"return {call}"
        returns = "int" if returns == "void" else returns.replace("const ", "", 1)
        if any("std::" in each.field for each in arguments):
            includes += ["#include <string>"]
    if header:
        includes += [f"#include {header}" if header.startswith("<") else f'#include "{header}"']
    elif function:
        includes += [f"{function.strip().rstrip(';')};"]
    body = body if "in->" in body else f"(void)in; {body}"
    operation = f"static {returns} operation(struct input *in) {{ {body} }}"
    if len(operation) > _WIDEST:
        operation = operation.replace(" { ", "\n{\n    ").removesuffix(" }") + "\n}"
    fills = [each.filled for each in arguments if each.filled] or [
        "in->nothing = (int)next_random(&state);"
    ]
    # A blank within a statement is no place to end a line.
    statements = " ".join(each.replace(" ", "\0") for each in fills)
    filled = "\n" + _folded(12 * " " + statements, 12 * " ").replace("\0", " ")
    chosen, copy = "&inputs[random_of(turn) % INPUTS]", ""
    if any(each.changed for each in arguments):
        chosen = "copy = inputs[random_of(turn) % INPUTS], &copy"
        copy = "\nstatic __thread struct input copy; /* the function may change its input */"
    about = f"{called}, while another thread calls it too" if threads > 1 else called
    own = f'    {{.name = "own", .about = "{about}", .interval = own, .baseline = "loop"}},'
    if threads > 1:
        own = (
            f'    {{.name = "own", .about = "{about}", .interval = own,\n'
            '     .cannot = no_second_cpu, .baseline = "loop", BESIDE_THREAD(start)},'
        )
    values = {
        "ABOUT": called,
        "FILE": f"{stem}{suffix}",
        "NAME": stem,
        "INCLUDES": "\n".join(includes),
        "FIELDS": " ".join(each.field for each in arguments if each.field) or "int nothing;",
        "FILLED": f" {{{filled}\n        }}" if len(fills) > 1 else filled,
        "CHOSEN": chosen,
        "COPY": copy,
        "OPERATION": operation,
        "THREAD": "OTHER_THREAD(start, own)\n" if threads > 1 else "",
        "OWN": own,
    }
    text = re.sub(r"@([A-Z]+)@", lambda found: values[found[1]], _STARTER.read_text("utf-8"))
    lines = "\n".join(_folded(line, 8 * " ") for line in text.splitlines()).splitlines()
    for n in reversed([n for n, line in enumerate(lines) if not line]):
        if len(lines) > _MOST_LINES:  # of many arguments
            del lines[n]
    return "\n".join(lines) + "\n"


def _folded(line: str, indent: str) -> str:
    """The line, or several that begin with `indent` if it is too long; words stay whole."""
    return textwrap.fill(line, _WIDEST, subsequent_indent=indent, break_long_words=False,
                         break_on_hyphens=False)  # fmt: skip


def _parts(name: str) -> tuple[str, str]:
    suffix = next((each for each in SOURCES if name.endswith(each)), "")
    return name.removesuffix(suffix), suffix or ".c"


def _parsed(function: str, suffix: str) -> tuple[str, str, list[_Argument]]:
    found = _PROTOTYPE.fullmatch(function)
    if found is None:
        raise ValueError(
            f"--function {function!r} is no prototype: give one as it stands in the header, such "
            "as 'int f(const char *, size_t)'"
        )
    words = [" ".join(each.split()) for each in arguments_of(found["arguments"])]
    words = [re.sub(r"^((?:\w+ )*\w+) const\b", r"const \1", each) for each in words]
    words = [] if words in ([""], ["void"]) else words
    made = list(_arguments(words, found["name"], suffix))
    return found["name"], " ".join(found["returns"].split()), made


def _arguments(words: list[str], function: str, suffix: str) -> Iterator[_Argument]:
    sized = False
    for number, word in enumerate(words, start=1):
        field = f"a{number}"
        if (pointer := _POINTER.fullmatch(word)) is not None:
            kind, changed = pointer["type"].strip(), not pointer["const"]
            if kind in ("char", "void"):
                yield _text_of(field, changed)
            else:
                yield _Argument(f"in->{field}", f"{kind} {field}[LENGTH];",
                                f"in->{field}[i] = {_random(kind)};", changed)  # fmt: skip
            sized = True
        elif suffix in C_PLUS_PLUS and _STRING.fullmatch(word):
            yield _Argument(
                f"in->{field}", f"std::string {field};", f"in->{field} += (char)({_LETTER});"
            )
        elif (scalar := _SCALAR.fullmatch(word)) is not None:
            kind = scalar["type"].strip()
            few = next((n for n, names in _FEW.items() if names.fullmatch(scalar["name"])), "")
            if few:
                yield _Argument(few)
            elif sized and ("size_t" in kind or _LENGTH.fullmatch(scalar["name"])):
                yield _Argument("LENGTH")
            else:
                yield _Argument(f"in->{field}", f"{kind} {field};",
                                f"in->{field} = {_random(kind)};")  # fmt: skip
        elif named := _NAMED.fullmatch(word):
            yield _Argument(f"({named['type']})0")  # flags, as a rule
        else:
            raise ValueError(
                f"--function: argument {number} of {function}, {word!r}, cannot be made: texts, "
                "numbers and arrays of numbers can. Write its type without typedef and macro. Or "
                "leave --function out, but not --header, and write the call into `operation`"
            )


_LETTER = "'a' + next_random(&state) % 26"


def _text_of(field: str, changed: bool) -> _Argument:
    """Letters with a zero behind them."""
    filled = f"in->{field}[i] = {_LETTER};"
    return _Argument(f"in->{field}", f"char {field}[LENGTH + 1];", filled, changed)


def _random(kind: str) -> str:
    """A number of this type: any whole one, or one from 0 to 1. A size is at most LENGTH."""
    if kind in ("float", "double"):
        return "next_random(&state) / 0x1p64"
    return "next_random(&state)" + (" % LENGTH" if "size_t" in kind else "")


def write_new(
    name: str, folder: Path, function: str = "", header: str = "", threads: int = 1
) -> Path:
    """Write a new C kernel to `folder`, and return its path; for the others see `source_of_new`.

    Raises ValueError for what cannot be used, and CannotWrite. What is already at the path stays as
    it is, also a broken link.
    """
    text = source_of_new(name, function, header, threads)
    path = folder / "".join(_parts(name))
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    except FileExistsError as error:
        raise CannotWrite(
            errno.EEXIST, f"{path.name} is already there and stays as it is: choose another name"
        ) from error
    except OSError as error:
        raise CannotWrite(error.errno, f"cannot write {path.name}: {error.strerror}") from error
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        path.unlink(missing_ok=True)  # it is ours: this call has just made it
        raise CannotWrite(error.errno, f"cannot write {path.name}: {error.strerror}") from error
    return path
