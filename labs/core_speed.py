"""At which speeds this machine's cores were seen to run of late.

A core changes its clock from second to second, as turbo, heat and neighbours decide, and a virtual
machine can neither set nor read it. A run of 70 ms meets one speed; its samples say nothing of the
others, at which the same thing takes another time. So each run leaves behind what it saw, and
carries in its conditions what all runs of the last hour have seen.
"""

from __future__ import annotations

import contextlib
import json
import platform
import time

from labs import paths
from labs.files import read_bounded, write_atomically

REMEMBERED_S = 3600.0
MOST_ENTRIES = 200
ONE_ODD_IN = 20
FILE_NAME = "core-cycles.json"
_MOST_BYTES = 64 * 1024


def seen_lately(length: float, counter: str = "", *, remember: bool = True) -> tuple[float, float]:
    """The shortest and longest core cycle of the last hour on this machine, `length` among them.

    In ticks of `counter`: by another counter, or a clock in its place, it is another number. Only
    what can be trusted is to be remembered. What cannot be (a read-only cache folder) is forgotten.
    """
    # A home directory can be shared by many machines: each remembers its own.
    machine = f"{platform.node()} {platform.machine()} {counter}".rstrip()
    now = time.time()
    known: dict[str, list[list[float]]] = {}
    with contextlib.suppress(OSError, ValueError, RecursionError, paths.CacheNotWritable):
        known = _usable(json.loads(read_bounded(paths.cache() / FILE_NAME, _MOST_BYTES)))
    entries = [entry for entry in known.get(machine, []) if 0 <= now - entry[0] <= REMEMBERED_S]
    entries = [*entries, [now, length]][-MOST_ENTRIES:]
    lengths = sorted(entry[1] for entry in entries)
    # What one run in twenty saw and no other did is a calibration gone wrong, or a speed so rare
    # that a 95 % interval need not hold it: one of them would widen every interval for an hour.
    odd = len(lengths) // ONE_ODD_IN
    lengths = [length, *lengths[odd : len(lengths) - odd]]
    if not remember:
        return min(lengths), max(lengths)
    with contextlib.suppress(OSError, paths.CacheNotWritable):
        text = json.dumps({**known, machine: entries})
        write_atomically(paths.cache() / FILE_NAME, text.encode())
    return min(lengths), max(lengths)


def _usable(stated: object) -> dict[str, list[list[float]]]:
    """What has the form of our file; anything else is as if it were not there."""
    if not isinstance(stated, dict):
        return {}
    return {
        machine: [
            [float(at), float(length)]
            for at, length in (entry for entry in entries if _is_pair(entry))
            if length > 0
        ]
        for machine, entries in stated.items()
        if isinstance(machine, str) and isinstance(entries, list)
    }


def _is_pair(entry: object) -> bool:
    return (
        isinstance(entry, list)
        and len(entry) == 2
        and all(isinstance(x, float | int) and not isinstance(x, bool) for x in entry)
    )
