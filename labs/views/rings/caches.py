"""The view of this machine's caches."""

from __future__ import annotations

from pathlib import Path

from labs.common.table import Table
from labs.common.units import rounded
from labs.machine.caches import data_caches
from labs.views.gather import refused


def caches(sys: Path = Path("/sys")) -> Table:
    """The caches for data of this machine, with their sizes, as the OS reports them.

    Raises Refused if the OS reports none.
    """
    found = data_caches(sys)
    if not found:
        raise refused(
            "this OS does not report the sizes of its caches",
            "Look up the CPU that the first cell names.",
        )
    rows = tuple(
        (f"L{cache.level}", f"{rounded(cache.size / 1024, 6)} KiB", cache.cpus) for cache in found
    )
    caption = "Caches for data of CPU 0, as the OS reports them"
    return Table(caption, ("cache", "size", "shared by the CPUs"), rows).without_empty()
