"""A run whose 95 % interval is as wide as its value: it shows no figure."""

from __future__ import annotations

from grader.cases.case import Case
from grader.cases.verdict import Level
from grader.facts.wide_interval import VALUE, ends, times_too_wide
from grader.pitfalls.pitfall import Pitfall
from labs.common.units import rounded


def detect(case: Case) -> str | None:
    found = times_too_wide(case)
    if found is None:
        return None
    expected, times, measure = found
    low, high = ends(expected)
    unit = case.spec.unit
    beside = f", {rounded(measure.size)} {unit}" if measure.name != VALUE else ""
    return (
        f"Your recording gives {rounded(expected.value)} {unit} (95 % interval {rounded(low)} to "
        f"{rounded(high)}), which is {rounded(times, 2)} times as wide as {measure.name}{beside}."
    )


PITFALL = Pitfall(
    code="interval-as-wide-as-value",
    level=Level.SUFFICIENCY,
    symptom="The interval is as wide as the value: this run shows no figure.",
    misconception="A run always prints a value. The interval shows whether the samples determine "
    "it: half of this value would fit them too.",
    experiment="Measure again, with as many samples or processes as the run's warning names.",
    seen_in="report E: 20 samples of one run, and no interval with any figure",
    detect=detect,
    # A mistake in the C can make the processes differ, and is then the cause of the width.
    yields_to=(
        "baseline-does-it-too",
        "child-left-behind",
        "clock-read-too-early",
        "creation-counted-as-switch",
        "first-sample-lost",
        "lock-convoy",
        "never-slept",
        "two-cpus-not-one",
        "work-optimised-away",
        "tracer-stops-it",
        "too-few-samples",
        "one-process",
        "margin-from-few-means",
        "below-one-cycle",
        "below-the-clock",
        "clock-dearer-than-the-thing",
        "not-on-a-line",
        "digits-lost",
        "timestamps-in-double",
        "overhead-rounded-to-zero",
        "less-than-nothing",
    ),
)
