"""What a clock cannot show: it is too coarse, loses digits, costs too much or stands still."""

from __future__ import annotations

import numpy as np

from grader.evidence import c_tree, task_counts
from grader.evidence.observed import step_of
from grader.figures.case import Case
from grader.figures.spec import RELATIONS, Quantity
from grader.figures.verdict import Level
from grader.pitfalls.pitfall import Live, MistakeKind, pitfall
from labs.analysis.line import Line
from labs.recording.declared import is_first_time
from labs.recording.file import Samples
from labs.units import canonical, rounded

#: A sample minus the timer can be distinguished from 0 if it is at least so many steps long.
FEWEST_STEPS = 4
NO_TIMES = (Quantity.OVERHEAD, Quantity.STEP, Quantity.SWITCHES)


@pitfall(
    level=Level.SUFFICIENCY,
    symptom="One operation is too short for this clock to show it.",
    misconception="An average does not help: the operation vanishes in the readings' spread.",
    experiment="Put 256, 512 and 1,024 operations into a sample, and take the slope.",
    seen_in="report A: one call of a few cycles between two readings of rdtsc",
    broken=(Live("one_call", "call-args0"),),
)
def below_the_clock(case: Case) -> str | None:
    """One operation between two readings that are too coarse to show it."""
    if case.spec.quantity in NO_TIMES or case.spec.of_overhead:
        return None
    for name in case.spec.variants:
        samples = case.recording.samples(name)
        if is_first_time(case.recording, name) or set(samples.batch[samples.batch > 0]) != {1}:
            continue
        step = samples.clock.step
        whole = float(np.median(samples.ticks[samples.batch == 1]))
        empty = _empty_sample(case, samples)
        if whole - empty >= max(FEWEST_STEPS * step, empty):
            continue
        return (
            f"Each of your samples holds one {name} and typically takes {rounded(whole)} ticks; "
            f"an empty one takes {rounded(empty)}, and the clock steps by {step}."
        )
    return None


def _empty_sample(case: Case, samples: Samples) -> float:
    """A sample with nothing in it, in ticks; 0 where the recording does not tell."""
    if (samples.batch == 0).any():
        return float(np.median(samples.ticks[samples.batch == 0]))
    clocks = case.recording.condition(f"clock.{samples.variant}.name")
    if set(clocks) - set(case.recording.condition("counter")):
        return 0.0  # another clock than the one whose overhead is stated
    return case.recording.number("counter.overhead") or 0.0


@pitfall(
    symptom="The figure assumes that the counter advances by one tick at a time.",
    misconception="A counter that counts in ticks may advance by several ticks at once.",
    experiment="Take the greatest common divisor of many differences between readings.",
    seen_in="report A: single calls of 1 to 4 cycles on counters that step by 8 to 26",
    explains=MistakeKind.CONTENTS,
)
def step_assumed_one(case: Case) -> str | None:
    """The counter is taken to step by one."""
    if case.spec.quantity is not Quantity.STEP or case.right or case.figure.value != 1:
        return None
    samples = case.recording.samples(case.spec.variant)
    step = samples.clock.step
    on_it = int((samples.ticks % step == 0).sum())
    how_many = "All" if on_it == len(samples) else f"{on_it:,}"
    return (
        f"You gave {case.as_submitted()}. {how_many} of your {len(samples):,} samples are "
        f"multiples of {step} ticks: the counter steps by {step}."
    )


#: Of a sample of this many steps or more the lost digits are not missed.
STEPS_IN_LONGEST = 10
FEWEST_SEEN = 10


@pitfall(
    level=Level.SUFFICIENCY,
    symptom="The clock's steps are longer than the operation that it times.",
    misconception="Microseconds times 1000 are nanoseconds that end in three zeros: the lost "
    "digits do not come back.",
    experiment="Look at the samples' last digits, and use a clock with smaller steps.",
    seen_in="report B: its first version used gettimeofday times 1000",
    broken=(Live("microseconds_times_1000", "timer-overhead-monotonic"),),
)
def digits_lost(case: Case) -> str | None:
    """Microseconds times 1000: numbers in ns whose last three digits were never measured."""
    # Elsewhere the clocks of the OS may themselves give microseconds in the form of ns (macOS).
    if not "".join(case.recording.condition("os")).startswith("Linux"):
        return None
    for name in case.spec.variants:
        result = case.results[name]
        samples = case.recording.samples(name)
        seen = step_of(samples.ticks)
        if not seen or seen % 1000 or (samples.ticks != 0).sum() < FEWEST_SEEN:
            continue
        longest = max(samples.ticks[samples.batch == samples.batch.max()].mean(), 0)
        if longest >= STEPS_IN_LONGEST * seen:
            continue
        return (
            f"All {len(samples):,} samples of {name} are multiples of "
            f"{rounded(seen / result.clock.ticks_in('ns'))} ns; your longest samples take "
            f"{rounded(float(longest) / result.clock.ticks_in('ns'))} ns on average."
        )
    return None


LEAST_STEP = 16
#: The clock itself steps this many times finer than the samples.
TIMES_FINER = 4


@pitfall(
    level=Level.SUFFICIENCY,
    symptom="The readings lost their last digits before they were subtracted.",
    misconception="A double holds 53 bits: nanoseconds since 1970 need 61, and so come in steps of "
    "256.",
    experiment="Subtract the readings once as whole numbers and once as doubles, and compare.",
    seen_in="a benchmark suite that keeps time stamps of 1.8e18 ns in a double",
    broken=(Live("stamps_in_double", "timer-overhead-monotonic"),),
)
def timestamps_in_double(case: Case) -> str | None:
    """Time stamps of 1.8e18 ns kept in a double, which holds them in steps of 256 ns."""
    for name in case.spec.variants:
        samples = case.recording.samples(name)
        seen = step_of(samples.ticks)
        power_of_two = seen & (seen - 1) == 0
        if seen < max(LEAST_STEP, TIMES_FINER * samples.clock.step) or not power_of_two:
            continue
        if (samples.ticks != 0).sum() < FEWEST_SEEN:
            continue
        return (
            f"All {len(samples):,} samples of {name} are multiples of {seen} ticks, but the "
            f"clock itself steps by {samples.clock.step}."
        )
    return None


#: Of a clock that is merely coarse some samples see a step: as many as the time is long.
MOST_NOT_ZERO = 0.01
FEWEST_TO_SEE_STEPS = 100
#: Whole units shorter than this, in ns, lose no time: reading a clock takes longer.
LEAST_UNIT_THAT_LOSES = 10.0


@pitfall(
    symptom="A time is always 0 if it is stored in whole units longer than itself.",
    misconception="An integer division drops the remainder, and a mean of zeros stays zero.",
    experiment="Keep samples in the clock's finest unit, and divide once, at the end.",
    seen_in="a benchmark tool that keeps its overhead in whole microseconds",
    explains=MistakeKind.UNIT,
    shows_in_recording=True,
    broken=(Live("whole_microseconds", "timer-overhead-monotonic"),),
)
def overhead_rounded_to_zero(case: Case) -> str | None:
    """A time kept in whole units that are longer than it: always 0."""
    if not case.spec.is_time or case.others:
        return None
    if case.submitted == 0 and not case.right and _is_shorter_than_its_unit(case):
        return (
            f"You gave {case.as_submitted()}; your recording gives "
            f"{case.accepted_values[0].as_text()}."
        )
    samples = case.recording.samples(case.spec.variant)
    not_zero = int((samples.ticks != 0).sum())
    if len(samples) < FEWEST_TO_SEE_STEPS or not_zero > MOST_NOT_ZERO * len(samples):
        return None
    unit = 1e6 / samples.clock.frequency_hz
    if unit < LEAST_UNIT_THAT_LOSES / 1000:
        return None  # zeros of a fine clock come from elsewhere, as from too much subtracted
    return (
        f"{len(samples) - not_zero:,} of your {len(samples):,} samples are 0, whatever the work: "
        f"they were kept in whole units of {unit:g} µs."
    )


def _is_shorter_than_its_unit(case: Case) -> bool:
    """Whether the right value is less than 1 in the unit of the figure: whole units lose it.

    Otherwise somebody who gave 0 took it from elsewhere.
    """
    right = [each.value for each in case.accepted_values]
    unit = canonical(case.figure.unit)  # `submitted` is known, so there is such a unit
    return bool(right) and abs(case.result.clock.convert(right[0], case.spec.unit, unit)) < 1


#: Clocks of CPU time have to ask the OS kernel: no vDSO answers for it.
SYSTEM_CALL_CLOCK = "CPUTIME"
#: C kernels whose operation takes about as long as a system call, or far less.
KERNELS_OF_CALLS = frozenset({"procedure_call", "own_procedure", "system_call", "own_call"})
#: So few operations in a sample do not outweigh a system call.
FEW_OPERATIONS = 16


@pitfall(
    symptom="The clock costs more than the operation that it times.",
    misconception="Each reading of a CPU-time clock enters the OS kernel; the readings make up "
    "nearly all of such a sample.",
    experiment="Time an empty sample with the same clock.",
    seen_in="report D: 300 ns for a procedure call, 112 ns for a system call",
    broken=(Live("cpu_clock_around_a_call", "call-args0"),),
)
def clock_dearer_than_the_thing(case: Case) -> str | None:
    """A clock that is a system call itself, around something that is less than one."""
    asked = {Quantity.COST, Quantity.WHOLE, *RELATIONS}
    if case.spec.quantity not in asked or case.spec.kernel not in KERNELS_OF_CALLS:
        return None
    for name in case.spec.variants:
        samples = case.recording.samples(name)
        # A line has the clock in its intercept, where it does not matter what it costs.
        if (
            case.results[name].line is not None
            or not len(samples)
            or samples.batch.max() > FEW_OPERATIONS
        ):
            continue
        clock = _cpu_time_clock(case, name)
        if clock is None:
            continue
        whole = float(np.median(samples.ticks)) / samples.clock.ticks_in("ns")
        return (
            f"Your samples of {name}, timed by {clock}, take {rounded(whole)} ns and hold at most "
            f"{samples.batch.max()} operation"
            f"{'s' if samples.batch.max() != 1 else ''}."
        )
    return None


def _cpu_time_clock(case: Case, variant: str) -> str | None:
    """The CPU-time clock that the variant reads, by what the recording or its C says."""
    stated = " ".join(case.recording.condition(f"clock.{variant}.name"))
    if SYSTEM_CALL_CLOCK in stated:
        return stated.split()[0]
    in_region = any(SYSTEM_CALL_CLOCK in word for word in c_tree.measured_region(case.source).words)
    return "a CPU-time clock" if in_region else None


@pitfall(
    symptom="The clock stands still while the other task runs.",
    misconception="A CPU-time clock counts only what this task computes: it leaves out the other "
    "task and much of the switching.",
    experiment="Time the same exchange by CLOCK_MONOTONIC and compare the two results.",
    seen_in="report D: CLOCK_PROCESS_CPUTIME_ID around a pipe exchange, 1,283 ns",
    broken=(Live("cpu_time_of_one_side", "process-switch-pipe-pinned"),),
)
def cpu_time_misses_the_other_side(case: Case) -> str | None:
    """A clock of CPU time that stands still while the other task runs."""
    if case.others:
        return None
    for name in case.spec.variants:
        clock = task_counts.missing_the_peer(case, name)
        if clock is None or task_counts.without_growth(case, name) is not None:
            continue
        line = case.results[name].line
        took = f": it shows {rounded(_ns(line))} ns for a round trip" if line is not None else ""
        return f"Your variant {name} reads {clock}, which counts one side only{took}."
    return None


def _ns(line: Line) -> float:
    return line.cost.value / line.clock.ticks_in("ns")


@pitfall(
    symptom="The beginning and the end were read from two different clocks.",
    misconception="Each process has its own CPU time: both must read the same clock.",
    experiment="Let both sides read CLOCK_MONOTONIC, and double the exchanges.",
    seen_in="report E: the other process reads the end",
    broken=(Live("end_by_other_clock", "process-switch-pipe-pinned"),),
)
def clocks_of_two_processes(case: Case) -> str | None:
    """A sample that begins by the clock of one process and ends by that of another."""
    if case.others:
        return None
    for name in case.spec.variants:
        clock = task_counts.missing_the_peer(case, name)
        lacking = task_counts.without_growth(case, name)
        if clock is None or lacking is None:
            continue
        few, short, many, long = lacking
        return (
            f"By {clock} your variant {name} takes {rounded(short)} ns for {few} exchange"
            f"{'s' if few != 1 else ''} and "
            f"{rounded(long)} ns for {many}: no single clock can show that."
        )
    return None
