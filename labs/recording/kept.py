"""Keeps the recordings of one submission while it is judged, shown and described.

Each of these reads the same files. What was computed from a recording is kept with it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import Any, TypeVar

from labs.common.limits import MOST_RECORDING_BYTES

#: Larger files are not kept: they are rare, and many of them would take too much memory.
_MOST_BYTES = 2 * MOST_RECORDING_BYTES

Parsed = TypeVar("Parsed")

#: The contents that were read, each with its recording; None outside of `keeping`.
_kept: ContextVar[list[tuple[bytes, Any]] | None] = ContextVar("kept", default=None)


@contextlib.contextmanager
def keeping() -> Iterator[None]:
    """In here, what is read again is not parsed again, as long as its bytes are the same."""
    token = _kept.set([])
    try:
        yield
    finally:
        _kept.reset(token)


def once(content: bytes, parse: Callable[[], Parsed]) -> Parsed:
    """What `parse` makes of `content`, or has made of it before. Raises what `parse` raises."""
    kept = _kept.get()
    if kept is None:
        return parse()
    for earlier, parsed in kept:
        if earlier == content:
            same: Parsed = parsed
            return same
    made = parse()
    if sum(len(earlier) for earlier, _ in kept) + len(content) <= _MOST_BYTES:
        kept.append((content, made))
    return made
