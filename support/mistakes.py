"""Runs of the kit's wrong C: how one is measured, and the verdict on the figure that it gives."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from grader.evidence.sources import source_of
from grader.figures import figure_named
from grader.figures.verdict import Verdict
from grader.judging.check import check
from grader.pitfalls.pitfall import Live
from labs.course.figures import Figure
from labs.recording.file import Recording
from labs.results import result
from labs.results.result import Result, result_of
from labs.run.broken import BrokenKernel
from labs.run.plan import Plan

#: Most of them ask for fewer themselves, and show their mistake.
MOST_SAMPLES = 2000
#: Samples and processes of a walk through memory, which takes long to fill. Each process counts its
#: mistake, so no time decides.
OF_LADDER = (120, 3)
#: Of a mean, the share of its samples that other programs may have made.
LONGEST_SAMPLES = 0.01


def plan_of(kernel: BrokenKernel, optimisation: str = "-O2") -> Plan:
    """A run that shows the mistake, of C that compiles without a warning."""
    plan = replace(kernel, options=(*kernel.options, f"--flags={optimisation} -Werror")).plan()
    if kernel.repaired == "memory_ladder":
        return replace(plan, samples=OF_LADDER[0], processes=OF_LADDER[1])
    return replace(plan, samples=min(plan.samples, MOST_SAMPLES))


def verdicts_on(live: Live, recording: Recording) -> tuple[Verdict, ...]:
    """The verdict on the figure that a student would hand in of this run.

    A run without an estimate has a second one: on the mean without the longest samples. Where
    nearly all are 0, one interrupted sample is all of a mean.
    """
    spec = figure_named(live.figure)
    unit = spec.unit if spec.is_time else "ns"
    measured = result_of(recording, live.handed_in or spec.variant, unit)
    values = [result.naive_value(measured)]
    if measured.estimate is None:
        values.append(_mean_of_most(measured))
    figures = [Figure(spec.id, value, unit, "recordings/broken.csv") for value in values]
    source = source_of(recording)
    return tuple(check(spec, figure, recording, source) for figure in figures)


def _mean_of_most(measured: Result) -> float:
    recording, mine = measured.recording, measured.recording.rows_of(measured.variant)
    ticks, operations = recording.ticks[mine], recording.batch[mine].clip(min=1)
    most = np.argsort(ticks, kind="stable")[: int(len(ticks) * (1 - LONGEST_SAMPLES))]
    mean = float(ticks[most].sum() / operations[most].sum())
    return mean / measured.clock.ticks_in(measured.unit)
