"""Remember what was computed from a recording, for as long as the recording exists.

Plot, check and grade ask for the same line one after the other, and it takes most of their time to
fit it to 100,000 samples. Nothing changes a recording after reading, so its line stays valid.
"""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable, Hashable
from typing import Concatenate, ParamSpec, TypeVar

from labs.recording.file import Recording

Arguments = ParamSpec("Arguments")
Computed = TypeVar("Computed")


def memoized(
    compute: Callable[Concatenate[Recording, Arguments], Computed],
) -> Callable[Concatenate[Recording, Arguments], Computed]:
    """The same function, but it computes only once for each recording and choice of arguments.

    All arguments after the recording must be hashable. An exception is not remembered.
    """
    known: weakref.WeakKeyDictionary[Recording, dict[Hashable, Computed]]
    known = weakref.WeakKeyDictionary()

    @functools.wraps(compute)
    def compute_once(
        recording: Recording, /, *args: Arguments.args, **options: Arguments.kwargs
    ) -> Computed:
        mine = known.setdefault(recording, {})
        key: Hashable = (args, tuple(sorted(options.items())))
        if key not in mine:
            mine[key] = compute(recording, *args, **options)
        return mine[key]

    return compute_once
