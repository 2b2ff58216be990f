"""The view of system calls: how often the samples of a variant enter the OS kernel, by strace."""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from labs.c_kernels import toolchain
from labs.common.messages import Message
from labs.common.table import Table
from labs.common.units import rounded
from labs.views.gather import refused

TIME_LIMIT_S = 60


def system_calls(
    kernel: str, variants: str | Sequence[str], call: str = "all", samples: int = 100
) -> Table | Message:
    """How many system calls one sample of each variant makes, as strace counts them.

    `call` is the name of a system call, or "all". Each variant runs twice: with `samples` samples,
    and with twice as many. What the program calls besides its samples is in both counts, so the
    difference belongs to the samples. Where strace cannot count, a note says why. Raises Refused
    for an unknown C kernel.
    """
    if not re.fullmatch(r"[a-z][a-z0-9_]*", call) or samples < 1:
        raise refused("name one system call, and count 1 sample or more", 'Such as "getppid".')
    try:
        program = toolchain.build(toolchain.c_kernel_source(kernel)).path
    except (OSError, toolchain.NoCompiler, toolchain.CompileError) as error:
        raise refused(f"{kernel} cannot be run", f"{error}.") from None
    rows = []
    names = variants.split(",") if isinstance(variants, str) else variants
    for variant in (name.strip() for name in names):
        try:
            few, many = (_counted(program, variant, call, n * samples) for n in (1, 2))
        except _CannotCount as why:
            return Message("note", f"strace does not count {variant} here", (f"{why}.",))
        each = rounded((many - few) / samples)
        rows.append((variant, f"{few:,}", f"{many:,}", each))
    what = "system calls" if call == "all" else f"calls of {call}"
    return Table(
        f"{kernel}: {what} counted by strace",
        ("variant", f"with {samples:,} samples", f"with {2 * samples:,}", "so one sample makes"),
        tuple(rows),
    )


class _CannotCount(Exception):
    """strace cannot be used; the message says why."""


def calls_in(summary: str) -> int:
    """The sum of the calls in the table that `strace -c` prints; an empty table has none."""
    rows = re.findall(
        r"^ *[\d.]+ +[\d.]+ +\d+ +(\d+) +(?:\d+ +)?(\w+)$", summary.replace(",", ""), re.M
    )
    return sum(int(count) for count, name in rows if name != "total")


def _counted(program: Path, variant: str, call: str, samples: int) -> int:
    strace = shutil.which("strace")
    if strace is None:
        raise _CannotCount("It is not installed; on Debian it is the package strace")
    with tempfile.TemporaryDirectory(prefix="ticklab-strace-") as folder:
        summary = Path(folder) / "summary"
        command = [strace, "-f", "-c", "-e", f"trace={call}", "-o", str(summary), str(program)]
        command += ["--variant", variant, "--samples", str(samples)]
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=TIME_LIMIT_S, check=False
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise _CannotCount(str(error)) from None
        if done.returncode != 0 or not summary.is_file():
            said = (done.stderr.strip().splitlines() or ["strace printed no reason"])[-1]
            raise _CannotCount(said[:200].rstrip("."))
        return calls_in(summary.read_text(encoding="utf-8", errors="replace"))
