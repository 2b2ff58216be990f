"""Statistics: too few samples, or none that are single ones, and what their interval leaves out."""

from __future__ import annotations

import itertools
import statistics
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from grader.cases.case import Case
from grader.cases.spec import Quantity
from grader.cases.verdict import Level
from grader.facts.caveats import VALUE, ends, times_too_wide
from grader.pitfalls.pitfall import Live, pitfall
from labs.analysis.estimates import student_t
from labs.analysis.net_cost import FEWEST_PROCESSES
from labs.recording.declared import is_first_time
from labs.recording.file import Integers, Recording, distinct, memoized
from labs.units import rounded

FEWEST_PER_BATCH = 20


@pitfall(
    code="too-few-samples",
    level=Level.SUFFICIENCY,
    symptom="There are not enough samples to tell the figure from its noise.",
    misconception="A handful of repetitions shows neither the spread nor the rare bad sample.",
    experiment="Take ten times as many and see whether the interval shrinks by about three.",
    seen_in="report E: 20 samples and no spread",
    yields_to=(
        "below-one-cycle",
        "below-the-clock",
        "clock-dearer-than-the-thing",
        "margin-from-few-means",
        "overhead-rounded-to-zero",
    ),
    broken=(Live("twenty_samples", "timer-overhead-monotonic"),),
)
def too_few_samples(case: Case) -> str | None:
    """Too few samples for an interval that means anything."""
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


FEWEST_FOR_A_SPREAD = 3


@pitfall(
    code="one-process",
    level=Level.SUFFICIENCY,
    symptom="The interval leaves out the spread between runs.",
    misconception="Many samples of one process are not many runs: the layout in memory and the "
    "physical pages stay the same.",
    experiment="Run the program ten times and compare the medians.",
    seen_in="report E: 20 samples of one run",
    broken=(Live("twenty_samples", "timer-overhead-monotonic"),),
)
def one_process(case: Case) -> str | None:
    """All samples from one process."""
    if case.spec.quantity is Quantity.STEP:
        return None
    processes = len(distinct(case.recording.process[case.recording.sample >= 0]))
    if processes >= FEWEST_FOR_A_SPREAD:
        return None
    return (
        f"All samples come from {processes} process{'es' if processes != 1 else ''}; the spread "
        "between processes cannot be seen in them."
    )


MOST_MEANS = 19
LONG_LOOP = 1_000


@pitfall(
    code="margin-from-few-means",
    level=Level.SUFFICIENCY,
    symptom="The spread of a few means says little of the error.",
    misconception="Ten million operations in one timed region are one sample: the mean hides all "
    "that happened in it.",
    experiment="Split the loop into many short samples and look at them one by one.",
    seen_in="report B: a margin of 0.03 ns from three means",
    broken=(Live("bracketed_once", "timer-overhead-monotonic"),),
)
def margin_from_few_means(case: Case) -> str | None:
    """A few long loops, each bracketed once: a mean of each, and a margin of error from those."""
    if case.spec.quantity is Quantity.STEP:
        return None
    for name in case.spec.variants:
        samples = case.recording.samples(name)
        count = len(samples)
        if not 0 < count <= MOST_MEANS or is_first_time(case.recording, name):
            continue
        loop = int(samples.batch.min())
        if loop < LONG_LOOP:
            continue
        margin = (
            f"a 95 % margin from {count} of them is {rounded(student_t(count - 1))} standard "
            "errors, not 2"
            if count > 1
            else "one of them has no margin at all"
        )
        return (
            f"Your recording holds {count} sample{'s' if count > 1 else ''} of {name}, each of "
            f"{loop:,} operations or more: {margin}."
        )
    return None


@pitfall(
    code="interval-as-wide-as-value",
    level=Level.SUFFICIENCY,
    symptom="The interval is as wide as the value: this run shows no figure.",
    misconception="A run always prints a value. The interval shows whether the samples determine "
    "it: half of this value would fit them too.",
    experiment="Measure again, with as many samples or processes as the run's warning names.",
    seen_in="report E: 20 samples of one run, and no interval with any figure",
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
def interval_as_wide_as_value(case: Case) -> str | None:
    """A run whose 95 % interval is as wide as its value: it shows no figure."""
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


@pitfall(
    code="not-on-a-line",
    level=Level.VALIDITY,
    symptom="Twice the work does not take twice the time.",
    misconception="One operation has a cost only if every further one takes as long. Otherwise "
    "work is left out or shared, or the sample holds something else.",
    experiment="Draw the mean against k, and see which batch size leaves the line.",
    seen_in="report A: creation, which happens once, divided by a loop of exchanges",
    yields_to=("clock-read-too-early", "clocks-of-two-processes", "more-between-the-readings"),
    broken=(Live("narrow_counter", "system-call-getppid"),),
)
def not_on_a_line(case: Case) -> str | None:
    """Samples that lie on no line: they do not grow in proportion to the work."""
    if case.spec.quantity is Quantity.SWITCHES:
        return None  # a count, whatever the samples are
    for name in case.spec.variants:
        line = case.results[name].line
        if line is None or line.straight:
            continue
        worst, share = line.worst_point()
        return (
            f"In your samples of {name} the mean at k = {line.batch[worst]:.0f} lies "
            f"{rounded(100 * share)} % off the line through all batch sizes."
        )
    return None


#: Fewer samples of a variant in a process can stand in a row by chance.
FEWEST_IN_A_ROW = 5


@pitfall(
    code="first-in-line",
    level=Level.VALIDITY,
    symptom="The variants were measured one after the other, the first with cold code.",
    misconception="The first variant pays for page faults and empty caches: its position looks "
    "like its cost.",
    experiment="Measure in the opposite order, or interleave: which one costs more then?",
    seen_in="report A: the call without arguments was measured first, with cold code",
    broken=(Live("in_turn", "call-args0"),),
)
def first_in_line(case: Case) -> str | None:
    """The variant that came first costs more because of its position: its code was cold."""
    recording = case.recording
    if len(recording.variants) < 2 or (recording.sample < 0).any():
        return None
    lines = {_in_line(recording, process) for process in np.unique(recording.process).tolist()}
    if len(lines) != 1:
        return None
    order = next(iter(lines))
    if not order:
        return None
    return (
        f"In each process all samples of {order[0]} come first, then those of {order[1]}, with "
        f"no warm-up. The first sample of {order[0]} takes "
        f"{rounded(_coldness(recording, order[0]), 2)} times as long as others of its batch size."
    )


def _coldness(recording: Recording, first: str) -> float:
    """How many times as long the first samples take as those of the same batch size, typically."""
    mine = recording.samples(first)
    cold = mine.sample == mine.sample.min()
    usual = {
        k: max(float(np.median(mine.ticks[mine.batch == k])), 1.0)
        for k in set(mine.batch[cold].tolist())
    }
    of_each = np.array([usual[k] for k in mine.batch[cold].tolist()])
    return float(np.median(mine.ticks[cold] / of_each))


def _in_line(recording: Recording, process: int) -> tuple[str, ...]:
    """The variants in the order of their samples, where those of each stand all in a row."""
    mine = recording.process == process
    index, place = recording.variant_index[mine], recording.sample[mine]
    of_variant = [place[index == number] for number in range(len(recording.variants))]
    if min(len(places) for places in of_variant) < FEWEST_IN_A_ROW:
        return ()
    order = sorted(range(len(of_variant)), key=lambda number: int(of_variant[number].min()))
    in_turn = all(
        of_variant[first].max() < of_variant[second].min()
        for first, second in itertools.pairwise(order)
    )
    return tuple(recording.variants[number] for number in order) if in_turn else ()


#: Shorter series, or ones that hardly fall, could look like this by chance.
FEWEST_VALUES = 16
LEAST_FALL = 1.25
LEAST_EXCESS = 20  # ticks
#: How closely the first values must follow from the first one, as a share of their excess.
CLOSELY = 0.25
EARLY = 8
Floats = NDArray[np.float64]


@pitfall(
    code="running-mean",
    level=Level.VALIDITY,
    symptom="This series holds running means, not samples.",
    misconception="A mean over all samples so far changes less and less, whatever the samples "
    "are. It seems to settle, but the cold first sample stays in it.",
    experiment="Record each sample by itself; compute a mean when all are there.",
    seen_in="report E: 7712, 6854, 6483 ... 4459 ns, still falling at the last value",
    broken=(Live("running_mean", "first-iteration-call"),),
)
def running_mean(case: Case) -> str | None:
    """A series of running means handed in as samples: each value holds all samples before it."""
    for name in case.spec.variants:
        first = _most_fall(case.recording, name)
        if first is not None:
            shown = ", ".join(rounded(value) for value in first[:4].tolist())
            last = rounded(float(first[-1]))
            return (
                f"Your values of {name} fall by 1/n: {shown} ... {last} ticks. Each is the mean "
                "of all values up to it."
            )
    return None


@memoized
def _most_fall(recording: Recording, variant: str) -> Floats | None:
    """The first series that is a running mean, if at least half of them are."""
    series, falling = series_of(recording, variant)
    if 2 * len(falling) < series:
        return None
    found = [each for each in falling if is_running_mean(each)]
    return found[0] if found and 2 * len(found) >= series else None


def series_of(recording: Recording, variant: str) -> tuple[int, list[Floats]]:
    """How many series there are, and those that fall enough.

    A series has the values of one process and batch size in the order taken, warm-up first.
    """
    mine = recording.rows_of(variant)
    process, batch = recording.process[mine], recording.batch[mine]
    place, ticks = recording.sample[mine], recording.ticks[mine].astype(np.float64)
    # One sort, because a recording may have thousands of groups.
    order = _order(process, batch, place)
    process, batch, ticks = process[order], batch[order], ticks[order]
    begins = np.flatnonzero((np.diff(process) != 0) | (np.diff(batch) != 0)) + 1
    begin, end = np.append(0, begins), np.append(begins, len(ticks))
    long = end - begin >= FEWEST_VALUES
    begin, end = begin[long], end[long]
    falls = ticks[begin] >= LEAST_FALL * ticks[end - 1]
    bounds = zip(begin[falls].tolist(), end[falls].tolist(), strict=True)
    return len(begin), [ticks[first:last] for first, last in bounds]


def _order(process: Integers, batch: Integers, place: Integers) -> NDArray[np.intp]:
    """The order of the samples by process, then batch size, then place."""
    later, sizes = np.diff(process), distinct(batch)
    in_order = bool(((later > 0) | ((later == 0) & (np.diff(place) >= 0))).all())
    cell = process * len(sizes) + np.searchsorted(sizes, batch)
    if not in_order or cell.max(initial=0) >= 2**16:
        return np.lexsort((place, batch, process))
    # Rows are mostly in the order taken; then a sort of short numbers takes a tenth of the time.
    return np.argsort(cell.astype(np.uint16), kind="stable")


def is_running_mean(values: Floats) -> bool:
    """Of values that fall: whether what was averaged can be worked out, and begins with a cold one.

    If the n-th value is a mean of n samples, n times it less n - 1 times the one before is the
    n-th sample, which is not negative; of honest samples this varies by n times their spread.
    """
    # The first values decide of nearly every series. Of few numbers, Python takes less than numpy.
    early: list[float] = values[: 2 * EARLY].tolist()
    sums = [n * value for n, value in enumerate(early, 1)]
    sample = [after - before for before, after in pairwise(sums)]
    warm = statistics.median(sample)
    excess = early[0] - warm
    if excess < LEAST_EXCESS:
        return False
    for n, value in enumerate(early[:EARLY], 1):
        if abs(value - (warm + excess / n)) > CLOSELY * excess / n + 1:
            return False
    if any(each < -n for n, each in enumerate(sample, 2)):
        return False
    every = np.arange(1, len(values) + 1)
    # Whole ticks: each value is off by less than one.
    return not bool((np.diff(every * values, prepend=0.0) < -every).any())
