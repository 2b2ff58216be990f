"""Which functions a built program takes from libraries: what the compiler left of its source."""

from __future__ import annotations

import shutil
import subprocess

from labs.c_kernels.toolchain import Binary

TIME_LIMIT_S = 30


def imported_by(binary: Binary) -> tuple[str, ...] | None:
    """The names that `binary` imports, in order; None if this machine has no `nm` to list them."""
    nm = shutil.which("nm")
    if nm is None:
        return None
    try:
        done = subprocess.run(
            [nm, "-u", str(binary.path)],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=TIME_LIMIT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return names_in(done.stdout) if done.returncode == 0 else None


def names_in(listed: str) -> tuple[str, ...]:
    """The names in what `nm -u` prints, in order, as they stand in C.

    Linux prints "U read@GLIBC_2.2.5", with a "w" for a name that need not exist; macOS "_read".
    """
    lines = [words for line in listed.splitlines() if (words := line.split())]
    return tuple(
        sorted({words[-1].partition("@")[0].lstrip("_") for words in lines if words[0] not in "wv"})
    )
