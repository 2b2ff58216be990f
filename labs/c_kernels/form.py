"""What makes a file of C a C kernel, for somebody whose own file is none."""

from __future__ import annotations

import re

from labs.common import paths

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
