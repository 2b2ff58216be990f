"""The variants of a C kernel, as the program itself lists them."""

from __future__ import annotations

import csv
import subprocess
from dataclasses import dataclass

from labs import toolchain
from labs.measure import RunFailed

TIME_LIMIT_S = 10


@dataclass(frozen=True)
class Listed:
    """One variant: its name, what it is, and why this machine cannot do it ('': it can)."""

    name: str
    about: str
    missing: str = ""


def of_kernel(kernel: str, flags: tuple[str, ...] = toolchain.DEFAULT_FLAGS) -> tuple[Listed, ...]:
    """The variants of a released C kernel, or of a .c file, in its order.

    Builds it where it is not built yet. Raises what building raises, FileNotFoundError, RunFailed.
    """
    binary = toolchain.build(toolchain.c_kernel_source(kernel), flags)
    try:
        done = subprocess.run(
            [str(binary.path), "--list"],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=TIME_LIMIT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise RunFailed(f"{kernel} --list took more than {TIME_LIMIT_S} s") from None
    _, found, table = done.stdout.partition("variant,about,missing\n")
    rows = [row for row in csv.reader(table.splitlines()) if len(row) == 3]
    if done.returncode != 0 or not found or not rows:
        raise RunFailed(f"{kernel} --list names no variants: {done.stderr.strip()[:300]}")
    return tuple(Listed(*row) for row in rows)


def has_peer(kernel: str) -> bool:
    """Whether two tasks take part in a C kernel, so that the second can be pinned too."""
    try:
        source = toolchain.c_kernel_source(kernel).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    return "peer_cpu" in source
