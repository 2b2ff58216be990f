"""The clock's own cost, handed in as a part of what it times."""

from __future__ import annotations

import numpy as np

from grader.cases.case import Case
from grader.cases.digits import FEWEST_DIGITS, OF_USUAL_SLIPS, is_number
from grader.cases.spec import Quantity
from grader.cases.verdict import Level
from grader.facts.c import parts
from grader.facts.c.readings import reads_in_loop
from grader.facts.observed import reads_the_counter, usual_ticks
from grader.pitfalls.pitfall import Live, MistakeKind, Pitfall
from labs.analysis.line import Line
from labs.analysis.net_cost import parts_of
from labs.common.units import rounded
from labs.recording.declared import is_first_time

#: A clock that is less of the figure than this is not worth a word.
LEAST_SHARE = 0.05

#: Below this share of the timer's overhead a line begins as if there were no timer.
NO_TIMER = 0.25


def detect(case: Case) -> str | None:
    spec = case.spec
    if spec.quantity not in (Quantity.COST, Quantity.WHOLE) or spec.of_overhead:
        return None
    if is_first_time(case.recording, spec.variant) or case.submitted is None:
        return None
    if case.right:
        return _in_each_operation(case)
    return _whole_sample(case) or _on_top(case)


def _on_top(case: Case) -> str | None:
    """The figure is the cost and one pair of readings: one operation, as stamps would time it."""
    line, expected = case.result.line, case.expected
    if line is None or expected is None:
        return None
    per_unit = line.clock.ticks_in(case.spec.unit)
    pairs = [line.overhead.value, case.recording.number("counter.overhead") or 0.0]
    if line.empty is not None:
        pairs.append(line.empty.value)
    for ticks in pairs:
        timer = ticks / per_unit
        if timer < LEAST_SHARE * expected.value or not is_number(case, expected.value + timer):
            continue
        return (
            f"You gave {case.as_submitted()}; your recording gives {expected.as_text()}. They "
            f"differ by {rounded(timer)} {case.spec.unit}, the cost of a pair of readings."
        )
    return None


def _whole_sample(case: Case) -> str | None:
    """The figure is what a sample takes, divided by what it holds: nothing was subtracted."""
    spec, recording = case.spec, case.recording
    if case.spec.own and case.result.line is not None and not case.result.line.straight:
        return None  # how much of a sample the clock takes is not known of such a run
    timer = _timer(case)
    samples = recording.samples(spec.variant)
    per_unit = samples.clock.ticks_in(spec.unit) * parts_of(recording, spec.variant)
    mine = recording.rows_of(spec.variant)
    for k in [size for size in samples.batch_sizes if size != 0]:
        chosen = samples.ticks[samples.batch == k]
        median, usual = float(np.median(chosen)), usual_ticks(samples, k)
        means = [median, usual, float(chosen.mean())]
        means.append(float(recording.ticks[mine & (recording.batch == k)].mean()))
        # Samples with one operation have no other number that the figure could be.
        fewest = OF_USUAL_SLIPS if k == 1 else FEWEST_DIGITS
        mean = next((each for each in means if is_number(case, each / k / per_unit, fewest)), None)
        if mean is None or (timer is not None and timer < LEAST_SHARE * usual):
            continue
        inside = "with one operation inside" if k == 1 else f"divided by its {k} operations"
        own = "part of this is the clock's own cost"
        if timer is not None:
            own = (
                f"about {rounded(timer / k / per_unit)} {spec.unit} of this are the clock's own "
                "cost"
            )
        return f"You gave {case.as_submitted()}, which is your sample {inside}; {own}."
    return None


def _timer(case: Case) -> float | None:
    """What the readings add to a sample, in its ticks; None where the recording cannot tell."""
    line = case.result.line
    if line is not None:
        return max(line.overhead.value, 0.0)
    samples = case.recording.samples(case.spec.variant)
    if (samples.batch == 0).any():
        return usual_ticks(samples, 0)
    if reads_the_counter(case.recording, case.spec.variant):
        return case.recording.number("counter.overhead")
    return None


def _in_each_operation(case: Case) -> str | None:
    """The figure follows, but every operation of a sample has readings of its own."""
    line = case.result.line
    if line is None or not line.straight or not _begins_without_timer(case, line):
        return None
    if not reads_in_loop(parts.measured_region(case.source)):
        return None
    return (
        f"Your line begins at {rounded(line.overhead.value)} ticks, where a pair of readings "
        f"takes {rounded(case.recording.number('counter.overhead') or 0)}: the readings are in "
        f"the loop, and the {rounded(line.cost.value)} ticks an operation include them."
    )


def _begins_without_timer(case: Case, line: Line) -> bool:
    timer = case.recording.number("counter.overhead")
    return timer is not None and line.overhead.low < NO_TIMER * timer <= line.cost.value


PITFALL = Pitfall(
    code="timer-not-subtracted",
    level=Level.INTERPRETATION,
    symptom="The clock's own cost is part of the figure.",
    misconception="A sample is the timer plus the work. With one short operation it is mostly "
    "the timer, however often you repeat it.",
    experiment="Put 64 and 512 operations between one pair of readings, and take the slope.",
    seen_in="report E: 90 ns of a procedure call are the clock",
    detect=detect,
    explains=MistakeKind.CONTENTS,
    shows_in_recording=True,
    broken=(Live("readings_around_each", "call-args0"),),
)
