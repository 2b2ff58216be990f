"""The largest number of additions, or of stores, per core cycle that any run saw on this CPU model.

Each process of a run counts, in rounds spread over its samples, how many independent additions and
how many stores the core does per cycle (kernels_c/core_rounds.h). If another hardware thread of the
same physical core is busy, these numbers fall. Only the best numbers show what a whole core can do,
and a run that always has a neighbour never sees them. So we remember them from run to run.
"""

from __future__ import annotations

import contextlib
import json
import platform
from typing import Any

from labs.common import paths
from labs.common.files import read_bounded, write_atomically
from labs.common.json_text import BadJson, entries, text_of
from labs.machine import cores
from labs.recording.core_rounds import ADDITIONS, MOST_WIDTH, reached
from labs.recording.file import Recording

#: Older kits timed code that was not in the caches yet, and kept up to 1.3 times what a core can do
#: in `core-widths.json`. This one begins anew.
FILE_NAME = "widest-cores.json"
MOST_ENTRIES = 200
_MOST_BYTES = 64 * 1024
_MOST_KEY = 300


def best(recording: Recording, counted: str = ADDITIONS, *, remember: bool) -> float | None:
    """The best number per cycle that we remember for this CPU model; None if we remember none.

    With `remember`, this function first adds the number that a tenth of the rounds of `recording`
    reached. It remembers nothing if the cache folder cannot be written, and ignores a file of
    another form.
    """
    model = recording.conditions.get("machine.cpu", "")
    counter = " ".join(recording.condition("counter"))
    core = _kind_of_core(recording)
    if core is None:
        return None
    # Several kinds of machines can share a home directory.
    of = "" if counted == ADDITIONS else f"{counted} "
    key = f"{of}{platform.machine()} {model} {counter}{core}"[:_MOST_KEY]
    known: dict[str, float] = {}
    with contextlib.suppress(OSError, BadJson, paths.CacheNotWritable):
        text = text_of(read_bounded(paths.cache() / FILE_NAME, _MOST_BYTES))
        known = _usable(entries(text, MOST_ENTRIES))
    before = known.pop(key, None)
    seen = reached(recording, counted) if remember else None
    if seen is None or not _possible(seen) or (before is not None and seen <= before):
        return before
    known = dict([*known.items(), (key, seen)][-MOST_ENTRIES:])
    with contextlib.suppress(OSError, paths.CacheNotWritable):
        write_atomically(paths.cache() / FILE_NAME, json.dumps(known).encode())
    return seen


def _kind_of_core(recording: Recording) -> str | None:
    """Which kind of core the run used.

    '' if the machine has only one kind; None if it has several and the run used more than one CPU.
    A small core does fewer additions than a large one, even without a neighbour.
    """
    if cores.of_one_kind():
        return ""
    cpus = {*recording.condition("cpu.before"), *recording.condition("cpu.after")}
    return f" cpu {cpus.pop()}" if len(cpus) == 1 else None


def _possible(width: object) -> bool:
    number = isinstance(width, float | int) and not isinstance(width, bool)
    return number and 0 < width <= MOST_WIDTH  # type: ignore[operator]


def _usable(stated: dict[str, Any]) -> dict[str, float]:
    """The entries that have the form of our file; all others are ignored."""
    usable = ((key, width) for key, width in stated.items() if _possible(width))
    return {key: float(width) for key, width in usable if len(key) <= _MOST_KEY}
