"""Which samples were preempted: another program had the CPU of their tasks for a part of the time.

A C kernel states the numbers of such samples for each process that has one, as ranges in ascending
order: `sample.preempted: 0-3 7 12-14`. kernels_c/preempted.h says how it knows. It knows this of
variants that create tasks on one CPU, and of samples that take longer than 100 us. Of other samples
nothing is stated, and older kits state nothing at all.

Anybody may have written the condition. A text that is anything else marks no sample.
"""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from labs.common.limits import MOST_VALUE
from labs.recording.file import Integers, Recording, Samples
from labs.recording.memo import memoized

KEY = "sample.preempted"
#: A shorter sample is never marked (SHORTEST_JUDGED_US in kernels_c/preempted.h).
SHORTEST_S = 100e-6

_RANGE = re.compile(r"([0-9]{1,9})(?:-([0-9]{1,9}))?")


def preempted(recording: Recording, samples: Samples) -> NDArray[np.bool_]:
    """Which of `samples`, all steady samples of a variant, were preempted; shape (n,)."""
    return _of_variant(recording, samples.variant)


@memoized
def _of_variant(recording: Recording, variant: str) -> NDArray[np.bool_]:
    samples = recording.samples(variant)
    long_enough = samples.ticks > SHORTEST_S * samples.clock.frequency_hz
    found = np.zeros(len(samples), dtype=np.bool_)
    for process, stated in enumerate(_stated(recording)):
        if not len(stated):
            continue
        mine = np.flatnonzero((samples.process == process) & long_enough)
        place = np.searchsorted(stated[:, 0], samples.sample[mine], side="right") - 1
        found[mine] = (place >= 0) & (samples.sample[mine] <= stated[place, 1])
    return found


@memoized
def _stated(recording: Recording) -> list[Integers]:
    """The ranges that each process states."""
    # If all processes state the same ones, the recording holds them once.
    common = recording.conditions.get(KEY, "")
    return [ranges_of(each.get(KEY, common)) for each in recording.processes]


def ranges_of(text: str) -> Integers:
    """The first and last numbers of ascending ranges in a text; shape (ranges, 2).

    No ranges if the text is anything else.
    """
    none = np.zeros((0, 2), dtype=np.int64)
    words = [_RANGE.fullmatch(word) for word in text.split(" ")] if len(text) <= MOST_VALUE else []
    ranges = [(int(word[1]), int(word[2] or word[1])) for word in words if word is not None]
    if not ranges or len(ranges) < len(words):
        return none
    found = np.array(ranges, dtype=np.int64)
    flat = found.ravel()
    # In a range the last number may be the first one; the next range begins after it.
    ascending = bool((np.diff(flat) >= 0).all() and (np.diff(flat)[1::2] > 0).all())
    return found if ascending else none
