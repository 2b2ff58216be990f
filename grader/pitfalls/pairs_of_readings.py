"""The pair of readings around what is timed: what it costs, and what lies between."""

from __future__ import annotations

import re

import numpy as np

from grader.evidence import c_calls, c_tree, observed
from grader.evidence.sources import own_source
from grader.figures.case import FEWEST_DIGITS, OF_USUAL_SLIPS, Case, is_number
from grader.figures.expected import canonical_or
from grader.figures.spec import Quantity
from grader.figures.verdict import Level
from grader.pitfalls.pitfall import Live, MistakeKind, pitfall
from labs.analysis import cpu_core
from labs.analysis.confidence import Estimate
from labs.analysis.line import Line
from labs.analysis.net_cost import parts_of
from labs.recording.declared import is_first_time
from labs.recording.file import Recording
from labs.units import rounded

#: A clock that is less of the figure than this is not worth a word.
LEAST_SHARE_OF_FIGURE = 0.05
#: Below this share of the timer's overhead a line begins as if there were no timer.
NO_TIMER = 0.25


@pitfall(
    symptom="The clock's own cost is part of the figure.",
    misconception="A sample is the timer plus the work. One short operation is mostly timer, "
    "however often you repeat it.",
    experiment="Put 64 and 512 operations between two readings, and take the slope.",
    seen_in="report E: 90 ns of a procedure call are the clock",
    explains=MistakeKind.CONTENTS,
    shows_in_recording=True,
    broken=(Live("readings_around_each", "call-args0"),),
)
def timer_not_subtracted(case: Case) -> str | None:
    """The clock's own cost, handed in as a part of what it times."""
    spec = case.spec
    if spec.quantity not in (Quantity.COST, Quantity.WHOLE) or spec.of_overhead:
        return None
    if is_first_time(case.recording, spec.variant) or case.submitted is None:
        return None
    return _in_each_operation(case) if case.right else _whole_sample(case) or _on_top(case)


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
        if timer < LEAST_SHARE_OF_FIGURE * expected.value or not is_number(
            case, expected.value + timer
        ):
            continue
        return (
            f"You gave {case.as_submitted()}: that is {rounded(expected.value)} and "
            f"{rounded(timer)} {case.spec.unit}, the cost of a pair of readings."
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
        median, usual = float(np.median(chosen)), observed.usual_ticks(samples, k)
        means = [median, usual, float(chosen.mean())]
        means.append(float(recording.ticks[mine & (recording.batch == k)].mean()))
        # Samples with one operation have no other number that the figure could be.
        fewest = OF_USUAL_SLIPS if k == 1 else FEWEST_DIGITS
        mean = next((each for each in means if is_number(case, each / k / per_unit, fewest)), None)
        if mean is None or (timer is not None and timer < LEAST_SHARE_OF_FIGURE * usual):
            continue
        inside = "with one operation inside" if k == 1 else f"divided by {k} operations"
        own = "part of this is the clock's own cost"
        if timer is not None:
            clock = f"{rounded(timer / k / per_unit)} {spec.unit}"
            own = f"about {clock} of this are the clock's own cost"
        return f"You gave {case.as_submitted()}, your sample {inside}; {own}."
    return None


def _timer(case: Case) -> float | None:
    """What the readings add to a sample, in its ticks; None where the recording cannot tell."""
    line = case.result.line
    if line is not None:
        return max(line.overhead.value, 0.0)
    samples = case.recording.samples(case.spec.variant)
    if (samples.batch == 0).any():
        return observed.usual_ticks(samples, 0)
    if observed.reads_the_counter(case.recording, case.spec.variant):
        return case.recording.number("counter.overhead")
    return None


def _in_each_operation(case: Case) -> str | None:
    """The figure follows, but every operation of a sample has readings of its own."""
    line = case.result.line
    if line is None or not line.straight or not _begins_without_timer(case, line):
        return None
    if not c_calls.reads_in_loop(c_tree.measured_region(case.source)):
        return None
    return (
        f"Your line begins at {rounded(line.overhead.value)} ticks, and a pair of readings takes "
        f"{rounded(case.recording.number('counter.overhead') or 0)}: the "
        f"{rounded(line.cost.value)} ticks an operation include one."
    )


def _begins_without_timer(case: Case, line: Line) -> bool:
    timer = case.recording.number("counter.overhead")
    return timer is not None and line.overhead.low < NO_TIMER * timer <= line.cost.value


#: Work that takes more than the readings is not mistaken for none.
MOST_SHARE_OF_TIMER = 0.5


@pitfall(
    symptom="The work between the readings is counted as overhead of the timer.",
    misconception="A sample is overhead plus k times the cost of what it holds.",
    experiment="Draw the mean against k and read the line at k = 0.",
    seen_in="report D: clock and operation are one number",
    explains=MistakeKind.CONTENTS,
    broken=(Live("clock_and_work", "timer-overhead-monotonic"),),
)
def work_counted_as_timer(case: Case) -> str | None:
    """The mean of a sample that holds work, handed in as the timer's overhead."""
    if case.spec.quantity is not Quantity.OVERHEAD or case.right or case.submitted is None:
        return None
    samples = case.recording.samples(case.spec.variant)
    per_unit = samples.clock.ticks_in(case.spec.unit)
    recording = case.recording
    mine = recording.rows_of(case.spec.variant)
    everything = (
        (samples.ticks, samples.batch),
        (recording.ticks[mine], recording.batch[mine]),  # warm-up included
    )
    for k in [size for size in samples.batch_sizes if size != 0]:
        numbers = [(observed.usual_ticks(samples, k), "mean")]
        empty = observed.usual_ticks(samples, 0) if (samples.batch == 0).any() else 0.0
        if empty < MOST_SHARE_OF_TIMER * numbers[0][0]:
            # None of the empty samples is as large as these.
            of_size = [each[each_batch == k] for each, each_batch in everything]
            numbers += [(float(each.mean()), "mean") for each in of_size]
            numbers.append((float(of_size[0].min()), "shortest"))
        found = next((each for each in numbers if is_number(case, each[0] / per_unit)), None)
        if found is not None:
            operations = f"{k} operation{'s' if k > 1 else ''}"
            return (
                f"You gave {case.as_submitted()}: that is your {found[1]} sample at k = {k}, "
                f"{rounded(found[0] / per_unit)} {case.spec.unit}, with {operations} inside."
            )
    return None


#: A net cost may come out a little below nothing where the operation is nothing; by this share of
#: what was timed it may not.
CLEARLY_BELOW_0 = 0.2
#: Where an operation costs next to nothing, every fortieth line falls by more than its interval
#: allows. So many halves of the interval it does not fall by chance.
CHANCE_HALF_WIDTHS = 2.0


@pitfall(
    symptom="No operation takes a negative time.",
    misconception="Something was subtracted that was not in the sample, such as an overhead that "
    "this run did not measure.",
    experiment="Print the value before the subtraction, and next to it the value that is "
    "subtracted.",
    seen_in="report A: calls of -3.9 cycles",
    yields_to="baseline-does-it-too, tracer-stops-it, stale-constant, clocks-of-two-processes, "
    "fewer-switches-than-claimed, lock-convoy, never-slept, own-semaphore, page-not-brought, "
    "work-optimised-away",
    broken=(Live("overhead_for_every_call", "call-args0"),),
)
def less_than_nothing(case: Case) -> str | None:
    """An operation, or a timer, whose cost is negative."""
    if not case.spec.is_time or case.spec.quantity is Quantity.DIFFERENCE:
        return None
    if case.figure.value < 0 and not (case.right and case.spec.may_be_nothing):
        return f"You gave {case.as_submitted()}, which is below zero."
    line, net = case.result.line, case.result.net
    if line is not None and line.straight and _falls(line.cost):
        return (
            f"Your line falls as the work grows: its slope is {rounded(line.cost.value)} ticks "
            "an operation."
        )
    if net is None or net.baseline is None or net.net.high >= 0:
        return None
    if net.net.value > -CLEARLY_BELOW_0 * abs(net.unsubtracted.value):
        return None
    return (
        f"Your recording gives {rounded(net.net.value)} ticks: one operation as timed takes "
        f"{rounded(net.unsubtracted.value)}, and the {net.baseline_variant} subtracted from it "
        f"takes {rounded(net.times * net.baseline.value / net.parts)}."
    )


def _falls(cost: Estimate) -> bool:
    return cost.value + CHANCE_HALF_WIDTHS * cost.half_width < 0


#: The overhead of report A, in cycles: it stands in its published source.
PUBLISHED = 28.5
#: The pair of readings cannot cost less than this share of the fenced pair timed in the same run.
LEAST_SHARE_OF_FENCED = 0.3


@pitfall(
    level=Level.VALIDITY,
    symptom="The overhead that was subtracted or handed in is not this run's own.",
    misconception="An overhead belongs to one machine and one run, as any figure does.",
    experiment="Measure the empty sample in this run, or take the slope.",
    seen_in="report A: 28.5 cycles of one machine subtracted on all four",
    explains=MistakeKind.CONTENTS,
    shows_in_recording=True,
    broken=(
        Live("stale_constant", "timer-overhead-fenced"),
        Live("stale_constant_of_calls", "call-args0"),
    ),
)
def stale_constant(case: Case) -> str | None:
    """An overhead that was measured elsewhere: subtracted in the C, or handed in."""
    if case.others or not case.spec.is_time:
        return None
    if _is_published(case):
        return (
            f"You gave {case.as_submitted()}, the constant that report A subtracts. Your recording "
            f"gives {case.accepted_values[0].as_text()}."
        )
    if case.accepted_values and not case.right:
        return None
    constant = c_calls.subtracted_constant(case.source) if case.source else None
    if constant is not None:
        return (
            f"Your C subtracts the constant {constant} from every sample; the pair of readings "
            f"took {rounded(case.recording.number('counter.overhead') or 0)} ticks in this run."
        )
    # A C that subtracts no constant has another reason (clock-read-too-early).
    return too_little_left(case) if case.source is None else None


def _is_published(case: Case) -> bool:
    return (
        case.spec.quantity is Quantity.OVERHEAD
        and bool(case.accepted_values)
        and not case.right
        and canonical_or(case.figure.unit) in ("ticks", "cycles")
        and case.figure.value == PUBLISHED
    )


def too_little_left(case: Case) -> str | None:
    """A pair that costs nothing, or far less than the fenced pair of the same run."""
    line, fenced = case.result.line, case.recording.number("counter.overhead")
    if case.spec.quantity is not Quantity.OVERHEAD or line is None or not line.straight:
        return None
    if not fenced or not observed.reads_the_counter(case.recording, case.spec.variant):
        return None
    pair = line.overhead
    below_nothing = pair.value + 3 * pair.half_width < 0
    if not below_nothing and pair.high >= LEAST_SHARE_OF_FENCED * fenced - 2 * line.clock.step:
        return None
    return (
        f"Your line gives {rounded(pair.value)} ticks for the pair of readings; a fenced pair took "
        f"{rounded(fenced)} in the same run."
    )


#: How many times the fenced pair, timed in the same run, a pair may cost: with a CPUID in its C it
#: costs too much from the first factor on; if the C is not known, only a CPUID reaches the second.
WITH_CPUID, WITHOUT_SOURCE = 1.5, 20.0
_CPUID = re.compile(r"\bcpuid\b|__cpuid", re.IGNORECASE)


@pitfall(
    symptom="Most of the pair is the CPUID between its readings.",
    misconception="CPUID serializes, but in a virtual machine the hypervisor answers it, which "
    "takes microseconds.",
    experiment="Put LFENCE in its place and look at the intercept again.",
    seen_in="code after an old white paper: 3.5 to 10 µs a pair in a virtual machine",
    broken=(Live("cpuid_inside", "timer-overhead-fenced"),),
)
def serializing_cpuid(case: Case) -> str | None:
    """CPUID as a fence, inside the sample: in a virtual machine it goes to the hypervisor."""
    line, recording = case.result.line, case.recording
    fenced = recording.number("counter.overhead")
    if case.spec.quantity is not Quantity.OVERHEAD or line is None or not fenced:
        return None
    if not observed.reads_the_counter(recording, case.spec.variant):
        return None
    times = WITHOUT_SOURCE
    if case.source is not None:
        code = c_tree.whole(case.source)
        if not any(_CPUID.search(text) for text in (*code.words, *code.strings)):
            return None
        times = WITH_CPUID
    elif "True" not in recording.condition("machine.virtual"):
        return None
    if line.overhead.low <= times * fenced + 3 * line.clock.step:
        return None
    return (
        f"Your pair takes {rounded(line.overhead.value)} ticks; a pair of readings fenced by "
        f"LFENCE took {rounded(fenced)} in the same run, {rounded(line.overhead.value / fenced)} "
        "times less."
    )


#: A dependent addition takes one core cycle; an emulator or a hypervisor may blur that.
LEAST_CYCLES_OF_ADDITION = 0.5
#: The C kernel that a student writes around dependent additions.
OWN_PAIR = "own_pair"


@pitfall(
    symptom="The readings do not enclose the work.",
    misconception="A processor executes out of order: an unfenced reading does not wait for the "
    "work before it.",
    experiment="Put a fence before the second reading, and double the work: does the sample "
    "double?",
    seen_in="report A: rdtsc without a fence around a few cycles of work",
    yields_to="digits-lost, timestamps-in-double, not-one-chain, end-not-read",
    broken=(Live("no_fence", "timer-overhead-fenced"),),
)
def clock_read_too_early(case: Case) -> str | None:
    """The clock is read before the work is done: the readings are unfenced."""
    if not case.spec.of_overhead and case.spec.kernel != OWN_PAIR:
        return None
    if observed.seen(case, "additions") and observed.seen(case, "end_waits") == 0:
        return (
            "Your C executes no fence between the last addition and the second reading, so this "
            "reading need not wait."
        )
    if observed.seen(case, "additions_anywhere") == 0:
        return None  # there is no addition that the readings could miss: work-optimised-away
    if case.source is not None and c_calls.subtracted_constant(case.source) is None:
        evidence = too_little_left(case)
        if evidence is not None:
            return evidence
    for name, result in case.results.items():
        line = result.line
        if line is None:
            continue
        if not line.straight:
            least = least_beyond_additions(case.recording, line)
            if least is None or least[0] >= 0:
                continue  # the work is enclosed, with more than it (more_between_the_readings)
            _, place = least
            return (
                f"Your samples of {name} with {line.batch[place]:.0f} additions take "
                f"{rounded(float(line.location[place]))} ticks; the additions alone take "
                f"{rounded(float(line.location[place]) - least[0])}, one after the other."
            )
        if line.clock.step > line.location.max():
            continue  # a counter that sees nothing of such samples says nothing of their order
        cycle = line.clock.core_cycle_ticks
        if case.spec.quantity is Quantity.COST and case.spec.kernel == OWN_PAIR and cycle:
            cost = line.cost
            # The interval counts: a coarse counter knows a cycle only roughly.
            if cost.high < LEAST_CYCLES_OF_ADDITION * cycle:
                return (
                    f"Your pair {name} sees {rounded(cost.value / cycle)} core cycles for an "
                    "addition, which takes one."
                )
    return None


def least_beyond_additions(recording: Recording, line: Line) -> tuple[float, int] | None:
    """How much longer the samples are than the additions in them, in ticks, where that is least.

    Below 0 they are shorter, and cannot hold all additions. The second number is the place of that
    batch size in `line`. None if the length of a core cycle is not known.
    """
    cycle = cpu_core.shortest_cycle(recording, line.clock)
    if not cycle:
        return None
    beyond = line.location - line.batch * cycle
    place = int(beyond.argmin())
    return float(beyond[place]), place


#: A dependent addition takes one core cycle, and the run times a chain of the kit's own for that.
MOST_CYCLES_OF_ADDITION = 1.25
#: Samples on no line are too long only if they have at least this share of a fenced pair beside
#: their additions. With less, some additions may lie outside.
SHARE_OF_PAIR = 0.5


@pitfall(
    symptom="There is more between the readings than the additions.",
    misconception="Code that keeps the compiler from leaving work out can add its own.",
    experiment="Use ADDITIONS(link, k) on a plain variable, and take the slope again.",
    seen_in="trials of lab 01: a loop over a volatile variable",
    yields_to="end-not-read, not-one-chain",
)
def more_between_the_readings(case: Case) -> str | None:
    """More between the readings than the additions: a variable in memory, or a loop."""
    line, cycle = case.result.line, case.result.clock.core_cycle_ticks
    if case.spec.kernel != OWN_PAIR or line is None or not cycle:
        return None
    too_dear = line.straight and line.cost.low > MOST_CYCLES_OF_ADDITION * cycle
    if not too_dear and not _is_bent_and_too_long(case, line):
        return None
    short, long = (f"{rounded(float(line.location[place] / cycle))}" for place in (0, -1))
    return (
        f"Your samples take {short} core cycles for {line.batch[0]:.0f} additions and {long} for "
        f"{line.batch[-1]:.0f}.{_seen(case)}"
    )


def _is_bent_and_too_long(case: Case, line: Line) -> bool:
    if line.straight or line.clock.step > line.location.max():
        return False
    least = least_beyond_additions(case.recording, line)
    pair = case.recording.number("counter.overhead") or 0.0
    return least is not None and pair > 0 and least[0] >= SHARE_OF_PAIR * pair


def _seen(case: Case) -> str:
    """What of it stands in the C, as a sentence; '' if the C is not known or shows none."""
    code = c_tree.timed(own_source(case) or "")
    if c_calls.has_volatile_variable(code):
        return " A variable there is volatile: each addition writes and reads memory."
    return " Your C has a loop there." if c_calls.has_loop(code) else ""


#: The run watches a sample with so many additions.
ASKED = 512
#: An unusual C may have further additions around the chain.
SHARE_BESIDE_THE_CHAIN = 0.1
#: With more readings than these, part of the additions may be outside the sample.
READINGS_OF_A_PAIR = 2


@pitfall(
    symptom="The additions are not one chain of the asked length.",
    misconception="A processor works on two chains at once: only an addition that needs the one "
    "before takes a core cycle.",
    experiment="Use one variable, and do ADDITIONS(link, k) once between the readings.",
    seen_in="loops unrolled with several sums",
)
def not_one_chain(case: Case) -> str | None:
    """Additions that need not wait for each other, or more of them than were asked for."""
    additions, chains = observed.seen(case, "additions"), observed.seen(case, "chains")
    if case.spec.kernel != OWN_PAIR or not additions or chains is None:
        return None
    if chains > 1:
        return (
            f"In a sample with {ASKED} additions, your C makes {rounded(additions, 6)}, in "
            f"{chains:.0f} registers: no chain waits for another."
        )
    readings = observed.seen(case, "readings")
    if readings == READINGS_OF_A_PAIR and abs(additions - ASKED) > SHARE_BESIDE_THE_CHAIN * ASKED:
        return f"Where {ASKED} additions are asked for, your C makes {rounded(additions, 6)}."
    return None


#: What is returned, as a share of the time between the first and the last reading. A second pair,
#: or an overhead that is subtracted, makes it less than 1.
LEAST_RETURNED, MOST_RETURNED = 0.25, 1.05
#: With a clock of the C library, less than this is no difference of two readings of the counter.
LEAST_OF_OWN_CLOCK = 0.9


@pitfall(
    symptom="The length of a sample is not a difference of two readings of the counter.",
    misconception="A number computed from k lies on a perfect line, but says nothing of the "
    "machine.",
    experiment="Read the counter before and after the additions, and return the difference.",
    seen_in="samples with less noise than the counter's step allows",
    yields_to="stale-constant",
)
def end_not_read(case: Case) -> str | None:
    """A sample whose length does not come from two readings of the counter."""
    readings = observed.seen(case, "readings")
    if case.spec.kernel != OWN_PAIR or readings is None:
        return None
    if readings < 2:
        times = "once" if readings == 1 else "not at all"
        return f"While a sample of your C ran, the counter was read {times}."
    share = observed.seen(case, "share")
    if share is None:
        return None
    clocks = c_calls.clocks_of_library(c_tree.timed(own_source(case) or ""))
    if clocks and share < LEAST_OF_OWN_CLOCK:
        return (
            f"Your C returns what {clocks[0]}() reads, another clock: taken as ticks, that is "
            f"{share:.0%} of those that passed."
        )
    if LEAST_RETURNED <= share <= MOST_RETURNED:
        return None
    return (
        f"Your C returns {share:.1%} of the time between its first and its last reading of the "
        "counter."
    )
