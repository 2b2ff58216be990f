"""Remember what was computed from a recording, for as long as the recording exists.

Plot, check and grade ask for the same line one after the other, and it takes most of their time to
fit it to 100,000 samples. Nothing changes a recording after reading, so its line stays valid.
"""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable, Hashable
from typing import Concatenate, ParamSpec, TypeVar

Subject = TypeVar("Subject")
Arguments = ParamSpec("Arguments")
Computed = TypeVar("Computed")


def memoized(
    compute: Callable[Concatenate[Subject, Arguments], Computed],
) -> Callable[Concatenate[Subject, Arguments], Computed]:
    """The same function, but it computes only once for each subject and choice of arguments.

    The subject is a recording, or else what compares by identity. All arguments after it must be
    hashable. An exception is not remembered.
    """
    known: weakref.WeakKeyDictionary[Subject, dict[Hashable, Computed]]
    known = weakref.WeakKeyDictionary()

    @functools.wraps(compute)
    def compute_once(
        subject: Subject, /, *args: Arguments.args, **options: Arguments.kwargs
    ) -> Computed:
        mine = known.setdefault(subject, {})
        key: Hashable = (args, tuple(sorted(options.items())))
        if key not in mine:
            mine[key] = compute(subject, *args, **options)
        return mine[key]

    return compute_once
