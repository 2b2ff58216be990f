"""The measured region of one variant: that of its C kernel, with the operation in its place.

A C kernel writes its interval once, as a macro, and names each variant's operation in one line:

    INTERVAL(getppid_raw, raw_call(SYS_getppid, 0, 0) == parent)
"""

from __future__ import annotations

import re

from labs.c_kernels.toolchain import measured_region

_MACRO = re.compile(r"^#define (\w+)\(([^)]*)\)\s*\\\n((?:.*\\\n)*.*)$", re.MULTILINE)
_USE = re.compile(r"^(\w+)\((\w+),((?:[^\n]|\n[ \t]+)*)\)$", re.MULTILINE)


def region_of(source: str, variant: str) -> str:
    """The measured region of `variant`; where it cannot be told from others, the first there is.

    Raises ValueError where there is none.
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
        given = [function, *_arguments(" ".join(rest.split()))]
        if len(given) == len(parameters):
            return _filled(measured_region(body), dict(zip(parameters, given, strict=True)))
    return measured_region(source)


def _words_of(source: str, variant: str) -> set[str]:
    """The words in the entry of `variant` in the table of variants: among them its function.

    A macro may make the entries of several, `.name = "fork-" #size`: the longest beginning counts.
    """
    entries = {
        name + ("*" if pasted else ""): entry
        for name, pasted, entry in re.findall(
            r'\.name = "([^"]*)"( #\w+)?,(.*?)(?=\.name = "|\n};)', source, re.DOTALL
        )
    }
    made = [name for name in entries if name.endswith("*") and variant.startswith(name[:-1])]
    entry = entries.get(variant) or entries.get(max(made, key=len, default=""), "")
    return set(re.findall(r"\w+", re.sub(r'"[^"\n]*"', "", entry)))


def _arguments(text: str) -> list[str]:
    """`text` at its commas, those within brackets left alone."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter in "([{") - (letter in ")]}")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts]


def _filled(region: str, given: dict[str, str]) -> str:
    """`region` with what a macro was given for its parameters; needless brackets go."""
    filled = re.sub(r"\w+", lambda word: given.get(word[0], word[0]), region)
    return re.sub(r"!\((\w+\([^()]*\))\)", r"!\1", filled)
