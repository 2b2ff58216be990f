"""The caches of this machine, as the OS reports them."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from labs.common.pseudo_files import text_of

_CPU = "devices/system/cpu/cpu0/cache"
_SIZE = re.compile(r"(\d{1,9})([KM]?)")
#: The names that getconf knows, by level, for a system without the files below /sys.
_NAMES = {1: "SC_LEVEL1_DCACHE_SIZE", 2: "SC_LEVEL2_CACHE_SIZE", 3: "SC_LEVEL3_CACHE_SIZE"}


@dataclass(frozen=True)
class Cache:
    """One cache that holds data: its level from 1, its size in bytes, and the CPUs that share it.

    `cpus` is in the notation of the OS (`0-3`), and empty if the OS does not say.
    """

    level: int
    size: int
    cpus: str = ""


def data_caches(sys: Path = Path("/sys")) -> tuple[Cache, ...]:
    """The caches for data of the first CPU, the smallest first; empty if the OS reports none."""
    found = [_cache(folder) for folder in sorted((sys / _CPU).glob("index[0-9]*"))]
    known = [cache for cache in found if cache is not None] or _by_sysconf()
    return tuple(sorted(known, key=lambda cache: cache.level))


def _cache(folder: Path) -> Cache | None:
    level, size = text_of(folder / "level") or "", _SIZE.fullmatch(text_of(folder / "size") or "")
    holds_data = text_of(folder / "type") in ("Data", "Unified")
    if not (holds_data and level.isdecimal() and size):
        return None
    size_in_bytes = int(size[1]) << {"": 0, "K": 10, "M": 20}[size[2]]
    return Cache(int(level), size_in_bytes, text_of(folder / "shared_cpu_list") or "")


def _by_sysconf() -> list[Cache]:
    sizes = {level: _sysconf(name) for level, name in _NAMES.items()}
    return [Cache(level, size) for level, size in sizes.items() if size > 0]


def _sysconf(name: str) -> int:
    """What the C library states under `name`; 0 if it does not know."""
    try:
        return os.sysconf(name)
    except (ValueError, OSError):
        return 0
