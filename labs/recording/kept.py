"""Keeps the recordings of one submission while it is judged, shown and described.

Each of these reads the same files. What was computed from a recording is kept with it.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from pathlib import Path
from typing import Any, TypeVar

from labs.common.limits import MOST_RECORDING_BYTES

#: Larger files are not kept: they are rare, and many of them would take too much memory.
_MOST_BYTES = 2 * MOST_RECORDING_BYTES

Parsed = TypeVar("Parsed")

#: What was read, by path: the state of the file before, and the recording. None outside `keeping`.
_kept: ContextVar[dict[Path, tuple[tuple[int, ...], Any]] | None] = ContextVar("kept", default=None)


@contextlib.contextmanager
def keeping() -> Iterator[None]:
    """In here, no file is read again as long as it has not changed."""
    token = _kept.set({})
    try:
        yield
    finally:
        _kept.reset(token)


def once(path: Path, read: Callable[[], Parsed]) -> Parsed:
    """What `read` makes of the file, or has made of it before. Raises what `read` raises."""
    kept, state = _kept.get(), _state(path)
    if kept is None or state is None:
        return read()
    if path in kept and kept[path][0] == state:
        same: Parsed = kept[path][1]
        return same
    made = read()
    if sum(earlier[0] for earlier, _ in kept.values()) + state[0] <= _MOST_BYTES:
        kept[path] = state, made
    return made


def _state(path: Path) -> tuple[int, ...] | None:
    """The size of a file and what changes with its content; None if it has none."""
    try:
        status = os.lstat(path)
    except (OSError, ValueError):
        return None
    return (
        status.st_size,
        status.st_mtime_ns,
        status.st_ctime_ns,
        status.st_ino,
        status.st_dev,
    )
