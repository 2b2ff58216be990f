"""Keep what has been reduced from a recording for as long as the recording itself is there.

Plot, check and grade ask for the same line one after the other, and reducing 100,000 samples takes
longer than everything else. A recording is never changed after it was read, so that its line cannot
become stale.
"""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable, Hashable
from typing import Concatenate, ParamSpec, TypeVar

from labs.recording.file import Recording

Arguments = ParamSpec("Arguments")
Reduced = TypeVar("Reduced")


def kept(
    reduce: Callable[Concatenate[Recording, Arguments], Reduced],
) -> Callable[Concatenate[Recording, Arguments], Reduced]:
    """The same function, which does its work once for each recording and choice of arguments.

    All arguments behind the recording must be hashable. What raises is not kept.
    """
    known: weakref.WeakKeyDictionary[Recording, dict[Hashable, Reduced]]
    known = weakref.WeakKeyDictionary()

    @functools.wraps(reduce)
    def reduce_once(
        recording: Recording, /, *args: Arguments.args, **options: Arguments.kwargs
    ) -> Reduced:
        mine = known.setdefault(recording, {})
        key: Hashable = (args, tuple(sorted(options.items())))
        if key not in mine:
            mine[key] = reduce(recording, *args, **options)
        return mine[key]

    return reduce_once
