"""What a process that times nothing saw of the operations of a student's C.

`kernels_c/trials/trials.c` makes these trials, and a recording states what they saw under keys such
as `variant.NAME.trial.steps`. A trial that could not be made is left out.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, fields

from labs.recording.file import Recording, memoized

#: A key under which a trial is stated.
KEY = re.compile(r"variant\.[a-z0-9_-]+\.trial\.[a-z_]+")
#: The least core cycles that a wrong prediction of a branch costs.
CYCLES_OF_A_MISS = 15
#: Fewer misses in an operation are those of its loops' ends, also with other input.
FEWEST_MISSED = 8


@dataclass(frozen=True)
class Trials:
    """What the trials of one variant saw; None where nothing was seen.

    `steps` are the instructions of an operation, if each operation takes the same way through them;
    a predictor that has not seen this way is wrong at `missed` of its branches. When `put_back`
    words had again the contents that only the first operations changed, an operation took another
    way, through `fresh_steps` instructions (None: too many to count). `calls` of the OS kernel are
    made between the readings. `counter_whole` says whether a sample holds more than 32 bits of the
    counter, and `dropped` whether the C took another one in place of a very long one. The samples
    used `lines` cache lines, and `lines_before` in their first half; `lines_filled` of the
    program's lines hold something. The OS kernel counted `writes`, and `bytes_written` by them.
    """

    steps: int | None = None
    missed: int | None = None
    put_back: int | None = None
    fresh_steps: int | None = None
    counter_whole: int | None = None
    calls: int | None = None
    dropped: int | None = None
    lines: int | None = None
    lines_before: int | None = None
    lines_filled: int | None = None
    writes: int | None = None
    bytes_written: int | None = None

    @property
    def ways(self) -> str:
        """By how many instructions the ways with new and with used input differ, as text."""
        if self.steps is None or self.fresh_steps is None:
            return ""
        return f" ({self.fresh_steps:,} instructions, later {self.steps:,})"

    @property
    def walk_is_short(self) -> bool:
        """Whether the samples come back to less than half of the lines that hold something."""
        if self.lines is None or self.lines_filled is None:
            return False
        return self.lines == self.lines_before and 2 * self.lines < self.lines_filled

    @property
    def sends_nothing(self) -> bool:
        """Whether there are writes, and none of them moves a byte."""
        return bool(self.writes) and self.bytes_written == 0

    def is_learnt(self, cycles: float) -> bool:
        """Whether an operation of so many core cycles is too fast to hold the misses of new
        input."""
        if self.missed is None or self.missed < FEWEST_MISSED:
            return False
        return cycles < CYCLES_OF_A_MISS * self.missed


@memoized
def of_variant(recording: Recording, variant: str) -> Trials:
    """What the trials of `variant` saw."""
    stated = {each.name: f"variant.{variant}.trial.{each.name}" for each in fields(Trials)}
    numbers = {name: recording.number(key) for name, key in stated.items()}
    return Trials(**{name: int(each) for name, each in numbers.items() if each is not None})
