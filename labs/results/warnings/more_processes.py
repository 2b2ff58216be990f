"""How much longer a run may be that a warning advises: more processes, within the time limit."""

from __future__ import annotations

from labs.common import limits
from labs.common.advice import Option
from labs.recording.cut_short import TIME_LIMIT, cut_short
from labs.recording.file import Recording


def more_processes(at_least: int, had: int) -> Option | None:
    """The option for twice as many processes as the run `had`, or for `at_least`.

    None if the run had as many processes as a run may have.
    """
    number = min(max(at_least, 2 * had), limits.MOST_PROCESSES)
    return Option("processes", number) if number > had else None


def ends_in_time(recording: Recording, times: float) -> bool:
    """Whether a run with `times` the samples of this one ends before the time limit of this one.

    The samples themselves take most of the time of a run that is long. A run that its time limit
    cut short needs all of it already.
    """
    cut = cut_short(recording)
    if cut is not None and cut.by == TIME_LIMIT:
        return False
    limit = recording.number("time_limit_s")
    taken = sum(
        float(recording.ticks[recording.rows_of(name)].sum()) / recording.clock(name).ticks_in("s")
        for name in recording.variants
    )
    return limit is None or taken * times <= limit
