"""The creation of tasks: what kind of task it makes, and what else is timed with it."""

from __future__ import annotations

import re

from grader.evidence import c_calls, c_tree, task_counts
from grader.evidence.sources import own_source
from grader.figures.case import Case, is_number
from grader.figures.spec import Quantity
from grader.pitfalls.pitfall import Live, MistakeKind, pitfall
from labs.results.result import result_of
from labs.units import rounded


@pitfall(
    symptom="The children were never waited for.",
    misconception="A process costs time until it has ended. If nobody waits for it, it ends "
    "inside another sample.",
    experiment="Wait for every child, check the result of waitpid, and compare.",
    seen_in="report A: creation timed in the parent alone",
    broken=(Live("child_left_behind", "creation-fork-wait"),),
)
def child_left_behind(case: Case) -> str | None:
    """Processes that were made and never waited for.

    Their ends fall into no sample, or into others.
    """
    for account in task_counts.accounts(case):
        if not account.variant.startswith(task_counts.COPIED_MEMORY):
            continue
        # The parent writes to its pages again after each fork, and faults: so this OS does count.
        counts = account.faults >= account.created / 2
        if counts and account.children_faults == 0 and not account.children_switches:
            return (
                f"You made {account.created:,} processes by {account.variant}, but the OS "
                "counted no page fault of a child. It counts them once a child is waited for."
            )
    return None


_AWAITS = ("wait", "waitpid", "waitid", "wait3", "wait4", "pthread_join", "ended", "joined")


@pitfall(
    symptom="Only the creation was counted, not the task's end.",
    misconception="The call returns before the task has done anything: it still has to run, to end "
    "and to be waited for.",
    experiment="Time both in one run, and look at what lies between them.",
    seen_in="report A: fork alone",
    explains=MistakeKind.CONTENTS,
    shows_in_recording=True,
    broken=(Live("fork_without_wait", "creation-fork-wait"),),
)
def creation_without_its_end(case: Case) -> str | None:
    """Creation alone, handed in as the cost of a task from its creation to its end."""
    if case.spec.kernel not in task_counts.CREATING or case.spec.quantity is not Quantity.COST:
        return None
    if case.right or not case.accepted_values:
        return _waits_for_nothing(case)
    return _creation_given(case)


def _creation_given(case: Case) -> str | None:
    asked = case.spec.variant
    alone = asked.replace("-wait", "")
    if alone == asked or alone not in case.recording.variants:
        return None
    result = case.results.get(alone) or result_of(case.recording, alone, "ns")
    if result.estimate is None:
        return None
    value = result.estimate.into(case.spec.unit, result.clock).value
    if not is_number(case, value):
        return None
    return (
        f"You gave {case.as_submitted()}: in your recording that is {alone}, creation only; "
        f"{asked} takes {rounded(case.accepted_values[0].value)} {case.spec.unit}."
    )


def _waits_for_nothing(case: Case) -> str | None:
    source = own_source(case)
    if source is None or not c_tree.has_region(source) or child_left_behind.detect(case):
        return None
    timed = c_tree.timed(source)
    created = c_calls.creation(timed)
    if created is None or c_calls.called(timed, _AWAITS):
        return None
    return (
        f"Between its readings your C calls {created} and waits for nothing: "
        f"{case.as_submitted()} leave out the task's end."
    )


#: What a process holds besides only adds to it.
LEAST_SHARE_HELD = 0.9
_SIZE = re.compile(r"-(\d+)(mb|gb)$")


@pitfall(
    symptom="The memory was allocated but never present.",
    misconception="malloc and mmap give addresses. Only a write brings a page, and fork copies the "
    "entries of such pages only.",
    experiment="Write to each page, and read VmRSS in /proc/self/status before and after.",
    seen_in="memory that is allocated and not used",
    broken=(Live("memory_untouched", "creation-fork-64mb"),),
)
def memory_not_resident(case: Case) -> str | None:
    """A parent that asked for memory and never wrote to it: there is nothing for fork to copy."""
    if case.spec.kernel not in task_counts.CREATING:
        return None
    for name in case.spec.variants:
        size = _SIZE.search(name)
        held = case.recording.numbers("memory.resident_kb")
        if size is None or not held:
            continue
        claimed_mb = int(size[1]) * (1024 if size[2] == "gb" else 1)
        if max(held) < LEAST_SHARE_HELD * claimed_mb * 1024:
            return (
                f"Your variant {name} claims {claimed_mb} MB more, but by the OS its parent held "
                f"{rounded(max(held) / 1024, 2)} MB in all."
            )
    return None


#: A task in its parent's memory finds every page there; a process faults in several before it ends.
FAULTS_OF_A_COPY = 0.5
#: The OS charges a parent with at least one switch of each child process that it waited for.
SWITCHES_OF_A_CHILD = 0.5
_CLONE_BY_NUMBER = ("SYS_clone", "__NR_clone")
_SHARE_MEMORY = ("CLONE_VM", "pthread_create", "thrd_create", "vfork")


@pitfall(
    symptom="This task is a process, not a thread.",
    misconception="Without CLONE_VM, clone copies the memory, as fork does. vfork lends the "
    "parent's memory to a process.",
    experiment="Let the task raise a variable, and print it in the parent.",
    seen_in="report A: clone with flags 0, on the wrong end of its stack",
    broken=(Live("clone_without_memory", "creation-thread"),),
)
def not_a_thread(case: Case) -> str | None:
    """A task that is called a thread, and is a process: clone without CLONE_VM, or vfork."""
    about = [name for name in case.spec.variants if name in task_counts.SAME_MEMORY]
    if about:
        for account in task_counts.accounts(case):
            if account.variant in about and (evidence := _own_memory(case, account)) is not None:
                return evidence
    return _clone_without_memory(case) if about or case.spec.kernel == "thread_switch" else None


def _own_memory(case: Case, account: task_counts.Account) -> str | None:
    name, created = account.variant, account.created
    seen = case.recording.total(f"variant.{name}.seen")
    trial = task_counts.trial_of(case.recording, name)
    # If the task does not raise it, the number shows nothing about the task's memory.
    raises = trial is None or 2 * trial.by_task > trial.tried
    if seen is not None and seen < created / 2 and raises:
        return (
            f"{created:,} tasks each raised a number by one, but their parent saw it raised by "
            f"{seen:,}."
        )
    if account.children_faults < FAULTS_OF_A_COPY * created:
        switches = account.children_switches or 0
        if name not in task_counts.THREADS or switches < SWITCHES_OF_A_CHILD * created:
            return None
        return (
            f"For your {created:,} {name} the OS counted {switches:,} switches of ended child "
            "processes; a thread is not a child process."
        )
    return (
        f"Each of your {created:,} {name} was a child process that faulted in "
        f"{rounded(account.children_faults / created, 2)} pages of its own; a thread needs none."
    )


def _clone_without_memory(case: Case) -> str | None:
    source = own_source(case)
    if source is None:
        return None
    code = c_tree.whole(source)
    clones = c_calls.called(code, ("clone",)) or not code.words.isdisjoint(_CLONE_BY_NUMBER)
    if not clones or not code.words.isdisjoint(_SHARE_MEMORY):
        return None
    return "Your C calls clone, but CLONE_VM appears nowhere in it."


@pitfall(
    symptom="The parent sleeps while its new task runs.",
    misconception="vfork and CLONE_VFORK lend the parent's memory, and stop it until the child has "
    "ended. A thread runs beside its creator.",
    experiment="Leave out CLONE_VFORK, or call clone for vfork: does the parent still sleep?",
    seen_in="trials of lab 05: vfork for a task in the same memory",
)
def vfork_for_thread(case: Case) -> str | None:
    """A child that borrows its parent's memory while the parent sleeps, taken for a thread."""
    if case.spec.kernel not in task_counts.CREATING:
        return None
    for name in case.spec.variants:
        trial = task_counts.trial_of(case.recording, name)
        if trial is not None and 2 * trial.asleep > trial.tried:
            return (
                f"In {trial.asleep} of {trial.tried} trials own_task came back only when its task "
                "had ended."
            )
    return None


@pitfall(
    symptom="Not every new task raised the number exactly once.",
    misconception="A number proves shared memory only if the new task raised it and its parent "
    "sees it.",
    experiment="Let the task store gettid(), and compare that with what own_task returns.",
    seen_in="trials of lab 05: the parent raises the number, or one call creates two tasks",
)
def number_not_by_the_task(case: Case) -> str | None:
    """The number that each new task should raise is raised by others, or not once by each."""
    if case.spec.kernel not in task_counts.CREATING:
        return None
    for name in case.spec.variants:
        trial = task_counts.trial_of(case.recording, name)
        if trial is not None and (evidence := _not_raised_once_each(trial)):
            return evidence
    return None


def _not_raised_once_each(trial: task_counts.Trial) -> str:
    said = []
    if 2 * trial.by_task <= trial.tried:
        said.append(f"In a trial {_who(trial)}.")
    # A task with memory of its own raises the number where its parent cannot see it.
    if not trial.once_each and (said or 2 * trial.shares > trial.tried):
        # Who did so there was not looked at.
        said.append(
            f"In the samples the number rose {trial.seen:,} times in {trial.created:,} calls."
        )
    return " ".join(said)


def _who(trial: task_counts.Trial) -> str:
    if 2 * trial.by_nobody > trial.tried:
        return "your task did not raise the number"
    by_parent = 2 * trial.by_parent > trial.tried
    who = "the parent itself" if by_parent else "another task"
    return f"{who} raised the number, and not the returned task"


_PINS = ("sched_setaffinity", "pthread_setaffinity_np", "pin_to")


@pitfall(
    symptom="Your C also times the binding to a CPU.",
    misconception="Binding is a system call that may move the task. Bind once, before the first "
    "reading: a child inherits the binding.",
    experiment="Move the call before the loop, check its result, and compare the figures.",
    seen_in="report A: sched_setaffinity after each fork",
    broken=(Live("pinning_inside", "creation-fork-wait"),),
)
def pinning_inside_the_interval(case: Case) -> str | None:
    """The task binds itself to a CPU between the two readings."""
    source = own_source(case)
    if source is None:
        return None
    pins = c_calls.called(c_tree.timed(source), _PINS)
    return None if pins is None else f"Your C calls {pins} between the two readings of the counter."
