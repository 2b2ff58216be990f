"""What the C of a C kernel shows: whether it is one, its measured region, and unnamed registers."""

from __future__ import annotations

import re

from labs import paths

#: Of the linkers of GNU, LLVM and macOS.
_NO_MAIN = re.compile(r"undefined (?:reference to|symbol:) [`']?main\b|\"_main\", referenced from")


def lacks_main(output: str) -> bool:
    """Whether the linker, by its whole output, found no function main."""
    return _NO_MAIN.search(output) is not None


def not_a_c_kernel(why: str) -> str:
    """What to tell somebody whose C compiles, and cannot be measured. `why` is a main clause."""
    return (
        f'this is not a C kernel: {why}. A C kernel includes "harness.h" and ends with '
        "MEASURE(...), which is its main. `labs new my_function` writes one for you to change; "
        f"another one is {paths.kernels_c() / 'procedure_call.c'}"
    )


# The measured region, also that of one variant with the variant's operation.
#
# A C kernel writes its timed region once, as a macro, and names each variant's operation in one
# line:
#
#     INTERVAL(getppid_raw, raw_call(SYS_getppid, 0, 0) == parent)

_MACRO = re.compile(r"^#define (\w+)\(([^)]*)\)\s*\\\n((?:.*\\\n)*.*)$", re.MULTILINE)
_USE = re.compile(r"^(\w+)\((\w+),((?:[^\n]|\n[ \t])*)\)$", re.MULTILINE)


def measured_region(source: str) -> str:
    """The lines between `measured region begins` and `measured region ends`, shifted to the left.

    Raises ValueError if the marks are missing.
    """
    # We search line by line: one pattern for both marks could take quadratic time.
    all_lines = source.splitlines()
    begin = next((n for n, line in enumerate(all_lines) if "measured region begins" in line), None)
    end = None
    if begin is not None:
        rest = range(begin + 1, len(all_lines))
        end = next((n for n in rest if "measured region ends" in all_lines[n]), None)
    if begin is None or end is None:
        raise ValueError("no comments 'measured region begins' and 'measured region ends'")
    lines = [
        line.removesuffix("\\").rstrip() if line.endswith("\\") else line
        for line in all_lines[begin + 1 : end]
    ]
    indent = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    return "\n".join(line[indent:] for line in lines)


def region_of(source: str, variant: str) -> str:
    """The measured region of `variant`, or the first region of the source if that is not found.

    Raises ValueError if the source has no region.
    """
    macros = {
        name: ([each.strip() for each in parameters.split(",")], body)
        for name, parameters, body in _MACRO.findall(source)
        if "measured region begins" in body
    }
    named = _words_of(source, variant)
    for macro, function, rest in _USE.findall(source):
        if macro not in macros or function not in named:
            continue
        parameters, body = macros[macro]
        arguments = [function, *_arguments(" ".join(rest.split()))]
        if len(arguments) == len(parameters):
            return _expanded(measured_region(body), dict(zip(parameters, arguments, strict=True)))
    return measured_region(source)


def _words_of(source: str, variant: str) -> set[str]:
    """The words in the entry of `variant` in the table of variants; one of them is its function.

    A macro may define several entries, such as `.name = "fork-" #size`. Of those that match, we
    take the one with the longest beginning.
    """
    entries = {
        name + ("*" if pasted else ""): entry
        for name, pasted, entry in re.findall(
            r'\.name = "([^"]*)"( #\w+)?,(.*?)(?=\.name = "|\n};)', source, re.DOTALL
        )
    }
    matching = [name for name in entries if name.endswith("*") and variant.startswith(name[:-1])]
    entry = entries.get(variant) or entries.get(max(matching, key=len, default=""), "")
    return set(re.findall(r"\w+", re.sub(r'"[^"\n]*"', "", entry)))


def _arguments(text: str) -> list[str]:
    """`text` split at its commas, except at commas within brackets."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter in "([{") - (letter in ")]}")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts]


def _expanded(region: str, arguments: dict[str, str]) -> str:
    """`region` with the arguments of a macro in place of its parameters, without extra brackets."""
    expanded = re.sub(r"\w+", lambda word: arguments.get(word[0], word[0]), region)
    return re.sub(r"!\((\w+\([^()]*\))\)", r"!\1", expanded)


# Registers that inline assembly overwrites without telling the compiler.

#: x86-64: `syscall` keeps the address to return to in rcx and the flags in r11.
OVERWRITTEN_BY_SYSCALL = ("rcx", "r11")

#: An operand of assembly that the assembly writes into rcx, such as `"+c"(buffer)`.
_WRITES_RCX = re.compile(r'"[=+]&?c"')

#: Inline assembly is searched to this length; a longer one is not looked at.
MOST_ASM_CHARACTERS = 2_000

_ASM = re.compile(r"\b(?:asm|__asm__|__asm)\b")
_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)|//[^\n]*", re.DOTALL)


def missing_clobbers(source: str) -> tuple[str, ...]:
    """The registers that a `syscall` in `source` overwrites without naming them as such.

    A clobber names one, and so does an operand that is written.
    """
    code = _COMMENT.sub(" ", source)
    for begin in _ASM.finditer(code):
        statement, end, _ = code[begin.start() : begin.start() + MOST_ASM_CHARACTERS].partition(
            ");"
        )
        if end and re.search(r"\bsyscall\b", statement):
            named = "rcx" if _WRITES_RCX.search(statement) else ""
            found = tuple(
                name
                for name in OVERWRITTEN_BY_SYSCALL
                if f'"{name}"' not in statement and name != named
            )
            if found:
                return found
    return ()
