"""Read what `perf stat -x SEPARATOR` prints: the counts of a whole program.

The fields of a line stand in man perf-stat, "CSV format": count, unit, event, with -r the spread of
the runs, time of the counter in ns, share of that time in which it counted, and metrics. With fewer
hardware counters than events, perf lets the events take turns and scales each count up: its share
is then below 100.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

SEPARATOR = ";"
NOT_SUPPORTED, NOT_COUNTED = "<not supported>", "<not counted>"
_SPREAD = re.compile(r"\d+\.\d+%")


@dataclass(frozen=True)
class Count:
    """The count of an event; None with the reason `why_not` if there is none.

    `share`, from 0 to 1, is how much of the time the event was counted: a count with less than 1 is
    scaled up from that.
    """

    event: str
    value: float | None
    share: float
    why_not: str = ""

    @property
    def whole(self) -> bool:
        """Whether it was counted all the time."""
        return self.value is not None and self.share >= 1


def parse(text: str, separator: str = SEPARATOR) -> dict[str, Count]:
    """The counts by event, without what follows a colon (`instructions:u`).

    Lines of another form, such as comments and messages of the program, are left out.
    """
    found = (_count(line.split(separator)) for line in text.splitlines())
    return {count.event: count for count in found if count is not None}


def _count(fields: list[str]) -> Count | None:
    if len(fields) < 5 or not fields[2]:
        return None
    value, event = fields[0].strip(), fields[2].strip().partition(":")[0]
    rest = fields[4:] if _SPREAD.fullmatch(fields[3].strip()) else fields[3:]
    if len(rest) < 2:
        return None
    reasons = {NOT_SUPPORTED: "this machine does not count it", NOT_COUNTED: "no counter was free"}
    try:
        share = float(rest[1]) / 100
        number = None if value in reasons else float(value)
    except ValueError:
        return None
    if not 0 <= share <= 1 or (number is not None and not math.isfinite(number)):
        return None
    if number is not None and share == 0:
        number, value = None, NOT_COUNTED
    return Count(event, number, share, reasons.get(value, ""))
