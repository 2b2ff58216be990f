"""Too few samples for an interval that means anything."""

from __future__ import annotations

from grader.cases.case import Case
from grader.cases.spec import Quantity
from grader.cases.verdict import Level
from grader.pitfalls.pitfall import Live, Pitfall
from labs.analysis.first_time import FEWEST_PROCESSES
from labs.recording.declared import is_first_time

FEWEST_PER_BATCH = 20


def detect(case: Case) -> str | None:
    if case.spec.quantity is Quantity.STEP:
        return None
    for name, result in case.results.items():
        samples = case.recording.samples(name)
        if is_first_time(case.recording, name):
            processes = len(set(samples.process.tolist()))
            if processes < FEWEST_PROCESSES:
                return f"Your recording shows the first time of {name} only {processes} times."
            continue
        sizes = len(set(samples.batch.tolist()))
        if sizes == 0 or len(samples) < FEWEST_PER_BATCH * sizes:
            return (
                f"Your recording holds {len(samples)} samples of {name} over {sizes} batch sizes."
            )
        if result.line is None:
            return f"Your {len(samples)} samples of {name} give no line: {result.no_figure}."
    return None


PITFALL = Pitfall(
    code="too-few-samples",
    level=Level.SUFFICIENCY,
    symptom="There are not enough samples to tell the figure from its noise.",
    misconception="A handful of repetitions shows neither the spread nor the rare bad sample.",
    experiment="Take ten times as many and see whether the interval shrinks by about three.",
    seen_in="report E: 20 samples and no spread",
    detect=detect,
    yields_to=(
        "below-one-cycle",
        "below-the-clock",
        "clock-dearer-than-the-thing",
        "margin-from-few-means",
        "overhead-rounded-to-zero",
    ),
    broken=(Live("twenty_samples", "timer-overhead-monotonic"),),
)
