"""Switches between tasks: whether they happened, how many they were, and what is part of them."""

from __future__ import annotations

from grader.evidence import caveats, memory_use, task_counts
from grader.figures.case import OF_USUAL_SLIPS, Case, is_number, is_number_of_samples
from grader.figures.expected import ACCEPTED_WITHIN
from grader.figures.spec import Quantity
from grader.pitfalls.pitfall import Live, MistakeKind, pitfall
from labs.analysis.net_cost import Net, parts_of
from labs.recording import counts
from labs.recording.run_conditions import as_text
from labs.results import result
from labs.units import rounded


@pitfall(
    code=task_counts.FEWER,
    symptom="The OS did not count most claimed switches.",
    misconception="The OS switches only where a task sleeps or loses its CPU.",
    experiment="Let each task note which task ran before it: if it finds itself, nobody waited.",
    seen_in="benchmarks of handoffs that nobody counted",
)
def fewer_switches_than_claimed(case: Case) -> str | None:
    """Fewer switches than are claimed, where nothing shows why."""
    seen = task_counts.shown_by(case, fewer_switches_than_claimed.code)
    if seen is None:
        return None
    return (
        f"{seen.as_text()}. Either a task does not wait for the other, or other tasks do the work."
    )


@pitfall(
    symptom="Most of the switches that the run claims never happened.",
    misconception="A lock does not hand over the turn: the task that unlocks it may take it again "
    "at once.",
    experiment="Make the turn a variable and sleep until it is yours; then count again.",
    seen_in="report D: mutex and a shared variable, 3,323 ns a thread switch",
    broken=(Live("bare_mutex", "thread-switch-condvar"),),
)
def lock_convoy(case: Case) -> str | None:
    """A lock without a handoff: its exchanges are not switches."""
    seen = task_counts.shown_by(case, lock_convoy.code)
    return None if seen is None else f"{seen.as_text()}, with both tasks on one CPU."


@pitfall(
    symptom="The task takes the semaphore that it has just posted itself.",
    misconception="Post and wait make a handoff only with two semaphores, one for each direction.",
    experiment="Use one semaphore for each direction, and compare the count with the claim.",
    seen_in="a semaphore benchmark: 0.97 µs a switch, 938 switches in 1.03 million operations",
    broken=(Live("same_semaphore", "thread-switch-condvar"),),
)
def own_semaphore(case: Case) -> str | None:
    """A task that raises and lowers the same semaphore, and so waits for nobody."""
    seen = task_counts.shown_by(case, own_semaphore.code)
    if seen is None:
        return None
    return f"{seen.as_text()}. Between the readings your C posts and waits for one semaphore."


@pitfall(
    symptom="The tasks had a CPU each and never slept: nothing was switched.",
    misconception="A futex, the call behind most locks, sleeps only if the task must wait: with "
    "two CPUs its word changes first.",
    experiment="Pin both threads to one CPU and count again.",
    seen_in="a futex benchmark: 2,000,000 switches at 112 ns; the OS counted 2",
    broken=(Live("spins_on_two_cpus", "thread-switch-condvar", needs="two CPUs"),),
)
def never_slept(case: Case) -> str | None:
    """Two tasks on two CPUs that look until it is their turn, and never sleep."""
    seen = task_counts.shown_by(case, never_slept.code)
    places = task_counts.apart(case.recording, seen.variant) if seen is not None else None
    if seen is None or places is None:
        return None
    return f"{seen.as_text()}. Its tasks were on CPU {as_text(places.mine | places.peers)}."


@pitfall(
    symptom="The two tasks were not kept on one CPU.",
    misconception="If each task has its own CPU, the run times the wake-up of another CPU, and no "
    "switch.",
    experiment="Pin both to one CPU, then to two, and compare.",
    seen_in="report B: not pinned, 3,452 to 3,485 ns",
    broken=(Live("not_pinned", "process-switch-pipe-pinned", needs="two CPUs"),),
)
def two_cpus_not_one(case: Case) -> str | None:
    """Two tasks that were not kept on one CPU: a wake-up across CPUs."""
    seen = task_counts.shown_by(case, two_cpus_not_one.code)
    places = task_counts.apart(case.recording, seen.variant) if seen is not None else None
    if seen is None or places is None:
        return None
    return (
        f"The measuring task of your variant {seen.variant} was on CPU {as_text(places.mine)}; "
        f"the other was on CPU {as_text(places.peers)} and may use {as_text(places.may_use)}."
    )


@pitfall(
    code=task_counts.MORE,
    symptom="The OS switched far more often than the run claims.",
    misconception="A handoff takes more switches if a task is woken before it can go on, or wakes "
    "by itself.",
    experiment="Count waits that end without the turn. If none does, a lock was still held.",
    seen_in="a condition-variable benchmark: 200,000 switches claimed, 340,000 counted",
)
def more_switches_than_claimed(case: Case) -> str | None:
    """More switches than are claimed, where nothing shows why."""
    seen = task_counts.shown_by(case, more_switches_than_claimed.code)
    return None if seen is None else _for_one(seen)


def _for_one(seen: task_counts.Counted) -> str:
    return f"{seen.as_text()}: {seen.rate} for one operation, not {seen.claim:g}."


@pitfall(
    symptom="The OS switched far more often than the run claims, so the divisor is too small.",
    misconception="A task that is woken while the lock is held runs, blocks on the lock, and "
    "then needs another switch.",
    experiment="Unlock first and signal afterwards, then count again.",
    seen_in="a condition-variable benchmark: 200,000 switches claimed, 340,000 counted",
    yields_to="not-woken",
    broken=(Live("signal_inside", "thread-switch-condvar"),),
)
def signal_under_the_lock(case: Case) -> str | None:
    """A signal sent while the lock is held: more switches than are claimed."""
    seen = task_counts.shown_by(case, signal_under_the_lock.code)
    return None if seen is None else _for_one(seen)


@pitfall(
    symptom="A timer wakes the task, which looks and sleeps again.",
    misconception="With a time-out, the timer wakes the sleeper and not the other task, too early "
    "or too late.",
    experiment="Double the time-out: does the cost follow it?",
    seen_in="trials of lab 06: usleep and pthread_cond_timedwait",
)
def wait_with_an_end(case: Case) -> str | None:
    """A task that sleeps for a time, or waits with a time-out, instead of being woken."""
    seen = task_counts.shown_by(case, wait_with_an_end.code)
    called = task_counts.wait_with_an_end(case)
    if seen is None or called is None:
        return None
    return f"{_for_one(seen)} Between its readings your C calls {called}()."


KERNELS_OF_SWITCHES = frozenset({"own_switch", "thread_switch", "process_switch"})


@pitfall(
    symptom="The thread that waits does not sleep until it is woken.",
    misconception="A handoff is a sleep that only the other thread's wake ends, not a loop or "
    "short sleep.",
    experiment="Leave out the wake: a real handoff then never ends, as Ticklab reports.",
    seen_in="trials of lab 06: unlock, sched_yield and lock in a loop",
    yields_to="wait-with-an-end",
)
def not_woken(case: Case) -> str | None:
    """A thread that looks for its turn again and again, and is switched without being woken."""
    of_switches = case.spec.kernel in KERNELS_OF_SWITCHES and not case.others
    if not of_switches or case.spec.quantity is not Quantity.COST:
        return None
    for name in case.spec.variants:
        seen = task_counts.sleeps(case.recording, name)
        if seen.goes_on_unwoken:
            return (
                f"In {seen.unwoken} of {seen.tried} processes the run woke nobody, and the other "
                "thread went on all the same."
            )
        if (awake := task_counts.rounds_awake(case.recording, name)) is not None:
            return (
                f"The run gave nobody the turn: your await_turn() went {awake:.0f} times through a "
                "loop before it slept."
            )
        if seen.hardly_asleep and _as_many_as_claimed(case, name):
            return (
                f"Of the {seen.counted:,} switches that the OS counted, {seen.asleep:,} were "
                "made by a task that went to sleep."
            )
    return None


def _as_many_as_claimed(case: Case, name: str) -> bool:
    """Whether the switches happened. Others tell what it means if they did not."""
    seen = task_counts.counted(case.recording, name)
    if seen is None or caveats.binds_no_task(case.recording):
        return False
    return seen.counted >= (1 - task_counts.SHARE) * seen.claimed


@pitfall(
    symptom="The sample also creates and ends tasks, which is not a switch.",
    misconception="A fork copies page tables, and its child faults pages in. Both cost more than a "
    "switch, and cannot be subtracted exactly.",
    experiment="Make the other task before the first reading, and count page faults.",
    seen_in="report A: fork and exit inside; 35,000 to 52,000 cycles a switch",
    broken=(Live("fork_inside", "process-switch-pipe-pinned"),),
)
def creation_counted_as_switch(case: Case) -> str | None:
    """Making and ending a task inside the sample, called a switch."""
    seen = task_counts.shown_by(case, creation_counted_as_switch.code)
    shown = task_counts.created_inside(case, seen) if seen is not None else None
    return None if shown is None else f"Your measurement of a switch shows {shown}."


@pitfall(
    symptom="It is not clear what the figure was divided by.",
    misconception="A round trip holds two switches, two writes and two reads. Subtract the calls; "
    "a switch is half of the rest.",
    experiment="Draw one round trip between two tasks, and count its switches.",
    seen_in="report B: a trial of two switches and four calls printed as a context switch",
    explains=MistakeKind.CONTENTS,
    shows_in_recording=True,
    broken=(Live("round_trip_for_switch", "process-switch-pipe-pinned"),),
)
def unclear_divisor(case: Case) -> str | None:
    """A round trip handed in as a switch, or one of its four calls."""
    if case.spec.quantity is not Quantity.COST or case.others:
        return None
    return _round_trip_not_divided(case) or _round_trip_given(case)


def _round_trip_given(case: Case) -> str | None:
    net = case.result.net
    if case.right or net is None or net.parts != 2:
        return None
    if not counts.claim_of(case.recording, case.spec.variant):
        return None
    whole = net.whole.value / case.ticks_a_unit
    for value, what in ((whole, "your round trip"), (whole / 4, "a quarter of your round trip")):
        if is_number(case, value, OF_USUAL_SLIPS):
            return f"You gave {case.as_submitted()}, which is {what}."
    return None


def _round_trip_not_divided(case: Case) -> str | None:
    """The C counts an operation as one switch, or does not divide by those that it claims."""
    seen = task_counts.shown_by(case, unclear_divisor.code)
    if seen is not None:
        return (
            f"Your variant {seen.variant} claims {seen.claim:g} switch for one operation; the OS "
            f"counted {seen.rate}."
        )
    name = case.spec.variant
    claim = counts.claim_of(case.recording, name)
    parts = parts_of(case.recording, name)
    if claim < 2 or parts >= claim:
        return None
    return (
        f"One operation of your variant {name} claims {claim:g} switches, but its time is "
        f"divided by {parts:g}."
    )


@pitfall(
    symptom="The calls around a switch are counted as part of it.",
    misconception="The calls that bring a switch about, such as write and read, cost as much "
    "without it.",
    experiment="Let one task make the same calls to itself, and subtract that.",
    seen_in="report C: read and write inside the 550 ns of a switch",
    explains=MistakeKind.CONTENTS,
    shows_in_recording=True,
    yields_to="touching-counted-as-switch, two-results-for-one",
    broken=(Live("calls_counted_along", "process-switch-pipe-pinned"),),
)
def read_and_write_counted_along(case: Case) -> str | None:
    """A round trip or half of one, with the calls that carry the message inside."""
    if case.spec.quantity is not Quantity.COST or case.others:
        return None
    if not counts.claim_of(case.recording, case.spec.variant):
        return None
    # A figure that is something else altogether has another mistake.
    if case.right or not case.accepted_values:
        return _names_no_baseline(case)
    return _not_subtracted_by_hand(case)


def _not_subtracted_by_hand(case: Case) -> str | None:
    net = case.result.net
    if net is None or net.baseline is None:
        return None
    calls = net.times * net.baseline.value / case.ticks_a_unit
    for timed, parts, what in (
        (net.unsubtracted, net.parts, "half your round trip, of which"),
        (net.whole, 1.0, f"your round trip of {net.parts:.0f} switches, of which"),
    ):
        number = timed.value / case.ticks_a_unit
        if is_number_of_samples(case, number):
            return (
                f"You gave {case.as_submitted()}: {what} {rounded(calls / parts)} "
                f"{case.spec.unit} are the calls, by your variant {net.baseline_variant}."
            )
    return None


def _names_no_baseline(case: Case) -> str | None:
    """The C names no baseline; only where it divides and switches, else that is what is wrong."""
    name = case.spec.variant
    if not _lacks_baseline(case) or task_counts.code_of(case) is not None:
        return None
    return (
        f"Your C names no baseline for {name}: {case.as_submitted()} holds the calls around the "
        "switch as well."
    )


@pitfall(
    symptom="The task's own work is counted as the switch's.",
    misconception="A task reads its memory without a switch too: only the extra cost is the "
    "switch's.",
    experiment="Let one task do the same work alone, and subtract that.",
    seen_in="ring benchmarks whose work is part of their result",
    explains=MistakeKind.CONTENTS,
    shows_in_recording=True,
    broken=(Live("touching_in_the_switch", "footprint-processes-8-256k"),),
)
def touching_counted_as_switch(case: Case) -> str | None:
    """The task's own use of its working set, handed in as a part of the switch."""
    if case.spec.kernel not in memory_use.SET_KERNELS or case.spec.quantity is not Quantity.COST:
        return None
    if case.right or not case.accepted_values:
        if not _lacks_baseline(case):
            return None
        return (
            f"Your variant {case.spec.variant} names no baseline: {case.as_submitted()} also holds "
            "what each task does with its pipe and working set."
        )
    return None if case.result.net is None else _hop_as_timed(case, case.result.net)


def _lacks_baseline(case: Case) -> bool:
    """Whether the variant of the figure divides its operation, and names no baseline for it."""
    name = case.spec.variant
    named = case.recording.condition(f"variant.{name}.baseline")
    return not named and parts_of(case.recording, name) >= 2


def _hop_as_timed(case: Case, net: Net) -> str | None:
    if net.baseline is None:
        return None
    if not is_number(case, net.unsubtracted.value / case.ticks_a_unit):
        return None
    own = net.baseline.value * net.times / net.parts / case.ticks_a_unit
    return (
        f"You gave {case.as_submitted()}, a hop as timed. In it, {rounded(own)} {case.spec.unit} "
        f"are pipe and working set, which one task alone ({net.baseline_variant}) pays too."
    )


@pitfall(
    symptom="The figure is another result of this run, or a mean of two.",
    misconception="Two variants, or two pairs of readings, time two things; their mean is neither.",
    experiment="Write down what lies between the readings of each, and keep the one asked for.",
    seen_in="report B: both processes print a result",
    explains=MistakeKind.CONTENTS,
    broken=(Live("both_sides_print", "thread-switch-pipe", handed_in="pipe-by-the-peer"),),
)
def two_results_for_one(case: Case) -> str | None:
    """A recording holds several results, and the figure is another one's, or a mean of two."""
    spec, recording = case.spec, case.recording
    if spec.quantity is not Quantity.COST or case.submitted is None or case.others:
        return None
    if not _is_switch(case, spec.variant):
        return None
    own = _value_of(case, spec.variant)
    # An interval that is not to be believed may hold the other results as well.
    if case.right and (
        not caveats.caveat_of_width(case) or abs(case.submitted - own) < ACCEPTED_WITHIN * abs(own)
    ):
        return None
    for name in recording.variants:
        if name == spec.variant or not _is_switch(case, name):
            continue
        other = _value_of(case, name)
        for value, what in (
            (other, "the result of"),
            ((own + other) / 2, f"the mean of {spec.variant} and"),
        ):
            if is_number_of_samples(case, value):
                return (
                    f"You gave {case.as_submitted()}: {what} {name}. Your recording gives "
                    f"{spec.variant} {rounded(own)} and {name} {rounded(other)} {spec.unit}."
                )
    return None


def _is_switch(case: Case, variant: str) -> bool:
    """Whether `variant` times an exchange between tasks, of which a switch is a part."""
    return parts_of(case.recording, variant) > 1


def _value_of(case: Case, variant: str) -> float:
    return result.naive_value(result.result_of(case.recording, variant, case.spec.unit))
