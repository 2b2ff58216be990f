"""Warnings about a run that ended too soon: before all of its processes, or before its interval was
as narrow as asked."""

from __future__ import annotations

import math

from labs.analysis.estimate import Estimate
from labs.common import limits
from labs.common.advice import Advice, Option, advice
from labs.common.units import rounded
from labs.recording.cut_short import (
    CANCELLED,
    COMPUTES,
    FULL,
    PATIENCE,
    TIME_IS_UP,
    WAITS,
    CutShort,
    cut_short,
    not_narrow,
)
from labs.recording.file import Recording
from labs.results.warnings.warning import RunWarning

#: The longest `--at-most` in seconds and the widest `--within` in percent that a plan takes.
MOST_AT_MOST_S, WIDEST = 600, 50


def of_cut_short(recording: Recording) -> list[RunWarning]:
    """A warning if the run ended before all of its processes, and why."""
    found = cut_short(recording)
    if found is None:
        return []
    if found.by == PATIENCE:
        return [_of_patience(found)]
    if found.by == CANCELLED:
        return [_of_cancel(found)] if found.whole < found.planned else []
    longer = math.ceil(1.2 * found.needed_s)
    option = Option("time-limit", longer)
    return [
        RunWarning(
            "cut-short",
            f"the time limit of {found.after_s:g} s ended this run after {found.whole} of "
            f"{found.planned} processes",
            "all of them together need more time, or one of them waited without end",
            advice("{time_limit}, or fewer samples or variants at a time", time_limit=option)
            if longer <= limits.MOST_TIME_LIMIT_S
            else "fewer samples, or fewer variants at a time",
        )
    ]


def _of_cancel(found: CutShort) -> RunWarning:
    return RunWarning(
        "cut-short",
        f"the run was cancelled after {found.whole} of {found.planned} processes, and only these "
        "are in it",
        "Cancel, the stop button or Control-C ended it",
        "measure again and let the run end, if the interval is too wide",
    )


def _of_patience(found: CutShort) -> RunWarning:
    """The warning about C that took no sample in one of the processes."""
    symptom = (
        f"a process took no sample for {found.after_s:g} s, and Ticklab ended this run after "
        f"{found.whole} of {found.planned} processes"
        if found.whole < found.planned
        else f"an added process took no sample for {found.after_s:g} s, and Ticklab ended it"
    )
    patience = Option("patience", math.ceil(2 * found.after_s))
    share = found.cpu_share
    if share is not None and share < WAITS:
        return RunWarning(
            "cut-short",
            symptom,
            "that process used no processor time, so it waited for what never came",
            advice(
                "look in the C for a byte that nobody writes, or for a task that waits too or has "
                "ended; if one sample may take so long, {patience}",
                patience=patience,
            ),
        )
    if share is not None and share > COMPUTES:
        return RunWarning(
            "cut-short",
            symptom,
            "that process computed all the time",
            advice(
                "look in the C for a loop that never ends, or for assembly that changes a register "
                "without naming it; if one sample may take so long, {patience}",
                patience=patience,
            ),
        )
    return RunWarning(
        "cut-short",
        symptom,
        "that process computed without end, or waited for what never came",
        advice(
            "look in the C for an endless loop or wait; if one sample may take so long, {patience}",
            patience=patience,
        ),
    )


def of_width(recording: Recording, figure: Estimate) -> list[RunWarning]:
    """A warning if the run stopped before the interval of `figure` was as narrow as asked."""
    found = not_narrow(recording)
    if found is None or not figure.value:
        return []
    share = figure.half_width / abs(figure.value)
    if share <= found.within:
        return []
    reachable = found.reachable if found.reachable is not None else share
    at_best = rounded(100 * reachable, 2)
    causes = {
        TIME_IS_UP: f"the {found.at_most_s:g} s in which it could add processes were over",
        FULL: "a recording can hold no more processes and samples",
        CANCELLED: "the run was cancelled",
    }
    return [
        RunWarning(
            "not-within",
            f"half of the interval's width is {rounded(100 * share, 2)} % of the value, and "
            f"{100 * found.within:g} % was asked for",
            causes.get(
                found.why,
                f"more processes would narrow it to about {at_best} % at best, so the run stopped",
            ),
            "let the run end"
            if found.why == CANCELLED
            else _narrower(recording, share / found.within, found.at_most_s, reachable),
        )
    ]


def _narrower(
    recording: Recording, times: float, at_most_s: float, reachable: float
) -> Advice | str:
    """What to try for an interval that is narrower by a factor of `times`.

    The width falls with the root of the number of processes, and so of the time.
    """
    if len(recording.processes) * min(times, 1e6) ** 2 <= limits.MOST_PROCESSES:
        seconds = math.ceil(at_most_s * times**2 / 10) * 10
        if at_most_s < seconds <= MOST_AT_MOST_S:
            return advice("{at_most}", at_most=Option("at-most", seconds))
    percent = math.ceil(100 * min(reachable, 1.0))
    if percent <= WIDEST:
        return advice("{within}, or more samples in each process", within=Option("within", percent))
    return "more samples in each process, or a machine with less load"
