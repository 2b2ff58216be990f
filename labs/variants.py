"""The variants of a C kernel, as the program itself lists them."""

from __future__ import annotations

import csv
import re
import subprocess
from dataclasses import dataclass

from labs import surroundings, toolchain
from labs.c_process import RunFailed

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
    return _list(kernel, flags)[1]


def samples_of(kernel: str, flags: tuple[str, ...] = toolchain.DEFAULT_FLAGS) -> int:
    """How many samples a C kernel takes where no number is asked for. Raises as `of_kernel`."""
    match = re.search(r"^# samples: (\d{1,6})$", _list(kernel, flags)[0], re.MULTILINE)
    return int(match[1]) if match else 1_000


def _list(kernel: str, flags: tuple[str, ...]) -> tuple[str, tuple[Listed, ...]]:
    """What `--list` says before its table, and the table."""
    binary = toolchain.build(toolchain.c_kernel_source(kernel), flags)
    try:
        done = subprocess.run(
            [str(binary.path), "--list", *surroundings.place_options()],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=TIME_LIMIT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise RunFailed(f"{kernel} --list took more than {TIME_LIMIT_S} s") from None
    head, found, table = done.stdout.partition("variant,about,missing\n")
    rows = [row for row in csv.reader(table.splitlines()) if len(row) == 3]
    if done.returncode != 0 or not found or not rows:
        raise RunFailed(f"{kernel} --list names no variants: {done.stderr.strip()[:300]}")
    return head, tuple(Listed(*row) for row in rows)


def has_peer(kernel: str) -> bool:
    """Whether two tasks take part in a C kernel, so that the second can be pinned too."""
    try:
        source = toolchain.c_kernel_source(kernel).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    return "second_place(" in source or "peer_cpu" in source
