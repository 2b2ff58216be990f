"""Statistics: too few samples, the wrong ones, and what an interval or a mean leaves out."""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from grader.evidence.caveats import VALUE, ends, times_too_wide
from grader.evidence.observed import usual_ticks
from grader.evidence.sources import released_sources
from grader.figures.case import FEWEST_DIGITS, OF_USUAL_SLIPS, Case, digits_of, is_number
from grader.figures.spec import Quantity
from grader.figures.verdict import Level
from grader.pitfalls.pitfall import Live, MistakeKind, pitfall
from labs.analysis.confidence import student_t
from labs.analysis.net_cost import parts_of
from labs.analysis.thresholds import FEWEST_FIRST_TIMES
from labs.recording.declared import is_first_time
from labs.recording.file import (
    Recording,
    Samples,
    are_in_order,
    distinct,
    memoized,
    numbered,
)
from labs.results.warning_thresholds import FEWEST_PER_BATCH
from labs.units import rounded

Floats = NDArray[np.float64]


@pitfall(
    level=Level.SUFFICIENCY,
    symptom="The samples are too few to tell figure from noise.",
    misconception="Few repetitions show neither the spread nor rare bad samples.",
    experiment="Take ten times as many: does the interval shrink to a third?",
    seen_in="report E: 20 samples and no spread",
    yields_to="below-one-cycle, below-the-clock, clock-dearer-than-the-thing, "
    "margin-from-few-means, overhead-rounded-to-zero",
    broken=(Live("twenty_samples", "timer-overhead-monotonic"),),
)
def too_few_samples(case: Case) -> str | None:
    """Too few samples for an interval that means anything."""
    if case.spec.quantity is Quantity.STEP:
        return None
    for name, result in case.results.items():
        samples = case.recording.samples(name)
        if is_first_time(case.recording, name):
            processes = len(distinct(samples.process))
            if processes < FEWEST_FIRST_TIMES:
                return f"Your recording shows the first time of {name} only {processes} times."
            continue
        sizes = len(distinct(samples.batch))
        if sizes == 0 or len(samples) < FEWEST_PER_BATCH * sizes:
            return (
                f"Your recording holds {len(samples)} samples of {name} over {sizes} batch sizes."
            )
        if result.line is None:
            return f"Your samples give no line: {result.no_figure}."
    return None


FEWEST_FOR_A_SPREAD = 3


@pitfall(
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
    level=Level.SUFFICIENCY,
    symptom="The spread of a few means says little of the error.",
    misconception="Ten million operations between two readings are one sample: its mean hides what "
    "happened in it.",
    experiment="Split the loop into short samples, and look at each.",
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
            f"a 95 % margin is {rounded(student_t(count - 1))} standard errors, not 2"
            if count > 1
            else "one of them has no margin at all"
        )
        return (
            f"Your recording holds {count} sample{'s' if count > 1 else ''} of {name}, each of "
            f"{loop:,} operations or more: {margin}."
        )
    return None


@pitfall(
    level=Level.SUFFICIENCY,
    symptom="The interval is as wide as the value: this run shows no figure.",
    misconception="A run always prints a value; only the interval shows whether the samples "
    "determine it.",
    experiment="Measure again as the run's warning says: larger batch sizes, more samples or "
    "processes.",
    seen_in="report E: 20 samples, and no interval",
    # A mistake in the C can make the processes differ, and is then the cause of the width.
    yields_to="baseline-does-it-too, child-left-behind, clock-read-too-early, "
    "creation-counted-as-switch, first-sample-lost, lock-convoy, never-slept, two-cpus-not-one, "
    "work-optimised-away, tracer-stops-it, too-few-samples, one-process, margin-from-few-means, "
    "below-one-cycle, below-the-clock, clock-dearer-than-the-thing, not-on-a-line, digits-lost, "
    "timestamps-in-double, overhead-rounded-to-zero, less-than-nothing",
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
        f"{rounded(high)}), {rounded(times, 2)} times as wide as {measure.name}{beside}."
    )


@pitfall(
    symptom="Twice the work does not take twice the time.",
    misconception="Work is left out or shared, or the sample holds something else.",
    experiment="Draw the mean against k: which batch size leaves the line?",
    seen_in="report A: creation, which happens once, divided by a loop of exchanges",
    yields_to="clock-read-too-early, clocks-of-two-processes, more-between-the-readings",
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
        wraps = wraps_at(line.batch, line.location)
        if wraps is not None:
            k = int(line.batch[line.batch >= wraps][0])
            return (
                f"At k = {k}, {name} takes as long as {k % wraps} operations: the count of the "
                f"loop wraps around at {wraps:,}."
            )
        worst, share = line.worst_point()
        return (
            f"The mean of {name} at k = {line.batch[worst]:.0f} lies {rounded(100 * share)} % off "
            f"the line through all batch sizes.{_of_the_kit(case)}"
        )
    return None


def _of_the_kit(case: Case) -> str:
    """What follows where nobody but the machine can have bent the line; '' where the C may have."""
    if case.recording.conditions.get("source.sha256") not in released_sources():
        return ""
    return " The C is the kit's: measure again."


#: Where a loop that counts in one byte or in two begins anew.
NARROW = (2**8, 2**16)
#: So near to their line, as a share of their values, are the means of such a loop, and so much of
#: the longest do they grow: samples that hardly grow lie on any line.
ON_ITS_LINE, LEAST_GROWTH = 0.1, 0.5
FEWEST_COUNTS = 3


def wraps_at(batch: Floats, location: Floats) -> int | None:
    """Where the count of the loop wraps around; None if that does not put the means on a line.

    Both have the shape (sizes,), the smallest size first; `location` is the mean sample of each
    size, in ticks.
    """
    for limit in NARROW:
        counted = batch % limit
        if len(set(counted.tolist())) < FEWEST_COUNTS or bool((np.diff(counted) > 0).all()):
            continue  # in the order of the sizes any line through the means would do
        slope, intercept = np.polyfit(counted, location, 1)
        grows = slope * np.ptp(counted) > LEAST_GROWTH * location.max()
        off = np.abs(location - slope * counted - intercept)
        if grows and bool((off <= ON_ITS_LINE * np.abs(location)).all()):
            return limit
    return None


#: Fewer samples of a variant in a process can stand in a row by chance.
FEWEST_IN_A_ROW = 5


@pitfall(
    symptom="The first variant was measured with cold code.",
    misconception="The first variant pays for page faults and empty caches: its position looks "
    "like its cost.",
    experiment="Measure in the opposite order, or interleave: which one costs more?",
    seen_in="report A: the call without arguments",
    broken=(Live("in_turn", "call-args0"),),
)
def first_in_line(case: Case) -> str | None:
    """The variant that came first costs more because of its position: its code was cold."""
    recording = case.recording
    if len(recording.variants) < 2 or (recording.sample < 0).any():
        return None
    lines = {_in_line(recording, process) for process in distinct(recording.process).tolist()}
    if len(lines) != 1:
        return None
    order = next(iter(lines))
    if not order:
        return None
    return (
        f"Without warm-up, all samples of {order[0]} come before those of {order[1]}. The first "
        f"one takes {rounded(_coldness(recording, order[0]), 2)} times as long as others of its "
        "batch size."
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
        of_variant[first].max() < of_variant[second].min() for first, second in pairwise(order)
    )
    return tuple(recording.variants[number] for number in order) if in_turn else ()


#: Shorter series, or ones that hardly fall, could look like this by chance.
FEWEST_VALUES = 16
LEAST_FALL = 1.25
LEAST_EXCESS = 20  # ticks
#: How closely the first values must follow from the first one, as a share of their excess.
CLOSELY = 0.25
FIRST_RUNS = 8


@pitfall(
    symptom="This series holds running means, not samples.",
    misconception="A mean over all samples so far seems to settle, but the cold first sample stays "
    "in it.",
    experiment="Record each sample by itself; compute a mean when all are there.",
    seen_in="report E: 7712, 6854, 6483 ... 4459 ns",
    broken=(Live("running_mean", "first-iteration-call"),),
)
def running_mean(case: Case) -> str | None:
    """A series of running means handed in as samples: each value holds all samples before it."""
    for name in case.spec.variants:
        first = _most_fall(case.recording, name)
        if first is not None:
            shown = ", ".join(rounded(value) for value in first[:4].tolist())
            last = rounded(float(first[-1]))
            return f"Your values of {name} fall by 1/n: {shown} ... {last} ticks."
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
    mine = np.flatnonzero(recording.rows_of(variant))
    process, batch = recording.process[mine], recording.batch[mine]
    place, ticks = recording.sample[mine], recording.ticks[mine].astype(np.float64)
    # One sort, because a recording may have thousands of groups.
    sizes, size = numbered(batch)
    cell = process * len(sizes) + size
    if are_in_order(process, place) and cell.max(initial=0) < 2**16:
        # Rows are mostly in the order taken. To sort short numbers takes a tenth of the time.
        order = np.argsort(cell.astype(np.uint16), kind="stable")
    else:
        order = np.lexsort((place, cell))
    begins = np.flatnonzero(np.diff(cell[order])) + 1
    begin, end = np.append(0, begins), np.append(begins, len(ticks))
    long = end - begin >= FEWEST_VALUES
    begin, end = begin[long], end[long]
    falls = ticks[order[begin]] >= LEAST_FALL * ticks[order[end - 1]]
    bounds = zip(begin[falls].tolist(), end[falls].tolist(), strict=True)
    return len(begin), [ticks[order[first:last]] for first, last in bounds]


def is_running_mean(values: Floats) -> bool:
    """Of values that fall: whether what was averaged can be worked out, and begins with a cold one.

    If the n-th value is a mean of n samples, n times it less n - 1 times the one before is the
    n-th sample, which is not negative; of honest samples this varies by n times their spread.
    """
    # The first values decide of nearly every series. Of few numbers, Python takes less than numpy.
    early: list[float] = values[: 2 * FIRST_RUNS].tolist()
    sums = [n * value for n, value in enumerate(early, 1)]
    sample = [after - before for before, after in pairwise(sums)]
    warm = statistics.median(sample)
    excess = early[0] - warm
    if excess < LEAST_EXCESS:
        return False
    for n, value in enumerate(early[:FIRST_RUNS], 1):
        if abs(value - (warm + excess / n)) > CLOSELY * excess / n + 1:
            return False
    if any(each < -n for n, each in enumerate(sample, 2)):
        return False
    every = np.arange(1, len(values) + 1)
    # Whole ticks: each value is off by less than one.
    return not bool((np.diff(every * values, prepend=0.0) < -every).any())


#: Nearer to the typical sample than this, the smallest one is not what makes the figure wrong.
CLEARLY_SHORTER = 0.99
#: What half of the samples are is their middle, and no lucky one.
MOST_AS_SHORT = 50.0


@pitfall(
    symptom="The figure is the luckiest sample.",
    misconception="The minimum is a lower limit: on a coarse counter it can be a whole step too "
    "short.",
    experiment="Sort the samples and look at the middle one.",
    seen_in="benchmark scripts",
    explains=MistakeKind.REDUCTION,
)
def minimum_taken(case: Case) -> str | None:
    """The smallest sample handed in for the typical one."""
    spec = case.spec
    about = (Quantity.OVERHEAD, Quantity.COST, Quantity.WHOLE)
    if spec.quantity not in about or case.right or not case.submitted:
        return None
    if digits_of(case.figure.value) < FEWEST_DIGITS:
        return None  # one step of the clock is often a round number (one_sample_taken)
    samples = case.recording.samples(spec.variant)
    per_unit = samples.clock.ticks_in(spec.unit)
    if spec.quantity is Quantity.COST:
        per_unit *= parts_of(case.recording, spec.variant)
    sizes = list(samples.batch_sizes)
    for size in [0] if spec.quantity is Quantity.OVERHEAD else sizes:
        ticks = samples.ticks[samples.batch == size]
        if not len(ticks):
            continue
        each = max(size, 1) * per_unit
        least, usual = float(ticks.min()) / each, usual_ticks(samples, size) / each
        share = 100 * float((ticks == ticks.min()).mean())
        if is_number(case, least) and least < CLEARLY_SHORTER * usual and share < MOST_AS_SHORT:
            return (
                f"You gave {case.as_submitted()}, the smallest of {len(ticks)} samples at k = "
                f"{size}; only {share:.2g} % of them are that short. A typical one takes "
                f"{rounded(usual)} {spec.unit}."
            )
    return None


#: Nearer to the typical sample than this, it makes no difference that it is a single one.
CLEARLY_OFF = 0.01
PERCENTILES = (25, 75, 90, 95, 99)


@pitfall(
    symptom="The figure is one sample, not what all have in common.",
    misconception="A clock counts whole steps; the true time lies between two.",
    experiment="Compute the mean of all samples.",
    seen_in="readings that are printed and copied",
    explains=MistakeKind.REDUCTION,
    yields_to="minimum-taken",
)
def one_sample_taken(case: Case) -> str | None:
    """A single sample handed in for what all have in common: a step, the first, a percentile."""
    if case.spec.quantity is not Quantity.OVERHEAD or case.right:
        return None
    samples = case.recording.samples(case.spec.variant)
    empty = samples.only(samples.batch == 0)
    if not len(empty):
        return None
    per_unit, typical = samples.clock.ticks_in(case.spec.unit), usual_ticks(samples, 0)
    for ticks, what in _single_samples(empty):
        # A step in ns is often a round number.
        digits = OF_USUAL_SLIPS if ticks == samples.clock.step else FEWEST_DIGITS
        is_this = is_number(case, ticks / per_unit, digits)
        if abs(ticks - typical) < CLEARLY_OFF * typical or not is_this:
            continue
        return (
            f"You gave {case.as_submitted()}: that is {what}, {rounded(ticks)} "
            f"ticks{_also(samples, ticks)}. Their mean is {rounded(typical / per_unit)} "
            f"{case.spec.unit}; the clock steps by {samples.clock.step}."
        )
    return None


def _also(samples: Samples, ticks: float) -> str:
    """Where else somebody finds this number: a coarse clock shows the same for several sizes."""
    for size in samples.batch_sizes:
        chosen = samples.ticks[samples.batch == size]
        if size and len(chosen) and float(chosen.min()) == ticks:
            return f", or the shortest with {size} operations"
    return ""


def _single_samples(empty: Samples) -> Iterator[tuple[float, str]]:
    """The samples that somebody may take for all, in ticks, and what each of them is."""
    if empty.clock.step > 1:
        yield float(empty.clock.step), "one step of your clock"
    yield float(np.median(empty.ticks)), "the middle one of your empty samples"
    yield float(empty.ticks[0]), "the first of your empty samples"
    for percent in PERCENTILES:
        ticks = float(np.percentile(empty.ticks, percent))
        yield ticks, f"the {percent}th percentile of your empty samples"
    yield float(empty.ticks.max()), "the longest of your empty samples"


#: From this factor on the extreme samples, and nothing else, make the mean what it is.
CARRIED = 1.03


@pitfall(
    symptom="A few extreme samples shift the mean.",
    misconception="A mean spreads one page fault or one interrupt over all samples.",
    experiment="Leave out the largest 1 %: how far does the mean move?",
    seen_in="report E: 366 ns, then 90 to 96 ns, reported as 104 ns",
    explains=MistakeKind.REDUCTION,
    broken=(Live("untouched_records", "timer-overhead-monotonic"),),
)
def cold_samples_in_mean(case: Case) -> str | None:
    """A plain mean over all samples, cold ones and interruptions included."""
    spec = case.spec
    about = (Quantity.OVERHEAD, Quantity.COST, Quantity.WHOLE)
    if spec.quantity not in about or case.right or case.submitted is None:
        return None
    recording = case.recording
    mine = recording.rows_of(spec.variant)
    if spec.quantity is Quantity.OVERHEAD:
        mine &= recording.batch == 0
    samples = recording.samples(spec.variant)
    usual = {size: usual_ticks(samples, size) for size in samples.batch_sizes}
    per_unit = samples.clock.ticks_in(spec.unit)
    if spec.quantity is Quantity.COST:
        per_unit *= parts_of(recording, spec.variant)
    for chosen, what in (
        (mine, "warm-up included"),
        (mine & (recording.sample >= 0), "interruptions included"),
    ):
        chosen = chosen & np.isin(recording.batch, list(usual))
        if not chosen.any():
            continue
        ticks = recording.ticks[chosen] / per_unit
        operations = recording.batch[chosen].clip(min=1)
        without = np.array([usual[size] for size in recording.batch[chosen].tolist()]) / per_unit
        for mean, typical in (
            ((ticks / operations).mean(), (without / operations).mean()),
            (ticks.sum() / operations.sum(), without.sum() / operations.sum()),
        ):
            if is_number(case, float(mean)) and mean > CARRIED * typical:
                return (
                    f"You gave {case.as_submitted()}: the mean of all {len(ticks)} samples, "
                    f"{what}. Without the few extreme ones, such as one of "
                    f"{rounded(float((ticks / operations).max()))}, the mean is "
                    f"{rounded(float(typical))} {spec.unit}."
                )
    return None
