"""The catalogue of pitfalls: each known mistake is one entry in a file of its own."""

from __future__ import annotations

from grader.case import Case
from grader.pitfalls import (
    affinity_not_obtained,
    clock_read_too_early,
    cold_samples_in_mean,
    cycles_for_ticks,
    figure_not_from_recording,
    half_or_double,
    minimum_taken,
    negative_overhead,
    one_process,
    ratio_of_ticks,
    ratio_upside_down,
    recording_altered,
    step_assumed,
    ticks_for_nanoseconds,
    too_few_samples,
    unit_slip,
    unit_unknown,
    while_reading,
    work_counted_as_timer,
)
from grader.pitfalls.pitfall import Pitfall
from grader.verdict import Finding

__all__ = ["CATALOGUE", "EXPLANATIONS", "Pitfall", "findings_of"]

#: Slips that account for a figure which is not what its recording gives. The first that fits is
#: told: a plain slip of the unit before anything subtler.
EXPLANATIONS: tuple[Pitfall, ...] = (
    unit_slip.PITFALL,
    ticks_for_nanoseconds.PITFALL,
    ratio_upside_down.PITFALL,
    ratio_of_ticks.PITFALL,
    step_assumed.PITFALL,
    work_counted_as_timer.PITFALL,
    cold_samples_in_mean.PITFALL,
    minimum_taken.PITFALL,
    half_or_double.PITFALL,
    cycles_for_ticks.PITFALL,
)


def _explained(case: Case) -> bool:
    return any(pitfall.detect(case) is not None for pitfall in EXPLANATIONS)


#: Pitfalls that are looked for beside each other, the most basic level first.
BESIDE_EACH_OTHER: tuple[Pitfall, ...] = (
    recording_altered.PITFALL,
    figure_not_from_recording.pitfall(_explained),
    clock_read_too_early.PITFALL,
    negative_overhead.PITFALL,
    affinity_not_obtained.PITFALL,
    too_few_samples.PITFALL,
    one_process.PITFALL,
    unit_unknown.PITFALL,
)

CATALOGUE: tuple[Pitfall, ...] = (*while_reading.ALL, *BESIDE_EACH_OTHER, *EXPLANATIONS)


def findings_of(case: Case) -> list[Finding]:
    """Every finding of this case, the most basic level first; of the explanations at most one."""
    found = [finding for pitfall in BESIDE_EACH_OTHER if (finding := pitfall.find(case))]
    explanation = next(
        (finding for pitfall in EXPLANATIONS if (finding := pitfall.find(case))), None
    )
    return found + ([explanation] if explanation else [])
