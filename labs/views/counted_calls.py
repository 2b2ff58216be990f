"""The view of counted calls: the rounds of a loop next to the system calls that strace counted."""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from labs.c_kernels import toolchain
from labs.common.messages import Refused
from labs.common.table import Table
from labs.notebook import explain
from labs.views.gather import refused

_KERNEL = "system_call"
#: What strace calls the system call of a variant, where the variant's name does not begin with it.
_TRACED = {"monotonic": "clock_gettime", "read0": "read", "invalid": "syscall_0x186a0"}
#: Each round is a stop for the tracer, so the run is short.
_SHORT = ("--samples", "20", "--warmup", "0", "--batch", "50")
_TIME_LIMIT_S = 60


def counted_calls(*variants: str) -> Table:
    """How many rounds each variant of the C kernel system_call makes, and how many calls that is.

    strace counts the calls. It does not read the clock, and stops the program at each system call.
    The reason is in the table if this machine does not let it. Raises Refused for an unknown
    variant, or where there is no C compiler.
    """
    if not variants or not all(isinstance(each, str) for each in variants):
        raise refused("name variants of system_call", 'views.counted_calls("getppid", "invalid")')
    try:
        program = str(toolchain.build(toolchain.c_kernel_source(_KERNEL)).path)
    except explain.EXPECTED as error:
        raise Refused(explain.of_error(error)) from None
    rows = [(each, *_counts(program, each)) for each in variants]
    header = ("variant", "rounds of the loop", "system call", "calls counted by strace")
    return Table("System calls, counted without a clock", header, tuple(rows))


def _counts(program: str, variant: str) -> tuple[str, str, str]:
    """The rounds, the name of the system call, and its count or why there is none."""
    name = _TRACED.get(variant.split("-")[0], variant.split("-")[0])
    run = [program, "--variant", variant, *_SHORT]
    with tempfile.TemporaryDirectory(prefix="ticklab-strace-") as scratch:
        trace = Path(scratch) / "trace"
        try:
            alone = _output(run)
            if alone.returncode != 0:
                raise refused(f"{variant} cannot run", alone.stderr.strip()[:300])
            rounds = f"{_rounds(alone.stdout, variant):,}"
            if shutil.which("strace") is None:
                return rounds, name, "strace is not installed"
            traced = _output(["strace", "-o", str(trace), *run])
            lines = trace.read_text(errors="replace") if traced.returncode == 0 else ""
        except (OSError, subprocess.TimeoutExpired) as error:
            raise refused(f"{variant} could not be counted", f"{error}.") from None
    if traced.returncode != 0:
        return rounds, name, f"strace failed: {traced.stderr.strip()[:100]}"
    return rounds, name, f"{counted(lines, name):,}"


def _output(command: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, capture_output=True, text=True, timeout=_TIME_LIMIT_S, check=False
    )


def _rounds(printed: str, variant: str) -> int:
    """How often the loop ran: the sum of the batches of this variant's samples."""
    batches = re.findall(rf"^{re.escape(variant)},-?\d+,(\d+),", printed, re.M)
    return sum(map(int, batches))


def counted(trace: str, name: str) -> int:
    """How many lines of strace's output are calls of `name`.

    `strace -c` would leave out call numbers that do not exist.
    """
    return len(re.findall(rf"^{re.escape(name)}\(", trace, re.M))
