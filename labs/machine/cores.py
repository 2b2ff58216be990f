"""Whether the cores of this machine are alike."""

from __future__ import annotations

import platform
from pathlib import Path

#: Linux has these folders on CPUs that mix large and small cores (Intel since 2021).
MIXED_CORES = (Path("/sys/devices/cpu_atom"), Path("/sys/devices/cpu_core"))


def of_one_kind() -> bool:
    """Whether all cores are of one kind, as far as the OS tells; not on macOS, which does not."""
    if platform.system() == "Darwin" or any(path.exists() for path in MIXED_CORES):
        return False
    capacities = {
        path.read_text() for path in Path("/sys/devices/system/cpu").glob("cpu[0-9]*/cpu_capacity")
    }
    return len(capacities) < 2
