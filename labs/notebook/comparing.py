"""`lab.compare`: two runs, or two comparisons, compared in one sentence."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

from labs.common.messages import Message, Refused
from labs.notebook.run import Run
from labs.results.results_compared import Comparison, compared_at_one_clock, differences_compared

_USAGE = 'Write it like this: lab.compare(run, other), or lab.compare(run["x"], run["y"]).'


_NO_FIGURE = (
    "Write the name of this run on a line of its own: the run's warnings say what to try. Measure "
    "it again, then compare."
)
_UNITS = "Give both the same unit first, as in `run.in_unit('ns')`."
_PLAIN = "Write it like this: lab.compare(lab.compare(a, b), lab.compare(c, d), times=2)."


def compare(first: object, second: object, times: float) -> Comparison:
    """How `first` compares with `times` the `second`. Raises Refused."""
    if isinstance(times, bool) or not isinstance(times, int | float):
        raise Refused(_about_times(times))
    if not (times > 0 and math.isfinite(times)):
        raise Refused(_about_times(times))
    try:
        if isinstance(first, Run) and isinstance(second, Run):
            saved = _saved_as(first), _saved_as(second)
            results = first.result(), second.in_unit(first.unit).result()
            return _noted(compared_at_one_clock(*results, times, saved), first, second)
        if isinstance(first, Comparison) and isinstance(second, Comparison):
            return differences_compared(first, second, times)
    except ValueError as error:
        why = str(error).removesuffix(".")
        sentences = (f"{why}.", _advice(first, second))
        raise Refused(Message("problem", "these cannot be compared", sentences)) from None
    what = "lab.compare takes two runs, or a run by two of its variants"
    raise Refused(Message("problem", what, (_USAGE,)))


def _advice(first: object, second: object) -> str:
    """What to do about two that cannot be compared."""
    if any(isinstance(each, Run) and each.result().estimate is None for each in (first, second)):
        return _NO_FIGURE
    shares = (isinstance(each, Comparison) and each.times != 1 for each in (first, second))
    return _PLAIN if any(shares) else _UNITS


def _saved_as(run: Run) -> str:
    """The name of the run's recording; '' if it is not saved."""
    return Path(run.recording_path).stem if run.recording_path else ""


def _noted(found: Comparison, *runs: Run) -> Comparison:
    """The comparison, which says so if one of its runs is an earlier one."""
    notes = dict.fromkeys(note for run in runs if (note := run.later.note()))
    return replace(found, modes=(*notes, *found.modes)) if notes else found


def _about_times(times: object) -> Message:
    advice = "To compare with half of the second, write times=0.5."
    return Message("problem", f"times must be a number above 0, not {times!r}", (advice,))
