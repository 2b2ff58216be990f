"""The recording behind a figure: whether there is one, and whether the figure follows from it.

The first of these show before there is a case: nothing was handed in, or nothing can be read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import PurePosixPath

from grader.evidence import observed
from grader.evidence.c_tree import parsed
from grader.evidence.observed import measured_after
from grader.evidence.other_numbers import printed_by, variants_of_same_value
from grader.figures.case import Case, is_number
from grader.figures.expected import ACCEPTED_WITHIN, Expected
from grader.figures.spec import Quantity
from grader.figures.verdict import NO_FIGURE as CODE_OF_NO_FIGURE
from grader.figures.verdict import Finding, Level
from grader.pitfalls.pitfall import Live, Pitfall, pitfall
from labs.recording import run_conditions
from labs.results.result import REASONS
from labs.units import NANOSECONDS, rounded, times

NO_FIGURE = Pitfall(
    code=CODE_OF_NO_FIGURE,
    level=Level.PROVENANCE,
    symptom="This figure was not handed in.",
    misconception="A figure counts only if it is in figures.json.",
    experiment="Run the cell that hands it in, or add the entry to figures.json.",
    seen_in="report E: thread switching",
)
FIGURE_UNREADABLE = Pitfall(
    code="figure-unreadable",
    level=Level.PROVENANCE,
    symptom="This figure cannot be read.",
    misconception="A figure is a number with a unit and the name of its recording.",
    experiment="Correct this entry of figures.json, or run the cell with lab.figure(...) again.",
    seen_in="figures.json written by hand",
)
NO_RECORDING = Pitfall(
    code="no-recording",
    level=Level.PROVENANCE,
    symptom="There is no evidence for this figure.",
    misconception="A number alone can be neither believed nor checked.",
    experiment="Measure with save=..., and hand in the run with the figure: "
    "lab.figure(id, value, unit, run).",
    seen_in="reports B to D: means without samples",
)
RECORDING_UNREADABLE = Pitfall(
    code="recording-unreadable",
    level=Level.PROVENANCE,
    symptom="The recording cannot be read.",
    misconception="A recording must be handed in as it was written.",
    experiment="Measure again and do not open the file in a program that rewrites it.",
    seen_in="recordings cut off in copying",
)
OTHER_RECORDING = Pitfall(
    code="other-recording",
    level=Level.PROVENANCE,
    symptom="The figure needs another recording than this one.",
    misconception="A figure needs a recording of the operation that it is about.",
    experiment="Look at the first lines of the recording: which C kernel, which variants?",
    seen_in="report A: one machine's overhead, used on all",
)
NO_OTHER_FIGURE = Pitfall(
    code="no-figure-to-relate",
    level=Level.PROVENANCE,
    symptom="This figure depends on others, and one of them has no usable evidence.",
    misconception="A ratio or a conclusion is worth what the figures behind it are worth.",
    experiment="Hand in those figures with their recordings first; this figure then counts.",
    seen_in="report E: a conclusion about unmeasured thread switching",
)
NOT_REPRODUCED = Pitfall(
    code="mistake-not-reproduced",
    symptom="This recording does not show the mistake that the lab asks for.",
    misconception="To refute a figure, first measure it in the same way as the report did.",
    experiment="Run the broken C kernel as it stands, and hand in that run.",
    seen_in="reports A to E: what lab 08 puts on trial",
)
#: The entries above.
WHILE_READING = tuple(each for each in globals().values() if isinstance(each, Pitfall))


@pitfall(
    level=Level.PROVENANCE,
    symptom="The recording was changed after it was saved.",
    misconception="A recording is evidence only as it was written: leave samples out in the "
    "analysis, not in the file.",
    experiment="Save the recording again and hand that in.",
    seen_in="report A: table entries that its own runs do not give",
)
def recording_altered(case: Case) -> str | None:
    """The samples are not those that were written."""
    if case.recording.intact is not False:
        return None
    stated = case.recording.conditions["samples.sha256"][:12]
    return (
        f"{case.figure.recording} states the hash {stated} for its samples, but their hash is "
        f"{case.recording.samples_sha256[:12]}."
    )


@pitfall(
    symptom="The C behind this figure cannot be read here.",
    misconception="Only the C shows what was timed; its hash changes with every letter.",
    experiment="Hand in the measured .c file next to the .csv file, or measure the changed C again "
    "with the same --save.",
    seen_in="reports B to D: figures without their program",
)
def no_c_to_read(case: Case) -> str | None:
    """A student's own measurement without the C that was measured, or with other C in its place."""
    if not case.spec.own or case.others:
        return None
    recording = PurePosixPath(case.figure.recording or "the recording")
    if case.source is None:
        stated = case.recording.conditions.get("source.sha256", "")
        return (
            f"{recording} was made from C whose hash begins with {stated[:8] or 'nothing'}; "
            f"there is no {recording.with_suffix('.c').name} with this hash."
        )
    if parsed(case.source).readable:
        return None
    return (
        f"{recording.with_suffix('.c').name} has more nested or unfinished code than the grader "
        "reads."
    )


#: Beyond this factor the two values show by themselves how far apart they are.
MOST_APART = 100.0
#: Quantities for which no samples are averaged.
WITHOUT_SAMPLES = (Quantity.STEP, Quantity.SWITCHES, Quantity.CHOICE)


@pitfall(
    level=Level.PROVENANCE,
    symptom="The figure differs from its recording.",
    misconception="Other samples were used, another formula, or a guess.",
    experiment="Compute it again.",
    seen_in="report A: setuid, runs of 1217.20 cycles on average, 1261.60 in the table",
)
def figure_not_from_recording(case: Case) -> str | None:
    """The figure differs from what its recording gives, and no known slip explains it.

    Nobody is accused: whoever reduces the samples in another way may be far from the kit's value.
    The finding says by how much the figure differs, and how many samples the kit leaves out and
    why.
    """
    if case.right or case.submitted is None or not case.accepted_values:
        return None
    if case.spec.quantity is Quantity.CHOICE:
        # conclusion-against-table reports the others.
        return _of_stale_conclusion(case) if is_stale(case) else None
    gives = f"{case.figure.recording} gives"
    if case.others:
        gives = f"your figures {' and '.join(each.spec.id for each in case.others)} give"
    expected = _nearest(case, case.submitted).as_text()
    evidence = f"You gave {case.as_submitted()}; {gives} {expected}."
    if is_stale(case):
        return (
            f"{evidence} This recording was made after you handed the figure in: hand the figure "
            "in again."
        )
    return evidence


def _nearest(case: Case, submitted: float) -> Expected:
    """What the recording gives, as the picture shows it; else the nearest right value.

    Somebody who gave core cycles reads core cycles.
    """
    own, unit = case.expected, case.figure.unit
    if own is not None and (unit in NANOSECONDS or own.unit == unit):
        return own
    return min(case.accepted_values, key=lambda each: abs(each.value - submitted))


def _of_stale_conclusion(case: Case) -> str:
    """It does not say whether the newer figures support the conclusion still."""
    newer = [
        each.figure.recording or each.spec.id
        for each in case.others or (case,)
        if measured_after(case.figure, each.recording)
    ]
    return (
        f"You gave {case.as_submitted()}; afterwards {' and '.join(newer)} was measured. Compare "
        "anew, and conclude again."
    )


def is_stale(case: Case) -> bool:
    """Whether the figure is wrong and older than a recording of it: what is wrong is its age."""
    if case.right or not case.accepted_values:
        return False
    return any(measured_after(case.figure, each.recording) for each in case.others or (case,))


def with_what_it_is(finding: Finding, case: Case, what_it_is: Callable[[Case], str]) -> Finding:
    """The finding, and what the figure is the value of, if this finding is of such a figure.

    A figure of which nothing is known is told which samples the kit leaves out. Of one that is
    known, no misconception is blamed.
    """
    if finding.code != figure_not_from_recording.code:
        return finding
    known = what_it_is(case)
    if not known and (printed := printed_by(case)):
        known = f"What you gave is {printed}."
    if known:
        return replace(finding, evidence=f"{finding.evidence} {known}", misconception="")
    told = [] if is_stale(case) else [_how_far(case), left_out(case)]
    return replace(finding, evidence=" ".join(filter(None, (finding.evidence, *told))))


def _how_far(case: Case) -> str:
    """By how much the figure differs, and why so little matters; '' if that shows by itself."""
    if case.submitted is None or case.spec.quantity is Quantity.CHOICE:
        return ""
    right = _nearest(case, case.submitted).value
    times = case.submitted / right if right else 0.0
    if not 1 / MOST_APART <= times <= MOST_APART:
        return ""
    share, ratio = rounded(100 * abs(times - 1), 2), rounded(times, 2)
    if times < 1:
        apart = f"Yours is {share} % lower."
    elif times < 2:
        apart = f"Yours is {share} % higher."
    else:
        apart = f"Yours is {ratio} times as large."
    return f"{apart} {case.spec.why_exact}".rstrip() if abs(times - 1) <= ACCEPTED_WITHIN else apart


def left_out(case: Case) -> str:
    """How many samples the kit leaves out, and why; '' for what is not an average of samples.

    A relation of other figures follows from the student's own ones, whatever samples these count.
    """
    if case.others or case.spec.quantity in WITHOUT_SAMPLES:
        return ""
    results = [case.results[name] for name in case.spec.variants]
    if any(each.line is None for each in results):
        return ""
    aside = sum((Counter(each.set_aside) for each in results), Counter[str]())
    left = sum(each.n for each in results)
    left_out, every = f"{aside.total():,}", f"{left + aside.total():,}"
    if not aside:
        return f"The kit counts all {every} samples."
    if len(aside) == 1:
        why = REASONS[next(iter(aside))].format(count="all of them")
        return f"The kit leaves out {left_out} of {every} samples, {why}."
    each = ", ".join(REASONS[why].format(count=f"{count:,}") for why, count in aside.items())
    return f"The kit leaves out {left_out} of {every} samples: {each}."


def what_it_is(case: Case) -> str:
    """Which variant of its own recording the figure is the cost of, as a sentence; '' if none."""
    if case.right or case.others or not case.spec.is_time:
        return ""
    line = case.result.line
    if case.spec.of_overhead and line is not None and line.empty is not None:
        empty = line.empty.value / line.clock.ticks_in(case.spec.unit)
        if is_number(case, empty):
            return (
                "What you gave is the mean of your empty samples, and not the intercept of the "
                "line."
            )
    same = variants_of_same_value(case, case.recording)
    found = [name for name in same if name not in case.spec.variants]
    return f"What you gave is the cost of {found[0]}." if len(found) == 1 else ""


@pitfall(
    symptom="The run was not on the CPU that it asked for.",
    misconception="A program that asks for a CPU may not get it: read the call's result and the "
    "CPU's number.",
    experiment="Read the CPU number before and after the run.",
    seen_in="report A: the result of sched_setaffinity is never checked",
    broken=(Live("pinning_not_looked_at", "timer-overhead-fenced"),),
)
def affinity_not_obtained(case: Case) -> str | None:
    """A run that asked for one CPU and ran on another."""
    asked = [cpu for cpu in case.recording.condition("cpu.asked") if cpu != "none"]
    if not asked:
        return None
    if own := _cpus_of_its_own(case):
        # Other variants of the run may move by design.
        moved, elsewhere = 0, sorted(own - {int(cpu) for cpu in asked if cpu.isdecimal()})
        away = ", ".join(map(str, elsewhere))
    else:
        moved = case.recording.total("task.main.migrations") or 0
        seen = {*case.recording.condition("cpu.before"), *case.recording.condition("cpu.after")}
        away = ", ".join(sorted(seen - set(asked) - {"-1"}))
    if away:
        return f"Your run asked for CPU {asked[0]} and was seen on CPU {away}."
    if moved > 0:
        return f"Your run asked for CPU {asked[0]} and was moved between CPUs {times(moved)}."
    return None


def _cpus_of_its_own(case: Case) -> frozenset[int]:
    """The CPUs of the task in the samples of the figure's own variants, if they are recorded."""
    places_of_variants = (
        run_conditions.places_of(case.recording, name) for name in case.spec.variants
    )
    return frozenset().union(*(each.mine for processes in places_of_variants for each in processes))


@pitfall(
    symptom="A tracer stopped the program at each system call.",
    misconception="strace stops the program when a call begins and when it ends; each stop takes "
    "two switches.",
    experiment="Count the calls with strace in one run, and measure in another.",
    seen_in="strace -f labs measure system_call: 7,685 ns for a call of 85 ns",
)
def tracer_stops_it(case: Case) -> str | None:
    """A run under a tracer, which stops the program at each system call."""
    seen = observed.stops_of_tracer(case.recording, own=case.spec.own)
    if seen is None:
        return None
    counted = f"the OS counted {seen.switches:,} voluntary switches that your C does not claim"
    if seen.tracer:
        calls = f", for {seen.calls:,} system calls" if seen.calls else ""
        return f"Your recording was made under {seen.tracer[:40]}: {counted}{calls}."
    return f"In your run {counted}: about {seen.switches / seen.calls:.1f} at each call."
