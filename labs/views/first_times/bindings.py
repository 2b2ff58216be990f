"""The view of bindings: which functions the dynamic linker looks up while a C kernel runs."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

from labs.c_kernels import toolchain
from labs.common.messages import Message
from labs.common.table import Table
from labs.views.gather import refused

TIME_LIMIT_S = 30
#: What the linker prints begins with the number of its process.
_OF_LINKER = re.compile(r"\s*\d+:\t")
_SYMBOL = re.compile(r"symbol [`']([^']+)'")


def bindings(kernel: str, variant: str, other: str) -> Table | Message:
    """The functions that are looked up more often while `variant` runs than while `other` does.

    glibc's linker prints each look-up if LD_DEBUG asks for it. The C kernel takes two samples. If a
    variant cannot run, or the linker prints nothing, a note says so. Raises Refused for an unknown
    C kernel.
    """
    try:
        program = toolchain.build(toolchain.c_kernel_source(kernel)).path
    except (OSError, toolchain.NoCompiler, toolchain.CompileError) as error:
        raise refused(f"{kernel} cannot be run", f"{error}.") from None
    found = []
    for name in (variant, other):
        try:
            found.append(looked_up(_printed(program, name), str(program)))
        except _NothingPrinted as why:
            return Message("note", f"no look-ups of {name} can be shown here", (f"{why}.",))
    mine, others = found
    rows = [
        (name, f"{mine.count(name)}", f"{others.count(name)}")
        for name in sorted(set(mine))
        if mine.count(name) > others.count(name)
    ]
    less = sum(mine.count(name) < others.count(name) for name in set(others))
    return Table(
        f"Functions that the dynamic linker looks up while {kernel} runs: "
        f"{len(rows) or 'none'} more often for {variant} than for {other}, "
        f"{less or 'none'} more often for {other}",
        ("function", f"for {variant}", f"for {other}"),
        tuple(rows),
    )


class _NothingPrinted(Exception):
    """The linker printed no look-ups; the message says why."""


def looked_up(printed: str, program: str) -> list[str]:
    """The functions bound for `program` itself after it began, once for each look-up.

    Raises _NothingPrinted if `printed`, the output of the linker, does not say when it began.
    """
    _, begun, during = printed.partition("transferring control")
    if not begun:
        raise _NothingPrinted("The dynamic linker prints none: linked statically, or not glibc's")
    mine = (line for line in during.splitlines() if f"binding file {program} " in line)
    return [match[1] for line in mine if (match := _SYMBOL.search(line))]


def _printed(program: Path, variant: str) -> str:
    """What the linker prints during a short run. Raises _NothingPrinted if it cannot run."""
    try:
        done = subprocess.run(
            [str(program), "--variant", variant, "--samples", "2", "--warmup", "0"],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=TIME_LIMIT_S,
            env={**os.environ, "LD_DEBUG": "bindings"},
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise _NothingPrinted(str(error)) from None
    if done.returncode != 0:
        # The linker may begin a line of its own in the middle of the C kernel's message.
        lines = (_OF_LINKER.split(line)[0].strip() for line in done.stderr.splitlines())
        reason = [*filter(None, lines), "The C kernel ended and printed no reason"][0]
        raise _NothingPrinted(reason[:200].rstrip("."))
    return done.stderr
